"""Normal equations and curvature of the marker objective, compared with differences."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.kinematics.marker_curvature import marker_curvature
from homodyn.capture.kinematics.marker_step import FrameTerms, normal_equations
from homodyn.capture.kinematics.observability import marker_jacobian
from homodyn.dynamics import marker_positions
from homodyn.dynamics.tree import Tree
from homodyn.model import Model
from support.movements import marked
from support.trees import PLAIN_KINDS, random_tree


@pytest.mark.parametrize("model", [random_tree(1, 15, PLAIN_KINDS), hd.catalog.heiman()])
def test_normal_equations_and_curvature_are_the_derivatives_of_the_objective(model: Model) -> None:
    model = model if model.markers else marked(model, each=2)
    rng = np.random.default_rng(0)
    count, size = len(model.markers), model.nv
    q, d = ca.SX.sym("q", model.nq), ca.SX.sym("d", size)
    targets, weights = ca.SX.sym("t", count, 3), ca.SX.sym("w", count)
    frame = FrameTerms(targets, weights, ca.SX.zeros(size), ca.SX.zeros(size))
    forces, normal, descent, _ = normal_equations(Tree(model, q), "", frame, 1.0)
    curvature = marker_curvature(Tree(model, q), forces)
    displaced = Tree(model, hd.model.configuration.integrate(model, q, d))
    hessian, gradient = ca.hessian(normal_equations(displaced, "", frame, 1.0)[3], d)
    both = ca.Function(
        "both",
        [q, targets, weights, d],
        [normal + curvature, hessian, descent, -gradient, normal],
    )
    pose = model.random(1)
    seen = marker_positions(model, pose) + 0.1 * rng.normal(size=(count, 3))
    shares = rng.uniform(0, 2, count)
    ours, exact, down, slope, matrix = (
        np.array(part) for part in both(pose, seen, shares, np.zeros(size))
    )
    assert np.allclose(ours, exact, atol=1e-11)
    assert np.allclose(down, slope, atol=1e-12)
    J = marker_jacobian(model, pose)
    assert np.allclose(matrix, J.T @ np.diag(np.repeat(shares, 3)) @ J, atol=1e-11)
