"""Marker positions by pose and geometry: against scaled models and finite differences."""

from dataclasses import dataclass, replace

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


@dataclass
class Calibrated:
    """Sizes and hip centers of a real person as calibration by static trial and walk finds them."""

    generic: str
    expert: str
    pelvis: tuple[float, float, float]
    femur: tuple[float, float, float]
    hips_m: dict[str, tuple[float, float, float]]


SUBJECT_4 = Calibrated(
    "real_subject4/unscaled_generic.osim",
    "real_subject4/manually_scaled.osim",
    pelvis=(1.097, 0.934, 1.049),
    femur=(0.991, 0.979, 1.051),
    hips_m={"hip_r": (0.0067, -0.0015, 0.0142), "hip_l": (0.0108, -0.0016, -0.0092)},
)
RAJAGOPAL = Calibrated(
    "rajagopal_walk/Rajagopal2016.osim",
    "rajagopal_walk/subject_walk_scaled.osim",
    pelvis=(1.174, 0.892, 1.065),
    femur=(1.084, 1.039, 1.173),
    hips_m={"hip_r": (-0.0008, 0.0031, 0.0134), "hip_l": (0.0024, 0.0091, -0.0090)},
)


def hip_arms_mm(model):
    """Arms (muscles, 6) about both hips in the neutral pose."""
    columns = [k for k, name in enumerate(model.coordinate_names) if name.startswith("hip_")]
    return 1e3 * hd.muscle.moment_arms(model, model.neutral())[:, columns]


def rms(arms, others):
    """Of the arms that are longer than 2 mm in the other model."""
    return float(np.sqrt(np.mean((arms - others)[np.abs(others) > 2.0] ** 2)))


@pytest.mark.parametrize(
    ("case", "from_expert", "from_size"),
    [(SUBJECT_4, 3.0, 3.0), (RAJAGOPAL, 5.5, 3.0)],
    ids=["subject4", "rajagopal"],
)
def test_displaced_hips_keep_the_moment_arms_of_the_muscles(
    shared_data, case, from_expert, from_size
):
    generic, expert = (hd.load(shared_data / path) for path in (case.generic, case.expert))
    scales = np.ones((len(generic.bodies), 3))
    centers = np.zeros((len(generic.bodies), 3))
    for k, name in enumerate(generic.body_names):
        if name.startswith(("pelvis", "femur")):
            scales[k] = case.pelvis if name == "pelvis" else case.femur
    for k, joint in enumerate(generic.joints):
        centers[k] = case.hips_m.get(joint.name, np.zeros(3))
    sized = Person(scales, np.zeros((0, 3)), np.zeros_like(centers))
    by_size = apply_person(generic, sized, ())
    person = Person(scales, np.zeros((0, 3)), centers)
    scaled = apply_person(generic, person, ())
    alone = replace(by_size, joints=scaled.joints)
    arms, theirs, plain = hip_arms_mm(scaled), hip_arms_mm(expert), hip_arms_mm(by_size)
    damaged = hip_arms_mm(alone)
    assert rms(arms, theirs) < from_expert < rms(damaged, theirs) - 1.0
    assert rms(arms, plain) < from_size < rms(damaged, plain) - 2.0
    iliacus = [muscle.name for muscle in generic.muscles].index("iliacus_r")
    assert np.abs(arms - plain)[iliacus].max() < 3.0 < np.abs(damaged - plain)[iliacus].max()
