"""The benchmark of static optimization names recordings that are missing."""

from homodyn.bench.muscle_sharing import static_optimization_rows


def test_missing_recordings_are_named(monkeypatch, tmp_path):
    monkeypatch.setenv("HOMODYN_DATA", str(tmp_path))
    (row,) = static_optimization_rows(True)
    assert row.ours is None
    assert str(tmp_path) in row.note
