"""Frames with known loads of a leg, and curves over cycles that are known in part."""

import numpy as np

from homodyn.analysis.curves import CycleSegmentation
from homodyn.analysis.muscle_curves import known_ensemble
from homodyn.motion import Event

TIME = np.linspace(0.0, 2.0, 201)
EVENTS = (Event(0.5, "Foot Strike", "Right"), Event(1.5, "Foot Strike", "Right"))


def test_a_complete_cycle_is_shown_alone():
    known = np.ones(201, dtype=bool)
    found = known_ensemble(CycleSegmentation(TIME, EVENTS), TIME, known, "right")
    np.testing.assert_allclose(found.mean[[0, 50, 100]], [0.5, 1.0, 1.5], atol=1e-9)


def test_a_part_of_a_cycle_is_shown_where_it_is_known():
    known = TIME > 0.8
    found = known_ensemble(CycleSegmentation(TIME, EVENTS), TIME, known, "right")
    assert np.isnan(found.mean[:28]).all()
    np.testing.assert_allclose(found.mean[40:], np.linspace(0.9, 1.5, 61), atol=1e-9)
    nothing = known_ensemble(CycleSegmentation(TIME, EVENTS), TIME, TIME > 1.9, "right")
    assert nothing is None
