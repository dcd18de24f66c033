"""Closed loops in simulations."""

import numpy as np

import homodyn as hd
from homodyn.dynamics import Hinge
from homodyn.model import Assembly, joints
from homodyn.simulate import StateEvent, run


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
