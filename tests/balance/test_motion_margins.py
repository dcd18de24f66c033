"""Margins of motions and poses in one call: supports from the ground, known forces or steps."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn import catalog
from homodyn.balance import Grasp, detect_contacts, evaluate, margins
from homodyn.errors import ModelError
from homodyn.motion import ContactForce, Motion, motion_from_poses
from homodyn.simulate import place_on_ground

RATE_HZ = 100.0
TIME = np.arange(41) / 100.0


@pytest.fixture(scope="module")
def model():
    return catalog.heiman(height=1.75, mass=70)


@pytest.fixture(scope="module")
def standing(model):
    return motion_from_poses(model, TIME, np.tile(model.neutral(), (len(TIME), 1)))


def test_a_pose_has_the_margins_of_a_person_who_stands_still_in_it(model, standing):
    pose = margins(model)
    motion = margins(standing)
    assert len(pose.time) == 1
    assert len(motion.time) == len(TIME)
    assert pose.evaluated.all()
    np.testing.assert_allclose(pose.force[0], motion.force[len(TIME) // 2], rtol=1e-6)
    np.testing.assert_allclose(pose.moment[0], motion.moment[len(TIME) // 2], rtol=1e-6)
    np.testing.assert_array_equal(margins(model, model.neutral()).force, pose.force)


def test_a_motion_is_evaluated_in_the_contacts_that_are_detected(standing):
    phases = detect_contacts(standing, friction=0.4)
    expected = evaluate(standing, phases)
    np.testing.assert_array_equal(margins(standing, friction=0.4).force, expected.force)
    np.testing.assert_array_equal(margins(standing, phases=phases).force, expected.force)


def test_feet_that_touch_along_a_line_are_out_of_balance_toward_the_center_of_mass(model):
    pose = place_on_ground(model, model.pose({"Pelvis_RY": 0.1}))
    evaluation = margins(model, pose)
    corners = np.vstack([patch.corners for patch in evaluation.phases[0].stance.patches])
    assert np.ptp(corners[:, 0]) < 1e-6
    assert evaluation.demand.com[0, 0] < corners[0, 0] - 0.01
    assert evaluation.phases[0].wrenches.flat
    assert "touch along a line, and any moment about it tips the body" in evaluation.sentence
    assert "it tips toward -x" in evaluation.sentence
    assert evaluation.sentence in str(evaluation)


def test_the_sentence_names_the_direction_of_the_smallest_push(model):
    stance = margins(model)
    x = stance.demand.com[0, 0]
    corners = np.vstack([patch.corners for patch in stance.phases[0].stance.patches])
    # The center of mass is nearer to the heels than to the toes.
    assert x - corners[:, 0].min() < corners[:, 0].max() - x
    assert f"a push of {stance.force[0]:.1f} N toward -x" in stance.sentence


def test_a_horizontal_push_is_limited_by_friction(model):
    # The feet slide under a push of more than mu m g.
    slippery, rough = (margins(model, friction=mu).force[0] for mu in (0.05, 0.5))
    weight = model.mass * 9.81
    assert 0 < slippery <= 0.05 * weight * (1 + 1e-6)
    assert slippery < rough


def test_the_ground_may_be_at_another_height(model):
    upstairs = model.neutral()
    upstairs[2] += 1.0
    raised = margins(model, upstairs, ground=1.0)
    np.testing.assert_allclose(raised.force, margins(model).force, rtol=1e-6)


def test_a_pose_on_given_supports_has_their_margins(model, standing):
    feet = detect_contacts(standing)[0].stance
    q = standing.q[0]
    given = margins(model, q, feet.supports)
    assert given.force[0] == pytest.approx(margins(model, q).force[0], rel=1e-6)
    handle = Grasp("rail", (0.3, 0.0, 1.0), 200.0)
    held = margins(model, q, (*feet.supports, handle))
    assert held.force[0] > given.force[0] + 20.0
    with pytest.raises(ModelError, match="supports go with a model"):
        margins(standing, supports=feet)


def test_a_pose_with_a_motion_is_refused(model, standing):
    with pytest.raises(ModelError, match="a pose q goes with a model"):
        margins(standing, model.neutral())


def supports(evaluation):
    (names,) = {phase.supports for phase in evaluation.phases}
    return set(names)


def still(model, q, frames=20) -> Motion:
    return motion_from_poses(model, np.arange(frames) / RATE_HZ, np.tile(q, (frames, 1)))


def lifted(model, hip, knee, ankle=0.0):
    """A pose on the left foot with the right one lifted."""
    angles = {"HipRight_RY": hip, "KneeRight_RY": knee, "AnkleRight_RY": ankle}
    return place_on_ground(model, model.pose(angles))


def test_a_standing_pose_names_both_feet_and_no_time(model):
    found = margins(model)
    assert supports(found) == {"right", "left"}
    assert found.sentence.startswith("Smallest margin on right and left: ")
    assert found.force == pytest.approx(margins(model, ground=0.0).force)


@pytest.mark.parametrize("height", [0.5, 0.02, -0.5])
def test_a_pose_off_the_ground_has_no_support(model, height):
    q = place_on_ground(model, model.neutral(), height)
    word = f"{abs(height):g} m {'above' if height > 0 else 'below'} it"
    with pytest.raises(ModelError, match=f"no foot is in contact.*{word}.*ground="):
        margins(model, q)
    with pytest.raises(ModelError, match="no foot is in contact"):
        margins(still(model, q))
    # The same pose stands on a ground of that height.
    raised = margins(model, q, ground=height)
    assert supports(raised) == {"right", "left"}
    assert raised.force == pytest.approx(margins(model).force, rel=1e-6)


@pytest.mark.parametrize("angles", [(-1.0, 1.5), (-1.5, 1.5), (-0.35, 0.7, -0.35)])
def test_a_lifted_foot_is_no_support(model, angles):
    q = lifted(model, *angles)
    for found in (margins(model, q), margins(still(model, q))):
        assert supports(found) == {"left"}
        assert found.wrench[0] < 0  # the center of mass is between the feet
    assert margins(model, q).sentence.startswith("Out of balance on left: ")


def test_a_raised_heel_is_not_part_of_the_support(model):
    up_on_toes = model.pose({"AnkleRight_RY": 0.4, "AnkleLeft_RY": 0.4})
    (flat,), (tiptoe,) = (
        margins(model, place_on_ground(model, q)).phases for q in (model.neutral(), up_on_toes)
    )
    lengths = [np.ptp(phase.stance.support("left").corners[:, 0]) for phase in (flat, tiptoe)]
    assert lengths[0] > 0.15
    assert lengths[1] < 0.05


def test_a_body_in_free_fall_has_no_support(model):
    """A flight of 0.2 s around its apex, where the feet are slow."""
    time = np.arange(21) / RATE_HZ
    q = np.tile(place_on_ground(model, model.neutral(), 0.3), (len(time), 1))
    q[:, model.coordinate_names.index("Pelvis_TZ")] -= 9.81 / 2 * (time - 0.1) ** 2
    with pytest.raises(ModelError, match="no foot is in contact"):
        margins(motion_from_poses(model, time, q))


def test_known_contact_forces_decide(model):
    motion = still(model, place_on_ground(model, model.neutral()))
    zero = np.zeros((motion.frames, 3))
    force = np.tile([0.0, 0.0, 70 * 9.81], (motion.frames, 1))
    loaded = replace(motion, contact_forces=(ContactForce("FootLeft", "left", force, zero, zero),))
    assert [phase.supports for phase in detect_contacts(loaded)] == [("left",)]
