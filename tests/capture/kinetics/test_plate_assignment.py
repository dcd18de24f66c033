"""Plates find their feet, and say so when they cannot."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import inverse_dynamics
from homodyn.capture.kinetics.foot_trajectories import foot_trajectories
from homodyn.motion import ForcePlate
from support.swaying import plates_for, sway
from support.walks import walk


@pytest.fixture(scope="module")
def swaying():
    return sway(hd.catalog.heiman(height=1.75, mass=70))


def together(name, *plates):
    """One plate that feels all of them."""
    force = sum(plate.force for plate in plates)
    point = sum(plate.force[:, 2:] * plate.point for plate in plates) / force[:, 2:]
    torque = sum(plate.torque + np.cross(plate.point - point, plate.force) for plate in plates)
    return ForcePlate(name, plates[0].rate, force, point, torque, start=plates[0].start)


def split(plate, share):
    """Two plates with a foot across both, whose centers of pressure lie separate."""
    offset = np.array([0.03, 0.0, 0.0])
    first = replace(
        plate,
        name="one",
        force=share * plate.force,
        torque=share * plate.torque,
        point=plate.point + (1 - share) * offset,
    )
    second = replace(
        plate,
        name="two",
        force=(1 - share) * plate.force,
        torque=(1 - share) * plate.torque,
        point=plate.point - share * offset,
    )
    return first, second


def test_a_foot_across_two_plates_gets_their_sum(swaying):
    left, right = plates_for(swaying)
    whole = inverse_dynamics(swaying, (left, right), cutoff=None)
    parts = inverse_dynamics(swaying, (*split(left, 0.4), right), cutoff=None)
    np.testing.assert_allclose(parts.tau, whole.tau, atol=1e-8)
    foot = next(foot for foot in parts.feet if foot.side == "left")
    assert foot.plates == ("one", "two")
    np.testing.assert_allclose(foot.point, left.point, atol=1e-9)
    assert any("across plates 'one' and 'two'" in note for note in parts.notes)


def test_two_feet_on_one_plate_are_not_used_for_torques():
    standing = sway(hd.catalog.heiman(height=1.75, mass=70), size=0.002)
    found = inverse_dynamics(standing, (together("floor", *plates_for(standing)),), cutoff=None)
    assert not found.usable.any()
    assert any("both feet are on it at the same time" in note for note in found.notes)
    # The root does not care whose foot it was.
    assert np.abs(found.residual_force).max() < 1e-8


def test_a_step_with_both_feet_on_one_plate_is_found(shared_data):
    found = walk(shared_data, "arnold2013")
    right, left = found.plates
    plates = (together("belt", right, left),)
    answer = inverse_dynamics(found.motion, plates)
    separate = inverse_dynamics(found.motion, found.plates)
    both = (separate.feet[0].force[:, 1] > 100) & (separate.feet[1].force[:, 1] > 100)
    single = (separate.feet[0].force[:, 1] == 0) | (separate.feet[1].force[:, 1] == 0)
    assert (~answer.usable[both]).mean() > 0.7
    assert answer.usable[single].mean() > 0.9
    # In single support the force is on the foot that stands.
    for mine, theirs in zip(answer.feet, separate.feet, strict=True):
        stands = single & (theirs.force[:, 1] > 200)
        assert np.abs(mine.force - theirs.force)[stands].max() < 25


def test_a_force_with_no_foot_nearby_is_discarded_with_a_note(swaying):
    left, right = plates_for(swaying)
    stray = ForcePlate(
        "corner",
        left.rate,
        np.tile([0.0, 0.0, 90.0], (len(left.force), 1)),
        np.tile([2.0, 2.0, 0.0], (len(left.force), 1)),
        np.zeros((len(left.force), 3)),
    )
    found = inverse_dynamics(swaying, (left, right, stray), cutoff=None)
    assert np.abs(found.residual_force).max() < 1e-8
    assert any("'corner' carries up to 90 N" in n and "discarded" in n for n in found.notes)


def test_feet_can_be_assigned_by_the_user(swaying):
    left, right = plates_for(swaying)
    crossed = inverse_dynamics(swaying, (left, right), cutoff=None, feet={"left": "FootRight"})
    assert {foot.body: foot.plates for foot in crossed.feet} == {
        "FootRight": ("left", "right"),
        "FootLeft": (),
    }
    without = inverse_dynamics(swaying, (left, right), cutoff=None, feet={"left": None})
    np.testing.assert_allclose(without.residual_force, left.force, atol=1e-8)
    assert any("ignored, as requested" in note for note in without.notes)


def test_a_hand_on_a_rail_can_be_assigned(swaying):
    left, right = plates_for(swaying)
    hand = hd.dynamics.position(swaying.model, swaying.q, "HandLeft")
    rail = ForcePlate(
        "rail", left.rate, np.tile([0.0, 0.0, 50.0], (401, 1)), hand, np.zeros((401, 3))
    )
    found = inverse_dynamics(swaying, (left, right, rail), cutoff=None, feet={"rail": "HandLeft"})
    assert [foot.body for foot in found.feet][-1] == "HandLeft"
    np.testing.assert_allclose(found.residual_force[:, 2], -50.0, atol=1e-8)


def test_an_unused_plate_carries_no_foot(swaying):
    left, right = plates_for(swaying)
    idle = replace(left, name="idle", force=np.zeros_like(left.force), point=left.point * np.nan)
    found = inverse_dynamics(swaying, (left, right, idle), cutoff=None)
    assert np.abs(found.residual_force).max() < 1e-8
    assert any("'idle' carries no foot" in note for note in found.notes)


def test_feet_on_a_treadmill_stand_though_they_move(shared_data):
    found = walk(shared_data, "gait10dof")
    measured = inverse_dynamics(found.motion, found.plates)
    for path in foot_trajectories(
        measured.motion, hd.capture.kinetics.find_feet(found.motion.model)
    ):
        force = next(f.force[:, 1] for f in measured.feet if f.body == path.foot.body)
        agree = path.in_stance == (force > 20)
        assert agree.mean() > 0.93
