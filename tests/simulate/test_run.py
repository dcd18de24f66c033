"""Runs: integrators, scenes and refusals."""

from fractions import Fraction

import numpy as np
import pytest

import homodyn as hd
from homodyn.integrate import ExplicitRungeKutta
from homodyn.integrate.tableau import Tableau
from homodyn.model import Assembly, box, joints
from homodyn.motion import (
    BoxObstacle,
    CapsuleObstacle,
    CylinderObstacle,
    PlaneObstacle,
    RingObstacle,
    Scene,
    SphereObstacle,
)
from homodyn.simulate import (
    EventDrivenContact,
    ImplicitSprings,
    SimulationStatus,
    SoftContact,
    TimeStepping,
    rollout,
    run,
)

ORDERS = {
    "explicit_euler": 1,
    "semi_implicit_euler": 1,
    "leapfrog": 2,
    "heun": 2,
    "rk4": 4,
    "implicit_midpoint": 2,
}


@pytest.mark.parametrize("integrator", ORDERS)
def test_integrators_have_their_order_with_quaternions_too(chain, integrator):
    rng = np.random.default_rng(0)
    q0 = chain.random(1)
    v0 = rng.normal(size=chain.nv)
    fine = {"integrator": "dormand_prince", "tolerance": 1e-13}
    exact = run(chain, q0, v0, 0.4, 0.1, contact=None, joint_limits=None, **fine)
    errors = []
    for steps in (20, 40):
        arguments = {"joint_limits": None, "integrator": integrator}
        end = run(chain, q0, v0, 0.4, 0.4 / steps, contact=None, **arguments)
        errors.append(np.linalg.norm(chain.difference(exact.q[-1], end.q[-1])))
        quaternions = [end.q[:, 3:7], end.q[:, 8:12]]
        for quaternion in quaternions:
            np.testing.assert_allclose(np.linalg.norm(quaternion, axis=1), 1, atol=1e-12)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(ORDERS[integrator], abs=0.3)


def test_a_user_defined_integrator_has_its_order(pendulum):
    third, two_thirds, quarter = Fraction(1, 3), Fraction(2, 3), Fraction(1, 4)
    tableau = Tableau(
        ((), (third,), (Fraction(0), two_thirds)), (quarter, Fraction(0), Fraction(3, 4))
    )
    heun3 = ExplicitRungeKutta("heun3", 3, tableau)

    def end(steps, integrator):
        result = run(pendulum, [1.0], None, 1.0, 1 / steps, contact=None, integrator=integrator)
        return result.q[-1, 0]

    exact = end(400, "rk4")
    errors = [abs(end(steps, heun3) - exact) for steps in (10, 20)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(3, abs=0.3)


def test_every_step_conserves_the_linear_momentum_of_a_free_body(ball):
    v0 = np.array([1.0, -2.0, 0.5, 3.0, -4.0, 9.0])
    weightless = ball.with_numbers({"gravity": np.zeros(3)})
    result = run(weightless, weightless.neutral(), v0, 1.0, 1e-2, contact=None)
    momentum = hd.dynamics.momentum(weightless, result.q, result.v)
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-12)


# -- scenes

LAWS = {
    "soft": (SoftContact(4e4, 200.0), 1e-3),
    "implicit": (ImplicitSprings(1e6, 1e4), 1e-3),
    "time_stepping": (TimeStepping(sweeps=20), 1e-3),
    "event_driven": (EventDrivenContact(), 0.05),
}
SUPPORTS = {
    "box": BoxObstacle((0.4, 0.4, 0.4), position=(0, 0, 0.2), name="support"),
    "sphere": SphereObstacle(0.4, name="support"),
    "cylinder": CylinderObstacle(0.2, 0.4, position=(0, 0, 0.2), name="support"),
    "capsule": CapsuleObstacle(
        0.1, 0.5, position=(0, 0, 0.3), orientation=[[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
    ),
    "plane": PlaneObstacle((0, 0, 1), 0.4),
}
"""Obstacles whose highest point is (0, 0, 0.4)."""


@pytest.fixture(scope="module")
def lift():
    """A ball of 2 kg and radius 0.1 m that moves vertically."""
    return (
        Assembly("lift")
        .add(hd.model.sphere("ball", 2.0, 0.1), joints.prismatic("z"))
        .contact("skin", "ball", "sphere", radius=0.1)
        .model()
    )


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", SUPPORTS)
def test_a_body_rests_on_the_obstacles_of_a_scene(lift, kind, law):
    contact, dt = LAWS[law]
    scene = Scene(obstacles=(SUPPORTS[kind],))
    result = run(lift, [0.51], None, 0.5, dt, contact=contact, scene=scene)
    assert result.status is SimulationStatus.FINISHED, result.message
    penetration = {"soft": 2 * 9.81 / 4e4, "implicit": 2 * 9.81 / 1e6}.get(law, 0.0)
    assert result.q[-1, 0] == pytest.approx(0.5 - penetration, abs=1e-5)
    assert result.total_force[-1, 2] == pytest.approx(2 * 9.81, rel=1e-3)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("law", LAWS)
def test_obstacles_have_their_own_friction(block, law):
    """On a plane without friction a block slides on, on a rough one it stops."""
    contact, dt = LAWS[law]
    q = block.neutral()
    q[2] = 0.1
    speeds = {}
    for friction in (0.0, 0.5, None):
        scene = Scene(ground=PlaneObstacle(friction=friction))
        result = run(block, q, [1.0, 0, 0, 0, 0, 0], 0.1, dt, contact=contact, scene=scene)
        speeds[friction] = result.v[-1, 0]
    assert speeds[0.0] == pytest.approx(1.0, abs=1e-6)
    assert speeds[0.5] == pytest.approx(1.0 - 0.5 * 9.8 * 0.1, abs=0.03)
    assert speeds[None] == pytest.approx(1.0 - 0.8 * 9.8 * 0.1, abs=0.03)


def test_a_rollout_takes_the_same_scene(lift):
    scene = Scene(obstacles=(SUPPORTS["sphere"],))
    single = run(lift, [0.51], None, 0.2, contact="implicit", scene=scene)
    batch = rollout(lift, [[0.51], [0.61]], None, 0.2, contact="implicit", scene=scene)
    np.testing.assert_allclose(batch.q[0], single.q[-1], atol=1e-12)
    assert batch.contact_names == ("skin on ground", "skin on support")


def test_a_scene_with_a_ring_is_refused(lift):
    scene = Scene(obstacles=(RingObstacle(0.2, 0.02, name="wheel"),))
    with pytest.raises(hd.ModelError, match="ring 'wheel'; accepted are the obstacles plane, box"):
        run(lift, [0.5], scene=scene)


# -- refusals


def test_a_model_without_degrees_of_freedom_is_refused():
    fixed = Assembly("fixed").add(box("box", 1.0, (0.1, 0.1, 0.1)), joints.fixed()).model()
    with pytest.raises(hd.ModelError, match="model 'fixed' has no degree of freedom"):
        run(fixed, [], contact=None)
