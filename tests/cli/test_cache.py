"""``homodyn cache``: the size of the kernel cache, and an empty one after clearing it."""

import pytest
from typer.testing import CliRunner

from homodyn.cli import app


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """A separate cache: ``homodyn cache clear`` must not empty that of the other tests."""
    folder = tmp_path / "kernels"
    monkeypatch.setenv("HOMODYN_CACHE", str(folder))
    return folder


def invoke(*words: str) -> str:
    result = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_show_prints_folder_and_size(own_cache):
    assert invoke("cache", "show").strip() == f"{own_cache}: 0 files, 0 B"


def test_clear_leaves_an_empty_cache(own_cache):
    assert invoke("cache", "clear").startswith("Removed 0 files")
    assert invoke("cache", "show").strip().endswith("0 files, 0 B")
