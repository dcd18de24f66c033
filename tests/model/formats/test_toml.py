"""The model's own file: the same to the bit after a round trip, and errors that name the place."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn.errors import FormatError, ModelError
from homodyn.model import Assembly, ContactSet, Coordinate, Mesh, box, joints, parametric, sphere
from homodyn.model.formats import load, save
from homodyn.model.functions import Constant, Linear, Polyline, Polynomial, ScaledFunction, Spline
from homodyn.model.muscles import (
    Ligament,
    Muscle,
    PathPoint,
    PathWrap,
    PointLaw,
    PointRange,
    WrapObject,
)
from homodyn.spatial import Transform, rpy_rotation


def everything():
    oblique = Transform(rpy_rotation([0.1, 0.2, 0.3]), (0.1, 1 / 3, -1e-17))
    spline = Spline((-1, 0.1, 2), (0.3, 1e-300, 0.7))
    model = (
        Assembly('a "name"\n\twith \\ and \x7f, é', notes=("first", "two\nlines"))
        .add(box("pelvis", 1 / 3, (0.1, 0.2, 0.3)), joints.free(default=0.1), joint_name="root")
        .add(
            box("thigh", 0.1 + 0.2, (0.1, 0.2, 0.3), com=(0, 1e-9, -0.2)),
            joints.euler("yxz", lower=[-1, -np.inf, 0], upper=2, stiffness=1e22, locked=True),
            "pelvis",
            at=oblique,
            child_at=oblique,
            joint_name="hip",
        )
        .add(
            sphere("shank", 1, 0.1),
            joints.custom(
                joints.turn((1, 2, 3), 0, ScaledFunction(spline, 0.1), pitch=0.3),
                joints.slide("-y", 1, Polynomial((1, 0.1))),
                joints.slide("x", 1, Spline((0, 1, 3), (0, 0.1, 1 / 3), "simm")),
                joints.slide("z", None, Constant(0.3)),
            ),
            "thigh",
        )
        .add(sphere("toe", 1, 0.1), joints.revolute("y"), "shank")
        .couple("toe", "hip_ry", Linear(0.1, -0.2))
        .frame("f", "thigh", oblique)
        .marker("m.1", "thigh", (0, 0, 1))
        .contact("c", "shank", "box", size=(1, 2, 3), rotation=oblique.E)
        .capsule("skin", "shank", (0, 0, 0), (0, 0, 1), 0.1)
        .model(gravity=(0, 0, -1.62))
    )
    spline = Spline((0, 0.5, 1), (0.1, 0.3, 0.2), "simm")
    laws = (
        PointLaw("y", "hip_ry", ScaledFunction(spline, 2)),
        PointLaw("z", "toe", Polyline((0, 1), (0, 1 / 3))),
    )
    points = (
        PathPoint("p1", "pelvis", (0.1, 0, 1 / 3)),
        PathPoint("p2", "thigh", (0, 0, -0.1), PointRange("toe", -np.inf, 0.3)),
        PathPoint("p3", "shank", laws=laws),
    )
    settings = {"activation_time_constant": 0.01, "Curve.shape": [1.0, 2.5], "rigid": True}
    wraps = (PathWrap("knob"), PathWrap("knob", "midpoint", 1, 2))
    model = replace(
        model,
        meshes=(Mesh("thigh", "femur.vtp", oblique, (1, 2, 3)), Mesh("world", "floor.obj")),
        wraps=(WrapObject("knob", "thigh", "cylinder", (0.1, 0.2), oblique, "-x", False),),
        muscles=(Muscle("rectus", "Thelen2003Muscle", points, wraps, 1200, settings=settings),),
        ligaments=(Ligament("acl", "Ligament", points[:2], (), {"resting_length": 0.1}),),
    )
    noted = replace(model.joints[1], notes={"source": "table 3", "columns": [1, 2.5, True]})
    flat = ContactSet("flat", ("c", "m.1"), [[0, 0, 1], [0.6, 0, 0.8]])
    created = (model.joints[0], noted, *model.joints[2:])
    return replace(model, joints=created, contact_sets=(flat,))


def test_round_trip_is_exact(tmp_path):
    model = everything()
    save(model, tmp_path / "m.toml")
    again = load(tmp_path / "m.toml")
    assert again == model
    assert again.digest == model.digest


def test_round_trip_keeps_parameters(tmp_path):
    model = everything().with_parameters(
        "thigh.mass", "thigh.inertia.xy", "hip.position", "gravity"
    )
    save(model, tmp_path / "m.toml")
    again = load(tmp_path / "m.toml")
    assert again == model
    assert again.at(again.parameter_values) == everything()


def test_formulas_of_parameters_are_refused_with_the_way_out(tmp_path):
    model = parametric(
        lambda r: Assembly("b").add(sphere("b", 1, r), joints.revolute("x")).model(), r=1.0
    )
    with pytest.raises(FormatError, match=r"model\.at"):
        save(model, tmp_path / "m.toml")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file_and_nothing_beside_it(tmp_path):
    target = tmp_path / "m.toml"
    target.write_text("old")
    model = replace(everything(), name="\ud800")
    with pytest.raises(FormatError, match="cannot be written"):
        save(model, target)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
    with pytest.raises(FormatError, match="cannot be written"):
        save(everything(), tmp_path / "no" / "m.toml")
    with pytest.raises(FormatError, match=r"cannot be written as '\.stl'; accepted: \.toml, \.lua"):
        save(everything(), tmp_path / "m.stl")


BY_HAND = """
format = "homodyn 2"
name = "pendulum"

[[body]]
name = "arm"
mass = 1
com = [0, 0, -0.5]
inertia = [0.1, 0.1, 0.01]

[[joint]]
name = "shoulder"
parent = "world"
child = "arm"
kind = "revolute"
motions = [{ turn = "y" }]
coordinates = [{ name = "shoulder", lower = -1.5, upper = 1.5 }]
"""


def test_a_file_written_by_hand_is_short(tmp_path):
    (tmp_path / "m.toml").write_text(BY_HAND)
    model = load(tmp_path / "m.toml")
    by_code = (
        Assembly("pendulum")
        .add(
            "arm",
            joints.revolute("y", lower=-1.5, upper=1.5),
            joint_name="shoulder",
            mass=1,
            com=(0, 0, -0.5),
            inertia=(0.1, 0.1, 0.01),
        )
        .model()
    )
    assert model == by_code
    assert model.coordinates == (Coordinate("shoulder", -1.5, 1.5),)


def test_contact_sizes_of_the_first_format_are_doubled(tmp_path):
    sole = '[[contact]]\nname = "sole"\nbody = "arm"\nkind = "box"\nsize = [0.1, 0.04, 0.02]\n'
    (tmp_path / "new.toml").write_text(BY_HAND + sole)
    (tmp_path / "old.toml").write_text((BY_HAND + sole).replace("homodyn 2", "homodyn 1"))
    new, old = load(tmp_path / "new.toml"), load(tmp_path / "old.toml")
    assert new.contacts[0].size.tolist() == [0.1, 0.04, 0.02]
    assert old.contacts[0].size.tolist() == [0.2, 0.08, 0.04]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"homodyn 2"', '"homodyn 9"', "format must be 'homodyn 2', got 'homodyn 9'"),
        ('format = "homodyn 2"', "", "the key 'format' is missing"),
        ("mass = 1", "mas = 1", "body 'arm': no key 'mas'; did you mean 'mass'"),
        ("mass = 1", 'mass = "m"', "body 'arm': mass: no parameter 'm'; accepted: none"),
        ("mass = 1", "mass = true", "mass must be numbers"),
        ("mass = 1", "mass = -1", r"m\.toml: model 'pendulum' is invalid"),
        ("com = [0, 0, -0.5]", "com = [0, 0]", "body 'arm': body 'arm': com must be 3 numbers"),
        ("[[joint]]", "[[joins]]", "no key 'joins'; did you mean 'joint'"),
        ('kind = "revolute"', "kind = 3", "joint 'shoulder': kind must be a string"),
        ('turn = "y"', 'turn = "w"', "axis 1: turn: no parameter 'w'"),
        ('turn = "y"', 'twist = "y"', "one key of turn and slide"),
        ('turn = "y"', 'turn = "y", coordinate = -3', "must be an index from 0"),
        ('turn = "y"', 'turn = "y", function = {}', "a function needs one key of constant"),
        ('turn = "y"', 'turn = "y", function = {linear = [1]}', "factor and offset"),
        ('turn = "y"', 'turn = "y", function = {spline = [[0, 1]]}', "the same number of knots"),
        ("lower = -1.5", "low = -1.5", "coordinate 'shoulder': no key 'low'"),
        ("lower = -1.5", "lower = 7", "lower 7 must not exceed upper 1.5"),
        ('name = "pendulum"', "name = ", "not TOML.*line 3"),
        ("[[body]]", "[body]", "body must be a list of tables"),
        ('child = "arm"', 'child = "leg"', "no body 'leg'"),
    ],
)
def test_errors_name_file_and_place(tmp_path, old, new, words):
    path = tmp_path / "m.toml"
    path.write_text(BY_HAND.replace(old, new))
    with pytest.raises((FormatError, ModelError), match=words) as caught:
        load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("m.toml", b"\xff\xfe\x00", "not UTF-8"),
        ("m.toml", b"a = " + b"[" * 100_000, "nested too deeply|not TOML"),
        ("m.xyz", b"", r"models cannot be read from '.xyz'; accepted: .toml"),
        ("m", b"", "models cannot be read from"),
        ("m.xml", b"<mujoco/>", "not URDF or OpenSim"),
    ],
)
def test_what_is_no_model_file_is_refused(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FormatError, match=words):
        load(tmp_path / name)


def test_missing_files_folders_and_giants_are_refused(tmp_path, monkeypatch):
    with pytest.raises(FormatError, match="no such file"):
        load(tmp_path / "nothing.toml")
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(FormatError, match="folder"):
        load(tmp_path / "folder.toml")
    monkeypatch.setattr("homodyn.model.formats.files.MAX_MODEL_BYTES", 10)
    (tmp_path / "m.toml").write_text(BY_HAND)
    with pytest.raises(FormatError, match="too large"):
        load(tmp_path / "m.toml")
    with pytest.raises(FormatError, match="base does not apply to Homodyn TOML files"):
        load(tmp_path / "m.toml", base="free")
