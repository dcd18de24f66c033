"""Bounds of forces and impulses at the feet."""

import casadi as ca
import numpy as np
import pytest

from homodyn.gait import synthesis
from homodyn.gait.synthesis.ground_contact import impulse_bounds, impulse_tolerance
from homodyn.gait.synthesis.problem import STEP_PHASES
from homodyn.optimal import TimePoint


def bounded_values(model, constraint, contacts, impulse):
    """Values of a constraint of impulses minus its lower bounds."""
    rest = ca.SX.zeros(model.nv)
    point = TimePoint(
        model, ca.SX(model.neutral()), rest, rest, rest, ca.SX(impulse), contacts.contacts
    )
    return np.array(ca.DM(ca.SX(constraint.value(point)))).ravel() - constraint.lower


def test_the_foot_that_lands_is_bounded_exactly_and_the_other_by_its_load(model):
    before, after = STEP_PHASES[1], STEP_PHASES[2]
    upward, cone = impulse_bounds(model, 0.8, before, after)
    names = [row.name for row in after.contacts.rows]
    impulse = np.zeros(len(names))
    impulse[names.index("HeelLeft height")] = 10.0
    impulse[names.index("HeelLeft rolling x")] = -7.9
    assert bounded_values(model, upward, after, impulse).min() >= 0
    assert bounded_values(model, cone, after, impulse).min() >= 0
    impulse[names.index("HeelLeft rolling x")] = -8.1
    assert bounded_values(model, cone, after, impulse).min() < 0
    impulse[:] = 0.0
    impulse[names.index("HeelLeft height")] = -0.1
    assert bounded_values(model, upward, after, impulse).min() < 0
    impulse[:] = 0.0
    impulse[names.index("HalluxRight z")] = -0.9 * impulse_tolerance(model)
    assert bounded_values(model, upward, after, impulse).min() >= 0
    impulse[names.index("HalluxRight z")] = -1.1 * impulse_tolerance(model)
    assert bounded_values(model, upward, after, impulse).min() < 0


@pytest.mark.parametrize(("friction", "bounded"), [(0.8, True), (None, False)])
def test_a_problem_bounds_forces_and_impulses_unless_asked_not_to(model, friction, bounded):
    problem = synthesis.synthesis_problem(
        model, objective=synthesis.WALKING_OBJECTIVES["mixed"], friction=friction
    )
    assert [bool(p.impulse_constraints) for p in problem.phases] == [False, False, bounded, bounded]
    for phase in problem.phases:
        assert any(c.name == "friction cone" for c in phase.constraints) is bounded
