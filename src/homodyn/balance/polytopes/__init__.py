"""Convex polytopes: representations, operations, balls, projections and linear programs."""

from homodyn.balance.polytopes.chebyshev import (
    EnclosingBall,
    InscribedBall,
    largest_inscribed_ball,
    residual_radius,
    smallest_ball_around_points,
    smallest_enclosing_ball,
)
from homodyn.balance.polytopes.linear_program import Infeasible, Unbounded
from homodyn.balance.polytopes.operations import (
    Inclusion,
    inclusion,
    intersection,
    minkowski_sum,
    volume,
)
from homodyn.balance.polytopes.polytope import Polytope
from homodyn.balance.polytopes.projection import (
    PolytopeProjection,
    polytope_from_support_function,
    project,
)

__all__ = [
    "EnclosingBall",
    "Inclusion",
    "Infeasible",
    "InscribedBall",
    "Polytope",
    "PolytopeProjection",
    "Unbounded",
    "inclusion",
    "intersection",
    "largest_inscribed_ball",
    "minkowski_sum",
    "polytope_from_support_function",
    "project",
    "residual_radius",
    "smallest_ball_around_points",
    "smallest_enclosing_ball",
    "volume",
]
