"""Shared nodes: the same solutions, continuous torques, impacts as stages."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn.optimal as oc
from homodyn.dynamics import PointContact, impact
from support.optimal import block_move, crouched, hopper, jump


def test_one_phase_agrees_with_multiple_shooting():
    shared, plain = (block_move(10).solve(name) for name in ("felis2015", "multiple_shooting"))
    assert shared.status is oc.SolveStatus.SOLVED
    assert shared.objective == pytest.approx(plain.objective, rel=1e-7)
    np.testing.assert_allclose(shared.phase("move").tau, plain.phase("move").tau, atol=1e-5)


def test_torques_are_continuous_between_phases():
    solution = jump(8).solve("felis2015")
    push, fly = solution.phase("push"), solution.phase("fly")
    assert solution.status is oc.SolveStatus.SOLVED
    np.testing.assert_array_equal(push.tau[-1], fly.tau[0])
    np.testing.assert_array_equal(push.q[-1], fly.q[0])


def test_a_touchdown_is_a_stage_with_the_law_of_impacts():
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
        transition="impact",
    )
    foot = PointContact("toe", directions="xz")
    stand = replace(
        fall, name="stand", start={}, contacts=foot, transition="continuous", duration=(0.05, 0.3)
    )
    solution = oc.Problem(model, [fall, stand]).solve("felis2015", defect_tolerance=None)
    assert solution.status is oc.SolveStatus.SOLVED, solution.explain()
    before, after = solution.phase("fall"), solution.phase("stand")
    np.testing.assert_allclose(before.q[-1], after.q[0], atol=1e-7)
    known = impact(model, before.q[-1], before.v[-1], foot)
    np.testing.assert_allclose(after.v[0], known.velocity, atol=1e-6)
    np.testing.assert_allclose(before.tau[-1], after.tau[0], atol=1e-6)
    assert np.abs(after.v[0] - before.v[-1]).max() > 0.1


def test_interior_constraints_leave_out_both_boundaries():
    slow = oc.require("slow", lambda i: i.v[0], lower=-np.inf, upper=1.2).at("inside")
    problem = block_move(10)
    phase = replace(problem.phases[0], constraints=[slow])
    for name, rows in (("felis2015", 9), ("multiple_shooting", 9), ("midpoint", 10)):
        transcribed = replace(problem, phases=[phase]).transcribe(name)
        unequal = sum(int((b.lower < b.upper).sum()) for b in transcribed.blocks)
        assert unequal == rows
