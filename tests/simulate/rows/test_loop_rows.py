"""Closed loops in simulations."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.dynamics import Hinge, Pin
from homodyn.dynamics.constraint_rows import constraint_error, constraint_jacobian
from homodyn.model import Assembly, joints
from homodyn.simulate import StateEvent, rollout, run, start


def test_a_closed_linkage_swings_at_its_period():
    """Three unit links closed to a parallelogram: 1.877749 s at 36 degrees."""
    link = {"mass": 1.0, "com": (0, 0, -0.5)}
    inertia = np.diag([(0.05**2 + 1) / 12, (0.05**2 + 1) / 12, 2 * 0.05**2 / 12])
    end = (0.0, 0.0, -1.0)
    model = (
        Assembly("linkage")
        .add("p1", joints.revolute("y"), inertia=inertia, **link)
        .add("p2", joints.revolute("y"), "p1", at=end, inertia=inertia, **link)
        .add("p3", joints.revolute("y"), "p2", at=end, inertia=inertia, **link)
        .model()
    )
    offset = 0.2 * np.pi
    start = np.array([-offset, 0.5 * np.pi + offset, 0.5 * np.pi - offset])
    loop = Hinge("p3", axis="y", point=end, anchor=(-1.0, 0.0, 0.0))
    turn = StateEvent("turn", lambda t, q, v, batch: v[0], "rising", 1e-11)
    result = run(
        model,
        start,
        None,
        2.0,
        2e-3,
        contact=None,
        integrator="rk4",
        constraints=loop,
        events=[turn],
        joint_limits=None,
    )
    times = [event.time for event in result.events if event.time > 0.1]
    # It starts at rest at one end and is at rest there again after one period.
    assert min(abs(t - 1.877749) for t in times) < 2e-6
    tip = hd.dynamics.position(model, result.q, "p3", np.array(end))
    np.testing.assert_allclose(tip, np.broadcast_to([-1.0, 0, 0], tip.shape), atol=1e-8)
    np.testing.assert_allclose(result.q[:, 0] + result.q[:, 1], np.pi / 2, atol=1e-8)
    assert np.abs(result.energy.error).max() < 1e-8


LAWS = ("soft", "implicit", "time_stepping", "none")


def chain():
    """Three rods in a plane that start bent, with markers at the joint and at the end."""
    end = (0.0, 0.0, -0.5)
    return (
        Assembly("chain")
        .add("a", joints.revolute("y"), mass=1.0, com=(0, 0, -0.25), inertia=0.02 * np.eye(3))
        .add("b", joints.revolute("y"), "a", at=end, mass=1.0, com=(0, 0, -0.25),
             inertia=0.02 * np.eye(3))
        .add("c", joints.revolute("y"), "b", at=end, mass=1.0, com=(0, 0, -0.25),
             inertia=0.02 * np.eye(3))
        .marker("tip", "c", end)
        .marker("hook", "a", (0.3, 0.0, 0.0))
        .model()
    )  # fmt: skip


def swing(model, q, law, constraints, **options):
    return rollout(
        model,
        q,
        duration=0.3,
        dt=1e-3,
        contact=law,
        constraints=constraints,
        joint_limits=None,
        recorded_quantities=("q",),
        **options,
    )


@pytest.mark.parametrize("law", LAWS)
def test_pins_without_an_anchor_stay_where_each_element_starts(law):
    model = chain()
    q = np.array([[0.6, -0.9, 0.2], [0.2, -0.5, 0.8], [-0.3, 0.9, -0.4]])
    result = swing(model, q, law, Pin("tip"))
    assert not result.status.any()
    tip = hd.dynamics.position(model, result.records["q"], "tip")
    # Only velocities are stopped: positions drift by the error of the integration.
    assert np.abs(tip - tip[:, :1]).max() < 5e-4
    assert np.abs(np.diff(result.records["q"], axis=1)).max() > 1e-3
    single = swing(model, q[1], law, Pin("tip"))
    assert np.abs(single.q - result.q[1]).max() < 2e-3
    simulation = start(model, q, contact=law, constraints=Pin("tip"), joint_limits=None)
    simulation.step(steps=300)
    assert np.array_equal(simulation.q, result.q)


@pytest.mark.parametrize("law", LAWS)
def test_a_planar_pin_of_two_rows_is_a_pin_in_a_planar_loop(law):
    model = chain()
    q = [0.6, -0.9, 0.2]
    planar, full = (swing(model, q, law, Pin("tip", directions=d)) for d in ("xz", "xyz"))
    assert len(Pin("tip", directions="xz").rows) == 2
    assert np.abs(planar.records["q"] - full.records["q"]).max() < 1e-6
    assert np.ptp(planar.records["q"][0, :, 1]) > 0.02


def test_wrong_directions_are_refused():
    for wrong in ("", "xq", [(1.0, 1.0, 0.0)]):
        with pytest.raises(hd.ModelError, match="unit vector"):
            Pin("tip", directions=wrong)
    assert Pin("tip", directions=[(1, 0, 0), (0, 0, 1)]).rows == Pin("tip", directions="xz").rows


@pytest.mark.parametrize("law", LAWS)
def test_loop_points_are_markers_whose_places_are_parameters(law):
    """Each element has its own linkage: the loop closes at a marker that its parameters place."""
    model = chain().with_parameters("hook.position.x", "hook.position.z")
    reach = np.array([0.25, 0.3, 0.35])
    hooks = np.column_stack([reach, np.full(3, -0.05)])
    loop = Pin("tip", other="hook", directions="xz")
    q = []
    for hook in hooks:
        fixed = chain().with_numbers({"hook.position.x": hook[0], "hook.position.z": hook[1]})
        pose = np.array([0.3, 1.9, 2.2])
        for _ in range(60):
            error = constraint_error(fixed, pose, loop)
            jacobian = constraint_jacobian(fixed, pose, loop)
            pose = pose - np.linalg.pinv(jacobian) @ error
        assert np.abs(error).max() < 1e-12
        q.append(pose)
    result = swing(model, np.array(q), law, loop, parameters=hooks)
    assert not result.status.any()
    for k, hook in enumerate(hooks):
        fixed = chain().with_numbers({"hook.position.x": hook[0], "hook.position.z": hook[1]})
        poses = result.records["q"][k]
        assert np.ptp(poses[:, 0]) > 0.02
        gap = hd.dynamics.position(fixed, poses, "tip") - hd.dynamics.position(fixed, poses, "hook")
        assert np.abs(gap).max() < 1e-3
        alone = swing(fixed, q[k], law, loop)
        assert np.allclose(alone.q[0], result.q[k], atol=1e-9)
