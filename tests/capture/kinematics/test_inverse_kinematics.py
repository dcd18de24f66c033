"""Poses from markers: exact where they can be, least squares where not, honest about the rest."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares

import homodyn as hd
from homodyn.capture import (
    Trial,
    inverse_kinematics,
)
from homodyn.capture.kinematics import world_axes
from homodyn.dynamics import marker_positions
from homodyn.errors import CaptureError, NoSolution
from homodyn.model import Assembly, Model, joints, rod
from homodyn.model.configuration import within_limits
from homodyn.motion import (
    FitStatus,
    Motion,
)
from support.movements import marked, swaying, trial_of
from support.trees import PLAIN_KINDS, coupled_tree, random_tree

HEAD_YAW = "neck_left_rotation"


@pytest.fixture(scope="module")
def person() -> Model:
    return hd.catalog.heiman()


@pytest.fixture(scope="module")
def quaternion_person() -> Model:
    return hd.catalog.hdm()


@pytest.fixture(scope="module")
def walk(person: Model) -> np.ndarray:
    return swaying(person, 24, place=(2.0, -1.0, 0.0))


def largest_error(motion: Motion, q: np.ndarray) -> float:
    """Largest error of a coordinate (rad, m)."""
    return float(np.abs(motion.model.difference(q, motion.q)).max())


def test_poses_come_back_from_their_own_markers(person: Model, walk: np.ndarray) -> None:
    motion = inverse_kinematics(person, trial_of(person, walk))
    assert largest_error(motion, walk) < 1e-6
    assert motion.rms < 1e-8
    assert set(motion.status) == {FitStatus.CONVERGED}
    assert motion.unobserved == ()


def test_human36_comes_back_but_for_the_unseen_turn_of_its_head() -> None:
    model = hd.catalog.human36()
    q = swaying(model, 12, amplitude=0.2, still=(HEAD_YAW,))
    q[:, [model.coordinate_index(f"{side}_elbow_flexion") for side in ("left", "right")]] += 0.4
    q = hd.model.configuration.clamp(model, q)
    motion = inverse_kinematics(model, trial_of(model, q))
    assert motion.unobserved == (HEAD_YAW,)
    assert largest_error(motion, q) < 1e-6


def test_a_quaternion_root_comes_back(quaternion_person: Model) -> None:
    model = quaternion_person
    hidden = ("right_shoulder_pitch", "left_shoulder_pitch")
    q = swaying(model, 10, still=hidden, place=(1.0, 0.5, 0.0, 0.2, -0.1, 2.0))
    motion = inverse_kinematics(model, trial_of(model, q))
    assert motion.unobserved == hidden
    assert largest_error(motion, q) < 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_every_joint_type_comes_back_from_nearby(seed: int) -> None:
    model = marked(random_tree(seed, len(PLAIN_KINDS) + 1))
    rng = np.random.default_rng(seed)
    q = model.integrate(model.neutral(), 0.3 * rng.normal(size=(4, model.nv)))
    start = model.integrate(q, 0.02 * rng.normal(size=(4, model.nv)))
    motion = inverse_kinematics(model, trial_of(model, q), start=start)
    assert largest_error(motion, q) < 1e-6


def test_coordinates_that_others_follow_come_back() -> None:
    model = marked(coupled_tree())
    q = swaying(model, 6)
    assert largest_error(inverse_kinematics(model, trial_of(model, q)), q) < 1e-6


@pytest.mark.parametrize("root", ["euler", "quaternion"])
def test_any_heading_and_position_is_found(
    root: str, person: Model, quaternion_person: Model
) -> None:
    model = person if root == "euler" else quaternion_person
    for heading in (-3.0, -1.5, 1.5, 3.1):
        place = (4.0, -7.0, 0.1, 0.0, 0.0, heading)
        q = swaying(model, 2, seed=int(10 * heading) % 7, amplitude=0.25, place=place)
        motion = inverse_kinematics(model, trial_of(model, q))
        assert motion.rms < 1e-7


def test_a_turn_on_the_spot_has_no_jumps(person: Model) -> None:
    q = swaying(person, 40, amplitude=0.1)
    q[:, person.coordinate_index("Pelvis_RZ")] = np.linspace(-2.0, 5.5, 40)
    motion = inverse_kinematics(person, trial_of(person, q))
    assert motion.rms < 1e-7
    assert np.abs(np.diff(motion.q, axis=0)).max() < 0.5


def test_limits_apply_and_are_noted(person: Model, walk: np.ndarray) -> None:
    knee = person.coordinate_index("KneeRight_RY")
    q = walk[:4].copy()
    q[:, knee] = person.lower[knee] - 0.25
    trial = trial_of(person, q)
    motion = inverse_kinematics(person, trial)
    assert motion.at_limit[:, knee].all()
    assert within_limits(person, motion.q[:, :], tolerance=1e-12).all()
    assert any("Right knee flexion (KneeRight_RY) 100 %" in note for note in motion.notes)
    free = inverse_kinematics(person, trial, limits=False)
    assert largest_error(free, q) < 1e-6
    assert not free.at_limit.any()


def test_without_limits_joints_do_not_wind(person: Model, walk: np.ndarray) -> None:
    noisy = trial_of(person, walk, noise=0.15)
    for method in ("levenberg-marquardt", "sugihara"):
        motion = inverse_kinematics(person, noisy, limits=False, max_rms=1.0, method=method)
        joints = motion.q[:, len(person.root.v) :]
        assert np.abs(np.median(joints, axis=0)).max() < np.pi + 1e-9
        assert np.abs(np.diff(joints, axis=0)).max() < np.pi + 1e-9
        # The markers are where the fit has put them.
        found = np.linalg.norm(
            marker_positions(person, motion.q) @ world_axes(person).T - noisy.positions, axis=-1
        )
        np.testing.assert_allclose(found, motion.residual, atol=1e-9)


def test_the_answer_at_limits_is_the_constrained_minimum(person: Model, walk: np.ndarray) -> None:
    q = walk[:3].copy()
    for name in ("KneeRight_RY", "ElbowLeft_RY", "AnkleLeft_RY"):
        i = person.coordinate_index(name)
        q[:, i] = person.lower[i] - 0.2
    trial = trial_of(person, q, noise=0.02)
    motion = inverse_kinematics(person, trial, tolerance=1e-10)
    measured = trial.positions
    lower, upper = person.lower.copy(), person.upper.copy()
    lower[:6], upper[:6] = -np.inf, np.inf
    for frame in range(3):
        pose = motion.q[frame]

        def residuals(x: np.ndarray, frame: int = frame) -> np.ndarray:
            return (marker_positions(person, x) - measured[frame]).ravel()

        # The conditions of Karush, Kuhn and Tucker, by differences.
        slope = np.array(
            [
                np.sum(residuals(pose + h) ** 2 - residuals(pose - h) ** 2) / 4e-6
                for h in 1e-6 * np.eye(person.nv)
            ]
        )
        stopped = motion.at_limit[frame]
        assert np.abs(slope[~stopped]).max() < 1e-6
        assert (slope[stopped & (pose <= lower)] > -1e-7).all()
        assert (slope[stopped & (pose >= upper)] < 1e-7).all()
        inside = np.clip(pose, lower + 1e-6, upper - 1e-6)
        oracle = least_squares(residuals, inside, bounds=(lower, upper), xtol=1e-12, ftol=1e-12)
        assert np.sum(residuals(pose) ** 2) / 2 <= oracle.cost * (1 + 1e-6)


def test_missing_markers_have_no_weight(person: Model, walk: np.ndarray) -> None:
    trial = trial_of(person, walk, noise=0.003)
    rng = np.random.default_rng(3)
    hidden = rng.random(trial.seen.shape) < 0.05
    positions = np.where(hidden[..., None], np.nan, trial.positions)
    motion = inverse_kinematics(person, replace(trial, positions=positions))
    assert np.array_equal(np.isnan(motion.residual), hidden)
    distance = motion.residual[~hidden]
    assert motion.rms == pytest.approx(np.sqrt(np.mean(distance**2)), rel=1e-12)
    assert not any("was interpolated there" in note for note in motion.notes)
    for frame in (0, 11):
        labels = tuple(trial.markers[k] for k in np.flatnonzero(~hidden[frame]))
        assert len(labels) < len(trial.markers)
        alone = Trial("one", labels, trial.positions[frame : frame + 1, ~hidden[frame]], 100.0)
        assert np.allclose(inverse_kinematics(person, alone).q[0], motion.q[frame], atol=1e-6)


def test_a_coordinate_that_a_gap_hides_is_interpolated_and_noted(person: Model) -> None:
    q = swaying(person, 20)
    trial = trial_of(person, q)
    below = ("LowerArmLeft", "HandLeft")
    hand = [k for k, marker in enumerate(person.markers) if marker.body in below]
    positions = trial.positions.copy()
    positions[8:12, hand] = np.nan
    motion = inverse_kinematics(person, replace(trial, positions=positions))
    elbow = person.coordinate_index("ElbowLeft_RY")
    notes = [n for n in motion.notes if n.startswith("Left elbow flexion (ElbowLeft_RY)")]
    assert len(notes) == 1
    assert "in 4 frames" in notes[0]
    line = np.interp(np.arange(8, 12), [7, 12], motion.q[[7, 12], elbow])
    assert np.allclose(motion.q[8:12, elbow], line, atol=1e-9)
    assert np.abs(motion.q[8:12] - q[8:12])[:, :6].max() < 1e-6
    assert set(motion.status) == {FitStatus.CONVERGED}


def test_frames_without_markers_are_interpolated_and_flagged(person: Model) -> None:
    q = swaying(person, 15)
    trial = trial_of(person, q)
    positions = trial.positions.copy()
    positions[5:8] = np.nan
    positions[9, 2:] = np.nan
    motion = inverse_kinematics(person, replace(trial, positions=positions))
    assert list(np.flatnonzero(motion.status == FitStatus.UNSEEN)) == [5, 6, 7, 9]
    assert np.allclose(motion.q[6], (motion.q[4] + motion.q[8]) / 2, atol=1e-9)
    assert np.isnan(motion.residual[5:8]).all()
    assert any("4 of 15 frames" in note for note in motion.notes)


def test_a_robust_loss_sees_past_an_outlier(person: Model, walk: np.ndarray) -> None:
    trial = trial_of(person, walk[:6], noise=0.001)
    positions = trial.positions.copy()
    positions[:, trial.markers.index("RKNE")] += (0.0, 0.3, 0.1)
    spoiled = replace(trial, positions=positions)
    errors = {
        loss: largest_error(inverse_kinematics(person, spoiled, robust=loss), walk[:6])
        for loss in (None, "huber", "cauchy", ("cauchy", 0.01))
    }
    clean = largest_error(inverse_kinematics(person, trial), walk[:6])
    assert errors[None] > 5 * clean
    assert errors["huber"] < errors[None] / 2
    assert max(errors["cauchy"], errors["cauchy", 0.01]) < 1.5 * clean


def test_weights_move_the_answer_and_zero_leaves_out(person: Model, walk: np.ndarray) -> None:
    trial = trial_of(person, walk[:4])
    positions = trial.positions.copy()
    positions[:, trial.markers.index("LANK")] += 0.2
    spoiled = replace(trial, positions=positions)
    assert largest_error(inverse_kinematics(person, spoiled), walk[:4]) > 0.05
    assert (
        largest_error(inverse_kinematics(person, spoiled, weights={"LANK": 0.0}), walk[:4]) < 1e-6
    )


def test_coordinates_can_be_tracked(person: Model, walk: np.ndarray) -> None:
    trial = trial_of(person, walk[:5])
    knee = person.coordinate_index("KneeLeft_RY")
    goal = np.full(5, 0.9)
    strict = inverse_kinematics(person, trial, track={"KneeLeft_RY": (1e6, goal)})
    assert np.allclose(strict.q[:, knee], 0.9, atol=1e-4)
    loose = inverse_kinematics(person, trial, track={"KneeLeft_RY": (1e-9, 0.9)})
    assert largest_error(loose, walk[:5]) < 1e-4


def test_tracked_coordinates_alone_determine_what_no_marker_shows() -> None:
    model = hd.catalog.human36()
    q = swaying(model, 4, amplitude=0.1, still=(HEAD_YAW,))
    motion = inverse_kinematics(model, trial_of(model, q), track={HEAD_YAW: (1.0, 0.2)})
    assert motion.unobserved == ()
    assert np.allclose(motion.q[:, model.coordinate_index(HEAD_YAW)], 0.2, atol=0.05)


def test_locked_coordinates_stay() -> None:
    arm = (
        Assembly("arm")
        .add(rod("upper", 1.0, (0, 0, 0), (0, 0, -1)), joints.revolute("y"), at=(0, 0, 2))
        .add(rod("lower", 0.5, (0, 0, 0), (0, 0, -1)), joints.revolute("y"), "upper", at=(0, 0, -1))
        .marker("elbow", "lower", (0.1, 0, 0))
        .marker("tip", "lower", (0, 0, -1))
        .model()
    )
    trial = trial_of(arm, np.array([[0.3, 0.4]]))
    locked = tuple(
        replace(j, coordinates=tuple(replace(c, locked=j.name == "lower") for c in j.coordinates))
        for j in arm.joints
    )
    motion = inverse_kinematics(replace(arm, joints=locked), trial, max_rms=1.0)
    assert motion.q[0, 1] == 0.0
    assert motion.q[0, 0] > 0.4
    assert any("locked" in note for note in motion.notes)


def test_the_same_call_gives_the_same_bits(person: Model, walk: np.ndarray) -> None:
    trial = trial_of(person, walk[:8], noise=0.004)
    first = inverse_kinematics(person, trial, robust="huber")
    again = inverse_kinematics(hd.catalog.heiman(), trial, robust="huber")
    for name in ("q", "v", "a", "residual"):
        assert getattr(first, name).tobytes() == getattr(again, name).tobytes()


def test_native_code_and_virtual_machine_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    arm = marked(random_tree(4, 3, ("spherical", "revolute", "euler")))
    trial = trial_of(arm, swaying(arm, 60), noise=0.01)
    native = inverse_kinematics(arm, trial)
    monkeypatch.setenv("HOMODYN_TIER", "interpreted")
    assert np.allclose(inverse_kinematics(arm, trial).q, native.q, atol=1e-7)


def test_a_motion_can_start_another_fit(person: Model, walk: np.ndarray) -> None:
    trial = trial_of(person, walk[:6], noise=0.002)
    motion = inverse_kinematics(person, trial)
    again = inverse_kinematics(person, trial, start=motion)
    assert again.iterations.max() <= 2
    assert np.allclose(again.q, motion.q, atol=1e-7)


class TestRefusals:
    def test_an_unknown_keyword(self, person: Model, walk: np.ndarray) -> None:
        with pytest.raises(TypeError, match=r"'marker_weights'; did you mean 'weights'"):
            inverse_kinematics(person, trial_of(person, walk[:2]), marker_weights={"LKNE": 2.0})

    def test_no_common_name(self, person: Model, walk: np.ndarray) -> None:
        trial = trial_of(person, walk[:2])
        strange = trial.rename_markers({label: f"x{label}" for label in trial.markers})
        with pytest.raises(CaptureError, match=r"no marker name in common.*match_labels"):
            inverse_kinematics(person, strange)

    def test_nothing_seen(self, person: Model, walk: np.ndarray) -> None:
        trial = trial_of(person, walk[:2])
        with pytest.raises(CaptureError, match="is ever seen"):
            inverse_kinematics(
                person, replace(trial, positions=np.full(trial.positions.shape, np.nan))
            )

    def test_too_few_markers(self, person: Model, walk: np.ndarray) -> None:
        trial = trial_of(person, walk[:2]).select_markers(["LKNE", "LANK"])
        with pytest.raises(CaptureError, match="three markers that are not in line"):
            inverse_kinematics(person, trial)

    @pytest.mark.parametrize(("factor", "unit"), [(1000, "millimeters"), (100, "centimeters")])
    def test_other_units(self, person: Model, walk: np.ndarray, factor: int, unit: str) -> None:
        trial = trial_of(person, walk[:2])
        with pytest.raises(CaptureError, match=f"{unit}.*divide them by {factor}"):
            inverse_kinematics(person, replace(trial, positions=factor * trial.positions))

    def test_another_body(self, person: Model, walk: np.ndarray) -> None:
        trial = trial_of(person, walk[:2])
        labels = list(trial.markers)
        shuffled = np.random.default_rng(0).permutation(labels)
        mixed = trial.rename_markers(dict(zip(labels, shuffled, strict=True)))
        with pytest.raises(NoSolution, match="check the labels, scale the model"):
            inverse_kinematics(person, mixed)

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"method": "newton"}, "levenberg-marquardt or sugihara"),
            ({"robust": "tukey"}, "'huber' or 'cauchy'"),
            ({"robust": ("huber", 0.0)}, "above zero"),
            ({"weights": {"nose": 1.0}}, "nose"),
            ({"weights": {"LKNE": -1.0}}, "0 or more"),
            ({"track": {"KneeLeft_RY": (1.0, [0.0])}}, "one number or 2"),
            ({"track": {"KneeLeft_RY": (-1.0, 0.0)}}, "0 or more"),
            ({"start": np.zeros(3)}, "34 finite numbers"),
            ({"smooth": 60.0}, "half the rate"),
            ({"weights": [1.0, 2.0]}, "weights are given by marker name, .*got list"),
        ],
    )
    def test_wrong_options(
        self, person: Model, walk: np.ndarray, options: dict, words: str
    ) -> None:
        with pytest.raises(CaptureError, match=words):
            inverse_kinematics(person, trial_of(person, walk[:2]), **options)


def test_an_empty_trial_is_refused(person: Model) -> None:
    with pytest.raises(CaptureError):
        inverse_kinematics(person, Trial("none", ("LKNE",), np.zeros((0, 1, 3)), 100.0))
