"""Hip centers from pelvis dimensions, as functions, as evidence and as warnings."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import calibrate
from homodyn.capture.plug_in_gait_centers import LegMeasurements, PlugInGaitSubject
from homodyn.capture.scaling import ScalingPrior, pelvis_convention_difference
from homodyn.capture.scaling.hip_evidence import hip_evidence, regression_hips
from homodyn.capture.scaling.hip_regression import (
    HipRegression,
    bell,
    hara,
    harrington,
    hip_from_markers,
)
from homodyn.capture.scaling.options import SubjectScalingOptions
from homodyn.capture.scaling.parameter_prior import parameter_prior
from homodyn.capture.scaling.pelvis_checks import pelvis_warnings
from homodyn.capture.scaling.pelvis_landmarks import (
    hip_positions,
    marker_leg_length,
    pelvis_landmarks,
)
from homodyn.capture.scaling.shared_markers import shared_markers
from homodyn.errors import CaptureError
from homodyn.model.side import Side
from support.subjects import subject


@pytest.fixture(scope="module")
def generic():
    return hd.catalog.heiman()


def test_published_regressions_agree_within_two_centimeters_for_an_adult():
    width, depth, leg = 0.24, 0.155, 0.88
    points = [harrington(width, depth), harrington(width, depth, leg), hara(leg), bell(width)]
    assert np.ptp(points, axis=0).max() < 0.02
    # Values by hand, mm: -0.24 * 155 - 9.9, -0.30 * 240 - 10.9, 0.33 * 240 + 7.3.
    np.testing.assert_allclose(points[0], [-0.0471, -0.0829, 0.0865], atol=1e-9)


def test_markers_stand_off_the_bones():
    # Soft tissue and radius: 16.7 mm in front and 26.6 mm behind.
    inner = harrington(0.24, 0.155)
    outer = hip_from_markers(0.24, 0.155 + 0.0167 + 0.0266)
    np.testing.assert_allclose(outer - inner, [-0.0167, 0.0, 0.0], atol=1e-12)


def test_the_chosen_regression_gives_the_hips():
    """Each choice is its own equation, corrected by the 16.7 mm in front of the bones."""
    width, depth, leg = 0.24, 0.155, 0.88
    skin = np.array([0.0167, 0.0, 0.0])
    expected = {
        "harrington": harrington(width, depth),
        "harrington-leg": harrington(width, depth, leg),
        "hara": hara(leg),
        "bell": bell(width),
    }
    for method in HipRegression:
        found = hip_from_markers(width, depth + 0.0167 + 0.0266, leg, method)
        np.testing.assert_allclose(found + skin, expected[method], atol=1e-12)


def test_leg_length_is_measured_on_markers_or_given(generic):
    """HeiMan bends its legs in some frames; the ankle marker is lateral."""
    q = np.tile(generic.neutral(), (20, 1))
    q[:15, generic.coordinate_index("HipRight_RY")] = -1.2
    places = hd.dynamics.marker_positions(generic, q)
    names = tuple(marker.name for marker in generic.markers)
    recording = shared_markers(generic, [hd.capture.Trial("t", names, places, rate=100)])
    length = marker_leg_length(recording.markers, recording.positions)
    at = {name: places[-1, k] for k, name in enumerate(names)}
    path = np.linalg.norm(at["RASI"] - at["RKNE"]) + np.linalg.norm(at["RKNE"] - at["RANK"])
    assert length == pytest.approx(path, abs=2e-3)
    landmarks = pelvis_landmarks(generic)

    def depth(**options):
        return regression_hips(recording, landmarks, SubjectScalingOptions(**options))[1]

    assert depth(hip_regression="hara") == pytest.approx(-0.009 - 0.078 * length)
    leg = LegMeasurements(leg_length=0.80, knee_width=0.1, ankle_width=0.07)
    measured = PlugInGaitSubject(leg, leg)
    assert depth(hip_regression="hara", plug_in_gait=measured) == pytest.approx(-0.0714)
    kept = [name for name in names if name not in ("RKNE", "LKNE")]
    legless = shared_markers(
        generic, [hd.capture.Trial("t", names, places, 100).select_markers(kept)]
    )
    with pytest.raises(CaptureError, match="'hara' needs the length of the legs"):
        regression_hips(legless, landmarks, SubjectScalingOptions(hip_regression="hara"))
    with pytest.raises(
        CaptureError, match="hip_regression: 'davis' is unknown; accepted: harrington, "
    ):
        SubjectScalingOptions(hip_regression="davis")


def test_the_landmarks_and_hips_of_heiman_are_found(generic):
    found = pelvis_landmarks(generic)
    assert found.markers == ("RASI", "LASI", "RPSI", "LPSI")
    assert dict(found.hips) == {"HipRight": Side.RIGHT, "HipLeft": Side.LEFT}
    hips = hip_positions(generic, found)
    np.testing.assert_allclose(hips[Side.LEFT], hips[Side.RIGHT] * [1, 1, -1], atol=1e-9)
    assert hips[Side.RIGHT][1] < -0.05 < 0.05 < hips[Side.RIGHT][2]
    assert pelvis_landmarks(generic, ["RASI", "LASI", "RKNE"]) is None


def test_derivatives_of_the_evidence_are_those_of_its_residual(generic):
    person = subject(generic, 1, frames=3)
    recording = shared_markers(generic, [person.trial])
    prior = parameter_prior(generic, recording.markers, SubjectScalingOptions(), size=None)
    evidence = hip_evidence(generic, recording, prior.unknowns, SubjectScalingOptions())
    rng = np.random.default_rng(2)
    phi = rng.normal(0.0, 0.02, prior.unknowns.size)
    step = rng.normal(0.0, 1e-5, phi.shape)
    change = evidence.residual(phi + step) - evidence.residual(phi - step)
    np.testing.assert_allclose(2 * evidence.jacobian(phi) @ step, change, rtol=1e-5, atol=1e-9)
    without = SubjectScalingOptions(prior=ScalingPrior(hip_regression=0.0))
    assert hip_evidence(generic, recording, prior.unknowns, without) is None


def test_recorded_hip_centers_replace_the_regression(generic):
    """Joint-center markers of both hips that were seen; one side alone is not enough."""
    hips = tuple(
        hd.model.Marker(f"{side[0]}_HJC", f"Thigh{side}", np.zeros(3)) for side in ("Right", "Left")
    )
    model = replace(generic, markers=(*generic.markers, *hips))
    q = np.tile(model.neutral(), (5, 1))
    places = hd.dynamics.marker_positions(model, q)
    names = tuple(marker.name for marker in model.markers)

    def evidence(without):
        seen = places.copy()
        seen[:, [names.index(name) for name in without]] = np.nan
        recording = shared_markers(model, [hd.capture.Trial("static", names, seen, rate=100)])
        prior = parameter_prior(model, recording.markers, SubjectScalingOptions(), size=None)
        return hip_evidence(model, recording, prior.unknowns, SubjectScalingOptions())

    assert evidence(without=()) is None
    assert evidence(without=("L_HJC",)) is not None
    assert evidence(without=("L_HJC", "R_HJC")) is not None


def test_the_regression_moves_hips_that_one_pose_does_not_show(generic):
    """A standing person whose hips are where the regression has them, not where the model does."""
    person = subject(generic, 3, spread=0.0, shift=0.0, noise=1e-4, frames=6, reach=0.02)
    landmarks = pelvis_landmarks(generic)
    recording = shared_markers(generic, [person.trial])
    place = {
        name: recording.positions[:, recording.markers.index(name)] for name in landmarks.markers
    }
    width = np.linalg.norm(place["RASI"] - place["LASI"], axis=-1).mean()
    back = (place["RPSI"] + place["LPSI"]) / 2
    depth = np.linalg.norm((place["RASI"] + place["LASI"]) / 2 - back, axis=-1).mean()
    target = hip_from_markers(width, depth)

    def distance(prior):
        found = calibrate(generic, person.trial, mass=70.0, prior=prior)
        return np.linalg.norm(hip_positions(found.model, landmarks)[Side.RIGHT] - target)

    fixed = ScalingPrior(learn=False, noise=0.02)
    without = distance(replace(fixed, hip_regression=0.0))
    assert distance(replace(fixed, hip_regression=0.002)) < 0.7 * without


def test_a_turned_pelvis_is_the_difference_of_conventions_and_a_warning(generic):
    angle = np.radians(12.0)
    turn = np.array(
        [[np.cos(angle), 0, -np.sin(angle)], [0, 1, 0], [np.sin(angle), 0, np.cos(angle)]]
    )
    turned = replace(
        generic,
        markers=tuple(
            replace(m, position=turn @ m.position) if m.body == "Pelvis" else m
            for m in generic.markers
        ),
    )
    assert pelvis_convention_difference(generic, turned) == pytest.approx(angle)
    assert pelvis_convention_difference(turned, generic) == pytest.approx(-angle)
    recording = shared_markers(generic, [subject(generic, 4, spread=0.0, frames=3).trial])
    assert pelvis_warnings(generic, generic, recording) == []
    (warning, *_) = pelvis_warnings(generic, turned, recording)
    assert "-12.0 deg" in warning
    with pytest.raises(CaptureError, match="lacks markers on both ASIS"):
        pelvis_convention_difference(generic, replace(generic, markers=()))
