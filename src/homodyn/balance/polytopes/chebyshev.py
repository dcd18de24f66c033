"""Balls of a polytope: largest inscribed ball, smallest enclosing ball, residual radius."""

from __future__ import annotations

import numpy as np

from homodyn.balance.polytopes.linear_program import Unbounded, maximize
from homodyn.balance.polytopes.polytope import Polytope
from homodyn.errors import NoSolution
from homodyn.foundation.record import Record, record


@record
class InscribedBall(Record):
    """A largest ball inside a set, with multipliers that prove that no larger one fits.

    ``multipliers >= 0`` sum to one and ``multipliers' A = 0``: for any inscribed ball with center c
    and radius r, this combination of the rows ``A c + r <= b`` gives ``r <= multipliers' b =
    radius``.
    """

    center: np.ndarray
    """(n,)."""
    radius: float
    multipliers: np.ndarray
    """(rows,)."""


@record
class EnclosingBall(Record):
    """The smallest ball around a set, with weights that prove that no smaller one exists.

    Vertices with positive weight lie on the sphere; the center is their weighted mean.
    """

    center: np.ndarray
    """(n,)."""
    radius: float
    weights: np.ndarray
    """(vertices,)."""


def largest_inscribed_ball(polytope: Polytope) -> InscribedBall:
    """Compute the largest ball inside a polytope: ``max r`` subject to ``A c + r <= b``.

    This is Qiu's eq. 2.25. The "Chebyshev radius" in his results is this radius, although his eq.
    2.24 defines the enclosing ball under that name.

    Args:
        polytope: The polytope.

    Returns:
        Center, radius and the multipliers that prove optimality; radius 0 for a flat polytope.

    Raises:
        Unbounded: Balls of any size fit into the set.
        NoSolution: The set is empty.
    """
    if polytope.flatness:
        weights = np.zeros(len(polytope.A))
        return InscribedBall(polytope.vertices.mean(axis=0), 0.0, weights)
    return largest_ball_in_rows(polytope.A, polytope.b)


def largest_ball_in_rows(A: np.ndarray, b: np.ndarray) -> InscribedBall:
    """The largest ball in ``A x <= b``, rows of norm one; rows may be redundant."""
    n = A.shape[1]
    scale = float(np.abs(b).max(initial=0.0)) or 1.0
    rows = np.c_[A, np.ones(len(A))]
    try:
        optimum = maximize(np.r_[np.zeros(n), 1.0], rows, b / scale)
    except Unbounded:
        raise Unbounded("balls of any size fit into the set: there is no largest one") from None
    if optimum.value < -1e-9:
        raise NoSolution("the set is empty: no ball fits into it")
    return InscribedBall(optimum.x[:n] * scale, max(optimum.value, 0.0) * scale, optimum.rows)


def residual_radius(polytope: Polytope, center: np.ndarray, *, within: bool = False) -> float:
    """Compute the radius of the largest ball around a point that stays inside a polytope.

    Args:
        polytope: The polytope.
        center: Center of the ball, (n,).
        within: Whether to measure a flat polytope in its own affine hull.

    Returns:
        Smallest distance to a facet; 0 for a flat polytope unless ``within`` is True.

    Raises:
        NoSolution: The point lies outside the polytope.
    """
    if not polytope.contains(center):
        worst = float(polytope.slack(center).min(initial=0.0))
        raise NoSolution(f"the point is {-worst:.6g} outside the polytope: there is no ball")
    if polytope.flatness and not within:
        return 0.0
    return max(float(polytope.slack(center).min(initial=np.inf)), 0.0)


def smallest_enclosing_ball(polytope: Polytope) -> EnclosingBall:
    """Compute the smallest ball around a polytope (Qiu eq. 2.24), exactly, from its vertices.

    Args:
        polytope: A bounded polytope.

    Returns:
        Center, radius and one weight per vertex; the weights prove optimality.

    Raises:
        Unbounded: The polytope is unbounded.
    """
    if not polytope.bounded:
        raise Unbounded("no ball encloses an unbounded set", polytope.rays[0])
    return smallest_ball_around_points(polytope.vertices)


def smallest_ball_around_points(points: np.ndarray) -> EnclosingBall:
    """Compute the smallest ball around points (Fischer, Gärtner and Kutz 2003).

    The center moves toward the point of the affine hull of its support points that is equidistant
    from all of them. Points that reach the sphere on the way join the support; points with a
    negative weight leave it.

    Args:
        points: (points, n).

    Returns:
        Center, radius and one weight per point; the weights prove optimality.

    Raises:
        NoSolution: The iteration does not converge.
    """
    points = np.asarray(points, dtype=float)
    shift = points.mean(axis=0)
    size = float(np.abs(points - shift).max()) or 1.0
    x = (points - shift) / size
    support = [int(np.linalg.norm(x - x[0], axis=1).argmax())]
    center = x[0].copy()
    for _ in range(100 * len(x) + 100):
        radius = float(np.linalg.norm(x[support[0]] - center))
        target, weights = _equidistant(x[support], center)
        if np.linalg.norm(target - center) < 1e-12:
            if (weights >= -1e-12).all():
                break
            support.pop(int(weights.argmin()))
            continue
        step, blocker = _step_length(x, support, center, target, radius)
        center = center + step * (target - center)
        if blocker is not None:
            support.append(blocker)
    else:
        raise NoSolution("the smallest enclosing ball was not found")
    all_weights = np.zeros(len(x))
    all_weights[support] = np.maximum(weights, 0.0) / np.maximum(weights, 0.0).sum()
    radius = float(np.linalg.norm(x - center, axis=1).max())
    return EnclosingBall(center * size + shift, radius * size, all_weights)


def _equidistant(points: np.ndarray, center: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nearest point of the plane of points, and its affine weights on them."""
    base, edges = points[0], (points[1:] - points[0]).T
    along = np.linalg.lstsq(edges, center - base, rcond=None)[0] if edges.size else np.zeros(0)
    weights = np.r_[1.0 - along.sum(), along]
    return base + edges @ along if edges.size else base, weights


def _step_length(
    x: np.ndarray, support: list[int], center: np.ndarray, target: np.ndarray, radius: float
) -> tuple[float, int | None]:
    """Step of the center until another point lies on the sphere, and the index of that point."""
    direction, anchor = target - center, x[support[0]]
    best, blocker = 1.0, None
    # The difference of the squared distances to a point and to the support is linear in the step.
    closing = (anchor - x) @ direction
    gap = radius**2 - ((x - center) ** 2).sum(axis=1)
    for k in np.flatnonzero(closing > 1e-14):
        if k in support:
            continue
        step = max(gap[k], 0.0) / (2 * closing[k])
        if step < best:
            best, blocker = float(step), int(k)
    return best, blocker
