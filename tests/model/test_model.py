"""Models: built in a few lines, equal by content, with numbers that can become parameters."""

import json
import pickle
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

import homodyn as hd
from homodyn.errors import FormatError, ModelError
from homodyn.model import (
    Assembly,
    Body,
    Model,
    Parameter,
    joints,
    parametric,
    rod,
)
from homodyn.model.functions import Polynomial
from support.small_models import leg

LEG = leg()


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


def test_digests_distinguish_formulas_that_print_alike():
    first = parametric(lambda a: pendulum(a * 0.123456781, 1.0), a=1.0)
    second = parametric(lambda a: pendulum(a * 0.123456782, 1.0), a=1.0)
    assert first != second


def test_a_symbol_declares_its_parameter():
    length = Parameter("length", 0.4)
    unused = Parameter("unused", 1.0)
    body = Body("b", 1.0, [0, 0, -length.symbol / 2], (1, 1, 1))
    model = Assembly("m").add(body, joints.revolute("y")).model()
    assert model.parameters == (length,)
    assert model.mass == 1.0
    assert_allclose(model.at([0.6]).body("b").com, [0, 0, -0.3])
    with_both = Assembly("m").parameter(unused).add(body, joints.revolute("y")).model()
    assert with_both.parameter_names == ("unused", "length")


def test_parameters_of_a_builder_keep_their_order_whatever_it_builds_on_the_way():
    def builder(length, mass):
        inner = pendulum(length, 1.0)
        assert inner.parameter_names == ("length",)
        assert inner.mass == 1.0
        return replace(inner, bodies=tuple(replace(b, mass=mass) for b in inner.bodies))

    model = parametric(builder, mass=2.0, length=0.5)
    assert model.parameter_names == ("mass", "length")
    assert model.mass == 2.0
    outside = pendulum(0.3, 0.2)
    assert outside.parameters == ()


def test_a_builder_may_leave_arguments_unused():
    model = parametric(lambda length, color: pendulum(length, 1.0), length=0.5, color=7.0)
    assert model.parameter_names == ("length", "color")
    assert_allclose(model.parameter_values, [0.5, 7.0])


def test_plain_data_restores_the_model():
    data = json.loads(json.dumps(LEG.to_dict()))
    assert data["record"] == "Model"
    assert [body["name"] for body in data["body"]] == list(LEG.body_names)
    assert Model.from_dict(data) == LEG
    free = LEG.with_parameters(f"{LEG.body_names[-1]}.mass")
    again = Model.from_dict(free.to_dict())
    assert again.parameter_names == free.parameter_names
    assert again.at(free.parameter_values) == LEG
    with pytest.raises(ModelError, match="this describes a 'Body'; a Model is expected"):
        Model.from_dict({"record": "Body"})
    with pytest.raises(FormatError, match="no key 'colour'"):
        Model.from_dict({**data, "colour": "red"})


def test_formulas_have_no_plain_data():
    with pytest.raises(FormatError, match="is a formula of parameters"):
        parametric(pendulum, length=2.0, mass=3.0).to_dict()


def test_models_and_their_parts_print_briefly():
    parts = [getattr(LEG, name) for name in ("bodies", "joints", "markers", "contacts")]
    for part in (LEG, LEG.root, *(one for group in parts for one in group)):
        assert len(repr(part).splitlines()) <= 10
    joint = LEG.joints[0]
    assert repr(joint).splitlines()[0] == f"Joint {joint.name!r}"
    assert repr(Parameter("length", 0.4)) == "Parameter 'length': 0.4"
    assert len(repr(Assembly("empty")).splitlines()) <= 10


def test_the_summary_has_a_line_for_every_body():
    text = LEG.summary()
    assert text.splitlines()[0] == repr(LEG)
    for body in LEG.bodies:
        assert sum(line.split()[0] == body.name for line in text.splitlines()[1:]) == 1
    page = LEG._repr_html_()
    assert page.count("<tr>") == page.count("</tr>")
    assert all(f">{name}<" in page for name in LEG.joint_names)
    odd = replace(LEG, name="<b>")
    assert "&lt;b&gt;" in odd._repr_html_()


def test_records_of_a_model_convert_to_plain_data_and_back():
    for group in ("bodies", "joints", "markers", "contacts", "frames", "capsules"):
        for one in getattr(LEG, group):
            assert type(one).from_dict(json.loads(json.dumps(one.to_dict()))) == one


def test_gravity_acts_along_the_vertical_of_the_model():
    down = hd.catalog.heiman()
    forward = down.with_numbers({"gravity": (0.0, -9.81, 0.0)})
    assert np.allclose(down.with_gravity(1.62).gravity, [0, 0, -1.62])
    assert np.allclose(forward.with_gravity(1.62).gravity, [0, -1.62, 0])
    weightless = down.with_gravity(0.0)
    assert not np.any(weightless.gravity)
    with pytest.raises(ModelError, match="its vertical is unknown"):
        weightless.with_gravity(9.81)
    for wrong in (-9.81, np.nan, np.inf):
        with pytest.raises(ModelError, match="not negative"):
            down.with_gravity(wrong)


def test_a_model_that_was_used_can_be_sent_to_another_process():
    model = hd.catalog.winter_human()
    hd.dynamics.mass_matrix(model, model.neutral())  # its kernels hold locks
    copy = pickle.loads(pickle.dumps(model))
    assert copy == model
    assert copy.nv == model.nv
