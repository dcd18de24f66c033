"""Rank of the marker Jacobian, and coordinates that markers do not determine."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import inverse_kinematics
from homodyn.capture.kinematics import marker_rank
from homodyn.capture.kinematics.observability import marker_jacobian
from homodyn.errors import CaptureError
from homodyn.model import Model
from support.movements import swaying, trial_of


@pytest.fixture(scope="module")
def model() -> Model:
    return hd.catalog.human36()


def test_the_28_tags_of_human36_determine_41_of_42_degrees_of_freedom(model: Model) -> None:
    rng = np.random.default_rng(0)
    for _ in range(3):
        pose = model.integrate(model.neutral(), 0.3 * rng.normal(size=model.nv))
        assert marker_rank(model, pose) == 41
    assert marker_rank(model, np.zeros(model.nq)) == 37


def test_tags_1_to_18_determine_21_degrees_of_freedom_and_the_rest_stays(model: Model) -> None:
    tags = tuple(marker.name for marker in model.markers[:18])
    rng = np.random.default_rng(0)
    pose = model.integrate(model.neutral(), 0.3 * rng.normal(size=model.nv))
    assert marker_rank(model, pose, tags) == 21
    J = marker_jacobian(model, pose).reshape(-1, 3, model.nv)[:18]
    observed = np.abs(J).max((0, 1)) > 0
    hidden = tuple(np.array(model.coordinate_names)[~observed])
    assert len(hidden) == 21
    q = swaying(model, 4, amplitude=0.2, still=hidden)
    motion = inverse_kinematics(model, trial_of(model, q).select_markers(tags))
    assert motion.unobserved == hidden
    assert np.abs(motion.q - q).max() < 1e-6


def test_reconstruction_from_nearby_is_exact_with_occluded_tags_too(model: Model) -> None:
    rng = np.random.default_rng(2)
    head = model.coordinate_index("neck_left_rotation")
    steps = 0.25 * rng.normal(size=(5, model.nv))
    steps[:, head] = 0.0
    q = hd.model.configuration.clamp(model, model.integrate(model.neutral(), steps))
    near = 0.05 * rng.normal(size=q.shape)
    near[:, head] = 0.0
    trial = trial_of(model, q)
    exact = inverse_kinematics(model, trial, start=q + near)
    assert np.sort(np.abs(exact.q - q).max(-1))[3] < 1e-8
    errors = []
    for hidden in range(5):
        positions = trial_of(model, q, noise=0.001).positions.copy()
        positions[:, rng.permutation(28)[:hidden]] = np.nan
        seen = hd.capture.Trial("occluded", trial.markers, positions, 100.0)
        found = inverse_kinematics(model, seen, start=q + near)
        errors.append(np.median(np.abs(found.q - q)))
    assert max(errors) < 0.02


def test_an_unknown_marker_is_refused(model: Model) -> None:
    with pytest.raises(CaptureError, match="nose"):
        marker_rank(model, model.neutral(), ("nose",))
