"""Models as nodes: motions as in `simulate`, forces of edges, files of a folder."""

from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn import dynamics
from homodyn.errors import NetworkError
from homodyn.model import Assembly, Body, joints
from homodyn.network import Network, add_body, load, parse

FOLDER = Path(__file__).parents[2] / "examples" / "networks" / "bodies"


def leg():
    """Two links on a pin."""
    thigh = Body("thigh", 7.0, (0, 0, -0.2), np.diag([0.1, 0.1, 0.02]))
    shank = Body("lower leg", 3.5, (0, 0, -0.2), np.diag([0.05, 0.05, 0.01]))
    tree = Assembly("leg").add(thigh, joints.revolute("y", damping=0.4), joint_name="hip")
    tree = tree.add(
        shank, joints.revolute("y", stiffness=5.0), "thigh", joint_name="knee", at=(0, 0, -0.4)
    )
    return tree.model()


def at_state(net, model, q, v, name="b"):
    """The result of a network at a state of the body."""
    return net.set({f"{name}.q": q[:, None], f"{name}.v": v[:, None]}).run(0)


@pytest.mark.parametrize("name", ["heiman", "khr1", "hdm"])
def test_a_body_accelerates_as_dynamics_says_under_torques_and_forces(name):
    model = hd.catalog.registry.build(name)
    rng = np.random.default_rng(5)
    q, v = model.random(3), rng.normal(size=model.nv)
    tau, wrench = rng.normal(size=model.nv), rng.normal(size=6)
    net = Network()
    node = add_body(net, "b", model)
    children = [child for child in node.nodes.values() if "tau" in child.variables]
    for child, torque in zip(children, tau, strict=True):
        child.variable("tau", float(torque))
    segment = model.body_names[-1]
    part = list(node.nodes["segments"].nodes.values())[-1]
    part.variable("moment", wrench[:3][:, None])
    part.variable("force", wrench[3:][:, None])
    node.variable("a", "v'")
    record = at_state(net, model, q, v)
    total = tau + dynamics.passive_force(model, q, v)
    expected = dynamics.forward_dynamics(model, q, v, total, external={segment: wrench})
    np.testing.assert_allclose(
        record["b.a"][0], expected, rtol=0, atol=1e-10 * np.abs(expected).max()
    )


def test_functions_of_a_body_are_those_of_dynamics():
    model = hd.catalog.heiman()
    net = parse(
        'body "b" from "catalog:heiman" {\n'
        'center = "com()" drift = "com_velocity()"\n'
        'energy = "kinetic_energy() + potential_energy()"\n'
        'toe = "segments.FootLeft.position([0.1; 0; -0.02])"\n'
        'speed = "segments.FootLeft.velocity([0.1; 0; -0.02])"\n'
        'turn = "segments.FootLeft.rotation()" whirl = "segments.FootLeft.angular_velocity()"\n'
        'hip = "markers.LASI()" heel = "contacts.HeelRight.position([0; 0; 0])" }\n'
    )
    q, v = model.random(1), np.random.default_rng(1).normal(size=model.nv)
    record = at_state(net, model, q, v)
    point = np.array([0.1, 0, -0.02])
    for name, expected in {
        "center": dynamics.center_of_mass(model, q),
        "drift": dynamics.center_of_mass_velocity(model, q, v),
        "energy": dynamics.kinetic_energy(model, q, v) + dynamics.potential_energy(model, q),
        "toe": dynamics.position(model, q, "FootLeft", point),
        "speed": dynamics.velocity(model, q, v, "FootLeft", point),
        "turn": dynamics.orientation(model, q, "FootLeft"),
        "whirl": dynamics.angular_velocity(model, q, v, "FootLeft"),
        "hip": dynamics.position(model, q, "LASI"),
        "heel": dynamics.position(model, q, "HeelRight"),
    }.items():
        np.testing.assert_allclose(
            record[f"b.{name}"][0], expected, rtol=0, atol=1e-12, err_msg=name
        )


def test_a_body_under_torques_moves_as_simulate_moves_it():
    net = parse(
        'integrator { method = "runge-kutta" }\n'
        'body "b" from "catalog:heiman" { node "KneeRight_RY" { q0 = 0.4 } }\n'
        'node "drive" { x = "30 * sin(5 * t)" }\n'
        'edge from "drive" to "b" | children | "{Hip,Knee}{Right,Left}_RY" { tau += "x" }\n'
    )
    model = hd.catalog.heiman()
    names = [f"{joint}{side}_RY" for joint in ("Hip", "Knee") for side in ("Right", "Left")]
    rows = np.zeros(model.nv)
    rows[[model.coordinate_index(name) for name in names]] = 30

    def torques(t, q, v, lane):
        return ca.sin(5 * t) * ca.DM(rows)

    start = model.pose({"KneeRight_RY": 0.4})
    expected = hd.simulate.run(
        model,
        start,
        None,
        0.2,
        0.001,
        contact=None,
        actuation=torques,
        options=hd.simulate.SimulationOptions(
            joint_limits=None, torque_limits=False, integrator="rk4", compiled=False
        ),
    )
    record = net.run(0.2, 0.001, tier="interpreted")
    np.testing.assert_allclose(record["b.q"], expected.q, rtol=0, atol=1e-8)
    assert np.abs(record["b.q"][-1] - start).max() > 0.05
    np.testing.assert_array_equal(record["b.KneeLeft_RY.q"], record["b.q"][:, 16])


def test_soft_ground_acts_as_the_soft_law_of_simulate():
    net = parse(
        'require "ground.cdn"\nintegrator { method = "runge-kutta" }\n'
        'body "b" from "catalog:heiman" { node "Pelvis_TZ" { q0 = 0.93 } '
        'node "Pelvis_TX" { v0 = 0.3 } }\n'
        'node "b" | children | "contacts" | children | nodes : ground.soft {}\n'
    )
    model = hd.catalog.heiman()
    start, speed = model.pose({"Pelvis_TZ": 0.93}), np.zeros(model.nv)
    speed[0] = 0.3
    law = hd.simulate.SoftContact(bristle=False)
    expected = hd.simulate.run(
        model,
        start,
        speed,
        0.1,
        0.0005,
        contact=law,
        options=hd.simulate.SimulationOptions(joint_limits=None, integrator="rk4", compiled=False),
    )
    record = net.run(0.1, 0.0005, tier="interpreted")
    assert record["b.contacts.HeelLeft.normal"].max() > 50
    np.testing.assert_allclose(record["b.q"], expected.q, rtol=0, atol=1e-7)


def test_quaternions_of_a_body_stay_of_length_one():
    model = Assembly("ball").add(
        Body("ball", 1.0, (0, 0, 0), np.diag([1.0, 2.0, 2.5])), joints.free()
    )
    net = Network(method="runge-kutta")
    add_body(net, "ball", model.model())
    speed = np.array([0, 0, 0, 0.1, 3.0, 0.1])
    net.set({"ball.v": speed[:, None]})
    record = net.run(2, 0.005)
    np.testing.assert_allclose(
        np.linalg.norm(record["ball.q"][:, 3:], axis=1), 1, rtol=0, atol=1e-14
    )
    assert np.ptp(record["ball.v"][:, 3]) > 0.15
    np.testing.assert_allclose(record["ball.q"][-1, 2], -9.81 * 2, rtol=1e-6)


def test_both_tiers_and_sweeps_agree():
    net = Network(method="runge-kutta")
    add_body(net, "leg", leg())
    net.node("leg").node("hip").variable("q0", 0.5)
    one, other = net.run(1, tier="interpreted"), net.run(1, tier="compiled")
    np.testing.assert_allclose(one["leg.q"], other["leg.q"], rtol=0, atol=1e-12)
    sweep = net.sweep({"leg.hip.q0": [0.1, 0.5]}, 1)
    np.testing.assert_allclose(sweep["leg.q"][1], one["leg.q"][-1], rtol=0, atol=1e-12)
    expected = hd.simulate.run(
        leg(),
        [0.5, 0],
        None,
        1,
        0.001,
        contact=None,
        options=hd.simulate.SimulationOptions(joint_limits=None, integrator="rk4"),
    )
    np.testing.assert_allclose(one["leg.q"], expected.q, rtol=0, atol=1e-9)


def test_muscles_act_on_coordinates_by_the_curves_of_hill():
    text = """
    require "muscles.cdn"
    node "flexor" : muscle { u = 0.5 }
    node "joint" { q = 0 v = 0 tau = 0 }
    edge "tendon" from "flexor" to "joint" : crossing { arm = 0.04 }
    """
    net = parse(text)
    record = net.run(1)
    assert record["flexor.a"][-1] == pytest.approx(0.5, abs=1e-6)
    assert record["joint.tau"][-1] == pytest.approx(0.04 * 1000 * 0.5, rel=1e-6)

    def force(q=0.0, v=0.0):
        net.set({"joint.q": q, "joint.v": v, "flexor.a": 1.0, "flexor.u": 1.0})
        return net.run(0)["flexor.force"][0]

    # At the fastest shortening, 10 optimal lengths of 0.1 m per second, there is no force.
    assert force(v=10 * 0.1 / 0.04) == pytest.approx(0, abs=1e-9)
    assert force(v=20 * 0.1 / 0.04) == 0
    assert 1300 < force(v=-20) < 1400
    h = 1e-5
    slopes = [(force(v=h) - force(0)) / h, (force(0) - force(v=-h)) / h]
    assert slopes[0] == pytest.approx(slopes[1], rel=1e-3)
    assert force(q=1.0) == pytest.approx(1000 * np.exp(-(0.4**2) / 0.45))
    assert force(q=-1.5) == pytest.approx(1000 * (np.exp(-(0.6**2) / 0.45) + 1))


def test_a_muscle_over_two_joints_has_one_length_and_one_force():
    """A hip extensor that flexes the knee: force, torques and power as by hand."""
    net = parse("""
    require "muscles.cdn"
    node "hamstring" : muscle { u = 0.5 F = 800 optimalLength = 0.12 initialLength = 1.1 }
    node "{hip,knee}" { q = [0.4, 0.9] v = [1.5, -2.0] tau = 0 }
    edge from "hamstring" to "{hip,knee}" : crossing { arm = [-0.06, 0.03] }
    """)
    net.set({"hamstring.a": 0.5})
    record = net.run(0)
    arm, q, v = np.array([-0.06, 0.03]), np.array([0.4, 0.9]), np.array([1.5, -2.0])
    length = 1.1 - arm @ q / 0.12
    speed = -(arm @ v) / (0.12 * 10)  # both joints lengthen it
    assert speed > 0
    stretch = speed * (1 + 1 / 0.25)
    velocity_factor = 1 + 0.4 * stretch / (0.4 + stretch)
    passive = (np.exp(5 * (length - 1) / 0.6) - 1) / (np.exp(5) - 1)
    force = 800 * (0.5 * np.exp(-((length - 1) ** 2) / 0.45) * velocity_factor + passive)
    assert record["hamstring.force"][0] == pytest.approx(force, rel=1e-12)
    torques = [record["hip.tau"][0], record["knee.tau"][0]]
    np.testing.assert_allclose(torques, arm * force, rtol=1e-12)
    # The torques of both joints do the work of one fiber.
    assert v @ torques == pytest.approx(record["hamstring.shorteningSpeed"][0] * force, rel=1e-12)
    # A movement of both joints that keeps the length keeps the force.
    net.set({"hip.q": 0.4 + 0.03, "knee.q": 0.9 + 0.06})
    assert net.run(0)["hamstring.force"][0] == pytest.approx(force, rel=1e-12)


def test_stops_hold_coordinates_within_their_limits():
    net = parse(
        'require "servos.cdn"\nbody "b" from "catalog:heiman"\n'
        'node "b" | children | nodes | if(children | variables | "upper") : stops {}\n'
        'node "push" {}\n'
        'edge from "push" to "b" | children | "ElbowRight_RY" { tau += 3 }\n'
    )
    model = hd.catalog.heiman()
    upper = model.upper[model.coordinate_index("ElbowRight_RY")]
    stopped = [child for child in net.nodes["b"].nodes.values() if "stops" in child.templates]
    assert len(stopped) == np.sum(np.isfinite(model.lower) & np.isfinite(model.upper))
    net.set({"b.ElbowRight_RY.q0": upper + 0.1, "b.ElbowRight_RY.v0": 2.0})
    assert net.run(0)["b.ElbowRight_RY.tau"][0] == pytest.approx(3 - 50 - 10)
    net.set({"b.ElbowRight_RY.q0": upper - 0.1})
    assert net.run(0)["b.ElbowRight_RY.tau"][0] == pytest.approx(3)


def test_a_muscle_bends_an_elbow_once_it_is_excited():
    net = parse(
        'require "muscles.cdn"\nnode "flexor" : muscle { on = 0.1 u = "t > on" F = 300 }\n'
        'body "b" from "catalog:heiman"\n'
        'edge from "flexor" to "b" | children | "ElbowRight_RY" : crossing { arm = -0.03 }\n'
    )
    bent = net.run(0.25, 0.0005, tier="interpreted")["b.ElbowRight_RY.q"]
    rest = net.set({"flexor.on": 9.0}).run(0.25, 0.0005, tier="interpreted")["b.ElbowRight_RY.q"]
    np.testing.assert_array_equal(bent[:200], rest[:200])
    assert bent[-1] < rest[-1] - 0.5


def test_a_pattern_generator_steps_with_a_whole_body():
    text = (FOLDER / "air_stepping.cdn").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 60
    net = load(FOLDER / "air_stepping.cdn")
    record = net.run(1.5, tier="interpreted")
    late = record.t > 0.5
    left, right = record["human.HipLeft_RY.q"][late], record["human.HipRight_RY.q"][late]
    assert np.ptp(left) > 0.4
    assert np.ptp(right) > 0.4
    assert np.corrcoef(left, right)[0, 1] < -0.8
    assert record["human.KneeLeft_RY.q"].max() > 0.5
    assert abs(record["human.Pelvis_TZ.q"][-1] - 1.2) < 0.05


def test_a_body_of_a_file_is_named_after_it_and_of_any_format(tmp_path):
    hd.save(leg(), tmp_path / "my-leg.toml")
    hd.save(leg(), tmp_path / "leg.urdf")
    (tmp_path / "net.cdn").write_text(
        'body from "my-leg.toml"\nbody "other" from "leg.urdf" with { base = fixed } {}\n'
    )
    net = load(tmp_path / "net.cdn")
    assert list(net.nodes) == ["my_leg", "other"]
    assert list(net.nodes["my_leg"].nodes["segments"].nodes) == ["thigh", "lower_leg"]
    record = net.set({"my_leg.hip.q0": 0.3, "other.hip.q0": 0.3}).run(0.2)
    assert record["my_leg.hip.q"][-1] == pytest.approx(record["other.hip.q"][-1], abs=0.05)


def test_a_body_of_opensim_falls_as_dynamics_says(shared_data, tmp_path):
    source = shared_data / "gait10dof" / "subject01.osim"
    (tmp_path / "net.cdn").write_text(f'body "b" from "{source}" {{ a = "v\'" }}\n')
    with pytest.raises(NetworkError, match="outside the folder"):
        load(tmp_path / "net.cdn")
    net = load(tmp_path / "net.cdn", allow_outside=True)
    model = hd.load(source)
    q, v = model.neutral(), np.zeros(model.nv)
    record = at_state(net, model, q, v)
    passive = dynamics.passive_force(model, q, v)
    expected = dynamics.forward_dynamics(model, q, v, passive)
    np.testing.assert_allclose(
        record["b.a"][0], expected, rtol=0, atol=1e-9 * np.abs(expected).max()
    )
    np.testing.assert_allclose(record["b.up"][0], [0, 1, 0])


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ('body from "catalog:hyman"', "did you mean 'heiman'", 12),
        ('body from "catalog:heiman" with { hight = 1.7 }', "did you mean 'height'", 12),
        ('body from "catalog:heiman" with { height = -1 }', "cannot be loaded", 12),
        ('body from "missing.osim"', "no file 'missing.osim'", 12),
        ('body from "bad.urdf"', "cannot be loaded", 12),
        ('body from "leg.toml" with { height = 1 }', "no setting of a file 'height'", 12),
        ('body from "../leg.toml"', "outside the folder", 12),
        ('node "leg" {}\nbody from "leg.toml"', "there is already a node 'leg'", 1),
        ('body "b" from "leg.toml" { a = "segments.shin.position([0; 0; 0])" }', "segments.sh", 0),
        (
            'body "b" from "leg.toml" { a = "segments.thigh.position(1)" }',
            "r of position is 3x1",
            0,
        ),
    ],
)
def test_errors_about_bodies_have_a_place(tmp_path, text, message, column):
    inside = tmp_path / "inside"
    inside.mkdir()
    for folder in (tmp_path, inside):
        hd.save(leg(), folder / "leg.toml")
    (inside / "bad.urdf").write_text("<robot")
    file = inside / "net.cdn"
    file.write_text(text)
    with pytest.raises(NetworkError) as caught:
        load(file).prepare()
    assert message in str(caught.value)
    assert caught.value.line == text.count("\n") + 1
    if column:
        assert caught.value.column == column
    assert str(caught.value).splitlines()[-1].strip() == "^"


def test_a_variable_may_still_be_called_body():
    assert parse("body = 3\n").run(0)["body"][0] == 3
