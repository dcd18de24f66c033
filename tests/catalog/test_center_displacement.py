"""Bones move with displaced joint centers, and muscles keep their moment arms."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.catalog.center_displacement import CENTER_VARIANCE
from homodyn.errors import ModelError
from homodyn.model import Assembly, box, parametric
from homodyn.model.functions import Linear
from homodyn.model.joints import fixed, revolute, spherical
from homodyn.model.muscles import Ligament, Muscle, PathPoint, PathWrap, PointLaw, WrapObject
from homodyn.spatial import Transform

HIP = np.array([-0.06, 0.08, -0.07])
"""Right hip (m) in a pelvis with x forward, y to the left side's opposite, z up."""
MIRROR = np.array([1.0, -1.0, 1.0])
OUTWARD = np.array([0.008, 0.012, -0.003])
"""Displacement (m) of the right hip."""


def pelvis_with_thighs():
    """Two hips with an iliacus each over a brim, a belt around the waist, and a trunk."""
    thigh = box("ThighRight", 8.0, (0.1, 0.1, 0.4))
    skeleton = (
        Assembly("hips")
        .add(box("Pelvis", 10.0, (0.2, 0.25, 0.15)), revolute("z", names="turn"))
        .add(thigh, spherical(), "Pelvis", at=tuple(HIP), joint_name="HipRight")
        .add(
            replace(thigh, name="ThighLeft"),
            spherical(),
            "Pelvis",
            at=tuple(MIRROR * HIP),
            joint_name="HipLeft",
        )
        .add(box("Trunk", 30.0, (0.2, 0.3, 0.5)), fixed(), "Pelvis", at=(-0.09, 0, 0.08))
        .model()
    )
    muscles, wraps = [], []
    for side, sign in (("Right", np.ones(3)), ("Left", MIRROR)):
        brim = Transform(np.eye(3), sign * [-0.028, 0.075, -0.072])
        path = (
            PathPoint("origin", "Pelvis", sign * [-0.06, 0.09, 0.03]),
            PathPoint("brim", "Pelvis", sign * [-0.012, 0.077, -0.055]),
            PathPoint("end", f"Thigh{side}", sign * [-0.005, 0.015, -0.06]),
        )
        wrap = (PathWrap(f"ball{side}", first=2, last=3),)
        muscles.append(Muscle(f"iliacus{side}", "Thelen2003Muscle", path, wrap))
        wraps.append(WrapObject(f"ball{side}", "Pelvis", "sphere", (0.012,), brim))
    return replace(
        skeleton,
        muscles=tuple(muscles),
        wraps=tuple(wraps),
        ligaments=(Ligament("band", "Ligament", muscles[0].points[:2]),),
    )


def widened(model, shape=None, share=1.0):
    return hd.catalog.displace_centers(
        model, {"HipRight": share * OUTWARD, "HipLeft": share * MIRROR * OUTWARD}, shape
    )


def test_centers_move_as_told_and_the_bone_around_them_follows():
    model = pelvis_with_thighs()
    found = widened(model)
    np.testing.assert_allclose(found.joint("HipRight").placement.r, HIP + OUTWARD)
    np.testing.assert_allclose(found.joint("HipLeft").placement.r, MIRROR * (HIP + OUTWARD))
    trunk = model.joints[-1]
    np.testing.assert_array_equal(found.joints[-1].placement.r, trunk.placement.r)
    brim, before = found.muscles[0].points[1].position, model.muscles[0].points[1].position
    share = (brim - before) @ OUTWARD / (OUTWARD @ OUTWARD)
    assert 0.8 < share <= 1.0
    np.testing.assert_array_equal(found.ligaments[0].points[1].position, brim)
    # The insertion is on the thigh, whose center did not move in the thigh.
    np.testing.assert_array_equal(
        found.muscles[0].points[2].position, model.muscles[0].points[2].position
    )
    moved = found.wraps[0].placement.r - model.wraps[0].placement.r
    assert moved @ OUTWARD > 0.8 * OUTWARD @ OUTWARD
    np.testing.assert_allclose(found.wraps[1].placement.r, MIRROR * found.wraps[0].placement.r)


def point_on_the_pelvis(position, laws=()):
    model = pelvis_with_thighs()
    muscle = model.muscles[0]
    points = (PathPoint("point", "Pelvis", position, laws=laws), *muscle.points[1:])
    return replace(model, muscles=(replace(muscle, points=points), model.muscles[1]))


@pytest.mark.parametrize(
    ("position", "share", "tolerance"),
    [
        (HIP, 1.0, 3 * CENTER_VARIANCE),  # at the center itself
        (HIP * [1, 1, 8], 0.0, 0.01),  # half a meter below
        ((-0.09, 0.0, 0.08), 0.0, 3 * CENTER_VARIANCE),  # at the joint of the trunk
    ],
)
def test_the_displacement_fades_with_the_distance(position, share, tolerance):
    model = point_on_the_pelvis(position)
    change = widened(model).muscles[0].points[0].position - position
    np.testing.assert_allclose(change, share * OUTWARD, atol=tolerance * np.abs(OUTWARD).max())


def test_what_a_coordinate_drives_keeps_its_law():
    law = PointLaw("x", "turn", Linear(0.1, 0.02))
    found = widened(point_on_the_pelvis(HIP, (law,)))
    assert found.muscles[0].points[0].laws == (law,)


def test_moment_arms_are_kept_where_bones_move_with_their_centers():
    model = pelvis_with_thighs()
    poses = [model.neutral()]
    arms = hd.muscle.moment_arms(model, poses)
    found = hd.muscle.moment_arms(widened(model), poses)
    alone = widened(replace(model, muscles=(), wraps=(), ligaments=()))
    left_behind = replace(alone, muscles=model.muscles, wraps=model.wraps)
    damaged = hd.muscle.moment_arms(left_behind, poses)
    assert np.abs(arms).max() > 0.03
    assert np.abs(found - arms).max() < 0.0025
    assert np.abs(damaged - arms).max() > 0.008


def test_two_joints_at_one_place_do_not_tear_the_bone():
    model = pelvis_with_thighs()
    beside = Transform(np.eye(3), HIP * [1.0, 1.02, 1.0])
    twin = replace(model.joint("HipLeft"), placement=beside)
    joints = tuple(twin if joint.name == "HipLeft" else joint for joint in model.joints)
    torn = hd.catalog.displace_centers(replace(model, joints=joints), {"HipRight": OUTWARD})
    for now, before in zip(torn.muscles[0].points, model.muscles[0].points, strict=True):
        assert np.linalg.norm(now.position - before.position) < np.linalg.norm(OUTWARD)


def test_displacements_may_be_expressions():
    model = pelvis_with_thighs()
    traced = parametric(lambda share: widened(model, model, share), share=0.5)
    expected = widened(model, share=0.8)
    found = traced.at({"share": 0.8})
    for now, then in zip(found.muscles[0].points, expected.muscles[0].points, strict=True):
        np.testing.assert_allclose(now.position, then.position, rtol=1e-14)
    np.testing.assert_allclose(found.wraps[0].placement.r, expected.wraps[0].placement.r)


def test_nothing_moves_without_a_displacement_and_unknown_joints_are_refused():
    model = pelvis_with_thighs()
    still = hd.catalog.displace_centers(model, {"HipRight": np.zeros(3)})
    assert still.muscles == model.muscles
    with pytest.raises(ModelError, match="HipRigth"):
        hd.catalog.displace_centers(model, {"HipRigth": OUTWARD})
