"""URDF: every joint type, the same bodies and places as Pinocchio, and errors with lines."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from homodyn.dynamics import mass_matrix
from homodyn.errors import FormatError, ModelError
from homodyn.model import Model
from homodyn.model.coordinate_layout import joint_positions
from homodyn.model.formats import load
from homodyn.spatial import Transform

FILES = ("simple_humanoid.urdf", "humanSubject01_48dof.urdf")


def placements(model: Model, q: np.ndarray) -> dict[str, Transform]:
    """From the world to every body, the slow way."""
    found: dict[str, Transform] = {"world": Transform.identity()}
    for joint, own in zip(model.joints, joint_positions(model.joint_slots, q), strict=True):
        to_child = joint.child_placement.inverse() @ joint.transform(own) @ joint.placement
        found[joint.child] = to_child @ found[joint.parent]
    return found


def peer_positions(pin, peer, model: Model, q: np.ndarray) -> np.ndarray:
    """Our q in the order of Pinocchio, whose quaternions end with w."""
    theirs = pin.neutral(peer)
    for name, own in zip(model.joint_names, joint_positions(model.joint_slots, q), strict=True):
        if name == "root" and own.shape == (7,):
            theirs[:7] = own[[0, 1, 2, 4, 5, 6, 3]]
        elif own.shape == (1,):
            theirs[peer.joints[peer.getJointId(name)].idx_q] = own[0]
    return theirs


@pytest.mark.parametrize("base", ["free", "fixed"])
@pytest.mark.parametrize("file", FILES)
def test_bodies_stand_where_pinocchio_puts_them(shared_data, file, base):
    pin = pytest.importorskip("pinocchio")
    path = shared_data / "urdf" / file
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    model = load(path, base=base)
    roots = (pin.JointModelFreeFlyer(),) if base == "free" else ()
    peer = pin.buildModelFromUrdf(str(path), *roots)
    assert model.nv == peer.nv
    assert model.nq == peer.nq
    single = [joint.name for joint in model.joints if joint.nv == 1]
    assert single == [c for c in model.coordinate_names if not c.startswith("root_")]
    assert set(single) == set(peer.names) - {"universe", "root_joint"}
    if base == "free":
        assert model.mass == pytest.approx(pin.computeTotalMass(peer), rel=1e-12)
    data = peer.createData()
    for q in model.random(seed=3, size=5):
        theirs = peer_positions(pin, peer, model, q)
        pin.framesForwardKinematics(peer, data, theirs)
        found = placements(model, q)
        for name in model.body_names:
            there = data.oMf[peer.getFrameId(name)]
            assert_allclose(found[name].r, there.translation, atol=1e-12)
            assert_allclose(found[name].E, there.rotation.T, atol=1e-12)


@pytest.mark.parametrize("file", FILES)
def test_center_of_mass_is_that_of_pinocchio(shared_data, file):
    pin = pytest.importorskip("pinocchio")
    path = shared_data / "urdf" / file
    model = load(path)
    peer = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    q = model.random(seed=1)
    found = placements(model, q)
    total = sum(body.mass * found[body.name].point_back(body.com) for body in model.bodies)
    theirs = pin.centerOfMass(peer, peer.createData(), peer_positions(pin, peer, model, q))
    assert_allclose(total / model.mass, theirs, atol=1e-12)


ROBOT = """<robot name="zoo">
  <link name="base"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <link name="a">
    <inertial>
      <origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/>
      <mass value="1"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="2.5"/>
    </inertial>
    <collision name="ball">
      <origin xyz="0 0 1"/><geometry><sphere radius="0.1"/></geometry>
    </collision>
    <collision><geometry><box size="1 2 3"/></geometry></collision>
    <collision>
      <origin rpy="1.5707963267948966 0 0"/>
      <geometry><cylinder radius="0.1" length="2"/></geometry>
    </collision>
    <visual><geometry><mesh filename="a.stl"/></geometry></visual>
  </link>
  <link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <link name="c"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <link name="d"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <link name="e"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <link name="tool"/>
  <joint name="turn" type="revolute">
    <parent link="base"/><child link="a"/><origin xyz="1 0 0" rpy="0.1 0.2 0.3"/>
    <axis xyz="0 2 0"/>
    <limit lower="-1" upper="1" effort="30" velocity="2"/>
    <dynamics damping="0.5" friction="0.1"/>
  </joint>
  <joint name="spin" type="continuous">
    <parent link="a"/><child link="b"/><limit effort="5" velocity="1"/>
    <mimic joint="slip" multiplier="2" offset="0.5"/>
  </joint>
  <joint name="slip" type="prismatic">
    <parent link="b"/><child link="c"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="0.2" effort="1" velocity="1"/>
    <mimic joint="turn" multiplier="-3" offset="0.1"/>
  </joint>
  <joint name="plane" type="planar">
    <parent link="base"/><child link="d"/><axis xyz="0 0 1"/>
  </joint>
  <joint name="fly" type="floating"><parent link="base"/><child link="e"/></joint>
  <joint name="weld" type="fixed"><parent link="e"/><child link="tool"/></joint>
  <transmission name="ignored"/>
</robot>
"""


@pytest.fixture
def robot(tmp_path):
    def write(text: str = ROBOT):
        path = tmp_path / "robot.urdf"
        path.write_text(text)
        return path

    return write


def test_every_joint_type_is_read(robot):
    model = load(robot())
    kinds = {joint.name: joint.kind for joint in model.joints}
    assert kinds == {
        "root": "free",
        "turn": "revolute",
        "spin": "revolute",
        "slip": "prismatic",
        "plane": "planar",
        "fly": "free",
        "weld": "fixed",
    }
    turn = model.joint("turn").coordinates[0]
    assert (turn.lower, turn.upper, turn.max_force, turn.max_velocity) == (-1, 1, 30, 2)
    assert (turn.damping, turn.friction) == (0.5, 0.1)
    assert_allclose(model.joint("turn").axes[0].axis, [0, 1, 0])
    spin = model.joint("spin").coordinates[0]
    assert (spin.lower, spin.upper, spin.max_force) == (-np.inf, np.inf, 5)
    assert_allclose(model.joint("spin").axes[0].axis, [1, 0, 0])
    assert model.nv == 6 + 1 + 3 + 6


def test_inertia_is_turned_into_the_link_frame(robot):
    body = load(robot()).body("a")
    assert_allclose(body.com, [0, 0, 1])
    assert_allclose(body.inertia, np.diag([2, 1, 2.5]), atol=1e-15)


def test_mimics_of_mimics_follow_the_joint_at_the_end(robot):
    model = load(robot())
    laws = {c.coordinate: (c.of, c.function.factor, c.function.offset) for c in model.couplers}
    assert laws["slip"] == ("turn", -3, 0.1)
    assert laws["spin"] == ("turn", -6, pytest.approx(0.7))


def test_simple_shapes_are_kept_and_meshes_noted(robot):
    model = load(robot())
    ball, cylinder = model.capsules
    assert ball.name == "a_ball"
    assert_allclose([ball.start, ball.end], [[0, 0, 1]] * 2)
    assert_allclose([cylinder.start, cylinder.end], [[0, 1, 0], [0, -1, 0]], atol=1e-15)
    assert_allclose(model.contacts[0].size, [1, 2, 3])
    assert model.notes == ("link 'a': mesh a.stl is not kept",)


def test_the_root_has_the_given_base(robot):
    assert load(robot(), base="fixed").joint("root").kind == "fixed"
    euler = load(robot(), base="euler")
    assert euler.coordinate_names[:6] == (
        "root_tx",
        "root_ty",
        "root_tz",
        "root_rz",
        "root_ry",
        "root_rx",
    )
    with pytest.raises(FormatError, match="no base 'floating'; accepted: free, fixed, euler"):
        load(robot(), base="floating")


ANCHORED = """<robot name="arm">
  <link name="world"/>
  <link name="foot"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <joint name="anchor" type="fixed">
    <parent link="world"/><child link="foot"/><origin xyz="0 0 1"/>
  </joint>
</robot>"""


def test_a_root_link_called_world_is_the_world(robot):
    model = load(robot(ANCHORED))
    assert model.body_names == ("foot",)
    assert model.joint("anchor").kind == "fixed"
    free = load(robot(ANCHORED), base="free")
    assert (free.joint("anchor").kind, free.nv) == ("free", 6)
    assert_allclose(free.joint("anchor").placement.r, [0, 0, 1])
    with pytest.raises(FormatError, match="'world' has mass"):
        load(
            robot(
                ANCHORED.replace(
                    '"world"/>\n  <link',
                    '"world"><inertial><mass value="1"/><inertia/></inertial></link>\n  <link',
                    1,
                )
            )
        )


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('type="planar"', 'type="ball"', "line 39, <joint>: no joint type 'ball'; accepted: revol"),
        ("</robot>", "", "not complete XML: no element found"),
        ('<link name="tool"/>', '<link name="tool"', "not complete XML"),
        (ROBOT, "hello", "not complete XML: syntax error, line 1|line 1"),
        (ROBOT, "", "not complete XML"),
        ("<robot ", '<!DOCTYPE robot [<!ENTITY a "b">]><robot ', "document types and entities"),
        ('<link name="tool"/>', '<xacro:macro name="x"/>', "expand it first"),
        ('xyz="1 0 0"', 'xyz="${x} 0 0"', "expand it first"),
        ('xyz="1 0 0"', 'xyz="1 0"', "xyz must be 3 finite numbers, got '1 0'"),
        ('xyz="1 0 0"', 'xyz="1 0 nan"', "xyz must be 3 finite numbers"),
        ('<mass value="2"/>', '<mass value="two"/>', "value must be a finite number, got 'two'"),
        ('<mass value="2"/>', "", "a <mass> is missing inside"),
        ('<mass value="2"/>', '<mass value="-2"/>', "mass must be zero or more"),
        ('<parent link="a"/>', "", "a <parent> is missing inside"),
        ('<parent link="a"/>', "<parent/>", "no attribute 'link'"),
        ('<axis xyz="0 2 0"/>', '<axis xyz="0 0 0"/>', "must not be zero"),
        ('lower="-1"', 'lower="2"', "lower 2 must not exceed upper 1"),
        ('<parent link="a"/>', '<parent link="c"/>', "b, c form a loop"),
        ('<parent link="a"/>', '<parent link="z"/>', "no body 'z'"),
        ('<link name="tool"/>', '<link name="tool"/><link name="b"/>', "'b' occurs more than once"),
        ('name="weld" type', 'name="turn" type', "'turn' occurs more than once"),
        ('<link name="tool"/>', '<link name="tool"/><link name="lost"/>', "2 have none"),
        ('mimic joint="turn"', 'mimic joint="spin"', "mimics itself"),
        ('mimic joint="turn"', 'mimic joint="gone"', "no coordinate 'gone'"),
        ("robot name", "sdf name", "starts with <robot>|not complete XML"),
    ],
)
def test_errors_name_file_and_place(robot, old, new, words):
    path = robot(ROBOT.replace(old, new))
    with pytest.raises((FormatError, ModelError), match=words) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_xacro_is_refused_by_its_name(tmp_path):
    with pytest.raises(FormatError, match="expand it first"):
        load(tmp_path / "robot.urdf.xacro")


def test_xml_is_recognized_by_its_first_tag(tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text(ROBOT)
    assert load(path).name == "zoo"


def test_deep_nesting_does_not_exhaust_the_stack(robot):
    deep = "<a>" * 50_000 + "</a>" * 50_000
    assert load(robot(ROBOT.replace("</robot>", deep + "</robot>"))).name == "zoo"


SLIDE = """
  <joint name="t{axis}" type="prismatic"><parent link="{parent}"/><child link="{child}"/>
    <axis xyz="{xyz}"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint>"""
SOLID = '<inertial><mass value="5"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
PLANAR = f"""<robot name="planar">
  <link name="odom"/><link name="pad"/><link name="x"/><link name="z"/>
  <link name="trunk">{SOLID}</link>
  <joint name="weld" type="fixed"><parent link="odom"/><child link="pad"/></joint>
  {SLIDE.format(axis="x", parent="pad", child="x", xyz="1 0 0")}
  {SLIDE.format(axis="z", parent="x", child="z", xyz="0 0 1")}
  <joint name="ry" type="continuous"><parent link="z"/><child link="trunk"/><axis xyz="0 1 0"/>
  </joint></robot>"""
LEG = f"""<link name="leg">{SOLID}</link>
  <joint name="hip" type="continuous"><parent link="pad"/><child link="leg"/></joint></robot>"""


def test_a_massless_root_link_before_one_moving_joint_is_fixed(robot):
    model = load(robot(PLANAR))
    assert model.coordinate_names == ("tx", "tz", "ry")
    assert model.root.body == "trunk"
    assert model.actuated == ()
    assert np.linalg.cond(mass_matrix(model, model.neutral())) < 10
    assert load(robot(PLANAR), base="free").nv == 9
    # Two moving joints can determine how a massless link moves: it stays free.
    assert load(robot(PLANAR.replace("</robot>", LEG))).nv == 10
