"""Joint torques beside contact limits: strong joints change nothing, weak ones take away."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.balance import (
    ContactPatch,
    Stance,
    feasible_wrench_set,
    inclusion,
    joint_torque_map,
    static_equilibrium_polygon,
    torque_limited_forces,
    torque_utilization,
    whole_body_wrench,
    wrench_set,
)
from homodyn.errors import ModelError, NoSolution
from homodyn.motion import Motion


@pytest.fixture(scope="module")
def standing():
    model = hd.catalog.human36()
    q = model.neutral()
    feet = hd.capture.kinetics.find_feet(model)
    patches = []
    for foot in feet:
        places = foot.positions(model, q)
        low, high = places[:, :2].min(axis=0), places[:, :2].max(axis=0)
        ground = places[:, 2].min()
        corners = [
            [x, y, ground]
            for x, y in ((low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1]))
        ]
        patches.append(
            ContactPatch(foot.side, np.array(corners), [0, 0, 1], 0.7, limit=1200.0, body=foot.body)
        )
    return model, q, Stance(tuple(patches))


def test_torques_are_those_of_inverse_dynamics_under_the_contact_forces(standing):
    model, q, stance = standing
    rng = np.random.default_rng(0)
    v, a = rng.normal(size=(2, model.nv)) * 0.1
    known = joint_torque_map(model, stance, 1000.0, q, v, a)
    weights = rng.uniform(0, 20, len(known.loads))
    external = {}
    start = 0
    for support in stance.supports:
        own = weights[start : start + len(support.forces)]
        start += len(own)
        origin = hd.dynamics.position(model, q, support.body)
        moment = own @ np.cross(support.points - origin, support.forces)
        external[support.body] = np.r_[moment, own @ support.forces]
    tau = hd.dynamics.inverse_dynamics(model, q, v, a, external=external)
    columns = [model.coordinate_index(name) for name in known.names]
    assert known.free - weights @ known.loads == pytest.approx(np.asarray(tau)[columns], abs=1e-8)


def test_weak_joints_shrink_the_static_polygon(standing):
    model, q, stance = standing
    mass = float(model.mass)
    plain = static_equilibrium_polygon(stance, mass=mass)
    strong, weak = (
        static_equilibrium_polygon(torque_limited_forces(model, stance, bound, q), mass=mass)
        for bound in (5000.0, 60.0)
    )
    assert inclusion(strong, plain, 1e-6)
    assert inclusion(plain, strong, 1e-6)
    assert inclusion(weak, plain, 1e-6)
    assert not inclusion(plain, weak, 1e-3)
    with pytest.raises(NoSolution):
        static_equilibrium_polygon(torque_limited_forces(model, stance, 0.5, q), mass=mass)


def test_effort_says_how_much_of_the_torques_a_state_needs(standing):
    model, q, stance = standing
    still = np.zeros((1, model.nv))
    needed = whole_body_wrench(Motion(model, np.zeros(1), q[None], still, still))
    bound = 200.0
    told = torque_utilization(
        model, stance, bound, q, still[0], still[0], force=needed.force[0], moment=needed.moment[0]
    )
    assert np.abs(told.torques).max() == pytest.approx(told.share * bound, rel=1e-6)
    assert 0 < told.share < 1
    assert told.limiting_joint in told.names
    half = torque_utilization(
        model,
        stance,
        bound / 2,
        q,
        still[0],
        still[0],
        force=needed.force[0],
        moment=needed.moment[0],
    )
    assert half.share == pytest.approx(2 * told.share, rel=1e-5)
    with pytest.raises(NoSolution, match="whatever the joints do"):
        torque_utilization(
            model,
            stance,
            bound,
            q,
            still[0],
            still[0],
            force=needed.force[0],
            moment=needed.moment[0] + [500.0, 0, 0],
        )


def test_the_set_of_wrenches_shrinks_too(standing):
    """Two toes only, so that the projection by linear programs stays small."""
    model, q, stance = standing
    corners = {p.name: p.corners for p in stance.patches}
    body = {p.name: p.body for p in stance.patches}
    points = Stance(
        tuple(
            ContactPatch(
                f"{name} {k}", corners[name][k][None], [0, 0, 1], 0.7, limit=800.0, body=body[name]
            )
            for name, k in (("left", 0), ("right", 1))
        )
    )
    ankles = {name: 30.0 for name in model.coordinate_names if "nkle" in name}
    assert ankles
    found = feasible_wrench_set(model, points, ankles, q)
    plain = wrench_set(points)
    assert inclusion(found.polytope, plain.polytope, 1e-5)
    assert not inclusion(plain.polytope, found.polytope, 1.0)


def test_what_is_missing_is_named(standing):
    model, q, stance = standing
    nowhere = Stance((ContactPatch("p", np.zeros((1, 3)), [0, 0, 1], 0.5),))
    with pytest.raises(ModelError, match="'p' does not say which body"):
        joint_torque_map(model, nowhere, 10.0, q)
    with pytest.raises(ModelError, match="'knee of oak' is no driven coordinate"):
        joint_torque_map(model, stance, {"knee of oak": 10.0}, q)
