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
    result = homodyn(
        "run", FOLDER / "slip.cdn", "--until", 7, "--show", "slip.steps", "--csv", rows
    )
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


def test_graph_and_compile_write_files(tmp_path):
    assert "digraph" in homodyn("graph", FOLDER / "chain.cdn").output
    assert homodyn("graph", FOLDER / "chain.cdn", "--out", tmp_path / "chain.svg").exit_code == 0
    assert (tmp_path / "chain.svg").read_text().startswith("<svg")
    assert homodyn("compile", FOLDER / "slip.cdn", "--out", tmp_path / "slip.c").exit_code == 0
    assert (tmp_path / "slip.h").exists()


@pytest.mark.parametrize("command", ["run", "test", "graph"])
def test_a_broken_text_is_shown_with_a_caret(tmp_path, command):
    broken = tmp_path / "broken.cdn"
    broken.write_text("x = = 3\n")
    result = homodyn(command, broken)
    assert result.exit_code == 1
    shown = result.stderr.splitlines()
    assert "broken.cdn:1:5:" in result.stderr
    assert shown[-2].index("= 3") == shown[-1].index("^")
