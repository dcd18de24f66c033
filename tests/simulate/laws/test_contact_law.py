"""Contact laws written by users, in runs and rollouts."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.simulate import ContactLaw, ImplicitSprings, SoftContact, TimeStepping, rollout, run
from homodyn.simulate.geometry import gap_velocity
from homodyn.simulate.laws import ContactForces, ForceLaw, StepLaw


class Penalty(ForceLaw):
    """A frictionless spring-damper."""

    name = "penalty"

    def forces(self, geometry, tree, memory, batch):
        gaps = geometry.gaps(tree)
        forces = []
        for gap in gaps:
            speed = ca.dot(gap.normal, gap_velocity(tree, gap))
            magnitude = ca.fmax(-5e4 * gap.distance - 100.0 * speed, 0.0)
            forces.append(ca.if_else(gap.distance < 0, magnitude, 0.0) * gap.normal)
        return ContactForces(gaps, forces, ca.SX(0, 1))


class OneSweep(StepLaw):
    """A step law that calls another one."""

    name = "one sweep"
    law = TimeStepping(sweeps=1)

    def memory_size(self, geometry):
        return self.law.memory_size(geometry)

    def step(self, problem):
        return self.law.step(problem)


def raised_pose(ball):
    q = ball.neutral()
    q[2] = 0.15
    return q


def test_a_user_defined_force_law_works_in_runs_and_rollouts(ball):
    q = raised_pose(ball)
    own = run(ball, q, None, 0.3, contact=Penalty())
    known = run(ball, q, None, 0.3, contact=SoftContact(friction=0.0, bristle=False))
    np.testing.assert_allclose(own.q, known.q, atol=1e-12)
    assert own.total_force[:, 2].max() > 0
    batch = rollout(ball, np.tile(q, (3, 1)), None, 0.3, contact=Penalty())
    np.testing.assert_allclose(batch.q, np.tile(own.q[-1], (3, 1)), atol=1e-12)
    result = run(ball, q, None, 0.3, contact=Penalty(), integrator="rk4")
    assert abs(result.q[-1, 2] - own.q[-1, 2]) < 1e-2


def test_a_user_defined_step_law_needs_its_integrator(ball):
    q = raised_pose(ball)
    own = run(ball, q, None, 0.3, contact=OneSweep())
    known = run(ball, q, None, 0.3, contact=TimeStepping(sweeps=1))
    np.testing.assert_array_equal(own.q, known.q)
    with pytest.raises(
        hd.ModelError, match="'one sweep' solves for velocities at the end of a step"
    ):
        run(ball, q, contact=OneSweep(), integrator="heun")


def test_other_objects_are_refused_as_contact_law(ball):
    with pytest.raises(hd.ModelError, match="derives from ForceLaw, StepLaw or EventDrivenLaw"):
        run(ball, ball.neutral(), contact=object())
    assert isinstance(SoftContact(), ForceLaw)
    assert isinstance(ImplicitSprings(), StepLaw)
    assert issubclass(StepLaw, ContactLaw)


def test_contact_laws_have_names(ball):
    with pytest.raises(hd.ModelError, match="soft, implicit"):
        run(ball, ball.neutral(), contact="sticky")
    with pytest.raises(hd.ModelError, match="needs semi_implicit_euler, not rk4"):
        run(ball, ball.neutral(), contact="implicit", integrator="rk4")
    with pytest.raises(hd.ModelError, match="has its own steps"):
        run(ball, ball.neutral(), contact="event_driven", integrator="rk4")


class Branching(Penalty):
    """Decides by a Python branch, which symbols do not allow."""

    name = "branching"

    def forces(self, geometry, tree, memory, batch):
        gaps = geometry.gaps(tree)
        return ContactForces(gaps, [gap.normal if gap.distance < 0 else 0 for gap in gaps])


class ForcesAlone(Penalty):
    name = "forces alone"

    def forces(self, geometry, tree, memory, batch):
        return super().forces(geometry, tree, memory, batch).forces


class Scalars(Penalty):
    name = "scalars"

    def forces(self, geometry, tree, memory, batch):
        found = super().forces(geometry, tree, memory, batch)
        return ContactForces(found.gaps, [force[2] for force in found.forces])


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (Branching(), r"contact law 'branching' branches .*ca\.if_else"),
        (ForcesAlone(), r"contact law 'forces alone': forces\(\) returned list"),
        (Scalars(), "contact law 'scalars': one force of three components"),
    ],
)
def test_a_wrong_law_is_refused_in_a_sentence(ball, law, message):
    with pytest.raises(hd.HomodynError, match=message):
        run(ball, ball.neutral(), duration=0.01, contact=law)


def test_a_law_without_memory_needs_no_memory_rate():
    assert ContactForces([], []).memory_rate.shape == (0, 1)
