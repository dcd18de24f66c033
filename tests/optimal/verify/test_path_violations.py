"""Path constraints are verified between the nodes, and violations reported."""

from functools import partial

import numpy as np
import pytest

import homodyn as hd
import homodyn.optimal as oc
from homodyn.optimal.verify.mesh_refinement import refine_intervals
from support.optimal import block, block_move, jump


def hurdle(intervals, tolerance=None, transcription="midpoint"):
    """A block whose force must not exceed 4 N, though 6 N at the start would be best."""
    limit = oc.require("force", lambda i: i.tau, lower=-np.inf, upper=4.0, tolerance=tolerance)
    return block_move(intervals, constraints=[limit]).solve(transcription)


def slippery(**tolerance):
    """A jump from ice, whose friction cone is touched all the way."""
    push, fly = jump(6).phases
    cone = oc.friction_cone(0.1, "toe", **tolerance)
    phase = oc.Phase(**{**vars(push), "constraints": [cone]})
    return oc.Problem(jump().model, [phase, fly])


def test_forces_between_nodes_are_those_of_forward_dynamics():
    problem = slippery()
    solution = problem.solve(defect_tolerance=1.0)
    assert solution.status.success
    (violation,) = solution.path_violations
    push, model = solution.phase("push"), problem.model
    weight = model.mass * 9.81
    assert (violation.phase, violation.constraint) == ("push", "friction cone: toe")
    assert violation.tolerance_ratio == pytest.approx(violation.amount / (0.1 * weight))
    # By hand, where an interval begins and ends: its torques at the states of the nodes.
    contacts = problem.phases[0].contacts
    law = partial(hd.dynamics.constrained_dynamics, model, constraints=contacts)
    worst = 0.0
    for k, tau in enumerate(push.tau):
        for node in (k, k + 1):
            x, z = law(push.q[node], push.v[node], tau).force
            worst = max(worst, abs(x) - 0.1 * z)
    assert violation.amount == pytest.approx(worst, rel=0.1)


def test_a_violation_between_nodes_is_too_coarse_and_reported():
    solution = slippery(tolerance=0.01).solve(defect_tolerance=1.0)
    assert solution.status is oc.SolveStatus.COARSE
    assert "between nodes: friction cone: toe is violated by" in solution.sentence
    assert solution.path_violations[0].tolerance_ratio > 1.0


def test_constraints_without_tolerance_are_not_verified_between_nodes():
    assert hurdle(4).path_violations == ()


def test_collocation_satisfies_inequalities_at_all_nodes():
    solution = hurdle(4, tolerance=1.0, transcription="collocation")
    (move,) = solution.phases
    points = move.tau.reshape(4, 4)
    scheme = oc.TRANSCRIPTIONS["collocation"]
    for part in (0.0, 1.0):
        assert (points @ scheme.boundary_weights(part)).max() <= 4.0 + 1e-6
    assert points.max() == pytest.approx(4.0, abs=1e-5)


def test_constraints_at_the_end_use_the_polynomial_of_controls():
    quiet = oc.require("quiet", lambda i: i.tau).at("end")
    (move,) = block_move(3).phases
    phase = oc.Phase(**{**vars(move), "constraints": [quiet]})
    solution = oc.Problem(block(), [phase]).solve("collocation")
    points = solution.phases[0].tau.reshape(3, 4)
    assert points[-1] @ oc.TRANSCRIPTIONS["collocation"].boundary_weights(1.0) == pytest.approx(
        0.0, abs=1e-6
    )
    assert abs(points[-1, -1]) > 0.05


def test_meshes_grow_where_constraints_are_violated():
    class Defect:
        def __init__(self, phase, worst=0.0):
            self.phase, self.max_error = phase, worst

    class Violation:
        phase, tolerance_ratio = "two", 2.0

    class Errors:
        integration_defects = (Defect("one"), Defect("two"))
        path_violations = (Violation(),)

    assert refine_intervals((4, 4), Errors(), 0.02, oc.TRANSCRIPTIONS["midpoint"]) == (4, 12)
    assert refine_intervals((4, 4), Errors(), 0.02, oc.TRANSCRIPTIONS["collocation"]) == (4, 6)
