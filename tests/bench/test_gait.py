"""The gait benchmark: only candidates that walk are counted."""

import numpy as np

from homodyn.bench import gait
from homodyn.bench.gait import walks
from homodyn.gait.studies import load_study


def test_candidates_that_break_fall_or_stand_are_not_counted(monkeypatch):
    """A planted candidate that breaks is left out, and so are those that are too slow."""
    study = load_study("human-normative", duration=0.3)
    start = np.array([study.initial_values[name] for name in study.space.names])
    values = np.tile(start, (4, 1))
    names = list(study.space.names)
    values[1, names.index("hip target y1")] = np.inf  # breaks
    found = study.evaluate(values)
    assert found.broken.tolist() == [False, True, False, False]
    counted = walks(study, values)
    assert not counted[1]
    assert counted[0] == counted[3]
    monkeypatch.setattr(gait, "MIN_WALKED_SHARE", 1.01)  # more than the whole distance
    assert not walks(study, values).any()
