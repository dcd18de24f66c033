"""Marker positions by pose and geometry: against scaled models and finite differences."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.scaling.marker_model import MarkerModel, Person, apply_person, marker_model
from homodyn.dynamics import marker_positions

MODELS = {"euler root": hd.catalog.heiman, "quaternion root": hd.catalog.hdm}


def a_person(markers: MarkerModel, seed: int) -> Person:
    rng = np.random.default_rng(seed)
    generic = markers.generic
    return Person(
        rng.uniform(0.9, 1.1, generic.scales.shape),
        rng.normal(0, 0.01, generic.shifts.shape),
        rng.normal(0, 0.01, generic.centers.shape),
    )


@pytest.mark.parametrize("name", MODELS)
def test_markers_of_a_person_are_those_of_the_scaled_model(name):
    model = MODELS[name]()
    chosen = [marker.name for marker in model.markers][::-2]
    markers = marker_model(model, chosen)
    person = a_person(markers, 1)
    scaled = apply_person(model, person, chosen)
    q = model.random(2, 3)
    order = [[marker.name for marker in scaled.markers].index(name) for name in chosen]
    np.testing.assert_allclose(
        markers.positions(q, person), marker_positions(scaled, q)[:, order], atol=1e-12
    )


@pytest.mark.parametrize("name", MODELS)
def test_derivatives_by_pose_and_person_are_those_of_differences(name):
    model = MODELS[name]()
    markers = marker_model(model, [marker.name for marker in model.markers][:9])
    person, q = a_person(markers, 3), model.random(4, 2)
    rng = np.random.default_rng(5)
    dv, dp, h = rng.normal(size=(2, model.nv)), rng.normal(size=markers.size), 1e-5
    ahead, behind = (
        markers.positions(markers.step(q, s * h * dv), markers.person(person.flat + s * h * dp))
        for s in (1, -1)
    )
    direction = np.concatenate([dv, np.tile(dp, (2, 1))], axis=-1)
    slope = np.einsum("fij,fj->fi", markers.jacobian(q, person), direction)
    np.testing.assert_allclose(slope, ((ahead - behind) / (2 * h)).reshape(2, -1), atol=1e-8)


def test_a_model_is_traced_once_for_the_same_markers():
    model = hd.catalog.heiman()
    assert marker_model(model, ["LASI", "RASI"]) is marker_model(model, ["LASI", "RASI"])
    assert marker_model(model, ["LASI", "RASI"]) is not marker_model(model, ["RASI", "LASI"])
