"""Loads of strides that plates did not see are left out, not averaged."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.analysis.curves import Rhythm
from homodyn.analysis.known_loads import (
    all_known,
    foot_known,
    known_torques,
    work_of_joints,
)
from homodyn.analysis.load_curves import ground_force_curves, power_curves, torque_curves
from support import strolls

WALKER = strolls.WALKER.but(duration=4.6)


@pytest.fixture(scope="module")
def motion():
    return strolls.fitted(WALKER)


@pytest.fixture(scope="module")
def rhythm(motion):
    return Rhythm(motion.time, tuple(WALKER.events()))


@pytest.fixture(scope="module")
def whole(motion):
    return hd.capture.inverse_dynamics(motion, strolls.plates(motion), cutoff=8.0)


@pytest.fixture(scope="module")
def partial(whole, rhythm):
    """The same with the right foot off the plate in its second stance."""
    start, end = rhythm.stances("right")[2]
    unseen = (whole.motion.time >= start) & (whole.motion.time <= end)
    feet = tuple(
        replace(foot, force=np.where(unseen[:, None], 0.0, foot.force))
        if foot.side == "right"
        else foot
        for foot in whole.feet
    )
    leg = [
        k
        for k, name in enumerate(whole.motion.model.coordinate_names)
        if "Right" in name and name.startswith(("Hip", "Knee", "Ankle"))
    ]
    tau = np.array(whole.tau)
    tau[np.ix_(np.flatnonzero(unseen), leg)] = 999.0
    return replace(whole, feet=feet, tau=tau), unseen


def test_everything_is_known_when_every_step_is_measured(whole, rhythm):
    assert all_known(whole, rhythm)
    assert np.isfinite(known_torques(whole, rhythm)).all()


def test_a_stance_beside_the_plates_is_not_known(partial, rhythm):
    loads, unseen = partial
    known = foot_known(loads, rhythm, "right")
    assert not known[unseen][3:].any()
    assert known[~unseen].all()
    assert foot_known(loads, rhythm, "left").all()
    torques = known_torques(loads, rhythm)
    names = loads.motion.model.coordinate_names
    assert np.isnan(torques[unseen][5:, names.index("KneeRight_RY")]).all()
    assert np.isfinite(torques[:, names.index("KneeLeft_RY")]).all()
    assert np.isfinite(torques[:, names.index("Lumbar_RY")]).all()


def test_means_are_those_of_the_strides_that_are_known(whole, partial, rhythm):
    loads, _ = partial
    knees = [
        next(c for c in torque_curves(each, rhythm) if c.title == "Knee flexion")
        for each in (whole, loads)
    ]
    assert len(knees[1].right.runs) == len(knees[0].right.runs) - 1
    assert np.abs(knees[1].right.mean).max() < 50
    assert len(knees[1].left.runs) == len(knees[0].left.runs)
    upward = [ground_force_curves(each, rhythm)[2] for each in (whole, loads)]
    assert np.abs(upward[1].right.mean - upward[0].right.mean).max() < 15


def test_work_of_a_stride_is_the_area_under_its_power(whole, rhythm):
    mass = whole.motion.model.mass
    knee = next(
        row for row in work_of_joints(whole, rhythm) if (row.joint, row.side) == ("Knee", "right")
    )
    curve = next(c for c in power_curves(whole, rhythm) if c.title == "Knee power").right
    area = np.trapezoid(curve.mean, np.linspace(0, WALKER.period, 101)) * mass
    assert knee.strides == len(curve.runs)
    assert knee.net == pytest.approx(area, rel=0.02, abs=0.3)
    assert knee.given > 0 > knee.taken


def test_forces_from_the_motion_are_all_known(motion, rhythm):
    assert all_known(hd.capture.inverse_dynamics(motion, (), cutoff=8.0), rhythm)


def test_without_events_the_plates_tell_what_is_usable(whole):
    still = Rhythm(whole.motion.time, ())
    usable = np.arange(len(whole.tau)) % 2 == 0
    np.testing.assert_array_equal(foot_known(replace(whole, usable=usable), still, "left"), usable)
