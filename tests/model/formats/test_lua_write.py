"""LuaModel written: bit for bit the same model, and unknown fields in their order."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn.errors import FormatError, ModelError
from homodyn.model import (
    Body,
    Capsule,
    ContactSet,
    ContactShape,
    Coupler,
    Frame,
    Marker,
    Model,
    joints,
    load,
    save,
)
from homodyn.model.formats.lua_sandbox import run
from homodyn.model.formats.lua_write import lua_text
from homodyn.model.functions import Linear
from homodyn.spatial import Transform, rpy_rotation

TURNED = Transform(rpy_rotation(np.array([0.3, -0.5, 0.7])), np.array([0.1, 0.2, -0.3]))


def zoo():
    kinds = {
        "trunk": (joints.free(), "world"),
        "thigh": (joints.euler("yxz", lower=-1.0, upper=[0.5, 1.0, 2.0], damping=0.1), "trunk"),
        "shank": (joints.revolute("y", stiffness=3.0, rest=0.2, armature=0.1), "thigh"),
        "foot": (joints.universal("y", "x", names=("ankle", "subtalar")), "shank"),
        "arm": (joints.spherical(), "trunk"),
        "screw": (joints.helical("z", 0.125), "arm"),
        "rail": (joints.custom(joints.slide("x", 0), joints.turn("-z", 1)), "trunk"),
        "tool": (joints.fixed(), "rail"),
    }
    created, bodies = [], []
    for k, (child, (kind, parent)) in enumerate(kinds.items()):
        created.append(kind.joint(f"to_{child}", parent, child, at=TURNED))
        bodies.append(Body(child, 1.0 + k / 3, [0.1, 0, -k / 7], [0.3, 0.25, 0.2]))
    return Model(
        "zoo",
        tuple(bodies),
        tuple(created),
        frames=(Frame("tip", "tool", TURNED), Frame("origin", "world"), Frame("mid", "arm")),
        markers=(Marker("end", "foot", [0.1, 0, 0]), Marker("odd name", "foot", [0, 1, 0])),
        contacts=(
            ContactShape("heel", "foot", "point", [0, 0, -0.1]),
            ContactShape("sole", "foot", "box", [0, 0, -0.1], 0.0, [0.1, 0.2, 0.3], TURNED.E),
        ),
        capsules=(Capsule("bone", "thigh", [0, 0, 0], [0.1, 0.2, -0.4], 0.05),),
        contact_sets=(ContactSet("flat", ("heel", "mid"), [[0, 0, 1], [1, 0, 0]]),),
        gravity=(0.0, 0.0, -9.7),
        notes=('a "note"\nof two lines\\', "é"),
    )


def test_every_representable_model_reads_back_the_same(tmp_path):
    model = zoo()
    save(model, tmp_path / "zoo.lua")
    again = load(tmp_path / "zoo.lua")
    assert again.digest == model.digest
    save(model, tmp_path / "other.lua")
    assert load(tmp_path / "other.lua").name == "zoo"


def test_gait912_reads_back_the_same(shared_data, tmp_path):
    original = shared_data / "rbdl_planar" / "gait912.lua"
    model = load(original, as_measured=True)
    for options in ({}, {"like": original}):
        save(model, tmp_path / "gait912.lua", **options)
        assert load(tmp_path / "gait912.lua").digest == model.digest


ORIGINAL = """
-- A subject, with fields of other programs.
local length = 0.4
subject = "S3"
return {
  zeta = {deep = {flag = true, list = {1, "two", {x = 1}}}},
  gravity = {0, 0, -9.81},
  configuration = {axis_front = {1,0,0}, axis_right = {0,0,1}, axis_up = {0,1,0}},
  points = {{name = "heel", color = {1,0,0}, body = "shank", point = {0,0,-length}}},
  constraint_sets = {
    flat = {{point = "heel", normal = {0,1,0}, id = 4}, {constraint_type = "loop"}},
  },
  frames = {
    {
      visuals = {{src = "meshes/thigh.obj", color = {1, 0.5, 0}}},
      parent = "ROOT", name = "thigh", owner = subject,
      joint = {{0,0,1,0,0,0}},
      joint_frame = {r = {0, 1, 0}},
      body = {length = length, mass = 8, com = {0,0,-length/2},
        inertia = {{1,0,0},{0,1,0},{0,0,1}}},
      markers = {RTHI = {1,0,0}, RKNE = {0,0,-length}, ASIS = {0,1,0}},
    },
    {
      name = "shank", parent = "thigh", joint = {{0,0,1,0,0,0}}, joint_frame = {r = {0,0,-length}},
      body = {mass = 3, com = {0,0,-0.2}, inertia = {{1,0,0},{0,1,0},{0,0,1}}},
      markers = {{name = "RANK", point = {0,0,-0.4}, weight = 2}},
    },
  },
  alpha = 5,
}
"""


@pytest.fixture
def original(tmp_path):
    path = tmp_path / "original.lua"
    path.write_text(ORIGINAL)
    return path


def test_an_unchanged_model_leaves_every_field_as_it_was(original, tmp_path):
    model = load(original)
    save(model, tmp_path / "again.lua", like=original)
    before, after = run(original).table, run(tmp_path / "again.lua").table
    assert after.pop("name") == "original"
    assert after == before
    assert list(after) == list(before)
    assert list(after["frames"][0]) == list(before["frames"][0])
    assert list(after["frames"][0]["markers"]) == ["RTHI", "RKNE", "ASIS"]
    assert load(tmp_path / "again.lua").digest == model.digest


def test_changed_numbers_are_written_back_and_nothing_else(original, tmp_path):
    model = load(original).with_numbers(
        {
            "thigh.mass": 9.5,
            "joint:shank.position": [0, 0, -0.45],
            "joint:thigh.position": [0.5, 0.25, 1.5],
            "RKNE.position.x": 0.02,
            "RANK.position.z": -0.5,
            "heel.position.z": -0.41,
        }
    )
    save(model, original, like=original)
    assert load(original).digest == model.digest
    table = run(original).table
    thigh, shank = table["frames"]
    assert thigh["body"]["mass"] == 9.5
    assert thigh["body"]["length"] == 0.4
    assert thigh["owner"] == "S3"
    # The root's place is written in the axes of the file, where y is up and z to the right.
    assert thigh["joint_frame"]["r"] == [0.5, 1.5, -0.25]
    assert "E" not in shank["joint_frame"]
    assert shank["joint_frame"]["r"] == [0, 0, -0.45]
    assert thigh["markers"] == {"RTHI": [1, 0, 0], "RKNE": [0.02, 0, -0.4], "ASIS": [0, 1, 0]}
    assert shank["markers"] == [{"name": "RANK", "point": [0, 0, -0.5], "weight": 2}]
    assert table["points"][0] == {
        "name": "heel",
        "color": [1, 0, 0],
        "body": "shank",
        "point": [0, 0, -0.41],
    }
    assert table["constraint_sets"]["flat"][0]["id"] == 4
    assert table["zeta"]["deep"]["list"] == [1, "two", {"x": 1}]


def test_parts_come_and_go(original, tmp_path):
    model = load(original)
    changed = replace(
        model,
        bodies=(*model.bodies, Body("foot", 1.0, inertia=[1, 1, 1])),
        joints=(*model.joints, joints.revolute("y").joint("ankle", "shank", "foot")),
        markers=(*model.markers[1:], Marker("TOE", "foot", [0.1, 0, 0])),
        frames=(Frame("tip", "foot", [0.2, 0, 0]),),
        contact_sets=(ContactSet("flat", ("heel",), [[1, 0, 0]]),),
        capsules=(Capsule("bone", "thigh", [0, 0, 0], [0, 0, -0.4], 0.05),),
    )
    save(changed, tmp_path / "new.lua", like=original)
    assert load(tmp_path / "new.lua").digest == changed.digest
    table = run(tmp_path / "new.lua").table
    assert table["alpha"] == 5
    assert {"constraint_type": "loop"} in table["constraint_sets"]["flat"]
    assert table["frames"][0]["visuals"][0]["src"] == "meshes/thigh.obj"
    save(model, tmp_path / "new.lua", like=tmp_path / "new.lua")
    assert load(tmp_path / "new.lua").body_names == ("thigh", "shank")


def test_what_luamodel_has_not_is_refused_by_name(tmp_path):
    model = zoo()
    refusals = {
        "'ankle' follows 'to_shank'": replace(
            model, couplers=(Coupler("ankle", "to_shank", Linear(2.0)),)
        ),
        "joint 'to_tool' is not at the origin": replace(
            model, joints=(*model.joints[:-1], replace(model.joints[-1], child_placement=TURNED))
        ),
        "parameters thigh.mass": model.with_parameters("thigh.mass"),
    }
    for words, odd in refusals.items():
        with pytest.raises(FormatError, match=words):
            save(odd, tmp_path / "odd.lua")
    assert not (tmp_path / "odd.lua").exists()


def test_contact_sets_must_make_sense():
    model = zoo()
    odd = {
        "no contact, marker, frame or body 'hel'": ContactSet("a", ("hel",), [[0, 0, 1]]),
        "the normal of 'heel' must have length one": ContactSet("a", ("heel",), [[0, 0, 2]]),
    }
    for words, group in odd.items():
        with pytest.raises(ModelError, match=words):
            replace(model, contact_sets=(group,))
    with pytest.raises(ModelError, match="3 numbers for each of its 1 points"):
        ContactSet("a", ("heel",), [0, 1])


def test_values_read_back_as_they_were(tmp_path):
    values = {
        "end": 'a\\b"c\n\t\x00\x7f\\u0041',
        "é": [1, 2.5, -0.0, 1e300, 5e-324, float("inf"), float("-inf")],
        "empty": {},
        "mixed": {1: "a", "x": False},
    }
    path = tmp_path / "values.lua"
    path.write_text(f"return {lua_text(values)}")
    assert run(path).table == {**values, "empty": []}
