"""Assessments of movements: angles of known postures, strength, worst instants, any model."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import HomodynError, ModelError
from homodyn.model import Model
from homodyn.motion import Motion, motion_from_states
from homodyn.plan.ergonomics import StrengthProfile, assess, joint_strength, posture_angles


def poses(model: Model, frames: int, degrees: dict[str, float]) -> Motion:
    """A movement from the neutral pose to one with these coordinates."""
    q = np.repeat(model.neutral()[None], frames, axis=0)
    for name, value in degrees.items():
        place = model.position_index[model.coordinate_index(name)]
        assert place is not None
        q[:, place] += np.radians(value) * np.linspace(0, 1, frames)
    tau = np.zeros((frames, model.nv))
    time = 0.1 * np.arange(frames)
    return motion_from_states(model, time, q, np.zeros((frames, model.nv)), tau=tau)


@pytest.fixture(scope="module")
def manikin() -> Model:
    return hd.catalog.manikin()


def test_angles_are_those_of_the_joints_that_bend(manikin: Model) -> None:
    motion = poses(
        manikin,
        3,
        {
            "torso_flexion": 30.0,
            "neck_flexion": 25.0,
            "right_shoulder_flexion": 70.0,
            "left_shoulder_abduction": 50.0,
            "right_elbow_flexion": 80.0,
            "right_wrist_flexion": 12.0,
            "left_knee_flexion": 40.0,
        },
    )
    angles = posture_angles(motion)
    np.testing.assert_allclose(angles.trunk_flexion, [0, 15, 30], atol=1e-6)
    np.testing.assert_allclose(angles.neck_flexion, [0, 12.5, 25], atol=1e-6)
    np.testing.assert_allclose(angles.trunk_bend, 0, atol=1e-6)
    np.testing.assert_allclose(angles.arms["right"].elevation[1:], [35, 70], atol=2.0)
    np.testing.assert_allclose(angles.arms["left"].abduction[1:], [25, 50], atol=2.0)
    np.testing.assert_allclose(angles.arms["right"].elbow_flexion, [0, 40, 80], atol=1e-6)
    np.testing.assert_allclose(angles.arms["right"].wrist_flexion, [0, 6, 12], atol=1e-6)
    np.testing.assert_allclose(angles.knee_flexion, [0, 20, 40], atol=1e-6)


def test_a_lean_of_the_whole_body_bends_the_trunk_and_a_turn_does_not(manikin: Model) -> None:
    q = manikin.neutral()
    still = np.zeros((2, manikin.nv))
    turned = np.array([q, manikin.integrate(q, np.eye(manikin.nv)[manikin.root.v[2]] * 0.0)])
    for index in range(manikin.nv):
        if index not in manikin.root.v:
            continue
        step = np.zeros(manikin.nv)
        step[index] = 0.3
        turned[1] = manikin.integrate(q, step)
        motion = motion_from_states(manikin, np.array([0.0, 1.0]), turned, still)
        angles = posture_angles(motion)
        lean = np.hypot(angles.trunk_flexion[1], angles.trunk_bend[1])
        up = hd.dynamics.orientation(manikin, turned[1], "thoracic_spine")[2, 2]
        np.testing.assert_allclose(lean, np.degrees(np.arccos(min(up, 1.0))), atol=0.4)


def test_worse_postures_score_worse(manikin: Model) -> None:
    motion = poses(
        manikin, 21, {"torso_flexion": 40.0, "lumbar_flexion": 30.0, "right_shoulder_flexion": 95.0}
    )
    found = assess(motion)
    assert (np.diff(found.reba.score) >= 0).all()
    assert found.reba.score[-1] > found.reba.score[0] + 2
    assert found.rula.score[-1] > found.rula.score[0] + 1
    assert 20 in found.worst_frames
    assert found.reba.score[list(found.worst_frames)].max() == found.reba.worst
    assert found.sentence.startswith("RULA is at most")
    assert 0.5 < found.reach["right"][1] <= 1.001


def test_strength_curves_have_their_printed_points() -> None:
    """Three quarters of the torque at C4, half of it at C5; the best angle is C3."""
    person = StrengthProfile(80.0, 1.8)
    scale = 80.0 * 1.8 * 9.81
    knee = joint_strength("Knee", "extension", np.array([1.133]), np.array([0.0]), person)
    assert knee[0] == pytest.approx(0.163 * scale)
    speeds = np.array([0.0, 1.517, 3.952])
    rates = joint_strength("Knee", "extension", np.full(3, 1.133), speeds, person) / knee
    np.testing.assert_allclose(rates, [1.0, 0.75, 0.5], atol=1e-12)
    # Lengthening at 1 rad/s, by hand; beyond 60 deg/s there are no measurements.
    slow = joint_strength("Knee", "extension", np.array([1.133]), np.array([-1.0]), person) / knee
    by_hand = (11.990368 - 0.599) / (11.990368 + 1.836) * (1 + 0.095)
    assert slow[0] == pytest.approx(by_hand, rel=1e-6)
    older = joint_strength(
        "Knee",
        "extension",
        np.array([1.067]),
        np.zeros(1),
        StrengthProfile(80.0, 1.8, age="over 65"),
    )
    assert older[0] == pytest.approx(0.137 * scale)
    woman = StrengthProfile(60.0, 1.65, "female")
    hip = joint_strength("Hip", "flexion", np.array([-0.35]), np.zeros(1), woman)
    assert hip[0] == pytest.approx(0.127 * 60 * 1.65 * 9.81)


def test_torques_are_compared_in_their_direction(manikin: Model) -> None:
    motion = poses(manikin, 5, {"right_knee_flexion": 60.0})
    tau = np.zeros((5, manikin.nv))
    k = manikin.coordinate_index("right_knee_flexion")
    tau[3, k] = -100.0
    found = assess(motion, torques=tau, person=StrengthProfile(75.0, 1.75))
    first = found.strengths[0]
    assert (first.name, first.direction, first.source) == (
        "right_knee_flexion",
        "extension",
        "Anderson 2007",
    )
    assert first.torque == pytest.approx(100.0)
    assert first.largest_share == pytest.approx(100.0 / first.strength)
    assert first.time == pytest.approx(0.3)
    limits = {use.name: use for use in found.limits}
    upper, lower = manikin.upper[k], manikin.lower[k]
    share = abs(np.radians(60) - (upper + lower) / 2) / ((upper - lower) / 2)
    neutral = abs((upper + lower) / 2) / ((upper - lower) / 2)
    assert limits["right_knee_flexion"].largest_share == pytest.approx(max(share, neutral))


@pytest.mark.parametrize("name", ["manikin", "heiman", "hdm", "human36"])
def test_models_of_people_can_be_assessed(name: str) -> None:
    model = getattr(hd.catalog, name)()
    q = np.repeat(model.neutral()[None], 2, axis=0)
    motion = motion_from_states(model, np.array([0.0, 0.1]), q, np.zeros((2, model.nv)))
    found = assess(motion)
    assert found.rula.worst <= 3
    assert found.reba.worst <= 2
    assert any("torques are not known" in note for note in found.notes)


def test_what_cannot_be_assessed_is_said() -> None:
    bip = hd.catalog.bip()
    q = np.repeat(bip.neutral()[None], 2, axis=0)
    motion = motion_from_states(bip, np.array([0.0, 0.1]), q, np.zeros((2, bip.nv)))
    with pytest.raises(ModelError, match="no arm"):
        assess(motion)
    with pytest.raises(HomodynError, match="mass and height"):
        StrengthProfile(0.0, 1.8)
    with pytest.raises(HomodynError, match="over 65"):
        StrengthProfile(80.0, 1.8, age="old")
    with pytest.raises(HomodynError, match="no strength curve"):
        joint_strength("Elbow", "flexion", np.zeros(1), np.zeros(1), StrengthProfile(80.0, 1.8))
