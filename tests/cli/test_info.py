"""``homodyn info``."""

import platform

import pytest
from typer.testing import CliRunner

import homodyn
from homodyn.cli import app


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """A separate, empty cache."""
    folder = tmp_path / "kernels"
    monkeypatch.setenv("HOMODYN_CACHE", str(folder))
    monkeypatch.setenv("COLUMNS", "200")
    return folder


def invoke(*words: str) -> str:
    result = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_info_describes_the_machine(own_cache):
    from homodyn.symbolic import machine

    shown = invoke("info")
    assert homodyn.__version__ in shown
    assert platform.python_version() in shown
    assert machine().instruction_set in shown
    assert str(own_cache) in "".join(shown.split("\n"))
