"""Static scaling: sizes from marker pairs, marker offsets from the pose, masses to match."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import (
    Trial,
    read,
    scale,
)
from homodyn.capture.kinematics import to_world_axes
from homodyn.capture.scaling import ScalingStatus
from homodyn.dynamics import marker_positions
from homodyn.errors import CaptureError
from homodyn.model.plausibility import implausibilities
from homodyn.spatial import Transform
from support.subjects import subject


@pytest.fixture(scope="module")
def generic():
    return hd.catalog.heiman()


def standing(person, seed: int = 0, noise: float = 5e-4, frames: int = 10) -> Trial:
    rng = np.random.default_rng(seed)
    q = np.tile(person.model.neutral(), (frames, 1))
    q[:, 6:] += rng.normal(0.0, 0.03, q.shape[1] - 6)
    positions = marker_positions(person.model, q)
    return replace(
        person.trial,
        positions=positions + rng.normal(0.0, noise, positions.shape),
        filled=np.zeros((0, 0), dtype=bool),
    )


@pytest.fixture(scope="module")
def person(generic):
    return subject(generic, 11, shift=0.003, frames=2)


@pytest.fixture(scope="module")
def scaled(generic, person):
    return scale(generic, standing(person), mass=80.0, symmetric=False)


def row(scaled, body):
    return next(row for row in scaled.bodies if row.body == body)


@pytest.mark.parametrize(
    ("body", "axis", "pair"),
    [
        ("Pelvis", 1, "LASI-RASI"),
        ("ShankRight", 2, "RKNE-RANK"),
        ("FootLeft", 0, "LHEE-LTOE"),
        ("Head", 1, "LFHD-RFHD"),
    ],
)
def test_the_expected_pairs_are_found_and_measure_the_length(
    generic, person, scaled, body, axis, pair
):
    found = row(scaled, body)
    assert pair in found.source
    assert found.measured[axis]
    true = person.scales[generic.body_names.index(body), axis]
    assert found.scale[axis] == pytest.approx(true, abs=0.035)


def test_long_segments_come_out_within_two_percent(generic, person, scaled):
    for body in ("ThighRight", "ThighLeft", "ShankRight", "ShankLeft", "LowerArmLeft"):
        true = person.scales[generic.body_names.index(body), 2]
        assert row(scaled, body).scale[2] == pytest.approx(true, abs=0.02), body


def test_markers_are_moved_to_where_they_were_seen(person, scaled):
    assert scaled.status is ScalingStatus.SCALED
    assert scaled.rms_after < 0.002 < 0.008 < scaled.rms_before
    fitted = marker_positions(scaled.model, scaled.q)
    seen = standing(person).positions
    assert np.linalg.norm(fitted - seen, axis=-1).max() < 0.005


def test_fixed_markers_stay_and_without_moving_all_do(generic, person):
    trial = standing(person)
    some = scale(generic, trial, mass=80.0, fixed_markers=["LASI", "RASI"])
    shifts = {row.marker: row.distance for row in some.marker_shifts}
    assert shifts["LASI"] == shifts["RASI"] == 0.0 < shifts["RKNE"]
    none = scale(generic, trial, mass=80.0, move_markers=False)
    assert all(row.distance == 0.0 for row in none.marker_shifts)
    factor = none.scales["ShankRight"]
    before = next(m.position for m in generic.markers if m.name == "RKNE")
    after = next(m.position for m in none.model.markers if m.name == "RKNE")
    np.testing.assert_allclose(after, before * factor)


def test_named_pairs_give_their_ratio_and_nothing_else(generic, person):
    trial = standing(person, noise=0.0)
    pairs = {
        "ShankRight": [("RKNE", "RANK")],
        "FootRight": {"x": [("RHEE", "RTOE")], "yz": [("RANK", "RHEE")]},
    }
    found = scale(generic, trial, mass=80.0, pairs=pairs, move_markers=False)
    shank = found.scales["ShankRight"]
    assert np.ptp(shank) == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_array_equal(row(found, "ThighLeft").measured, [False] * 3)
    foot = found.scales["FootRight"]
    assert foot[1] == pytest.approx(foot[2], abs=1e-6)
    # The heel and toe are on the foot itself, so their distance needs no pose.
    places = {m.name: m.position for m in generic.markers}
    model = np.linalg.norm(places["RHEE"] - places["RTOE"])
    seen = np.linalg.norm(trial.marker("RHEE")[0] - trial.marker("RTOE")[0])
    assert foot[0] == pytest.approx(seen / model, abs=1e-5)


def test_left_and_right_can_be_one(generic, person):
    found = scale(generic, standing(person), mass=80.0, symmetric=True).scales
    for name in ("Thigh", "Shank", "Foot", "UpperArm", "Hand"):
        np.testing.assert_array_equal(found[f"{name}Left"], found[f"{name}Right"])


def test_bodies_without_pairs_follow_the_subject_or_the_height(generic):
    everywhere = np.full((len(generic.bodies), 3), 1.1)
    large = subject(generic, 1, scales=everywhere, shift=0.0, frames=1)
    found = scale(generic, standing(large), mass=80.0)
    assert not row(found, "HandRight").measured.any()
    assert found.scales["HandRight"] == pytest.approx(np.full(3, 1.1), abs=0.02)
    warnings = " ".join(found.warnings)
    assert "no marker pair measures the size of" in warnings
    assert "HandRight" in warnings
    feet = standing(large).select_markers(["RHEE", "RTOE", "RANK", "LHEE", "LTOE"])
    tall = scale(generic, feet, mass=80.0, height=1.97)
    assert tall.scales["Head"] == pytest.approx(np.full(3, 1.97 / 1.83), abs=0.02)


def test_masses_follow_volumes_or_keep_their_shares(generic, person):
    trial = standing(person)
    volumes = scale(generic, trial, mass=90.0)
    shares = scale(generic, trial, mass=90.0, keep_shares=True)
    for found in (volumes, shares):
        assert found.model.mass == pytest.approx(90.0, rel=1e-14)
    ratio = [
        new.mass / old.mass
        for new, old in zip(shares.model.bodies, generic.bodies, strict=True)
        if old.mass
    ]
    np.testing.assert_allclose(ratio, 90.0 / generic.mass)
    assert volumes.model.body("ThighRight").mass != shares.model.body("ThighRight").mass


def test_missing_mass_is_a_warning_and_densities_are_kept(generic, person):
    found = scale(generic, standing(person))
    assert any("mass not given" in warning for warning in found.warnings)
    volume = found.scales["ThighRight"].prod()
    thigh = generic.body("ThighRight").mass
    assert found.model.body("ThighRight").mass == pytest.approx(thigh * volume)


def test_inertias_are_those_of_the_stretched_body(generic, scaled):
    """About the hip, with the parallel-axis term of the center of mass that moved along."""
    factor = scaled.scales["ThighRight"]
    old, new = generic.body("ThighRight"), scaled.model.body("ThighRight")

    def second_moments(body):
        own = np.trace(body.inertia) / 2 * np.eye(3) - body.inertia
        return (own + body.mass * np.outer(body.com, body.com)) / body.mass

    expected = np.diag(factor) @ second_moments(old) @ np.diag(factor)
    np.testing.assert_allclose(second_moments(new), expected, atol=1e-12)


def test_the_result_is_saved_and_checked_like_any_model(tmp_path, scaled):
    assert implausibilities(scaled.model) == implausibilities(scaled.generic)
    hd.save(scaled.model, tmp_path / "person.toml")
    assert hd.load(tmp_path / "person.toml") == scaled.model


def test_a_catalog_body_of_other_parameters_is_scaled_alike(person):
    generic = hd.catalog.human36()
    large = subject(generic, 4, shift=0.0, frames=1, spread=0.05)
    found = scale(generic, standing(large), mass=66.0)
    assert found.status is ScalingStatus.SCALED
    assert found.model.mass == pytest.approx(66.0, rel=1e-14)
    i = generic.body_names.index("right_shank")
    assert found.scales["right_shank"][2] == pytest.approx(large.scales[i, 2], abs=0.03)


def test_a_person_who_moves_is_doubted(generic):
    person = subject(generic, 2, frames=8)
    found = scale(generic, person.trial, mass=80.0)
    assert found.status is ScalingStatus.DOUBTFUL
    assert any("use calibrate" in warning for warning in found.warnings)


def test_swapped_labels_are_doubted(generic, person):
    swapped = standing(person).rename_markers({"RKNE": "RANK", "RANK": "RKNE"})
    found = scale(generic, swapped, mass=80.0)
    assert found.status is ScalingStatus.DOUBTFUL
    assert "swapped labels" in " ".join(found.warnings)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pairs": {"Shank": [("RKNE", "RANK")]}}, "Shank"),
        ({"pairs": {"ShankRight": [("RKNE", "ANKLE")]}}, "ANKLE"),
        ({"pairs": {"ShankRight": {"w": [("RKNE", "RANK")]}}}, "axes are x, y, z"),
        ({"pairs": {"ShankRight": ["RKNE", "RANK"]}}, "pairs of marker names"),
        ({"pairs": {}}, "nothing would be scaled"),
        ({"fixed_markers": ["NOSE"]}, "NOSE"),
        ({"mass": 0.0}, "above zero"),
        ({"height": 185}, "meters"),
    ],
)
def test_what_makes_no_sense_is_refused(generic, person, change, message):
    with pytest.raises(CaptureError, match=message):
        scale(generic, standing(person), **change)


def test_markers_without_any_length_are_refused(generic):
    """Four markers, each on a body of its own: a copy of the model would be no success."""
    lonely = ["RANK", "RFHD", "RWRA", "LTHI"]
    trial = standing(subject(generic, 3, frames=1, shift=0.0)).select_markers(lonely)
    with pytest.raises(CaptureError, match="nothing would be scaled"):
        scale(generic, trial, mass=80.0)


def test_a_standing_subject_undoes_a_known_change_of_the_model(shared_data):
    """The model of the subject, made wrong by known factors, comes back along what the pose shows.

    It moves in one plane only while the person stands with legs apart: sagittal lengths count.
    """
    folder = shared_data / "gait10dof"
    model, static = hd.load(folder / "subject01.osim"), read(folder / "static.trc")
    rng = np.random.default_rng(0)
    wrong = {name: float(np.exp(rng.normal(0.0, 0.05))) for name in model.body_names}
    start = hd.catalog.scale(model, wrong)
    found = scale(start, static, mass=72.6, symmetric=False)
    assert found.model.mass == pytest.approx(72.6, rel=1e-12)
    for body, axis in (
        ("femur_r", 1),
        ("femur_l", 1),
        ("tibia_r", 1),
        ("tibia_l", 1),
        ("torso", 1),
        ("calcn_r", 0),
        ("calcn_l", 0),
    ):
        assert found.scales[body][axis] * wrong[body] == pytest.approx(1.0, abs=0.015), body
    seen = to_world_axes(model, static)
    order = [seen.markers.index(m.name) for m in found.model.markers]
    error = marker_positions(found.model, found.q) - seen.positions[:, order]
    assert np.sqrt((error**2).sum(-1).mean()) < 0.003


def test_joint_centers_move_with_their_parents(generic, scaled):
    for shift in scaled.joints:
        joint = scaled.model.joint(shift.joint)
        assert isinstance(joint.placement, Transform)
        np.testing.assert_allclose(shift.after, shift.before * scaled.scales[shift.parent])
