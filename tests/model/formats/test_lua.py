"""LuaModel read: the same bodies, places and dynamics as an independent evaluation, and errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from homodyn.dynamics import bias_force, mass_matrix, orientation, position
from homodyn.errors import FormatError, ModelError
from homodyn.model import load
from homodyn.model.formats.lua import NAMED_JOINTS

TOLERANCE = 1e-12


@pytest.fixture
def lua(tmp_path):
    def write(text, name="model.lua"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    return write


def frame(name="a", parent="ROOT", more=""):
    inertia = "{{1,0,0},{0,1,0},{0,0,1}}"
    return (
        f"{{name='{name}', parent='{parent}', body={{mass=1, com={{0,0,0.5}}, inertia={inertia}}}, "
        f"{more}}}"
    )


def model_text(*frames, more=""):
    return f"return {{gravity={{0,0,-9.81}}, frames={{{', '.join(frames)}}}, {more}}}"


@pytest.fixture(scope="module")
def gait912(shared_data):
    return shared_data / "rbdl_planar" / "gait912.lua"


def table_of(path):
    """The table of a trusted file, by a plain Lua."""
    import lupa

    return lupa.LuaRuntime().execute(path.read_text())


def listed(table):
    return [table[k] for k in range(1, len(table) + 1)]


def vector(table):
    return np.array([float(x) for x in listed(table)])


def matrix(table):
    return np.array([vector(row) for row in listed(table)])


def slow_places(path, angles):
    """From every body to the world by 4 x 4 matrices; ``angles`` by frame and row."""
    placed = {"ROOT": np.eye(4)}
    for entry in listed(table_of(path)["frames"]):
        T = np.eye(4)
        T[:3, :3] = matrix(entry["joint_frame"]["E"]).T
        T[:3, 3] = vector(entry["joint_frame"]["r"])
        for k, row in enumerate(listed(entry["joint"])):
            axis, step = vector(row), np.eye(4)
            amount = angles[entry["name"]][k]
            w = axis[:3]
            K = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
            step[:3, :3] = np.eye(3) + np.sin(amount) * K + (1 - np.cos(amount)) * K @ K
            step[:3, 3] = amount * axis[3:]
            T = T @ step
        placed[entry["name"]] = placed[entry["parent"]] @ T
    return placed


def angles_of(model, q):
    parts = {joint.child: [] for joint in model.joints}
    values = iter(q)
    for joint in model.joints:
        parts[joint.child] = [next(values) for _ in joint.coordinates]
    return parts


def test_gait912_has_its_bodies_masses_and_names(gait912):
    model = load(gait912, as_measured=True)
    entries = listed(table_of(gait912)["frames"])
    assert set(model.body_names) == {entry["name"] for entry in entries}
    assert model.nv == 9
    assert model.coordinate_names[:4] == ("Pelvis_TX", "Pelvis_TZ", "Pelvis_RY", "Thigh_R_RY")
    assert model.mass == pytest.approx(sum(entry["body"]["mass"] for entry in entries), rel=1e-14)
    assert model.mass == pytest.approx(81.68, abs=0.01)
    assert len(model.markers) == sum(len(list(entry["markers"])) for entry in entries) == 37
    assert len(model.frames) == 12
    assert "not read: animation_settings, foot_dimensions" in model.notes
    with pytest.raises(ModelError, match=r"gait912.lua.*\n.*MiddleTrunk.*as_measured=True"):
        load(gait912)


def test_gait912_stands_where_a_slow_evaluation_puts_it(gait912):
    model = load(gait912, as_measured=True)
    table = table_of(gait912)
    for q in np.random.default_rng(1).normal(size=(5, model.nv)):
        placed = slow_places(gait912, angles_of(model, q))
        for name in model.body_names:
            assert_allclose(position(model, q, name), placed[name][:3, 3], atol=TOLERANCE)
            assert_allclose(orientation(model, q, name), placed[name][:3, :3], atol=TOLERANCE)
        for entry in listed(table["frames"]):
            for name, point in entry["markers"].items():
                there = placed[entry["name"]] @ np.append(vector(point), 1)
                assert_allclose(position(model, q, name), there[:3], atol=TOLERANCE)
        for point in listed(table["points"]):
            there = placed[point["body"]] @ np.append(vector(point["point"]), 1)
            assert_allclose(position(model, q, point["name"]), there[:3], atol=TOLERANCE)


def test_gait912_moves_as_pinocchio_says(gait912):
    pin = pytest.importorskip("pinocchio")
    model = load(gait912, as_measured=True)
    peer, index = pin.Model(), {"ROOT": (0, pin.SE3.Identity())}
    for entry in listed(table_of(gait912)["frames"]):
        parent, before = index[entry["parent"]]
        at = before * pin.SE3(
            matrix(entry["joint_frame"]["E"]).T, vector(entry["joint_frame"]["r"])
        )
        for k, row in enumerate(listed(entry["joint"])):
            axis = vector(row)
            turning = axis[:3].any()
            kind = pin.JointModelRevoluteUnaligned if turning else pin.JointModelPrismaticUnaligned
            joint = kind(axis[:3] if turning else axis[3:])
            parent = peer.addJoint(parent, joint, at, f"{entry['name']}_{k}")
            at = pin.SE3.Identity()
        body = entry["body"]
        inertia = pin.Inertia(body["mass"], vector(body["com"]), matrix(body["inertia"]))
        peer.appendBodyToJoint(parent, inertia, at)
        index[entry["name"]] = (parent, at)
    data = peer.createData()
    generator = np.random.default_rng(3)
    for q, v in generator.normal(size=(4, 2, model.nv)):
        M = pin.crba(peer, data, q)
        assert_allclose(mass_matrix(model, q), np.triu(M) + np.triu(M, 1).T, atol=1e-10)
        assert_allclose(bias_force(model, q, v), pin.nonLinearEffects(peer, data, q, v), atol=1e-9)


def test_rows_are_motions_in_their_order(lua):
    rows = "joint={{0,0,0,1,0,0},{0,0,1,0,0,0},{0,1,0,0,0.2,0},{0,0,0,0,0,-1}}"
    model = load(lua(model_text(frame(more=rows))))
    motions = model.joints[0].axes
    assert [motion.kind for motion in motions] == ["slide", "turn", "turn", "slide"]
    assert model.coordinate_names == ("a_TX", "a_RZ", "a_RY", "a_TZ")
    assert motions[2].pitch == 0.2
    assert_allclose(motions[3].axis, [0, 0, -1])


@pytest.mark.parametrize("name", NAMED_JOINTS)
def test_joints_may_be_named(lua, name):
    model = load(lua(model_text(frame(more=f"joint={{'{name}'}}"))))
    assert model.joints[0].kind == NAMED_JOINTS[name].kind
    assert model.nv == len(NAMED_JOINTS[name].coordinates)


def test_e_turns_coordinates_of_the_parent_into_those_of_the_joint(lua):
    # The joint's x axis points along the parent's y: rows of E are the axes of the joint.
    placed = "joint_frame={r={1,2,3}, E={{0,1,0},{-1,0,0},{0,0,1}}}"
    model = load(
        lua(model_text(frame(more=placed), more="points={{name='tip',body='a',point={1,0,0}}}"))
    )
    assert_allclose(position(model, model.neutral(), "tip"), [1, 3, 3])


def test_rotations_with_few_digits_become_rotations(lua):
    placed = "joint_frame={E={{0.5403,0.8415,0},{-0.8415,0.5403,0},{0,0,1}}}"
    E = load(lua(model_text(frame(more=placed)))).joints[0].placement.E
    assert_allclose(E @ E.T, np.eye(3), atol=1e-15)


def test_other_axes_are_turned_to_front_left_up(lua):
    axes = "configuration={axis_front={1,0,0}, axis_right={0,0,1}, axis_up={0,1,0}}"
    points = "points={{name='tip',body='a',point={0,1,0}}}"
    text = model_text(frame(more="joint_frame={r={1,2,3}}"), more=f"{axes}, {points}")
    model = load(lua(text.replace("{0,0,-9.81}", "{0,-9.81,0}")))
    assert_allclose(model.gravity, [0, 0, -9.81])
    assert_allclose(position(model, model.neutral(), "a"), [1, -3, 2])
    assert_allclose(position(model, model.neutral(), "tip"), [1, -3, 3])


def test_constraint_sets_become_contact_sets(lua):
    more = """
      points={{name='heel',body='a',point={0,0,0}},{name='toe',body='a',point={0.2,0,0}},
              {name='hand',body='a',point={0,0,1}}},
      local_frames={{name='grip',body='a',r={0,0,1},E={{0,1,0},{-1,0,0},{0,0,1}}}},
      constraint_sets={
        flat={{point='heel',normal={1,0,0}},{point='heel',normal={0,0,1}},
              {constraint_type='contact',point_name='toe',normal_sets={{1,0,0},{0,0,1}}}},
        heel_only={{point='heel',normal={0,0,1}},{constraint_type='loop',name='ring'}},
      }"""
    model = load(lua(model_text(frame(more="joint='JointTypeFloatingBase'"), more=more)))
    assert [group.name for group in model.contact_sets] == ["flat", "heel_only"]
    assert model.contact_sets[0].points == ("heel", "heel", "toe", "toe")
    assert_allclose(model.contact_sets[0].normals, [[1, 0, 0], [0, 0, 1]] * 2)
    assert [contact.name for contact in model.contacts] == ["heel", "toe"]
    assert [frame.name for frame in model.frames] == ["hand", "grip"]
    assert any("ring is not a contact" in note for note in model.notes)


def test_functions_variables_and_modules_are_evaluated(lua):
    lua(
        "local function scaled(h) return {thigh = 0.25 * h} end\nreturn scaled",
        "HeiMan/lengths.lua",
    )
    path = lua(
        """local lengths = require "HeiMan.lengths" (1.6)
        local function body(m) return {mass = m, com = {0, 0, -lengths.thigh / 2},
          inertia = {{m, 0, 0}, {0, m, 0}, {0, 0, m}}} end
        model = {gravity = {0, 0, -9.81}, frames = {}}
        for i, name in ipairs {"left", "right"} do
          model.frames[i] = {name = name, parent = "ROOT", body = body(i), joint = {{0,1,0,0,0,0}}}
        end
        return model"""
    )
    model = load(path)
    assert model.body_names == ("left", "right")
    assert model.body("right").mass == 2
    assert_allclose(model.body("left").com, [0, 0, -0.2])


def test_notes_state_missing_inertia_and_gravity(lua):
    model = load(lua("return {frames={{name='a', parent='ROOT', body={mass=2}}}}"))
    assert_allclose(model.body("a").inertia, np.eye(3))
    assert model.notes == (
        "frame 'a': no inertia in the file, 1 kg m2 as in RBDL",
        "no gravity in the file: 9.81 m/s2 downwards",
    )


def test_round_visuals_become_capsules(lua):
    visuals = """visuals={
      {name='head', geometry={sphere={radius=0.1}}, translate={0,0,1}},
      {name='bone', geometry={capsule={radius=0.1,length=1}}, rotate={axis={1,0,0},angle=90}},
      {src='meshes/foot.obj'}, {geometry={box={dimensions={1,1,1}}}}}"""
    model = load(lua(model_text(frame(more=visuals))))
    head, bone = model.capsules
    assert_allclose([head.start, head.end], [[0, 0, 1]] * 2)
    assert_allclose([bone.start, bone.end], [[0, 0, -0.4], [0, 0, 0.4]], atol=1e-15)
    assert model.notes == ("frame 'a': meshes/foot.obj is not kept", "frame 'a': box is not kept")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("return {frames = }", "line 1: unexpected symbol near '}'"),
        ("\n\nlocal x = nil + 1", "line 3: attempt to perform arithmetic on a nil value"),
        ("return 5", "returns a int"),
        ("model = {}", "returns nothing; end it with: return model"),
        ("return {1, 2}", "not a list"),
        ("return {}", "there are no frames"),
        ("return {frames = {a = {}}}", "frames must be a list; the order"),
        ("return {frames = {3}}", r"frames\[1\]: a table with names is expected, got 3"),
        (model_text(frame("a", "b")), "no body 'b'"),
        (
            model_text(frame("a", "b"), frame("b", "a")),
            "form a loop that is not connected to 'world'",
        ),
        (model_text(frame("a"), frame("a")), "'a' occurs more than once"),
        (model_text(frame(more="joint={{1,0,0}}")), r"frames\[a\]: joint row 1 must be 6 numbers"),
        (model_text(frame(more="joint={{2,0,0,0,0,0}}")), "axis of length one"),
        (model_text(frame(more="joint={{1,0,0,0,1,0}}")), "write two rows"),
        (model_text(frame(more="joint={'JointTypeEulerXZ'}")), "did you mean 'JointTypeEuler"),
        (model_text(frame(more="joint_frame={r={1,2}}")), r"frames\[a\].joint_frame: r must be 3"),
        (model_text(frame(more="joint_frame={E={{2,0,0},{0,1,0},{0,0,1}}}")), "orthonormal"),
        (model_text(frame(more="markers={LASI={1,'x',3}}")), r"markers: LASI must be 3 numbers"),
        (model_text(frame(), more="gravity={0,0}"), "gravity must be 3 numbers"),
        (
            model_text(frame(), more="constraint_sets={flat={{point='heel',normal={0,0,1}}}}"),
            "contact set 'flat': no contact, marker, frame or body 'heel'",
        ),
        (
            model_text(frame(), more="configuration={axis_up={1,0,0}}"),
            "must be orthonormal and right-handed",
        ),
    ],
)
def test_errors_name_file_and_place(lua, text, words):
    path = lua(text)
    with pytest.raises((FormatError, ModelError), match=words) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_base_is_refused(lua):
    with pytest.raises(FormatError, match="base does not apply to LuaModel files"):
        load(lua(model_text(frame())), base="free")
