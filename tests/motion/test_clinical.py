"""Titles and signs of a gait laboratory: checked by where limbs go."""

import numpy as np
import pytest

import homodyn as hd
from homodyn import dynamics
from homodyn.motion.anatomical_axes import Axes
from homodyn.motion.clinical import pairs, readings

PEOPLE = ("heiman", "human36", "hdm", "manikin")


def moved(model, reading, frame, angle=0.2):
    """How far a frame goes when a coordinate turns the way a laboratory calls positive (m)."""
    step = np.zeros(model.nv)
    step[reading.index] = reading.sign * angle
    q = model.neutral()
    return dynamics.position(model, model.integrate(q, step), frame) - dynamics.position(
        model, q, frame
    )


def end_of(model, reading):
    """A point far out on what the coordinate carries: the joint below, or a marker of it."""
    body = next(
        joint.child
        for joint in model.joints
        if any(c.name == reading.name for c in joint.coordinates)
    )
    below = [joint.child for joint in model.joints if joint.parent == body]
    return below[0] if below else next(m.name for m in model.markers if m.body == body)


@pytest.mark.parametrize("name", PEOPLE)
@pytest.mark.parametrize("side", ["right", "left"])
def test_hip_and_knee_flex_and_adduct_the_way_they_are_called(name, side):
    model = hd.catalog.build(name)
    axes = Axes.of(model)
    found = {r.title: r for r in readings(model) if r.side == side}
    inward = axes.left if side == "right" else -axes.left
    hip = found["Hip flexion"]
    knee = end_of(model, found["Knee flexion"])
    assert moved(model, hip, end_of(model, hip)) @ axes.forward > 0.03
    assert moved(model, found["Knee flexion"], knee) @ axes.forward < -0.03
    assert moved(model, found["Hip adduction"], knee) @ inward > 0.03


@pytest.mark.parametrize("name", ["heiman", "human36"])
@pytest.mark.parametrize("side", ["right", "left"])
def test_feet_turn_the_way_they_are_called(name, side):
    model = hd.catalog.build(name)
    axes = Axes.of(model)
    found = {r.title: r for r in readings(model) if r.side == side}
    inward = axes.left if side == "right" else -axes.left
    toes = {"heiman": "Hallux{}", "human36": "{}_toe"}[name]
    toe = toes.format(side.capitalize() if name == "heiman" else side)
    assert moved(model, found["Ankle dorsiflexion"], toe) @ axes.up > 0.01
    assert moved(model, found["Hip internal rotation"], toe) @ inward > 0.01


@pytest.mark.parametrize("name", PEOPLE)
def test_every_coordinate_but_the_root_is_read_once(name):
    model = hd.catalog.build(name)
    indices = [reading.index for reading in readings(model)]
    assert indices == list(range(model.joints[0].nv, model.nv))
    told = [
        reading.index
        for pair in pairs(model)
        for reading in {id(r): r for r in (pair.right, pair.left) if r is not None}.values()
    ]
    assert sorted(told) == indices


def test_sides_of_a_pair_are_mirror_images():
    model = hd.catalog.heiman()
    mirrored = hd.catalog.mirror(model, np.arange(model.nq, dtype=float))
    for pair in pairs(model):
        if pair.middle:
            reading = pair.right
            assert mirrored[reading.q] * reading.sign == reading.q * reading.mirrored
        else:
            assert mirrored[pair.left.q] * pair.left.sign == pair.right.q * pair.right.sign


def test_opensim_names_are_understood(shared_data):
    model = hd.load(shared_data / "gait10dof" / "subject01.osim", as_measured=True)
    found = {(r.name, r.title, r.side, r.sign) for r in readings(model)}
    assert ("hip_flexion_r", "Hip flexion", "right", 1.0) in found
    assert ("knee_angle_l", "Knee flexion", "left", -1.0) in found
    assert ("lumbar_extension", "Trunk flexion", "middle", -1.0) in found
