"""The benchmark of inverse dynamics with plates."""

from homodyn.bench import capture_loads


def test_missing_recordings_are_named(monkeypatch, tmp_path):
    monkeypatch.setenv("HOMODYN_DATA", str(tmp_path))
    rows = list(capture_loads.loads_rows(quick=True))
    assert len(rows) == len(capture_loads.WALKS)
    assert all(row.ours is None and str(tmp_path) in row.note for row in rows)


def test_without_the_peer_our_time_is_measured(monkeypatch, shared_data):
    monkeypatch.setenv("HOMODYN_DATA", str(shared_data))
    monkeypatch.setattr(capture_loads, "missing", lambda package: f"{package} is not installed")
    rows = list(capture_loads.loads_rows(quick=True))
    assert len(rows) == 2 * len(capture_loads.WALKS)
    assert all(row.ours > 0 and row.ratio is None for row in rows)
    assert all("opensim is not installed" in row.note for row in rows)
