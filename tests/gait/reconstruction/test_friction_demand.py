"""Friction that forces need, and the instants in which a ground has less."""

import numpy as np
import pytest

from homodyn.gait.reconstruction.friction_demand import (
    friction_excesses,
    plate_forces,
    required_friction,
)
from homodyn.motion import Side

WEIGHT = 700.0
TIME = np.linspace(0.0, 1.0, 101)


def braking_foot(ratio):
    """A foot that brakes in the first half with a ratio of forces, and is unloaded at both ends."""
    normal = WEIGHT * np.sin(np.pi * TIME)
    return np.column_stack([-ratio * normal * (TIME < 0.495), np.zeros(101), normal])


def test_the_required_friction_is_the_largest_ratio_under_load():
    assert required_friction(braking_foot(0.6), WEIGHT) == pytest.approx(0.6)
    unloaded = np.column_stack([np.full(101, 5.0), np.zeros(101), np.full(101, 1.0)])
    assert required_friction(unloaded, WEIGHT) == 0.0


def test_instants_beyond_the_ground_are_named():
    forces = {Side.RIGHT: braking_foot(0.6), Side.LEFT: braking_foot(0.3)}
    (excess,) = friction_excesses(TIME, forces, 0.5, WEIGHT)
    assert excess.side == "right"
    # Loaded by 5 % of the weight from arcsin(0.05) / pi = 0.016 s on.
    assert excess.begin == pytest.approx(0.02)
    assert excess.end == pytest.approx(0.49)
    assert excess.required == pytest.approx(0.6)
    assert excess.beyond == pytest.approx(0.1 * np.sin(np.pi * 0.49))
    assert "0.60 under the right foot from 0.020 to 0.490 s" in str(excess)
    assert friction_excesses(TIME, forces, 0.61, WEIGHT) == ()


def test_separate_spans_are_separate_and_in_order():
    force = braking_foot(0.6)
    force[20:30, 0] = 0.0
    found = friction_excesses(TIME, {Side.LEFT: force}, 0.5, WEIGHT)
    assert [round(e.end, 2) for e in found] == [0.19, 0.49]


def test_no_plates_have_no_forces():
    time, forces = plate_forces(None, 0.0, 1.0)
    assert len(time) == 0
    assert not forces
