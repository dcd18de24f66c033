"""Contacts written in the language: rest, friction, impacts and release."""

from functools import cache

import numpy as np
import pytest

from homodyn.network import parse

WEIGHT = 2 * 9.81


@cache
def box(contact, start="[0; 0; 0.05]", settings=""):
    """A block of 2 kg, 0.2 m wide and 0.1 m high, on two points; ``push`` and ``lift`` in N."""
    return parse(f"""
    include "physics/physics.cdn"
    include "physics/contacts.cdn"
    integrator {{ method = "runge-kutta" default-timestep = "0.0005" }}
    node "s" : physics.system {{
        node "b" : physics.joints.planarY {{
            q = "{start}"
            m = 2
            I = "Inertia.Box(m, 0.2, 0.2, 0.1)"
            push = 0
            lift = 0
            pushed = "[push; 0; lift]"
            origin = "localToBase([0; 0; 0])"
            forceExternal = "[Spatial.Cross3([origin[0]; 0; 0], pushed); pushed]"
            node "c{{1,2}}" : physics.contacts.{contact} {{
                location = ["[-0.1; 0; -0.05]", "[0.1; 0; -0.05]"]
                {settings}
            }}
        }}
        include "physics/model.cdn"
        include "physics/dynamics.cdn"
        include "physics/reactions.cdn"
    }}
    """)


def fresh(net, **values):
    numbers = {"push": 0.0, "lift": 0.0, **values}
    return net.set({f"s.b.{name}": value for name, value in numbers.items()})


def test_a_block_at_rest_sinks_in_by_its_weight_over_the_stiffness():
    record = fresh(box("soft", "[0; 0; 0.0505]")).run(1.5)
    depth = -record["s.b.c1.height"][-1]
    assert depth == pytest.approx(WEIGHT / 2 / 1e5, rel=1e-6)
    assert record.states["s.b.c1"][-1] == "active"
    np.testing.assert_allclose(record["s.b.dq"][-1], 0, rtol=0, atol=1e-9)


def test_a_pushed_block_sticks_below_the_limit_of_friction_and_slides_above_it():
    net = box("soft", "[0; 0; 0.0505]")
    limit = 0.6 * WEIGHT
    # The push acts at the ground, so that both points carry the same.
    stuck = fresh(net, push=0.95 * limit).run(1.5)
    assert stuck.states["s.b.c1"][-1] == "active"
    assert abs(stuck["s.b.dq"][-1][1]) < 1e-6
    slid = fresh(net, push=1.05 * limit).run(1.5)
    assert slid.states["s.b.c1"][-1] == slid.states["s.b.c2"][-1] == "slipping"
    speed = slid["s.b.dq"][:, 1]
    rate = (speed[-1] - speed[-1001]) / 0.5
    assert rate == pytest.approx(0.05 * limit / 2, rel=1e-3)


def test_a_sliding_block_stops_and_takes_hold():
    net = box("soft", "[0; 0; 0.0499019]", 'friction = 0.3 initial-state "slipping"')
    net.set({"s.b.dq": np.array([[0.0], [0.5], [0.0]])})
    record = fresh(net).run(0.5)
    assert record.states["s.b.c1"][-1] == "active"
    traveled = record["s.b.origin"][-1][0]
    # v²/(2 mu g), a little changed by the load that braking shifts to the front.
    assert traveled == pytest.approx(0.5**2 / (2 * 0.3 * 9.81), rel=0.05)


def test_a_hard_contact_comes_to_rest_at_the_impact_and_earlier_ones_stay():
    record = fresh(box("hardPlanarY", "[0.1; 0; 0.07]")).run(0.4)
    first, second = (one.time for one in record.events if one.state == "active")
    k, t = record["s.dynamics.kinetic"], record.t
    for time in (first, second):
        after = np.searchsorted(t, time)
        before = after - 1
        assert k[after] < k[before]
    between = (t > first + 1e-9) & (t < second)
    np.testing.assert_allclose(record["s.b.c2.pointVelocity"][between], 0, rtol=0, atol=1e-8)
    rest = t > second + 1e-9
    for name in ("c1", "c2"):
        np.testing.assert_allclose(record[f"s.b.{name}.pointVelocity"][rest], 0, rtol=0, atol=1e-8)
    # Both together carry the weight, and stand on the ground.
    total = record["s.b.c1.normal"][-1] + record["s.b.c2.normal"][-1]
    assert total == pytest.approx(WEIGHT, rel=1e-9)
    assert abs(record["s.b.c1.height"][-1]) < 1e-6


def test_an_impact_takes_the_kinetic_energy_that_its_impulse_must():
    net = fresh(box("hardPlanarY", "[0.3; 0; 0.2]"))
    record = net.run(0.153, 2e-5)
    time = next(one.time for one in record.events if one.state == "active")
    row = int(np.searchsorted(record.t, time)) - 1
    v, H = record["s.b.dq"][row], record["s.dynamics.H"][row]
    J = (record["s.b.c2.reach"][row] @ record["s.b.bodyJ"][row])[[3, 5]]
    inverse = np.linalg.inv(H)
    impulse = np.linalg.solve(J @ inverse @ J.T, J @ v)
    expected = v - inverse @ J.T @ impulse
    np.testing.assert_allclose(record["s.b.dq"][row + 1], expected, rtol=0, atol=0.002)
    lost = 0.5 * impulse @ (J @ inverse @ J.T) @ impulse
    fell = record["s.dynamics.kinetic"]
    assert fell[row] - fell[row + 1] == pytest.approx(lost, rel=0.005)


def test_a_point_that_is_let_go_and_sinks_is_taken_hold_of_again():
    # Fast about a corner that cannot slide: the ground would have to pull, yet the corner sinks.
    record = fresh(box("hardPlanarY", "[0.3; 0; 0.2]")).run(0.4)
    assert any(one.state == "inactive" for one in record.events)
    for name in ("c1", "c2"):
        assert record[f"s.b.{name}.height"].min() > -1e-4
        assert record[f"s.b.{name}.normal"][-1] == pytest.approx(WEIGHT / 2, rel=1e-3)
    energy = record["s.dynamics.energy"]
    assert np.diff(energy).max() < 1e-6


def test_a_hard_contact_lets_go_when_the_ground_would_have_to_pull():
    settings = 'active = 1 anchor = "location" initial-state "active"'
    net = box("hardPlanarY", "[0; 0; 0.05]", settings)
    net.node("s").node("b").variable("lift", f"{2 * WEIGHT} * t")
    record = net.run(1, 0.001)
    releases = [one.time for one in record.events if one.state == "inactive"]
    assert len(releases) == 2
    np.testing.assert_allclose(releases, 0.5, rtol=0, atol=1e-6)
    np.testing.assert_allclose(record["s.b.c1.height"][record.t < 0.5], 0, rtol=0, atol=1e-9)
    assert record["s.b.c1.height"][-1] > 0.1
