"""The command line: help for everything, and refusals a person can read."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import homodyn
from homodyn.cli import app
from homodyn.errors import FormatError, HomodynError


def commands(command=None, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command, groups included."""
    command = command or typer.main.get_command(app)
    yield path
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*path, name))


def invoke(*words: str):
    return CliRunner().invoke(app, list(words), prog_name="homodyn")


def test_the_commands_of_the_readme_are_there():
    expected = {("info",), ("demo",), ("bench",), ("cache", "show"), ("cache", "clear")}
    assert expected <= set(commands())


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_every_command_has_help_with_an_example(words):
    result = invoke(*words, "--help")
    assert result.exit_code == 0
    assert f"Example: {' '.join(('homodyn', *words))}" in " ".join(result.output.split())


def test_version():
    result = invoke("--version")
    assert result.exit_code == 0
    assert result.output == f"homodyn {homodyn.__version__}\n"


def test_the_package_runs_as_a_module():
    asked = [sys.executable, "-m", "homodyn", "--version"]
    source = Path(homodyn.__file__).parent.parent
    answer = subprocess.run(
        asked, env={**os.environ, "PYTHONPATH": str(source)}, stdout=subprocess.PIPE, text=True
    )
    assert answer.stdout == f"homodyn {homodyn.__version__}\n"


@pytest.mark.parametrize("words", [["no-such-command"], ["cache", "no-such-command"]])
def test_an_unknown_command_fails(words):
    result = invoke(*words)
    assert result.exit_code != 0
    assert "no-such-command" in result.stderr


@pytest.fixture
def refused(monkeypatch):
    """Let ``homodyn bench`` meet a refusal from the library."""

    def refuse(error: Exception) -> None:
        def benchmarks():
            raise error

        monkeypatch.setattr("homodyn.bench.benchmarks", benchmarks)

    return refuse


def test_a_refusal_is_one_line_on_stderr(refused):
    refused(FormatError("expected [a number],\n  got 'x'", path="walk.toml", place="line 3"))
    result = invoke("bench", "--list")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == "Error: walk.toml, line 3: expected [a number], got 'x'\n"


def test_a_long_refusal_is_not_broken_into_lines(refused):
    refused(HomodynError("word " * 100))
    assert invoke("bench", "--list").stderr.count("\n") == 1


def test_debug_shows_where_a_refusal_comes_from(refused):
    refused(HomodynError("no"))
    result = invoke("--debug", "bench", "--list")
    assert result.exit_code == 1
    assert isinstance(result.exception, HomodynError)


def test_what_is_not_a_refusal_is_not_hidden(refused):
    refused(ZeroDivisionError("a mistake of ours"))
    assert isinstance(invoke("bench", "--list").exception, ZeroDivisionError)
