"""Paths to the numbers of a model."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from homodyn.errors import ModelError
from homodyn.model import (
    Assembly,
    joints,
    sphere,
)
from support.small_models import leg

LEG = leg()


PATHS = [
    "thigh.mass",
    "thigh.com",
    "thigh.inertia",
    "shank.inertia.xz",
    "joint:knee.position.z",
    "knee.child_position.x",
    "screw.pitch",
    "hip_rx.stiffness",
    "knee.damping",
    "knee.lower",
    "knee.upper",
    "KNE.position.y",
    "heel.radius",
    "heel.position",
    "ankle.position.z",
    "skin.start.x",
    "skin.radius",
    "gravity.z",
]


def test_parameters_at_their_nominal_values_give_the_model_back():
    open_leg = LEG.with_parameters(*PATHS)
    assert len(open_leg.parameters) == 27
    assert open_leg.mass == pytest.approx(LEG.mass)
    assert open_leg.at(open_leg.parameter_values) == LEG
    some = open_leg.at({"thigh.mass": 8.0, "gravity.z": -9.81})
    assert "thigh.mass" not in some.parameter_names
    assert some.at(dict(zip(some.parameter_names, some.parameter_values, strict=True))) == LEG


def test_numbers_are_set_by_the_same_paths():
    changed = LEG.with_numbers(
        {"thigh.mass": 9, "thigh.com": (0, 0, -0.25), "hip.position.x": 0.1, "screw.pitch": 0.02}
    )
    assert changed.body("thigh").mass == 9.0
    assert_allclose(changed.body("thigh").com, [0, 0, -0.25])
    assert_allclose(changed.joint("hip").placement.r, [0.1, 0, 0])
    assert changed.joint("screw").axes[0].pitch == 0.02
    full = np.array([[0.2, 0.01, 0.02], [0.01, 0.2, 0.03], [0.02, 0.03, 0.3]])
    assert_allclose(LEG.with_numbers({"shank.inertia": full}).body("shank").inertia, full)
    product = LEG.with_numbers({"shank.inertia.xy": 0.001}).body("shank").inertia
    assert product[0, 1] == product[1, 0] == 0.001
    with pytest.raises(ModelError, match=r"'thigh\.com' takes 3 numbers"):
        LEG.with_numbers({"thigh.com": [1, [2], 3]})
    with pytest.raises(ModelError, match="takes a number, got 'much'"):
        LEG.with_numbers({"thigh.mass": "much"})
    with pytest.raises(ModelError, match="mass must be zero or more"):
        LEG.with_numbers({"thigh.mass": -1})


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("tigh.mass", "no part 'tigh'; did you mean 'thigh'"),
        ("thigh.weight", "no number 'weight'; accepted: mass, com, inertia"),
        ("thigh.com.w", "no entry 'w'; accepted: x, y, z"),
        ("thigh.mass.x", "'thigh.mass' is one number"),
        ("hip.pitch", "no number 'pitch'"),
        ("gravity.up", "accepted: x, y, z"),
        ("mass", "no part 'mass'"),
    ],
)
def test_paths_that_lead_nowhere_say_where_one_could_go(path, words):
    with pytest.raises(ModelError, match=words):
        LEG.with_parameters(path)


def test_a_name_shared_by_two_parts_is_resolved_by_its_field_or_kind():
    assert LEG.with_parameters("knee.mass").parameter_values == [0.2]
    assert LEG.with_parameters("knee.damping").parameter_values == [0.3]
    twins = (
        Assembly("twins")
        .add(sphere("a", 1, 1), joints.revolute("x"), joint_name="spot")
        .marker("spot", "a", (0, 0, 5))
        .model()
    )
    with pytest.raises(
        ModelError, match=r"'joint:spot\.position\.z' or 'marker:spot\.position\.z'"
    ):
        twins.with_parameters("spot.position.z")
    assert twins.with_parameters("marker:spot.position.z").parameter_values == [5.0]


def test_names_may_hold_dots():
    dotted = Assembly("d").add(sphere("left.arm", 1, 1), joints.revolute("x")).model()
    assert dotted.with_parameters("left.arm.mass").parameter_values == [1.0]


def test_one_number_is_one_parameter():
    with pytest.raises(ModelError, match="already"):
        LEG.with_parameters("thigh.mass", "thigh.mass")
    with pytest.raises(ModelError, match="already"):
        LEG.with_parameters("thigh.mass").with_parameters("thigh.mass")
