"""The benchmark of models, with and without recordings and OpenSim."""

import pytest

from homodyn.bench import benchmarks, missing
from homodyn.bench.models import FILES


@pytest.fixture
def measure():
    return benchmarks()["models"].measure


def test_each_missing_file_has_a_row(measure, tmp_path, monkeypatch):
    monkeypatch.setenv("HOMODYN_DATA", str(tmp_path))
    rows = list(measure(True))
    assert len(rows) == len(FILES)
    for row, file in zip(rows, FILES, strict=True):
        assert row.ours is None
        assert row.passes is None
        assert file in row.note
        assert "HOMODYN_DATA" in row.note


def test_without_opensim_our_side_is_measured(measure, shared_data, monkeypatch):
    monkeypatch.setenv("HOMODYN_DATA", str(shared_data))
    monkeypatch.setattr(
        "homodyn.bench.models.missing", lambda package: f"{package} is not installed"
    )
    monkeypatch.setattr("homodyn.bench.models.FILES", ("opensim_id/arm26.osim",))
    rows = list(measure(True))
    assert len(rows) == 3
    for row in rows:
        assert row.ours > 0
        assert row.peer is None
        assert row.required is None
        assert row.note == "opensim is not installed"


def test_opensim_is_timed_in_a_separate_process(measure, shared_data, monkeypatch):
    if missing("opensim"):
        pytest.skip("opensim is not installed")
    monkeypatch.setenv("HOMODYN_DATA", str(shared_data))
    monkeypatch.setattr("homodyn.bench.models.FILES", ("opensim_id/arm26.osim",))
    for row in measure(True):
        assert row.ours > 0
        assert row.peer > 0
