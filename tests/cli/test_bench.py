"""``homodyn bench``."""

import json

import pytest
from typer.testing import CliRunner

from homodyn.bench import BenchmarkRow, benchmark, harness
from homodyn.cli import app


@pytest.fixture
def registry(monkeypatch):
    """An empty registry instead of the real benchmarks."""
    empty: dict[str, harness.Benchmark] = {}
    monkeypatch.setattr(harness, "_registry", empty)
    monkeypatch.setattr(harness.pkgutil, "iter_modules", lambda *_: iter(()))
    return empty


@pytest.fixture
def one_benchmark(registry, monkeypatch):
    monkeypatch.setattr("homodyn.bench.machine.describe", lambda: {"cpu": "abacus"})

    @benchmark("trivial")
    def trivial(quick):
        """A comparison that takes no time."""
        yield BenchmarkRow.from_times("nothing", 1.0, 2.0, unit="s", required=1)


def invoke(*words: str):
    result = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.usefixtures("one_benchmark")
def test_the_command_lists_benchmarks():
    assert invoke("bench", "--list").stdout.split(maxsplit=1) == [
        "trivial",
        "A comparison that takes no time.\n",
    ]


@pytest.mark.usefixtures("one_benchmark")
def test_the_command_prints_a_table():
    shown = invoke("bench", "trivial").stdout
    assert "nothing" in shown
    assert "abacus" in shown


@pytest.mark.usefixtures("one_benchmark")
def test_the_command_prints_exactly_one_json_object(tmp_path):
    path = tmp_path / "bench.json"
    read = json.loads(invoke("bench", "--json", "-o", str(path)).stdout)
    assert read["machine"] == {"cpu": "abacus"}
    assert read["rows"][0]["ratio"] == 2.0
    assert json.loads(path.read_text()) == read


@pytest.mark.usefixtures("one_benchmark")
def test_the_command_refuses_an_unknown_benchmark():
    result = CliRunner().invoke(app, ["bench", "x"])
    assert result.exit_code == 1
    assert "no benchmark 'x'; accepted: trivial" in result.stderr
