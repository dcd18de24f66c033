"""Torques of recorded motions: exact where the forces are exact, OpenSim's where it was asked."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import loads, residuals
from support.swaying import plates_for, sway


@pytest.fixture(scope="module")
def person():
    return hd.catalog.heiman(height=1.75, mass=70)


def test_consistent_forces_leave_nothing_over(person):
    motion = sway(person)
    found = loads(motion, plates_for(motion), cutoff=None)
    assert np.abs(found.residual_force).max() < 1e-8
    assert np.abs(found.residual_moment).max() < 1e-8
    assert np.abs(found.tau[:, list(found.root)]).max() < 1e-8
    assert residuals(found).acceptable
