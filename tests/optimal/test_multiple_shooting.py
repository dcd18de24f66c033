"""Forward shooting with shared nodes: the same answers, continuous torques, impacts as stages."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn.optimal as oc
from homodyn.dynamics import PointContact, impact
from support.optimal import block_move, crouched, hopper, jump


def test_one_phase_has_the_answer_of_forward_shooting():
    shared, plain = (block_move(10).solve(name) for name in ("thesis", "forward"))
    assert shared.status is oc.Status.SOLVED
    assert shared.objective == pytest.approx(plain.objective, rel=1e-7)
    np.testing.assert_allclose(shared.phase("move").tau, plain.phase("move").tau, atol=1e-5)


def test_torques_continue_from_phase_to_phase():
    solution = jump(8).solve("thesis")
    push, fly = solution.phase("push"), solution.phase("fly")
    assert solution.status is oc.Status.SOLVED
    np.testing.assert_array_equal(push.tau[-1], fly.tau[0])
    np.testing.assert_array_equal(push.q[-1], fly.q[0])


def test_a_touchdown_is_a_stage_that_obeys_the_law_of_impacts():
    model = hopper()
    x, z, pitch, hip, knee = model.coordinate_names
    pose = crouched(model)
    fall = oc.Phase(
        "fall",
        (0.05, 0.5),
        start={"q": {**pose, z: pose[z] + 0.1}, "v": {x: 0.3, z: -0.1, pitch: 0, hip: 0, knee: 0}},
        terms=[1e-4 * oc.torque()],
        intervals=6,
        guess={"q": {**pose, z: pose[z] + 0.05}, "duration": 0.12},
        then="impact",
    )
    foot = PointContact("toe", directions="xz")
    stand = replace(
        fall, name="stand", start={}, contacts=foot, then="continuous", duration=(0.05, 0.3)
    )
    solution = oc.Problem(model, [fall, stand]).solve("thesis", between=None)
    assert solution.status is oc.Status.SOLVED, solution.explain()
    before, after = solution.phase("fall"), solution.phase("stand")
    np.testing.assert_allclose(before.q[-1], after.q[0], atol=1e-7)
    known = impact(model, before.q[-1], before.v[-1], foot)
    np.testing.assert_allclose(after.v[0], known.velocity, atol=1e-6)
    np.testing.assert_allclose(before.tau[-1], after.tau[0], atol=1e-6)
    assert np.abs(after.v[0] - before.v[-1]).max() > 0.1


def test_inner_conditions_spare_both_boundaries():
    slow = oc.require("slow", lambda i: i.v[0], lower=-np.inf, upper=1.2).at("inside")
    problem = block_move(10)
    phase = replace(problem.phases[0], conditions=[slow])
    for name, rows in (("thesis", 9), ("shooting", 10)):
        built = replace(problem, phases=[phase]).build(name)
        unequal = sum(int((b.lower < b.upper).sum()) for b in built.blocks)
        assert unequal == rows
