"""Models: built in a few lines, equal by content, with numbers that can become parameters."""

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

from homodyn.errors import ModelError
from homodyn.model import (
    Assembly,
    Body,
    Model,
    Parameter,
    Polynomial,
    box,
    capsule,
    cylinder,
    joints,
    parametric,
    rod,
    sphere,
)


def leg() -> Model:
    return (
        Assembly("leg")
        .add(
            box("thigh", 8.0, (0.1, 0.1, 0.4), com=(0, 0, -0.2)),
            joints.euler("yxz", stiffness=[1, 2, 3]),
            joint_name="hip",
        )
        .add(
            cylinder("shank", 4.0, 0.05, 0.4, com=(0.0, 0.01, -0.2)),
            joints.revolute("y", lower=0, upper=2.4, damping=0.3),
            "thigh",
            at=(0, 0, -0.41),
            joint_name="knee",
        )
        .add(sphere("knee", 0.2, 0.03), joints.helical("z", 0.01), "shank", joint_name="screw")
        .marker("KNE", "thigh", (0.01, 0.05, -0.4))
        .contact("heel", "shank", "sphere", position=(0, 0, -0.4), radius=0.03)
        .frame("ankle", "shank", (0, 0, -0.4))
        .capsule("skin", "shank", (0, 0, 0), (0, 0, -0.4), 0.06)
        .model()
    )


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


def test_building_twice_gives_equal_models():
    assert leg() == LEG
    assert hash(leg()) == hash(LEG)
    assert leg().with_numbers({"thigh.mass": np.nextafter(8.0, 9.0)}) != LEG
    assert repr(LEG) == "Model 'leg': 3 bodies, 5 degrees of freedom"


def test_parts_are_equal_when_their_numbers_are():
    assert leg().bodies == LEG.bodies
    assert leg().joints == LEG.joints
    assert Body("b", 1) == Body("b", 1.0)
    assert Body("b", 1) != Body("b", 2)
    assert Body("b") != LEG


def test_names_masses_and_parents():
    assert LEG.body_names == ("thigh", "shank", "knee")
    assert LEG.joint_names == ("hip", "knee", "screw")
    assert LEG.coordinate_names == ("hip_ry", "hip_rx", "hip_rz", "knee", "screw")
    assert LEG.parents == (-1, 0, 1)
    assert LEG.mass == pytest.approx(12.2)
    assert LEG.locate("heel")[0] == 1
    assert_allclose(LEG.locate("KNE")[1].r, [0.01, 0.05, -0.4])


def test_an_unfinished_assembly_is_a_value():
    start = Assembly("a").add("base", joints.fixed())
    one = start.add(sphere("x", 1, 1), joints.revolute("x"))
    two = start.add(sphere("y", 1, 1), joints.revolute("x"))
    assert one.model().body_names == ("base", "x")
    assert two.model().body_names == ("base", "y")
    with pytest.raises(ModelError, match="takes no weight; accepted: mass, com, inertia"):
        start.add("b", joints.fixed(), weight=3)


@pytest.mark.parametrize(
    ("body", "inertia"),
    [
        (box("b", 12.0, (1, 2, 3)), (13, 10, 5)),
        (sphere("b", 5.0, 2.0), (8, 8, 8)),
        (cylinder("b", 12.0, 1.0, 2.0), (7, 7, 6)),
        (cylinder("b", 12.0, 1.0, 2.0, axis="x"), (6, 7, 7)),
        (rod("b", 12.0, (0, 0, 0), (0, 2, 0)), (4, 0, 4)),
        (capsule("b", 5.0, 2.0, 0.0), (8, 8, 8)),
    ],
)
def test_solids_have_their_textbook_inertia(body, inertia):
    assert_allclose(body.inertia, np.diag(inertia), atol=1e-12)


def test_capsule_inertia_equals_sampled_volume():
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, (400_000, 3)) * [0.3, 0.3, 0.8]
    beyond = np.maximum(np.abs(points[:, 2]) - 0.5, 0)
    inside = points[points[:, 0] ** 2 + points[:, 1] ** 2 + beyond**2 < 0.09]
    squares = (inside**2).mean(axis=0)
    body = capsule("c", 1.0, 0.3, 1.0)
    assert_allclose(np.diag(body.inertia), squares.sum() - squares, rtol=5e-3)


def test_parameters_at_their_usual_values_give_the_model_back():
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


def pendulum(length, mass) -> Model:
    return (
        Assembly("pendulum")
        .add(
            rod("arm", mass, (0, 0, 0), (0, 0, -length)),
            joints.custom(joints.turn("y", 0, Polynomial((0.0, 1.0)))),
            at=(0, 0, length),
        )
        .marker("tip", "arm", (0, 0, -length))
        .model()
    )


def test_arguments_of_a_builder_become_parameters():
    free = parametric(pendulum, length=2.0, mass=3.0)
    assert free.parameter_names == ("length", "mass")
    assert free.mass == 3.0
    heavy = free.at({"length": 1.5, "mass": 4.0})
    assert_allclose(heavy.body("arm").inertia, pendulum(1.5, 4.0).body("arm").inertia, rtol=1e-15)
    assert_allclose(heavy.locate("tip")[1].r, [0, 0, -1.5])
    with pytest.raises(ModelError, match="no parameter size; it has length, mass"):
        free.at({"size": 1})
    with pytest.raises(ModelError, match="2 parameters, got 3"):
        free.at([1, 2, 3])
    with pytest.raises(ModelError, match="mass must be zero or more"):
        free.at({"mass": -1.0})


def test_parameters_may_become_expressions_of_a_function_being_traced():
    free = parametric(pendulum, length=2.0, mass=3.0)
    x = ca.SX.sym("x")
    traced = free.at({"length": 2 * x})
    tip = ca.Function("f", [x], [traced.locate("tip")[1].r])
    assert_allclose(tip(0.7).full()[:, 0], [0, 0, -1.4])


def test_symbols_of_declared_parameters_may_stand_in_any_number():
    length = Parameter("length", 0.4)
    model = (
        Assembly("m")
        .add(Body("b", 1.0, [0, 0, -length.symbol / 2], (1, 1, 1)), joints.revolute("y"))
        .marker("end", "b", [0, 0, -length.symbol])
        .parameter(length)
        .model()
    )
    assert_allclose(model.at([0.6]).body("b").com, [0, 0, -0.3])


def test_digests_tell_apart_formulas_that_print_alike():
    first = parametric(lambda a: pendulum(a * 0.123456781, 1.0), a=1.0)
    second = parametric(lambda a: pendulum(a * 0.123456782, 1.0), a=1.0)
    assert first != second
