"""Validation of models: every reason in one error, each with what is accepted."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from homodyn.errors import ModelError
from homodyn.model import (
    WORLD,
    Assembly,
    Body,
    Capsule,
    ContactShape,
    Coordinate,
    Coupler,
    Frame,
    Marker,
    Parameter,
    joints,
)
from homodyn.model.functions import Linear
from homodyn.model.plausibility import implausibilities
from homodyn.spatial import Transform
from support.small_models import two_links

GOOD = two_links()
THIGH, SHANK = GOOD.bodies
HIP, KNEE = GOOD.joints


NAN = float("nan")


def with_coordinate(**numbers) -> dict:
    return {"joints": (HIP, replace(KNEE, coordinates=(Coordinate("knee", **numbers),)))}


def with_shank(**numbers) -> dict:
    return {"bodies": (THIGH, replace(SHANK, **numbers))}


def with_motion(**fields) -> dict:
    return {"joints": (HIP, replace(KNEE, axes=(replace(KNEE.axes[0], **fields),)))}


ERRORS = {
    "two bodies of one name": ({"bodies": (THIGH, SHANK, THIGH)}, "'thigh' occurs more than once"),
    "marker named like a body": ({"markers": (Marker("shank", "thigh"),)}, "'shank' occurs more"),
    "two joints of one name": ({"joints": (HIP, replace(KNEE, name="hip"))}, "joints: the name"),
    "coordinate twice": (
        {"joints": (HIP, replace(KNEE, coordinates=(Coordinate("hip"),)))},
        "coordinates: the name 'hip'",
    ),
    "empty name": ({"bodies": (THIGH, SHANK, Body(""))}, "is not a name"),
    "world is reserved": ({"frames": (Frame(WORLD, "thigh"),)}, "'world' is reserved"),
    "unknown parent": (
        {"joints": (HIP, replace(KNEE, parent="tigh"))},
        "joint 'knee', parent: no body 'tigh'; did you mean 'thigh'",
    ),
    "unknown child": ({"joints": (HIP, replace(KNEE, child="foot"))}, "child: no body 'foot'"),
    "unknown body of a marker": ({"markers": (Marker("M", "foot"),)}, "marker 'M': no body 'foot'"),
    "body without joint": ({"joints": (HIP,)}, "body 'shank' has no joint"),
    "body with two joints": (
        {"joints": (HIP, KNEE, replace(KNEE, name="other", coordinates=(Coordinate("other"),)))},
        r"'shank' is the child of 2 joints \(knee, other\)",
    ),
    "ring": ({"joints": (replace(HIP, parent="shank"), KNEE)}, "thigh, shank form a loop"),
    "joined to itself": ({"joints": (HIP, replace(KNEE, parent="shank"))}, "to itself"),
    "no bodies": ({"bodies": (), "joints": (), "markers": ()}, "there are no bodies"),
    "negative mass": (with_shank(mass=-1), "mass must be zero or more"),
    "mass not a number": (with_shank(mass=NAN), "body 'shank': mass must not be NaN"),
    "infinite mass": (with_shank(mass=np.inf), "mass must be finite"),
    "com not a number": (with_shank(com=[0, NAN, 0]), "com must not be NaN"),
    "inertia not symmetric": (
        with_shank(inertia=[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]),
        "inertia must be symmetric",
    ),
    "negative inertia": (with_shank(inertia=[1, 1, -0.1]), "no negative principal moment"),
    "nothing to move": (
        with_shank(mass=0, inertia=np.zeros((3, 3))),
        "have no mass and no inertia",
    ),
    "point mass on the axis": (
        with_shank(com=(0, 1, 0), inertia=np.zeros((3, 3))),
        "mass but no inertia against knee",
    ),
    "limits reversed": (with_coordinate(lower=1, upper=-1), "lower 1 must not exceed upper -1"),
    "limit not a number": (with_coordinate(lower=NAN), "lower must not be NaN"),
    "negative damping": (with_coordinate(damping=-1), "damping must be zero or more"),
    "infinite stiffness": (with_coordinate(stiffness=np.inf), "stiffness must be finite"),
    "axis not unit": (with_motion(axis=(0, 2, 0)), "axis must have length one"),
    "axis zero": (with_motion(axis=(0, 0, 0)), "axis must have length one"),
    "motion unknown": (with_motion(kind="roll"), "no kind of axis 'roll'; accepted: turn, slide"),
    "motion of no coordinate": (with_motion(coordinate=3), "coordinate 3 must be from 0 to 0"),
    "joint kind unknown": ({"joints": (HIP, replace(KNEE, kind="hinge"))}, "no joint kind 'hinge'"),
    "coordinate that moves nothing": (
        {"joints": (HIP, replace(KNEE, axes=()))},
        "'knee' drives no axis",
    ),
    "rotation not orthonormal": (
        {"joints": (HIP, replace(KNEE, placement=Transform(2 * np.eye(3), np.zeros(3))))},
        "placement: rotation must be orthonormal",
    ),
    "rotation left-handed": (
        {"frames": (Frame("f", "thigh", Transform(-np.eye(3), np.zeros(3))),)},
        "right-handed",
    ),
    "quaternion with limits": (
        {"joints": (HIP, joints.spherical(upper=1).joint("knee", "thigh", "shank"))},
        "of a quaternion cannot have limits",
    ),
    "coupler unknown": ({"couplers": (Coupler("kne", "hip", Linear()),)}, "did you mean 'knee'"),
    "coupler of itself": ({"couplers": (Coupler("knee", "knee", Linear()),)}, "follow itself"),
    "couplers in a circle": (
        {"couplers": (Coupler("knee", "hip", Linear()), Coupler("hip", "knee", Linear()))},
        "has a coupler itself",
    ),
    "coupled twice": (
        {"couplers": (Coupler("knee", "hip", Linear()), Coupler("knee", "hip", Linear(2)))},
        "has two couplers",
    ),
    "coupled quaternion": (
        {
            "joints": (HIP, joints.spherical().joint("knee", "thigh", "shank")),
            "couplers": (Coupler("hip", "knee_rx", Linear()),),
        },
        "cannot be coupled",
    ),
    "gravity": ({"gravity": (0, 0, NAN)}, "gravity must be three finite numbers"),
    "contact shape unknown": ({"contacts": (ContactShape("c", "thigh", "cone"),)}, "no contact"),
    "negative radius": (
        {"capsules": (Capsule("c", "thigh", (0, 0, 0), (0, 0, 1), -0.1),)},
        "radius must be zero or more",
    ),
    "undeclared symbol": (
        with_shank(mass=ca.SX.sym("m")),
        "symbol 'm' is not the symbol of a Parameter",
    ),
    "parameter twice": (
        {"parameters": (Parameter("p", 1.0), Parameter("p", 2.0))},
        "parameters: the name 'p'",
    ),
    "parameter without value": ({"parameters": (Parameter("p", NAN),)}, "nominal value"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_each_error_is_found_and_reported(name):
    changes, words = ERRORS[name]
    with pytest.raises(ModelError, match=words) as caught:
        replace(GOOD, **changes)
    assert all(isinstance(fault, str) for fault in caught.value.reasons)


def test_all_reasons_are_in_one_error():
    with pytest.raises(ModelError) as caught:
        replace(
            GOOD,
            bodies=(replace(THIGH, mass=-1), replace(SHANK, inertia=[1, 1, -1])),
            markers=(Marker("M", "foot"),),
            gravity=(0, 0, np.inf),
        )
    assert len(caught.value.reasons) == 4
    assert all(fault in str(caught.value) for fault in caught.value.reasons)


def test_names_that_are_missing_come_with_those_that_are_there():
    with pytest.raises(ModelError, match="no body 'tigh'; did you mean 'thigh'"):
        GOOD.body("tigh")
    with pytest.raises(ModelError, match="accepted: hip, knee"):
        GOOD.coordinate_index("elbow")
    with pytest.raises(ModelError, match="KNE"):
        GOOD.locate("KNEE")


def test_an_inertia_that_breaks_the_triangle_inequality_is_refused_unless_as_measured():
    toes = Assembly("foot").add("toes", joints.revolute("y"), mass=0.2, inertia=(1e-4, 2e-4, 1e-3))
    with pytest.raises(ModelError, match="body 'toes': no rigid body has principal moments") as it:
        toes.model()
    assert "as_measured=True" in it.value.reasons[0]
    assert implausibilities(toes.model(as_measured=True))
