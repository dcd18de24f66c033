"""Loads of strides that plates did not see are left out, not averaged."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.analysis.curves import CycleSegmentation
from homodyn.analysis.load_curves import ground_force_curves, power_curves, torque_curves
from homodyn.analysis.load_validity import (
    all_loads_valid,
    foot_force_valid,
    joint_work,
    valid_torques,
)
from support import strolls

WALKER = strolls.WALKER.but(duration=4.6)


@pytest.fixture(scope="module")
def motion():
    return strolls.fitted(WALKER)


@pytest.fixture(scope="module")
def segmentation(motion):
    return CycleSegmentation(motion.time, tuple(WALKER.events()))


@pytest.fixture(scope="module")
def whole(motion):
    return hd.capture.inverse_dynamics(motion, strolls.plates(motion), cutoff=8.0)


@pytest.fixture(scope="module")
def partial(whole, segmentation):
    """The same with the right foot off the plate in its second stance."""
    start, end = segmentation.stances("right")[2]
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


def test_everything_is_known_when_every_step_is_measured(whole, segmentation):
    assert all_loads_valid(whole, segmentation)
    torques = valid_torques(whole, segmentation)
    assert 0 < whole.edge.sum() < 0.1 * len(torques)
    assert np.isnan(torques[whole.edge]).all()
    assert np.isfinite(torques[~whole.edge]).all()


def test_a_stance_beside_the_plates_is_not_known(partial, segmentation):
    loads, unseen = partial
    known = foot_force_valid(loads, segmentation, "right")
    assert not known[unseen][3:].any()
    assert known[~unseen].all()
    assert foot_force_valid(loads, segmentation, "left").all()
    torques = valid_torques(loads, segmentation)
    names = loads.motion.model.coordinate_names
    assert np.isnan(torques[unseen][5:, names.index("KneeRight_RY")]).all()
    inside = ~loads.edge
    assert np.isfinite(torques[inside, names.index("KneeLeft_RY")]).all()
    assert np.isfinite(torques[inside, names.index("Lumbar_RY")]).all()


def test_means_are_those_of_the_strides_that_are_known(whole, partial, segmentation):
    loads, _ = partial
    knees = [
        next(c for c in torque_curves(each, segmentation) if c.title == "Knee flexion")
        for each in (whole, loads)
    ]
    assert len(knees[1].right.values) == len(knees[0].right.values) - 1
    assert np.abs(knees[1].right.mean).max() < 50
    assert len(knees[1].left.values) == len(knees[0].left.values)
    upward = [ground_force_curves(each, segmentation)[2] for each in (whole, loads)]
    assert np.abs(upward[1].right.mean - upward[0].right.mean).max() < 15


def test_work_of_a_stride_is_the_area_under_its_power(whole, segmentation):
    mass = whole.motion.model.mass
    knee = next(
        row for row in joint_work(whole, segmentation) if (row.joint, row.side) == ("Knee", "right")
    )
    curve = next(c for c in power_curves(whole, segmentation) if c.title == "Knee power").right
    area = np.trapezoid(curve.mean, np.linspace(0, WALKER.period, 101)) * mass
    assert knee.strides == len(curve.values)
    assert knee.net == pytest.approx(area, rel=0.02, abs=0.3)
    assert knee.positive > 0 > knee.negative


def test_forces_from_the_motion_are_all_known(motion, segmentation):
    assert all_loads_valid(hd.capture.inverse_dynamics(motion, (), cutoff=8.0), segmentation)


def test_without_events_the_plates_give_the_usable_frames(whole):
    still = CycleSegmentation(whole.motion.time, ())
    usable = np.arange(len(whole.tau)) % 2 == 0
    np.testing.assert_array_equal(
        foot_force_valid(replace(whole, usable=usable), still, "left"), usable
    )
