"""Sweeps over wrenches of body pairs, against sweeps over the rows of contacts."""

from collections import Counter

import casadi as ca
import numpy as np
import pytest

from homodyn.dynamics.tree import Tree
from homodyn.dynamics.wrenches import WrenchRows
from homodyn.model import Assembly, box, joints
from homodyn.motion import HeightField
from homodyn.simulate import ContactGeometry, TimeStepping
from homodyn.simulate.rigid.contact_span import contact_span
from homodyn.simulate.rigid.time_stepping import VelocityProblem
from homodyn.simulate.rows.joint_rows import JointLimits, joint_rows
from homodyn.simulate.rows.target_forces import StepRows
from homodyn.simulate.solvers import gauss_seidel


@pytest.fixture(scope="module")
def geometry():
    """A box on uneven ground, and a lid on a hinge with dry friction that touches the box."""
    model = (
        Assembly("pair")
        .add(box("base", 2.0, (0.4, 0.3, 0.2)), joints.free())
        .add(
            box("lid", 1.0, (0.3, 0.3, 0.1)),
            joints.revolute("y", friction=0.5, lower=-0.2, upper=0.4),
            "base",
            at=(0.1, 0.0, 0.2),
        )
        .contact("sole", "base", "box", size=(0.4, 0.3, 0.2))
        .contact("edge", "lid", "line", size=(0.2, 0.0, 0.0), position=(0.1, 0.0, 0.0))
        .contact("knob", "lid", "sphere", radius=0.05)
        .contact("top", "base", "sphere", radius=0.05, position=(0.0, 0.0, 0.1))
        .model()
    )
    x, y = np.meshgrid(np.arange(5), np.arange(5), indexing="ij")
    ground = HeightField(0.05 * np.sin(x + y), spacing=(0.4, 0.4), origin=(-0.8, -0.8))
    return ContactGeometry(
        model, contacts=("sole", "edge"), ground=(ground,), pairs=(("knob", "top"),)
    )


def test_rows_are_combinations_of_the_wrenches(geometry):
    model = geometry.model
    q = ca.SX.sym("q", model.nq)
    tree = Tree(model, q)
    gaps = geometry.gaps(tree)
    span = contact_span(tree, gaps)
    # A pair of bodies has six wrenches, or the three of its rows if it has one contact.
    counts = Counter((gap.body, gap.other) for gap in gaps)
    assert max(counts.values()) > 8
    assert len(span.wrenches) == sum(min(6, 3 * count) for count in counts.values())
    P = ca.SX(3 * len(gaps), len(span.wrenches))
    for i, row in enumerate(span.rows):
        for k, x in row.items():
            P[i, k] = x
    plain = WrenchRows(tree, [wrench for gap in gaps for wrench in gap.wrenches]).jacobian
    both = ca.Function("both", [q], [plain, P @ WrenchRows(tree, span.wrenches).jacobian])
    expected, result = both(model.random(np.random.default_rng(0)))
    assert np.abs(np.array(expected)).max() > 0.5
    np.testing.assert_allclose(np.array(result), np.array(expected), atol=1e-12)


@pytest.mark.parametrize("linearization", ["tangent", "exact"])
def test_sweeps_equal_those_over_the_explicit_matrix(geometry, linearization):
    model, law = geometry.model, TimeStepping(sweeps=7, joints=linearization)
    q, v = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv)
    step = VelocityProblem(
        law, geometry, Tree(model, q, v), ca.SX.zeros(model.nv),
        joint_rows(model, q, ca.SX(1e-3), JointLimits()), ca.SX(1e-3), {},
        StepRows(Tree(model, q, v), ca.SX(1e-3)),
    )  # fmt: skip
    start = ca.SX.sym("f", step.problem.size)
    plain = gauss_seidel(step.problem, start=start, sweeps=law.sweeps).force
    both = ca.Function("both", [q, v, start], [plain, step.solve(start), step.problem.A])
    rng = np.random.default_rng(1)
    for _ in range(5):
        at = model.random(rng)
        at[:3] = [0.0, 0.0, -0.1]
        expected, result, A = both(
            at, 0.1 * rng.normal(size=model.nv), rng.uniform(0, 1, start.numel())
        )
        assert np.abs(np.array(expected)).max() > 0.1
        np.testing.assert_allclose(np.array(result), np.array(expected), atol=1e-9)
        assert np.linalg.matrix_rank(np.array(A)[: 3 * 8, : 3 * 8], tol=1e-9) == 6
