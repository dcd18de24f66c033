"""Quantities over the gait cycle: truths of a walk that is known come back."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.analysis.curves import (
    CycleSegmentation,
    angle_curves,
    pelvis_angles,
    signal_curves,
    walking_direction,
)
from homodyn.capture import Signals
from homodyn.motion import Event
from support import strolls

WALKER = strolls.WALKER


@pytest.fixture(scope="module")
def motion():
    return strolls.fitted()


@pytest.fixture(scope="module")
def segmentation(motion):
    return CycleSegmentation(motion.time, tuple(WALKER.events()))


def test_foot_off_is_where_the_walk_has_it(segmentation):
    for side in ("right", "left"):
        assert segmentation.count(side) >= 1
        assert segmentation.mean_foot_off(side) == pytest.approx(100 * WALKER.stance, abs=1e-6)


def test_angles_over_the_cycle_are_those_of_the_walk(motion, segmentation):
    knee = next(c for c in angle_curves(motion, segmentation) if c.title == "Knee flexion")
    column = motion.model.coordinate_index("KneeRight_RY")
    strike = next(
        e.time for e in WALKER.events() if (e.label, e.context) == ("Foot Strike", "Right")
    )
    instants = strike + np.linspace(0, 1, 101) * WALKER.period
    expected = np.rad2deg(WALKER.pose(instants)[:, column])
    assert np.abs(knee.right.values[0] - expected).max() < 0.5
    np.testing.assert_allclose(knee.right.mean, knee.left.mean, atol=1.0)


@pytest.mark.parametrize("turn", [0.0, 2.5, np.pi])
def test_nothing_depends_on_the_direction_of_the_walk(motion, segmentation, turn):
    rotated = strolls.fitted(WALKER.but(heading=turn))
    np.testing.assert_allclose(
        walking_direction(rotated), [np.cos(turn), np.sin(turn), 0.0], atol=1e-6
    )
    for before, after in zip(
        angle_curves(motion, segmentation), angle_curves(rotated, segmentation), strict=True
    ):
        np.testing.assert_allclose(before.right.mean, after.right.mean, atol=1e-4)


def test_pelvis_angles_are_those_of_the_rotation():
    model = hd.catalog.heiman()
    tilt, obliquity, rotation = 0.1, -0.07, 0.2
    motion = strolls.fitted()
    c, s = np.cos, np.sin
    Rz = np.array([[c(rotation), -s(rotation), 0], [s(rotation), c(rotation), 0], [0, 0, 1]])
    Rx = np.array([[1, 0, 0], [0, c(obliquity), -s(obliquity)], [0, s(obliquity), c(obliquity)]])
    Ry = np.array([[c(tilt), 0, s(tilt)], [0, 1, 0], [-s(tilt), 0, c(tilt)]])
    wanted = Rz @ Rx @ Ry
    # HeiMan turns about y, then x, then z of the body.
    x = np.arcsin(-wanted[1, 2])
    y = np.arctan2(wanted[0, 2], wanted[2, 2])
    z = np.arctan2(wanted[1, 0], wanted[1, 1])
    q = np.array(motion.q)
    for name, value in (("Pelvis_RY", y), ("Pelvis_RX", x), ("Pelvis_RZ", z)):
        q[:, model.coordinate_index(name)] = value
    posed = replace(motion, q=q)
    placed = hd.dynamics.orientation(model, q[0], "Pelvis")
    np.testing.assert_allclose(placed, wanted, atol=1e-12)
    found = [values[0] for values in pelvis_angles(posed)]
    np.testing.assert_allclose(found, [tilt, obliquity, rotation], atol=1e-9)


def test_without_cycles_curves_are_over_time(motion):
    still = CycleSegmentation(motion.time, (Event(0.5, "Foot Strike", "Right"),))
    curves = angle_curves(motion, still)
    assert curves
    assert all(curve.over_time for curve in curves)
    np.testing.assert_array_equal(curves[0].right.x, motion.time)


def test_muscles_of_both_sides_share_a_curve(segmentation):
    time = np.arange(2600) / 1000
    values = np.column_stack([time, 2 * time, 3 * time])
    signals = Signals(("R_Soleus", "L_Soleus", "Trigger"), 1000.0, values)
    soleus, trigger = signal_curves(signals, segmentation, ("right", "left", None))
    assert soleus.title == "Soleus"
    assert soleus.right is not None
    assert soleus.left is not None
    assert trigger.title == "Trigger"
    assert trigger.midline
