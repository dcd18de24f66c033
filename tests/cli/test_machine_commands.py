"""The commands that describe the machine and its cache of kernels."""

import platform

import pytest
from typer.testing import CliRunner

import homodyn
from homodyn.cli import app


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """A cache of its own: ``homodyn cache clear`` must not empty that of the other tests."""
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


def test_cache_show_tells_folder_and_size(own_cache):
    assert invoke("cache", "show").strip() == f"{own_cache}: 0 files, 0 B"


def test_cache_clear_leaves_an_empty_cache(own_cache):
    assert invoke("cache", "clear").startswith("Removed 0 files")
    assert invoke("cache", "show").strip().endswith("0 files, 0 B")
