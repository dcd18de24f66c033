"""Stability margins: the smallest disturbance that exceeds what the supports can give.

With the required wrench inside the admissible set and ``slack`` in each of its facet inequalities:

force margin M_s1   smallest force at the center of mass that leaves it,  slack / |force row there|
moment margin M_s2  smallest pure moment that leaves it,                  slack / |moment row|
wrench margin M_s3  smallest wrench that leaves it, 1 N counting as ``unit`` N m,  slack / |row|

(Qiu 2012, section 4.2.9. His printed M_s2 is measured in the image of the forces through the center
of mass, which is flat and therefore zero; see ``WrenchSet.printed_moment_slice``.)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from homodyn.balance.polytopes.chebyshev import InscribedBall, largest_ball_in_rows
from homodyn.balance.polytopes.linear_program import maximize
from homodyn.balance.stance import ORIGIN
from homodyn.balance.wrench_polytope import Point, WrenchSet
from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
from homodyn.symbolic.threads import pool, thread_count

MIN_ROW_LENGTH = 1e-9
"""Length of the force or moment part of a unit row below which it counts as zero."""
CHUNK_STATES = 256
"""States evaluated at a time: their distances to all facets then fit into the cache."""
MIN_STATES_PER_THREAD = 4 * CHUNK_STATES
"""States from which another thread saves time."""


@record
class WrenchMargins(Record):
    """Margins of states, (...,); negative where the supports cannot give the required wrench.

    The margin is infinite for a disturbance that no facet of the wrench set limits.
    """

    force: np.ndarray
    """N: M_s1."""
    moment: np.ndarray
    """N m: M_s2."""
    wrench: np.ndarray
    """N m: M_s3."""
    side: np.ndarray
    """(...,): index of the nearest facet by M_s3, a row of ``WrenchSet.rows``; -1 where the
    supports can give every wrench."""
    force_side: np.ndarray
    """(...,): index of the nearest facet by M_s1."""

    @property
    def balanced(self) -> np.ndarray:
        """(...,): whether the supports can give the required wrench."""
        return self.wrench >= 0


def wrench_margins(
    wrenches: WrenchSet,
    force: np.ndarray,
    moment: np.ndarray,
    *,
    com: np.ndarray,
    about: Point | None = None,
    unit: float = 1.0,
) -> WrenchMargins:
    """Compute the stability margins of required wrenches.

    M_s3 depends on the point about which moments are taken. The center of mass makes scenes
    comparable; ``about=(0, 0, 0)`` reproduces Qiu's published results.

    Args:
        wrenches: Wrench set of a stance.
        force: Required force, (..., 3), N.
        moment: Required moment about the world origin, (..., 3), N m.
        com: Center of mass, (..., 3), m, where a disturbance force acts.
        about: Fixed point (3,), m, about which moments are taken for M_s3; None for ``com``.
        unit: Length (m) that relates forces to moments: 1 N counts as ``unit`` N m.

    Returns:
        Margins M_s1 (N), M_s2 and M_s3 (N m) and the nearest facets, each of shape (...,).

    Raises:
        ModelError: ``unit`` is not positive.
    """
    if not unit > 0:
        raise ModelError(f"unit is a length above 0 m, got {unit!r}")
    force, moment, com = np.broadcast_arrays(
        *(np.asarray(each, dtype=float) for each in (force, moment, com))
    )
    shape = force.shape[:-1]
    if not len(wrenches.all_rows[0]):
        infinite, none = np.full(shape, np.inf), np.full(shape, -1)
        return WrenchMargins(infinite, infinite, infinite, none, none)
    required = wrenches.at_reference(force, moment).reshape(-1, 6)
    terms = _terms(com.reshape(-1, 3) - wrenches.reference)
    fixed = None
    if about is not None:
        fixed = _force_squares(wrenches, np.asarray(about, dtype=float))
    compute = partial(_squared_margins, wrenches, fixed=fixed, unit=unit)
    slices = _thread_slices(len(required))
    if len(slices) > 1:
        parts = list(
            pool(len(slices)).map(lambda span: compute(required[span], terms[span]), slices)
        )
    else:
        parts = [compute(required, terms)]
    force_squares, moment_squares, wrench_squares, side, force_side = (
        np.concatenate(each).reshape(shape) for each in zip(*parts, strict=True)
    )
    return WrenchMargins(
        _root(force_squares), _root(moment_squares), _root(wrench_squares), side, force_side
    )


def _thread_slices(count: int) -> list[slice]:
    """Slices of the states, one per thread."""
    threads = max(min(thread_count(), count // MIN_STATES_PER_THREAD), 1)
    ends = np.linspace(0, count, threads + 1).astype(int)
    return [slice(int(a), int(b)) for a, b in pairwise(ends)]


def _squared_margins(
    wrenches: WrenchSet,
    required: np.ndarray,
    terms: np.ndarray,
    *,
    fixed: np.ndarray | None,
    unit: float,
) -> tuple[np.ndarray, ...]:
    """The fields of ``WrenchMargins`` for some states, margins squared with their sign.

    With sign(s) s2 / |row|2 instead of s / |row| the nearest facet is found without roots; squared
    lengths are matrix products. Everything is computed in place, chunk by chunk, because memory
    traffic dominates the time.
    """
    count, rows = len(required), len(wrenches.moment_row_squares)
    margins = [np.empty(count) for _ in range(3)]
    side, force_side = np.empty(count, int), np.empty(count, int)
    moment_squares = wrenches.moment_row_squares
    has_moment = moment_squares > MIN_ROW_LENGTH**2
    inverse_moment_squares = 1 / np.where(has_moment, moment_squares, 1.0)
    facets = np.ascontiguousarray(wrenches.polytope.A.T)
    buffers = [np.empty((min(CHUNK_STATES, count), rows)) for _ in range(3)]
    for k in range(0, count, CHUNK_STATES):
        chunk = slice(k, min(k + CHUNK_STATES, count))
        squares, lengths, ratios = (each[: chunk.stop - chunk.start] for each in buffers)
        if wrenches.flat:
            lengths[:] = _slack(wrenches, required[chunk])
        else:
            np.matmul(required[chunk], facets, out=lengths)
            np.subtract(wrenches.polytope.b, lengths, out=lengths)
        np.abs(lengths, out=squares)
        squares *= lengths
        np.matmul(terms[chunk], wrenches.force_row_square_terms, out=lengths)
        states = np.arange(len(squares))
        _divide_by_row_lengths(squares, lengths, ratios)
        force_side[chunk] = ratios.argmin(axis=1)
        margins[0][chunk] = ratios[states, force_side[chunk]]
        if fixed is not None:
            np.divide(squares, moment_squares + fixed / unit**2, out=ratios)
        else:
            np.maximum(lengths, 0.0, out=lengths)
            lengths /= unit**2
            lengths += moment_squares
            np.divide(squares, lengths, out=ratios)
        side[chunk] = ratios.argmin(axis=1)
        margins[2][chunk] = ratios[states, side[chunk]]
        np.multiply(squares, inverse_moment_squares, out=ratios)
        if not has_moment.all():
            ratios[~has_moment & (squares >= 0)] = np.inf
        margins[1][chunk] = ratios.min(axis=1)
    return (*margins, side, force_side)


def _root(square: np.ndarray) -> np.ndarray:
    return np.sign(square) * np.sqrt(np.abs(square))


def _divide_by_row_lengths(squares: np.ndarray, lengths: np.ndarray, ratios: np.ndarray) -> None:
    """Squared slack over squared row lengths; rows of length zero limit only points outside."""
    if lengths.min(initial=np.inf) > MIN_ROW_LENGTH**2:
        np.divide(squares, lengths, out=ratios)
        return
    positive = lengths > MIN_ROW_LENGTH**2
    np.divide(squares, np.where(positive, lengths, 1.0), out=ratios)
    ratios[~positive & (squares >= 0)] = np.inf


def facet_slack(wrenches: WrenchSet, force: np.ndarray, moment: np.ndarray) -> np.ndarray:
    """(..., rows): slack of each facet inequality without scaling, equations of flat sets too."""
    return _slack(wrenches, wrenches.at_reference(force, moment))


def _slack(wrenches: WrenchSet, wrench: np.ndarray) -> np.ndarray:
    shape = wrenches.polytope
    slack = shape.slack(wrench)
    if not shape.flatness:
        return slack
    deviation = wrench @ shape.E.T - shape.e
    # Rounding is not a deviation from the plane of a flat set.
    rounding = shape.point_tolerance(wrench)[..., None]
    deviation = np.where(np.abs(deviation) <= rounding, 0.0, deviation)
    return np.concatenate([slack, -deviation, deviation], axis=-1)


def facet_distances(
    wrenches: WrenchSet,
    force: np.ndarray,
    moment: np.ndarray,
    *,
    about: Point = ORIGIN,
    unit: float = 1.0,
) -> np.ndarray:
    """Compute the signed distance of a wrench to every facet of a wrench set (Qiu algorithm 3).

    Args:
        wrenches: Wrench set of a stance.
        force: Force, (..., 3), N.
        moment: Moment about the world origin, (..., 3), N m.
        about: Point (3,), m, about which moments are taken for the distance.
        unit: Length (m) that relates forces to moments: 1 N counts as ``unit`` N m.

    Returns:
        (..., rows), N m: distances, negative outside; one per row of ``wrenches.rows(about,
        unit=unit)``.
    """
    at = _force_squares(wrenches, np.asarray(about, dtype=float))
    length = np.sqrt(wrenches.moment_row_squares + at / unit**2)
    return facet_slack(wrenches, force, moment) / length


def _force_squares(wrenches: WrenchSet, about: np.ndarray) -> np.ndarray:
    """(..., rows): |force row|2 for moments about points (..., 3).

    The row is F + m x a with a from the reference to the point, so that its square is
    |F|2 + 2 a . (F x m) + |m|2 |a|2 - (m . a)2: one matrix product with 1, a and a a'.
    """
    return np.maximum(_terms(about - wrenches.reference) @ wrenches.force_row_square_terms, 0.0)


def _terms(arm: np.ndarray) -> np.ndarray:
    """(..., 10): 1, a and products of its entries, for ``WrenchSet.force_row_square_terms``."""
    x, y, z = np.moveaxis(arm, -1, 0)
    return np.stack([np.ones_like(x), x, y, z, x * x, y * y, z * z, x * y, y * z, z * x], axis=-1)


@record
class TransitionDifficulty(Record):
    """The overlap of the wrench sets of consecutive stances, before any motion is planned.

    Accelerations are continuous, so the wrench lies in both sets at each change of stance. An empty
    intersection rules out every motion (Qiu, proposition 1), and the smallest radius is an upper
    bound on the margin of any motion (proposition 2).
    """

    balls: tuple[InscribedBall | None, ...]
    """The largest ball of each intersection; None where it is empty."""

    @property
    def radii(self) -> tuple[float, ...]:
        """N m: radius of each intersection; 0 for a flat one, -inf for an empty one."""
        return tuple(-np.inf if ball is None else ball.radius for ball in self.balls)

    @property
    def index(self) -> float:
        """N m: the smallest radius; a smaller radius means a more difficult sequence."""
        return min(self.radii)

    @property
    def feasible(self) -> bool:
        """Whether all consecutive stances have wrenches in common."""
        return all(ball is not None for ball in self.balls)

    @property
    def hardest_transition(self) -> int:
        """Index, from 0, of the change with the smallest radius."""
        return int(np.argmin(self.radii))

    def headline(self) -> str:
        """Number of changes and smallest radius."""
        count = count_of(len(self.balls), "change")
        return f"TransitionDifficulty: {count}, smallest radius {self.index:.4g} N m"


def transition_difficulty(
    sets: Sequence[WrenchSet], *, about: Point = ORIGIN, unit: float = 1.0
) -> TransitionDifficulty:
    """Compute the largest balls that the wrench sets of consecutive stances have in common.

    Args:
        sets: Wrench sets of two or more stances, in order of use.
        about: Point (3,), m, about which moments are taken.
        unit: Length (m) that relates forces to moments: 1 N counts as ``unit`` N m.

    Returns:
        One ball per change of stance, with radii in N m; None where the intersection is empty.

    Raises:
        ModelError: Fewer than two sets are given.
    """
    if len(sets) < 2:
        raise ModelError("transition difficulty compares consecutive stances: give two or more")
    balls: list[InscribedBall | None] = []
    for pair in pairwise(sets):
        parts = [wrenches.rows(about, unit=unit) for wrenches in pair]
        rows = np.vstack([np.c_[moment, force / unit] for moment, force, _ in parts])
        balls.append(largest_common_ball(rows, np.concatenate([bounds for _, _, bounds in parts])))
    return TransitionDifficulty(tuple(balls))


def largest_common_ball(rows: np.ndarray, bounds: np.ndarray) -> InscribedBall | None:
    """The largest ball inside all rows; radius 0 for a flat set, None for an empty one."""
    n = rows.shape[1]
    scale = float(np.abs(bounds).max(initial=0.0)) or 1.0
    optimum = maximize(
        np.r_[np.zeros(n), 1.0],
        np.vstack([np.c_[rows, np.ones(len(rows))], np.r_[np.zeros(n), 1.0]]),
        np.r_[bounds / scale, 1e6],
    )
    if optimum.value < -1e-9:
        return None
    if optimum.value <= 1e-9:
        return InscribedBall(optimum.x[:n] * scale, 0.0, optimum.rows[:-1])
    return largest_ball_in_rows(rows, bounds)
