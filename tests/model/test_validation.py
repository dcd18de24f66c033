"""What a model must satisfy: every fault told at once, each with what would be accepted."""

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
    Joint,
    JointAxis,
    Linear,
    Marker,
    Model,
    Parameter,
    Spline,
    box,
    joints,
    sphere,
)
from homodyn.model.plausibility import implausibilities
from homodyn.model.tree import sorted_tree
from homodyn.spatial import Transform


def two_links() -> Model:
    return (
        Assembly("two links")
        .add(box("thigh", 8.0, (0.1, 0.1, 0.4)), joints.revolute("y"), joint_name="hip")
        .add(
            box("shank", 4.0, (0.1, 0.1, 0.4)),
            joints.revolute("y"),
            "thigh",
            at=(0, 0, -0.4),
            joint_name="knee",
        )
        .marker("KNE", "thigh", (0, 0.05, -0.4))
        .model()
    )


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


FAULTS = {
    "two bodies of one name": ({"bodies": (THIGH, SHANK, THIGH)}, "'thigh' occurs more than once"),
    "marker named like a body": ({"markers": (Marker("shank", "thigh"),)}, "'shank' occurs more"),
    "two joints of one name": ({"joints": (HIP, replace(KNEE, name="hip"))}, "joints: the name"),
    "coordinate twice": (
        {"joints": (HIP, replace(KNEE, coordinates=(Coordinate("hip"),)))},
        "coordinates: the name 'hip'",
    ),
    "empty name": ({"bodies": (THIGH, SHANK, Body(""))}, "is no name"),
    "world is reserved": ({"frames": (Frame(WORLD, "thigh"),)}, "'world' is reserved"),
    "unknown parent": (
        {"joints": (HIP, replace(KNEE, parent="tigh"))},
        "joint 'knee': its parent: no body 'tigh'; did you mean 'thigh'",
    ),
    "unknown child": ({"joints": (HIP, replace(KNEE, child="foot"))}, "its child: no body 'foot'"),
    "unknown body of a marker": ({"markers": (Marker("M", "foot"),)}, "marker 'M': no body 'foot'"),
    "body without joint": ({"joints": (HIP,)}, "body 'shank' has no joint"),
    "body with two joints": (
        {"joints": (HIP, KNEE, replace(KNEE, name="other", coordinates=(Coordinate("other"),)))},
        r"'shank' is the child of 2 joints \(knee, other\)",
    ),
    "ring": ({"joints": (replace(HIP, parent="shank"), KNEE)}, "thigh, shank hang on each other"),
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
    "motion unknown": (with_motion(kind="roll"), "no motion 'roll'; accepted: turn, slide"),
    "motion of no coordinate": (with_motion(coordinate=3), "coordinate 3 must be from 0 to 0"),
    "joint kind unknown": ({"joints": (HIP, replace(KNEE, kind="hinge"))}, "no joint kind 'hinge'"),
    "coordinate that moves nothing": (
        {"joints": (HIP, replace(KNEE, axes=()))},
        "'knee' moves nothing",
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
        "belongs to a quaternion",
    ),
    "coupler unknown": ({"couplers": (Coupler("kne", "hip", Linear()),)}, "did you mean 'knee'"),
    "coupler of itself": ({"couplers": (Coupler("knee", "knee", Linear()),)}, "follow itself"),
    "couplers in a circle": (
        {"couplers": (Coupler("knee", "hip", Linear()), Coupler("hip", "knee", Linear()))},
        "follows another itself",
    ),
    "coupled twice": (
        {"couplers": (Coupler("knee", "hip", Linear()), Coupler("knee", "hip", Linear(2)))},
        "follows two others",
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
    "undeclared symbol": (with_shank(mass=ca.SX.sym("m")), "symbol 'm' is no declared parameter"),
    "parameter twice": (
        {"parameters": (Parameter("p", 1.0), Parameter("p", 2.0))},
        "parameters: the name 'p'",
    ),
    "parameter without value": ({"parameters": (Parameter("p", NAN),)}, "usual value"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_found_and_told(name):
    changes, words = FAULTS[name]
    with pytest.raises(ModelError, match=words) as caught:
        replace(GOOD, **changes)
    assert all(isinstance(fault, str) for fault in caught.value.faults)


def test_all_faults_come_in_one_error():
    with pytest.raises(ModelError) as caught:
        replace(
            GOOD,
            bodies=(replace(THIGH, mass=-1), replace(SHANK, inertia=[1, 1, -1])),
            markers=(Marker("M", "foot"),),
            gravity=(0, 0, np.inf),
        )
    assert len(caught.value.faults) == 4
    assert all(fault in str(caught.value) for fault in caught.value.faults)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Body("b", mass="heavy"), "body 'b': mass must be a number, got 'heavy'"),
        (lambda: Body("b", com=(1, 2)), "com must be 3 numbers"),
        (lambda: Body("b", inertia=np.eye(2)), "inertia must be 3 x 3 numbers"),
        (lambda: Body("b", inertia=[[1, 0], [0], 1]), "inertia must be 3 x 3 numbers"),
        (lambda: Body("b", inertia=["a", "b", "c"]), "inertia must be 3 x 3 numbers"),
        (lambda: Marker("m", "b", position="there"), "marker 'm': position must be 3 numbers"),
        (lambda: Joint("j", "a", "b", "fixed", placement="x"), "placement must be a Transform"),
        (lambda: JointAxis("turn", (1, 0)), "axis must be 3 numbers"),
        (lambda: Body("b", mass=ca.MX.sym("m")), "mass must be a number"),
    ],
)
def test_records_refuse_what_is_not_their_number(make, words):
    with pytest.raises(ModelError, match=words):
        make()


def test_lists_and_integers_become_read_only_arrays_and_floats():
    body = Body("b", 1, [0, 0, 1], [1, 1, 1])
    assert isinstance(body.mass, float)
    assert body.inertia.shape == (3, 3)
    with pytest.raises(ValueError, match="read-only"):
        body.com[0] = 1
    frame = Frame("f", "b", (0, 0, 1))
    assert frame.placement.r.dtype == float
    assert not frame.placement.E.flags.writeable


def test_massless_bodies_may_stand_between_or_be_welded():
    model = (
        Assembly("ladder")
        .add("empty", joints.revolute("x"))
        .add("full", joints.revolute("y"), "empty", mass=1, com=(0, 0, 1), inertia=(1, 1, 1))
        .add("tip", joints.fixed(), "full")
        .add("rotor", joints.revolute("z", armature=0.1), "full")
        .model()
    )
    assert model.body_names == ("empty", "full", "tip", "rotor")
    assert (model.nq, model.nv) == (3, 3)


def test_point_mass_behind_a_weld_carries_a_massless_body():
    model = (
        Assembly("bob")
        .add("string", joints.revolute("y"))
        .add("bob", joints.fixed(), "string", at=(0, 0, -1), mass=1.0)
        .model()
    )
    assert model.mass == 1.0


def test_bodies_are_sorted_depth_first_whatever_the_order():
    again = replace(GOOD, bodies=(SHANK, THIGH), joints=(KNEE, HIP))
    assert again.body_names == ("thigh", "shank")
    assert again == GOOD


def test_sorting_ends_on_rings_and_doubles():
    ring = (replace(HIP, parent="shank"), KNEE)
    assert sorted_tree((THIGH, SHANK), ring) == ((), ())
    doubled = (HIP, KNEE, replace(KNEE, parent=WORLD))
    assert len(sorted_tree((THIGH, SHANK), doubled)[0]) == 2


def test_names_that_are_missing_come_with_those_that_are_there():
    with pytest.raises(ModelError, match="no body 'tigh'; did you mean 'thigh'"):
        GOOD.body("tigh")
    with pytest.raises(ModelError, match="accepted: hip, knee"):
        GOOD.coordinate_index("elbow")
    with pytest.raises(ModelError, match="KNE"):
        GOOD.locate("KNEE")


def test_doubts_tell_what_no_real_body_has():
    odd = (
        Assembly("odd")
        .add("toes", joints.revolute("y", lower=0.1, upper=1), mass=0.2, inertia=(1e-4, 2e-4, 1e-3))
        .add(sphere("ball", 1.0, 0.1), joints.custom(joints.turn("x", 0, Spline((0, 1), (0, 1)))))
        .add("wheel", joints.revolute("x"), inertia=(1, 1, 1))
        .model(as_measured=True)
    )
    odd = replace(
        odd,
        joints=(
            odd.joints[0],
            replace(odd.joints[1], coordinates=(Coordinate("ball", lower=0, upper=2),)),
            odd.joints[2],
        ),
    )
    told = "\n".join(implausibilities(odd))
    assert "the largest exceeds the sum of the others" in told
    assert "default 0 is outside its range 0.1 to 1" in told
    assert "its spline is known from 0 to 1 only" in told
    assert "'wheel' has inertia but no mass" in told
    assert implausibilities(GOOD) == []


def test_an_inertia_that_breaks_the_triangle_inequality_is_a_fault_unless_taken_as_measured():
    toes = Assembly("foot").add("toes", joints.revolute("y"), mass=0.2, inertia=(1e-4, 2e-4, 1e-3))
    with pytest.raises(ModelError, match="body 'toes': no rigid body has principal moments") as it:
        toes.model()
    assert "as_measured=True" in it.value.faults[0]
    assert implausibilities(toes.model(as_measured=True))
