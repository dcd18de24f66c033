"""Joint torque limits: strong joints change nothing, weak ones make the sets smaller."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.balance import ContactPatch, Stance, static_equilibrium_polygon, wrench_set
from homodyn.balance.polytopes import inclusion
from homodyn.balance.torque_limits import (
    feasible_wrench_set,
    joint_torque_map,
    torque_limited_forces,
    torque_utilization,
)
from homodyn.balance.wrenches import whole_body_wrench
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
    torques = joint_torque_map(model, stance, 1000.0, q, v, a)
    weights = rng.uniform(0, 20, len(torques.loads))
    external = {}
    start = 0
    for support, generators in zip(stance.supports, stance.generators, strict=True):
        own = weights[start : start + len(generators.forces)]
        start += len(own)
        origin = hd.dynamics.position(model, q, support.body)
        moment = own @ np.cross(generators.points - origin, generators.forces)
        external[support.body] = np.r_[moment, own @ generators.forces]
    tau = hd.dynamics.inverse_dynamics(model, q, v, a, external=external)
    columns = [model.coordinate_index(name) for name in torques.names]
    assert torques.free - weights @ torques.loads == pytest.approx(
        np.asarray(tau)[columns], abs=1e-8
    )


def test_weak_joints_shrink_the_static_polygon(standing):
    model, q, stance = standing
    mass = float(model.mass)
    plain = static_equilibrium_polygon(stance, mass=mass)
    strong, weak = (
        static_equilibrium_polygon(
            torque_limited_forces(joint_torque_map(model, stance, bound, q)), mass=mass
        )
        for bound in (5000.0, 60.0)
    )
    assert inclusion(strong, plain, 1e-6)
    assert inclusion(plain, strong, 1e-6)
    assert inclusion(weak, plain, 1e-6)
    assert not inclusion(plain, weak, 1e-3)
    with pytest.raises(NoSolution):
        static_equilibrium_polygon(
            torque_limited_forces(joint_torque_map(model, stance, 0.5, q)), mass=mass
        )


def test_utilization_is_the_fraction_of_the_torque_bounds_that_a_state_needs(standing):
    model, q, stance = standing
    rest = np.zeros((1, model.nv))
    needed = whole_body_wrench(Motion(model, np.zeros(1), q[None], rest, rest))
    bound = 200.0
    force, moment = needed.force[0], needed.moment[0]
    torques = joint_torque_map(model, stance, bound, q, rest[0], rest[0])
    utilization = torque_utilization(torques, force=force, moment=moment)
    assert np.abs(utilization.torques).max() == pytest.approx(utilization.share * bound, rel=1e-6)
    assert 0 < utilization.share < 1
    assert utilization.limiting_joint in utilization.names
    weaker = joint_torque_map(model, stance, bound / 2, q, rest[0], rest[0])
    half = torque_utilization(weaker, force=force, moment=moment)
    assert half.share == pytest.approx(2 * utilization.share, rel=1e-5)
    with pytest.raises(NoSolution, match="whatever the joint torques"):
        torque_utilization(torques, force=force, moment=moment + np.array([500.0, 0, 0]))


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
    found = feasible_wrench_set(joint_torque_map(model, points, ankles, q))
    plain = wrench_set(points)
    assert inclusion(found.polytope, plain.polytope, 1e-5)
    assert not inclusion(plain.polytope, found.polytope, 1.0)


def test_what_is_missing_is_named(standing):
    model, q, stance = standing
    nowhere = Stance((ContactPatch("p", np.zeros((1, 3)), [0, 0, 1], 0.5),))
    with pytest.raises(ModelError, match="'p' does not name the body"):
        joint_torque_map(model, nowhere, 10.0, q)
    with pytest.raises(ModelError, match="no actuated coordinate 'knee of oak'"):
        joint_torque_map(model, stance, {"knee of oak": 10.0}, q)
