"""The benchmark of muscle paths."""

import numpy as np

import homodyn as hd
from homodyn.bench import muscle


def test_missing_recordings_are_named(monkeypatch, tmp_path):
    monkeypatch.setenv("HOMODYN_DATA", str(tmp_path))
    for rows in (muscle.path_rows, muscle.walk_rows):
        (row,) = rows(True)
        assert row.ours is None
        assert str(tmp_path) in row.note


def test_states_are_between_the_limits():
    model = hd.catalog.human36()
    states = muscle.random_states(model, 50)
    assert states.shape == (50, model.nq)
    assert (states >= np.maximum(model.lower, -np.pi)).all()
    assert (states <= np.minimum(model.upper, np.pi)).all()
