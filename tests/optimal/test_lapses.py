"""Conditions are looked at between the nodes too, and told when they are missed there."""

from functools import partial

import numpy as np
import pytest

import homodyn as hd
import homodyn.optimal as oc
from homodyn.optimal.refine import finer
from homodyn.optimal.transcription import TRANSCRIPTIONS
from support.optimal import block, block_move, jump


def hurdle(intervals, slack=None, transcription="shooting"):
    """A block whose force must not exceed 4 N, though 6 N at the start would be best."""
    most = oc.require("push", lambda i: i.tau, lower=-np.inf, upper=4.0, slack=slack)
    return block_move(intervals, conditions=[most]).solve(transcription)


def slippery(**room):
    """A jump from ice, whose friction cone is touched all the way."""
    push, fly = jump(6).phases
    cone = oc.friction_cone(0.1, "toe", **room)
    phase = oc.Phase(**{**vars(push), "conditions": [cone]})
    return oc.Problem(jump().model, [phase, fly])


def test_forces_between_nodes_are_those_of_forward_dynamics():
    problem = slippery()
    solution = problem.solve(between=1.0)
    assert solution.status.good
    (lapse,) = solution.lapses
    push, model = solution.phase("push"), problem.model
    weight = model.mass * 9.81
    assert (lapse.phase, lapse.what) == ("push", "friction cone: toe")
    assert lapse.share == pytest.approx(lapse.amount / (0.1 * weight))
    # By hand, where an interval begins and ends: its torques at the states of the nodes.
    contacts = problem.phases[0].contacts
    law = partial(hd.dynamics.constrained_dynamics, model, constraints=contacts)
    worst = 0.0
    for k, tau in enumerate(push.tau):
        for node in (k, k + 1):
            x, z = law(push.q[node], push.v[node], tau).force
            worst = max(worst, abs(x) - 0.1 * z)
    assert lapse.amount == pytest.approx(worst, rel=0.1)


def test_a_condition_missed_between_nodes_is_too_coarse_and_told():
    solution = slippery(pull=0.01).solve(between=1.0)
    assert solution.status is oc.Status.COARSE
    assert "between nodes: friction cone: toe is off by" in solution.sentence
    assert solution.lapses[0].share > 1.0


def test_nobody_looks_between_nodes_for_what_has_no_slack():
    assert hurdle(4).lapses == ()


def test_polynomials_of_collocation_keep_inequalities_at_all_nodes():
    solution = hurdle(4, slack=1.0, transcription="collocation")
    (move,) = solution.phases
    points = move.tau.reshape(4, 4)
    scheme = TRANSCRIPTIONS["collocation"]
    for part in (0.0, 1.0):
        assert (points @ scheme.edge(part)).max() <= 4.0 + 1e-6
    assert points.max() == pytest.approx(4.0, abs=1e-5)


def test_conditions_at_the_end_see_the_polynomials_of_controls_there():
    quiet = oc.require("quiet", lambda i: i.tau).at("end")
    (move,) = block_move(3).phases
    phase = oc.Phase(**{**vars(move), "conditions": [quiet]})
    solution = oc.Problem(block(), [phase]).solve("collocation")
    points = solution.phases[0].tau.reshape(3, 4)
    assert points[-1] @ TRANSCRIPTIONS["collocation"].edge(1.0) == pytest.approx(0.0, abs=1e-6)
    assert abs(points[-1, -1]) > 0.05


def test_meshes_grow_where_conditions_are_missed():
    class Arrival:
        def __init__(self, phase, worst=0.0):
            self.phase, self.worst = phase, worst

    class Lapse:
        phase, share = "two", 2.0

    class Found:
        arrivals = (Arrival("one"), Arrival("two"))
        lapses = (Lapse(),)

    assert finer((4, 4), Found(), 0.02, "shooting") == (4, 12)
    assert finer((4, 4), Found(), 0.02, "collocation") == (4, 6)
