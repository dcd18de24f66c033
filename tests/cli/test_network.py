"""``homodyn network``."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from homodyn.cli import app

FOLDER = Path(__file__).parents[2] / "examples" / "networks"


def homodyn(*words):
    return CliRunner().invoke(app, ["network", *map(str, words)])


def test_run_prints_chosen_variables_and_writes_rows(tmp_path):
    rows = tmp_path / "rows.csv"
    result = homodyn("run", FOLDER / "slip.cdn", "--until", 7, "--show", "slip.steps", "-o", rows)
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[0].split() == ["t", "slip.steps"]
    assert "events, the last at" in result.output
    lines = rows.read_text().splitlines()
    assert lines[0] == "t,slip.steps"
    assert float(lines[-1].split(",")[1]) == 24


def test_test_reports_expectations(tmp_path):
    result = homodyn("test", FOLDER / "falling_mass.cdn")
    assert result.exit_code == 0
    assert "2 of 2 expectations met" in result.output
    wrong = tmp_path / "wrong.cdn"
    wrong.write_text('x = 1\nexpect "x" = 2 at 0\n')
    result = homodyn("test", wrong)
    assert result.exit_code == 1
    assert "FAIL x at 0 s: 1, expected 2" in result.output
    result = homodyn("test", FOLDER / "chain.cdn")
    assert result.exit_code == 0
    assert "has no expectations; write them as expect" in " ".join(result.output.split())


def test_compile_without_a_file_to_write_checks_the_network(tmp_path):
    result = homodyn("compile", FOLDER / "slip.cdn")
    assert result.exit_code == 0
    assert "4 states" in result.output
    assert "3 events" in result.output
    assert "no errors found" in " ".join(result.output.split())
    broken = tmp_path / "broken.cdn"
    broken.write_text('x = 1\nx\' = "-k * x"\n')
    assert homodyn("compile", broken).exit_code != 0


def test_graph_and_compile_write_files(tmp_path):
    assert "digraph" in homodyn("graph", FOLDER / "chain.cdn").output
    assert homodyn("graph", FOLDER / "chain.cdn", "-o", tmp_path / "chain.svg").exit_code == 0
    assert (tmp_path / "chain.svg").read_text().startswith("<svg")
    assert homodyn("compile", FOLDER / "slip.cdn", "-o", tmp_path / "slip.c").exit_code == 0
    assert (tmp_path / "slip.h").exists()


def test_monitor_prints_rows_of_patterns_or_draws_them(tmp_path):
    result = homodyn(
        "monitor", FOLDER / "chain.cdn", "--show", "n[1-5].y", "--until", 0.3, "--every", 0.1
    )
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0].split() == ["t", *[f"n{k}.y" for k in range(1, 6)]]
    assert [float(line.split()[0]) for line in lines[1:]] == pytest.approx([0, 0.1, 0.2, 0.3])
    figure = tmp_path / "chain.png"
    words = ("--show", "n[1-5].y", "--until", 0.3, "-o", figure)
    assert homodyn("monitor", FOLDER / "chain.cdn", *words).exit_code == 0
    assert figure.read_bytes()[1:4] == b"PNG"
    refused = homodyn("monitor", FOLDER / "chain.cdn", "--show", "n1.q")
    assert refused.exit_code == 1
    assert "no variable 'n1.q'" in refused.stderr


def test_monitor_ends_with_the_run():
    result = homodyn(
        "monitor", FOLDER / "slip.cdn", "--show", "slip.steps", "--until", 30, "--every", 2
    )
    assert result.output.splitlines()[-2].split()[1] == "24"
    assert "An event ended the run at" in result.output


def test_repl_answers_with_values_and_derivatives():
    lines = "slip.k\nslip.leg\nslip.y'\nrun 0.1\nslip.k = 25e3\nnames slip.s*\nquit\n"
    result = CliRunner().invoke(app, ["network", "repl", str(FOLDER / "slip.cdn")], input=lines)
    assert result.exit_code == 0, result.output
    assert "t = 0 s > slip.k\n20000\n  d/dt = 0\n  d/d slip.k = 1" in result.output
    assert "d/d slip.xc" in result.output
    assert "100 steps, 0 events" in result.output
    assert "slip.k = 25000" in result.output
    assert "slip.steps  0" in result.output


def test_repl_marks_the_error_in_a_formula():
    result = CliRunner().invoke(
        app, ["network", "repl", str(FOLDER / "slip.cdn")], input="2 * slip.leq\n"
    )
    assert result.exit_code == 1
    assert "did you mean 'slip.leg'" in result.stderr
    shown = result.stderr.splitlines()
    assert shown[-2].index("slip.leq") == shown[-1].index("^")


@pytest.mark.parametrize("command", ["run", "test", "graph", "monitor", "repl"])
def test_an_error_in_a_file_is_marked_with_a_caret(tmp_path, command):
    broken = tmp_path / "broken.cdn"
    broken.write_text("x = = 3\n")
    result = homodyn(command, broken)
    assert result.exit_code == 1
    shown = result.stderr.splitlines()
    assert "broken.cdn:1:5:" in result.stderr
    assert shown[-2].index("= 3") == shown[-1].index("^")
