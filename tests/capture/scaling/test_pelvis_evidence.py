"""The inclination of the pelvis landmarks in the pelvis as evidence."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.scaling import ScalingPrior, pelvis_convention_difference
from homodyn.capture.scaling.options import CalibrationOptions
from homodyn.capture.scaling.parameter_prior import parameter_prior
from homodyn.capture.scaling.pelvis_evidence import pelvis_evidence

MODEL = hd.catalog.heiman()
MARKERS = tuple(marker.name for marker in MODEL.markers)
TURN_RAD = np.radians(4.0)


def turned_about_the_transverse_axis(model, angle):
    """The model with the markers of the pelvis turned about their middle."""
    names = ("LASI", "RASI", "LPSI", "RPSI")
    middle = np.mean([m.position for m in model.markers if m.name in names], axis=0)
    c, s = np.cos(angle), np.sin(angle)
    R = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    return {
        m.name: middle + R @ (m.position - middle) - m.position
        for m in model.markers
        if m.name in names
    }


@pytest.fixture(scope="module")
def unknowns():
    return parameter_prior(MODEL, MARKERS, CalibrationOptions(), size=None).unknowns


def phi_with(unknowns, shifts):
    phi = np.zeros(unknowns.size)
    offsets = phi[unknowns.shape :].reshape(-1, 3)
    for name, shift in shifts.items():
        offsets[MARKERS.index(name)] = shift
    return phi


def test_the_residual_is_the_rotation_of_the_landmarks(unknowns):
    evidence = pelvis_evidence(MODEL, MARKERS, unknowns, 0.035)
    np.testing.assert_allclose(evidence.residual(np.zeros(unknowns.size)), 0.0, atol=1e-12)
    turned = evidence.residual(
        phi_with(unknowns, turned_about_the_transverse_axis(MODEL, TURN_RAD))
    )
    np.testing.assert_allclose(np.abs(turned), np.sin(TURN_RAD) / 0.035, rtol=1e-9)


def test_the_jacobian_is_that_of_the_residual(unknowns):
    evidence = pelvis_evidence(MODEL, MARKERS, unknowns, 0.035)
    rng = np.random.default_rng(2)
    phi = rng.normal(0, 0.01, unknowns.size)
    step = 1e-4 * rng.normal(size=unknowns.size)
    change = evidence.residual(phi + step) - evidence.residual(phi - step)
    np.testing.assert_allclose(evidence.jacobian(phi) @ (2 * step), change, rtol=1e-5)


def test_it_is_left_out_on_request_and_without_landmarks(unknowns):
    assert pelvis_evidence(MODEL, MARKERS, unknowns, 0.0) is None
    assert pelvis_evidence(MODEL, ["LASI", "RASI"], unknowns, 0.035) is None


def test_pelvis_markers_that_are_turned_turn_the_convention_less_with_the_evidence():
    shifts = turned_about_the_transverse_axis(MODEL, TURN_RAD)
    person = replace(
        MODEL,
        markers=tuple(
            replace(m, position=m.position + shifts.get(m.name, np.zeros(3))) for m in MODEL.markers
        ),
    )
    rng = np.random.default_rng(3)
    low, high = MODEL.lower[6:], MODEL.upper[6:]
    q = np.tile(MODEL.neutral(), (30, 1))
    q[:, 6:] = (low + high) / 2 + 0.2 * (high - low) * rng.uniform(-1, 1, (30, len(low)))
    places = hd.dynamics.marker_positions(person, q) + rng.normal(0, 0.001, (30, len(MARKERS), 3))
    trial = hd.capture.Trial("moving", MARKERS, places, rate=100)
    differences = []
    for deviation in (0.0, 0.005):
        prior = ScalingPrior(pelvis_inclination=deviation)
        found = hd.capture.calibrate(MODEL, trial, mass=70, frames=15, prior=prior)
        differences.append(abs(pelvis_convention_difference(found.model, MODEL)))
    assert differences[1] < 0.7 * differences[0]
