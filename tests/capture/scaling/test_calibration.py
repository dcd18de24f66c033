"""Persons recovered from markers in motion: synthetic ones, and one with the whole truth known."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import (
    Trial,
    calibrate,
    read,
    read_table,
)
from homodyn.capture.kinematics import to_world_axes
from homodyn.capture.scaling import (
    ScalingPrior,
    ScalingStatus,
    marker_kinds,
)
from homodyn.dynamics import marker_positions, position
from homodyn.errors import CaptureError
from homodyn.model.plausibility import implausibilities
from support.subjects import subject

LIMBS = ("ThighRight", "ShankRight", "ThighLeft", "ShankLeft", "UpperArmRight", "UpperArmLeft")


@pytest.fixture(scope="module")
def generic():
    return hd.catalog.heiman()


@pytest.fixture(scope="module")
def person(generic):
    return subject(generic, 3)


@pytest.fixture(scope="module")
def calibrated(generic, person):
    return calibrate(generic, person.trial, mass=80.0, symmetric=False)


def table(scaled, what):
    return np.array([getattr(row, what) for row in scaled.bodies])


def test_limbs_of_a_moving_person_are_measured_to_a_percent(generic, person, calibrated):
    error = table(calibrated, "scale") - person.scales
    sd = table(calibrated, "sd")
    for name in LIMBS:
        i = generic.body_names.index(name)
        assert calibrated.bodies[i].measured[2]
        assert sd[i, 2] < 0.01
        assert abs(error[i, 2]) < 3.5 * sd[i, 2]


def test_noise_and_residual_are_those_of_the_cameras(person, calibrated):
    assert calibrated.status is ScalingStatus.SCALED
    assert calibrated.noise_levels["noise"] == pytest.approx(0.001, rel=0.1)
    assert calibrated.rms_after < 0.002 < calibrated.rms_before
    chosen = [k for _, k in calibrated.frames]
    fitted = marker_positions(calibrated.model, calibrated.q)
    distance = np.linalg.norm(fitted - person.trial.positions[chosen], axis=-1)
    assert np.sqrt((distance**2).mean()) == pytest.approx(calibrated.rms_after, rel=1e-6)


def test_undetermined_scales_are_listed(generic, calibrated):
    hidden = {name for name in calibrated.undetermined if name.startswith("Hand")}
    assert hidden == {f"Hand{side} {axis}" for side in ("Left", "Right") for axis in "xyz"}
    assert any("bodies without markers" in warning for warning in calibrated.warnings)
    rows = {row.body: row for row in calibrated.bodies}
    assert rows["HandRight"].source == "prior"
    assert (rows["HandRight"].sd > 0.1).all()


def test_what_markers_leave_open_follows_what_they_determine(generic, person, calibrated):
    weak = calibrate(
        generic, person.trial, mass=80.0, symmetric=False, prior=ScalingPrior(follow=0.1)
    )

    def spread(scaled):
        """Largest distance of a factor that is left open from the determined ones of its body."""
        return max(
            abs(np.log(row.scale[~row.measured]) - np.log(row.scale[row.measured]).mean()).max()
            for row in scaled.bodies
            if 0 < row.measured.sum() < 3
        )

    assert spread(calibrated) < 0.6 * spread(weak)
    assert calibrated.rms_after < 1.02 * weak.rms_after


def test_the_total_mass_is_as_given_and_segments_follow_volumes(generic, calibrated):
    assert calibrated.model.mass == pytest.approx(80.0, rel=1e-14)
    volumes = table(calibrated, "scale").prod(1)
    masses = np.array([[row.mass_before, row.mass] for row in calibrated.bodies])
    heavy = masses[:, 0] > 0.01
    density = masses[heavy, 1] / (masses[heavy, 0] * volumes[heavy])
    np.testing.assert_allclose(density, density[0])


def test_the_result_is_a_model_like_any_other(tmp_path, calibrated):
    assert implausibilities(calibrated.model) == implausibilities(calibrated.generic)
    hd.save(calibrated.model, tmp_path / "person.toml")
    assert hd.load(tmp_path / "person.toml") == calibrated.model


def test_the_summary_lists_the_shifts(calibrated):
    report = calibrated.summary()
    for word in ("scaled; marker rms", "ThighRight", "KneeRight", "RKNE", "noise", "80.00 kg"):
        assert word in report


def test_stated_deviations_are_true_ones(generic):
    """Normalized errors over persons drawn from the prior: mean square one."""
    prior = ScalingPrior(
        landmark=0.005,
        tracking=0.01,
        hip_regression=0.0,
        hip_center=0.0,
        noise=0.001,
        learn=False,
    )
    kinds = marker_kinds(generic)
    covariance = prior.log_scales(len(generic.bodies), stature_known=False)
    deviations = [[prior.marker_deviation(kinds[marker.name])] for marker in generic.markers]
    errors = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        logs = rng.multivariate_normal(np.zeros(len(covariance)), covariance)
        drawn = subject(
            generic,
            seed + 100,
            scales=np.exp(logs).reshape(-1, 3),
            shifts=rng.normal(0.0, np.repeat(deviations, 3, axis=1)),
            frames=12,
            reach=0.3,
        )
        found = calibrate(generic, drawn.trial, prior=prior, mass=80.0, symmetric=False)
        errors.append((np.log(table(found, "scale")) - np.log(drawn.scales)).ravel())
        errors[-1] /= (table(found, "sd") / table(found, "scale")).ravel()
    z = np.concatenate(errors)
    assert 0.6 < (np.abs(z) < 1).mean() < 0.78
    assert (np.abs(z) < 2).mean() > 0.9
    assert (z**2).mean() == pytest.approx(1.0, abs=0.35)


def test_without_noise_and_shifts_sizes_are_exact_where_the_markers_decide(generic):
    exact = subject(generic, 5, shift=0.0, noise=0.0, frames=20)
    found = calibrate(generic, exact.trial, mass=80.0, symmetric=False)
    sure = table(found, "sd") < 0.003
    error = np.abs(table(found, "scale") - exact.scales)
    assert sure.sum() > 15
    assert error[sure].max() < 0.005
    assert found.rms_after < 1e-4


def test_markers_that_come_and_go_do_not_matter_much(generic, person):
    rng = np.random.default_rng(0)
    positions = person.trial.positions.copy()
    positions[rng.random(positions.shape[:2]) < 0.15] = np.nan
    trial = replace(person.trial, positions=positions)
    found = calibrate(generic, trial, mass=80.0, symmetric=False)
    error = table(found, "scale") - person.scales
    limbs = [generic.body_names.index(name) for name in LIMBS]
    assert np.abs(error[limbs, 2]).max() < 0.02


def test_a_flickering_marker_is_outvoted_when_robust(generic, person):
    positions = person.trial.positions.copy()
    rng = np.random.default_rng(1)
    wrong = rng.random(positions.shape[:2]) < 0.02
    positions[wrong] += rng.normal(0.0, 0.15, (wrong.sum(), 3))
    broken = replace(person.trial, positions=positions)
    limbs = [generic.body_names.index(name) for name in LIMBS]
    error = []
    for robust in (None, 0.005):
        found = calibrate(
            generic, broken, mass=80.0, huber_distance=robust, frames=14, symmetric=False
        )
        error.append(np.abs((table(found, "scale") - person.scales)[limbs, 2]).max())
    assert error[1] < 0.02
    assert error[1] < 0.6 * error[0]


def test_symmetric_and_uniform_persons(generic):
    same = np.repeat(np.random.default_rng(2).uniform(0.95, 1.05, (len(generic.bodies), 1)), 3, 1)
    names = generic.body_names
    for i, name in enumerate(names):
        if "Left" in name:
            same[i] = same[names.index(name.replace("Left", "Right"))]
    person = subject(generic, 6, scales=same, frames=12)
    found = calibrate(generic, person.trial, mass=80.0, uniform=True)
    scales = found.scales
    np.testing.assert_array_equal(scales["ThighLeft"], scales["ThighRight"])
    assert np.ptp(table(found, "scale"), axis=1).max() == 0
    assert scales["ShankLeft"][0] == pytest.approx(same[names.index("ShankLeft")][0], abs=0.01)


def test_a_root_with_a_quaternion_and_a_heading_are_no_obstacle():
    generic = hd.catalog.hdm()
    person = subject(generic, 7, frames=10, spread=0.04, shift=0.003, reach=0.15)
    turn = np.array([[-1.0, 0, 0], [0, -1, 0], [0, 0, 1]])
    found = calibrate(generic, person.trial.rotate(turn), mass=70.0, symmetric=False)
    assert found.rms_after < 0.002
    assert found.noise_levels["noise"] == pytest.approx(0.001, rel=0.3)


def test_the_wrong_person_is_doubted(generic, person):
    trial = replace(person.trial, positions=person.trial.positions * 1.4)
    found = calibrate(generic, trial, mass=80.0, frames=8)
    assert not found.ok
    assert "check subject, units and labels" in " ".join(found.warnings)


def test_millimeters_taken_for_meters_are_refused(generic, person):
    trial = replace(person.trial, positions=person.trial.positions * 1000)
    with pytest.raises(CaptureError, match=r"are 9\d\d times.*wrong units"):
        calibrate(generic, trial, mass=80.0)


def test_swapped_labels_are_doubted(generic, person):
    swapped = person.trial.rename_markers(
        {"RKNE": "LWRA", "LWRA": "RKNE", "LASI": "C7", "C7": "LASI"}
    )
    found = calibrate(generic, swapped, mass=80.0, frames=8)
    assert found.status is not ScalingStatus.SCALED
    assert "swapped labels" in " ".join(found.warnings)


def test_missing_mass_and_unknown_markers_are_warnings(generic, person):
    more = replace(
        person.trial,
        markers=(*person.trial.markers, "NOSE"),
        positions=np.concatenate([person.trial.positions, person.trial.positions[:, :1]], axis=1),
        filled=np.zeros((0, 0), dtype=bool),
    )
    fewer = more.select_markers([name for name in more.markers if name != "RTHI"])
    found = calibrate(generic, fewer, frames=6)
    warnings = " ".join(found.warnings)
    assert "mass not given" in warnings
    assert "NOSE" in warnings
    assert "RTHI" in warnings


def test_few_frames_and_markers_they_do_not_show_are_warnings(generic, person):
    positions = person.trial.positions.copy()
    positions[1:, 4] = np.nan
    trial = replace(person.trial, positions=positions)
    found = calibrate(generic, trial, mass=80.0, frames=[3, 9])
    warnings = " ".join(found.warnings)
    assert "only 2 frames" in warnings
    assert "none of the frames used shows: RTHI" in warnings
    assert np.isnan(next(row for row in found.marker_shifts if row.marker == "RTHI").rms_after)
    assert "not seen in the frames used" in found.summary()


def test_joint_centers_can_move_by_themselves(generic):
    """One hip forward and up: no scale of the pelvis does that, since the model has it at zero."""
    hip, shift = generic.joint("HipRight"), np.array([0.010, 0.0, 0.010])
    placed = replace(hip.placement, r=hip.placement.r + shift)
    odd = replace(
        generic,
        joints=tuple(
            replace(joint, placement=placed) if joint.name == hip.name else joint
            for joint in generic.joints
        ),
    )
    trial = subject(odd, 8, shift=0.0, spread=0.0, noise=1e-4, frames=15).trial
    tied = calibrate(generic, trial, mass=80.0, prior=ScalingPrior(hip_center=0.0))
    free = calibrate(generic, trial, mass=80.0, prior=ScalingPrior(center=0.01))
    center = next(row for row in free.joints if row.joint == "HipRight")
    np.testing.assert_allclose(center.after - center.before, shift, atol=0.004)
    assert free.noise_levels["noise"] == pytest.approx(1e-4, rel=0.1)
    # A marker that the tied model cannot follow has a noise of its own: compare all residuals.
    assert free.rms_after < 0.7 * tied.rms_after


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trials": ()}, "no trial"),
        ({"frames": [99]}, "0 to 29"),
        ({"mass": -1.0}, "above zero"),
        ({"height": 180}, "meters"),
        ({"scale_groups": [("Thigh", "Shank")]}, "Thigh"),
    ],
)
def test_what_makes_no_sense_is_refused(generic, person, change, message):
    settings = {"trials": person.trial, "frames": 4, **change}
    trials = settings.pop("trials")
    with pytest.raises(CaptureError, match=message):
        calibrate(generic, trials, **settings)


def test_a_trial_without_the_markers_of_the_model_is_refused(generic):
    trial = Trial("other", ("A", "B"), np.zeros((3, 2, 3)), rate=100.0)
    with pytest.raises(CaptureError, match=r"share 0 marker names.*LASI.*A, B"):
        calibrate(generic, trial)


# -- a synthetic subject of others: generic model, markers and the whole truth


@pytest.fixture(scope="module")
def arnold(shared_data):
    folder = shared_data / "arnold2013"
    generic = hd.load(folder / "generic" / "unscaled_generic.osim")
    truth = hd.load(folder / "subject01" / "subject01.osim")
    trial = read(folder / "subject01" / "markers.trc")
    coordinates = read_table(folder / "subject01" / "coordinates.sto")
    found = calibrate(generic, trial, mass=72.84, height=1.808, frames=20)
    return generic, truth, trial, coordinates, found


def true_scales(generic, truth):
    """The factors written into the meshes of the scaled model."""
    pairs = zip(generic.meshes, truth.meshes, strict=True)
    return {one.body: two.scale / one.scale for one, two in pairs}


def true_poses(model, coordinates, frames):
    """Poses of the truth; the markers were made with toes that do not bend."""
    q = np.tile(model.neutral(), (len(frames), 1))
    for k, name in enumerate(coordinates.names):
        if name in model.coordinate_names:
            values = 0.0 if name.startswith("mtp") else coordinates.values[frames, k]
            q[:, model.coordinate_index(name)] = values
    return q


def test_arnold_scales_are_within_a_hundredth(arnold):
    generic, truth, _, _, found = arnold
    true = true_scales(generic, truth)
    error = np.array([row.scale - true[row.body] for row in found.bodies])
    sure = table(found, "sd") < 0.0125
    assert np.abs(error[sure]).max() < 0.01
    # Forearms, heels and toes are short; what markers sit on their axes decides little.
    sure_of = {row.body: flags for row, flags in zip(found.bodies, sure, strict=True)}
    for body in ("pelvis", "torso", "femur_r", "femur_l", "tibia_r", "tibia_l"):
        assert sure_of[body].all(), body
    for body in ("humerus_r", "humerus_l", "radius_r", "radius_l"):
        assert sure_of[body][1], body
    unseen = {f"{body}_{side}" for body in ("patella", "hand") for side in "lr"}
    assert {name.split()[0] for name in found.undetermined} >= unseen
    seen = [flags for body, flags in sure_of.items() if body not in unseen]
    assert np.mean(seen) > 0.65


def test_arnold_scales_are_all_within_a_hundredth_once_sides_and_forearms_are_alike(arnold):
    generic, truth, trial, _, _ = arnold
    found = calibrate(
        generic,
        trial,
        mass=72.84,
        height=1.808,
        frames=12,
        symmetric=True,
        scale_groups=[("ulna_r", "radius_r")],
    )
    true = true_scales(generic, truth)
    seen = [row for row in found.bodies if not row.body.startswith(("patella", "hand"))]
    error = np.array([row.scale - true[row.body] for row in seen])
    assert len(seen) == 18
    assert np.abs(error).max() < 0.01


def test_arnold_joint_centers_are_within_a_centimeter(arnold):
    generic, truth, _, coordinates, found = arnold
    frames = [k for _, k in found.frames]
    q = true_poses(truth, coordinates, frames)
    worst = 0.0
    for row in found.joints:
        joint = generic.joint(row.joint)
        one, two = (model.joint(row.joint) for model in (found.model, truth))
        mine = position(found.model, found.q, joint.parent, one.placement.r)
        true = position(truth, q, joint.parent, two.placement.r)
        worst = max(worst, np.linalg.norm(mine - true, axis=-1).max())
    assert worst < 0.01


def test_arnold_markers_are_within_five_millimeters(arnold):
    _, _, trial, _, found = arnold
    frames = [k for _, k in found.frames]
    measured = to_world_axes(found.model, trial).positions[frames]
    order = [trial.markers.index(marker.name) for marker in found.model.markers]
    fitted = marker_positions(found.model, found.q)
    distance = np.linalg.norm(fitted - measured[:, order], axis=-1)
    assert np.sqrt((distance**2).mean()) < 0.005
    assert found.rms_after < 0.005 < 0.03 < found.rms_before


def test_arnold_coordinates_are_within_a_degree_and_a_half(arnold):
    generic, _, _, coordinates, found = arnold
    frames = [k for _, k in found.frames]
    true = true_poses(generic, coordinates, frames)
    compared = [generic.coordinate_index(name) for name in coordinates.names]
    error = np.sqrt(((found.q - true)[:, compared] ** 2).mean(0))
    angles = [not name.endswith(("_tx", "_ty", "_tz")) for name in coordinates.names]
    assert np.degrees(error[angles]).max() < 1.5
    assert error[np.logical_not(angles)].max() < 0.01


def test_arnold_has_the_given_mass_and_implausible_widths_are_doubted(arnold):
    found = arnold[-1]
    assert found.model.mass == pytest.approx(72.84, rel=1e-12)
    assert found.status is ScalingStatus.DOUBTFUL
    doubted = " ".join(found.warnings)
    assert "radius_r" in doubted
    assert "'pelvis'" not in doubted
