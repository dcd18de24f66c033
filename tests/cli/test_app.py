"""The command line as a whole: names, options, help texts, and errors of all commands."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import homodyn
from homodyn.cli import app
from homodyn.cli.app import HELP_PANELS
from homodyn.errors import FormatError, HomodynError
from support.commands import all_commands, leaf_commands

GROUP = typer.main.get_command(app)


def invoke(*words: str):
    return CliRunner().invoke(app, list(words), prog_name="homodyn")


def options(words: tuple[str, ...]) -> dict[str, object]:
    """The options of a command by each of their spellings."""
    command = leaf_commands(GROUP)[words]
    return {
        spelling: parameter
        for parameter in command.params
        if parameter.param_type_name == "option"
        for spelling in (*parameter.opts, *parameter.secondary_opts)
    }


def test_help_shows_every_command_once_under_a_heading():
    shown = invoke("--help").output
    listed = [name for names in HELP_PANELS.values() for name in names]
    assert sorted(listed) == sorted(GROUP.commands)
    places = [shown.index(f"─ {heading} ─") for heading in HELP_PANELS]
    assert places == sorted(places)


@pytest.mark.parametrize("words", all_commands(GROUP), ids=" ".join)
def test_every_command_has_help_with_an_example(words):
    result = invoke(*words, "--help")
    assert result.exit_code == 0
    assert f"Example: {' '.join(('homodyn', *words))}" in " ".join(result.output.split())


@pytest.mark.parametrize("words", all_commands(GROUP), ids=" ".join)
def test_help_shows_no_types_of_python(words, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    shown = invoke(*words, "--help").output
    assert "─ Options ─" in shown
    assert not re.findall(r"<[^<>]*>", shown)
    usage = shown.partition("Usage:")[2].partition("\n")[0]
    assert not re.findall(r"\[\[|\.\.\.[]}]", usage)  # [[NAME]], {TRIAL...}...


@pytest.mark.parametrize("words", leaf_commands(GROUP), ids=" ".join)
def test_every_command_takes_json(words):
    known = options(words)
    assert "--json" in known
    assert known["--json"].is_flag


@pytest.mark.parametrize("words", leaf_commands(GROUP), ids=" ".join)
def test_options_have_one_spelling(words):
    known = options(words)
    writes = {"--output", "-o"} & set(known)
    assert writes in (set(), {"--output", "-o"})
    other = {"--out", "--outdir", "--file", "--plot", "--save", "--force", "--replace", "-f"}
    assert not other & set(known)
    if "--model" in known:
        assert "-m" in known
    assert all(re.fullmatch(r"--[a-z]+(-[a-z]+)*|-[a-z]", spelling) for spelling in known)
    if "--overwrite" in known:
        assert known["--overwrite"].is_flag
        assert "--output" in known or words == ("model", "convert")


@pytest.mark.parametrize("words", leaf_commands(GROUP), ids=" ".join)
def test_help_texts_are_sentences(words):
    command = leaf_commands(GROUP)[words]
    for parameter in command.params:
        assert parameter.help, parameter.name
        assert parameter.help.endswith((".", "...")), parameter.help
        assert parameter.help[0].isupper() or parameter.help.startswith(("explicit_", "C "))


def test_version():
    result = invoke("--version")
    assert result.exit_code == 0
    assert result.output == f"homodyn {homodyn.__version__}\n"


def test_the_package_runs_as_a_module():
    command = [sys.executable, "-m", "homodyn", "--version"]
    source = Path(homodyn.__file__).parent.parent
    result = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(source)}, stdout=subprocess.PIPE, text=True
    )
    assert result.stdout == f"homodyn {homodyn.__version__}\n"


@pytest.mark.parametrize("words", [["no-such-command"], ["cache", "no-such-command"]])
def test_an_unknown_command_fails(words):
    result = invoke(*words)
    assert result.exit_code != 0
    assert "no-such-command" in result.stderr


@pytest.fixture
def failing(monkeypatch):
    """Make the library raise an error in ``homodyn bench``."""

    def fail_with(error: Exception) -> None:
        def benchmarks():
            raise error

        monkeypatch.setattr("homodyn.bench.benchmarks", benchmarks)

    return fail_with


def test_an_error_is_one_line_on_stderr(failing):
    failing(FormatError("expected [a number],\n  got 'x'", path="walk.toml", place="line 3"))
    result = invoke("bench", "--list")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == "Error: walk.toml, line 3: expected [a number], got 'x'\n"


def test_a_long_error_is_not_wrapped(failing):
    failing(HomodynError("word " * 100))
    assert invoke("bench", "--list").stderr.count("\n") == 1


def test_debug_raises_the_error(failing):
    failing(HomodynError("no"))
    result = invoke("--debug", "bench", "--list")
    assert result.exit_code == 1
    assert isinstance(result.exception, HomodynError)


def test_other_exceptions_are_not_hidden(failing):
    failing(ZeroDivisionError("a bug"))
    assert isinstance(invoke("bench", "--list").exception, ZeroDivisionError)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("words", [("--help",), ("info", "--json")], ids=" ".join)
def test_a_full_device_behind_the_output_is_one_sentence(words):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "homodyn", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 1
    assert done.stderr == "Error: the output: No space left on device\n"
