"""Implicit steps of event-driven runs against explicit ones, which stiffness makes short."""

import numpy as np
import pytest

from homodyn.model import Assembly, Body, joints
from homodyn.motion.obstacles import PlaneObstacle
from homodyn.simulate import EventDrivenContact, SimulationStatus, run
from homodyn.simulate.rigid.implicit_integration import StiffnessDetector


@pytest.fixture(scope="module")
def hopper():
    """A trunk on a stiff, strongly damped ankle above a foot with four corners."""
    foot = Body("foot", 1.0, [0, 0, 0], [0.004, 0.008, 0.01])
    trunk = Body("trunk", 8.0, [0, 0, 0.4], [0.3, 0.3, 0.05])
    assembly = Assembly("hopper").add(foot, joints.free())
    ankle = joints.revolute("y", stiffness=5e3, damping=4e2)
    assembly = assembly.add(trunk, ankle, "foot")
    for x in (-0.1, 0.15):
        for y in (-0.05, 0.05):
            assembly = assembly.contact(f"corner {x} {y}", "foot", position=(x, y, -0.05))
    return assembly.model()


def drop(hopper):
    q = hopper.neutral()
    q[2] = 0.06
    start = hopper.integrate(q, 0.05 * np.eye(hopper.nv)[6])
    return run(hopper, start, None, 0.5, 0.1, contact=EventDrivenContact(tolerance=1e-7))


def test_stiff_runs_take_fewer_steps_to_the_same_events_and_states(hopper, monkeypatch):
    implicit = drop(hopper)
    monkeypatch.setattr(StiffnessDetector, "check", lambda *args: False)
    explicit = drop(hopper)
    assert implicit.status is explicit.status is SimulationStatus.FINISHED
    assert implicit.steps < explicit.steps / 3
    assert [event.name for event in implicit.events] == [event.name for event in explicit.events]
    assert len(implicit.events) >= 4
    np.testing.assert_allclose(
        [event.time for event in implicit.events],
        [event.time for event in explicit.events],
        atol=1e-7,
    )
    np.testing.assert_allclose(implicit.q, explicit.q, atol=2e-6)
    np.testing.assert_allclose(implicit.v, explicit.v, atol=2e-5)
    np.testing.assert_allclose(implicit.total_force[-1], explicit.total_force[-1], atol=1e-2)
    assert np.abs(implicit.energy.error).max() < 1e-5


@pytest.fixture(scope="module")
def slider():
    """A light shoe under a heavy block, held along x and almost free along y."""
    block = Body("block", 10.0, [0, 0, 0], [0.1, 0.1, 0.1])
    assembly = Assembly("slider").add(block, joints.prismatic("z"))
    for name, axis, stiffness, damping in (("frame", "x", 1e5, 200.0), ("shoe", "y", 50.0, 0.0)):
        body = Body(name, 0.05, [0, 0, 0], [1e-4, 1e-4, 1e-4])
        joint = joints.prismatic(axis, stiffness=stiffness, damping=damping)
        assembly = assembly.add(body, joint, "block" if name == "frame" else "frame")
    return assembly.contact("tip", "shoe", position=(0, 0, 0)).model()


def test_implicit_steps_include_contacts_that_slide_slowly(slider, monkeypatch):
    """Friction turns with the direction of slip, which at a low speed is stiff."""
    belt = PlaneObstacle((0, 0, 1), 0.0, surface_velocity=(0.01, 0.0, 0.0))
    start, velocity = np.array([0.0, 1e-4, 0.005]), np.array([0.0, 0.0, 0.003])

    def slide():
        law = EventDrivenContact(friction=0.1, tolerance=1e-8)
        return run(slider, start, velocity, 0.2, 0.1, contact=law, scene=belt)

    implicit = slide()
    monkeypatch.setattr(StiffnessDetector, "check", lambda *args: False)
    explicit = slide()
    assert implicit.status is explicit.status is SimulationStatus.FINISHED
    assert not implicit.events
    assert not explicit.events
    assert implicit.steps < explicit.steps / 4
    np.testing.assert_allclose(implicit.q, explicit.q, atol=1e-7)
    np.testing.assert_allclose(implicit.v, explicit.v, atol=1e-6)
    assert np.abs(implicit.energy.error).max() < 1e-6
