"""The admissible wrenches of a stance: a polytope in six dimensions that depends on nothing else.

A body is in balance when the wrench its motion needs, ``f_p = m (a - g)`` and the moment that goes
with it, is one that its supports can give (Qiu 2012, eq. 4.6). Wrenches have the moment first, as
everywhere in Homodyn. A force of 1 N counts as much as a moment of ``unit`` N m.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from homodyn.balance.polytopes.linear_program import maximize
from homodyn.balance.polytopes.polytope import Polytope
from homodyn.balance.stance import ORIGIN, ContactForceSet, Stance
from homodyn.balance.wrench_construction import MAX_VERTICES, Method, construct_wrench_polytope
from homodyn.spatial import skew

Point = np.ndarray | tuple[float, float, float] | list[float]


@dataclass(frozen=True, eq=False)
class WrenchSetCertificate:
    """Why a set of wrenches is neither larger nor smaller than what its supports can give.

    ``weights[k] >= 0`` keep the limits ``C weights <= d`` and give vertex k, so nothing is claimed
    that cannot be given. ``prices[k] >= 0`` with ``C' prices[k] >= wrenches . side k`` and
    ``d . prices[k] = bound k``, so nothing beyond side k can be given.
    """

    weights: np.ndarray
    """(vertices, generators)."""
    prices: np.ndarray
    """(sides, rows of C)."""


@dataclass(frozen=True, eq=False)
class WrenchSet:
    """All wrenches of a stance, ``{(moment, force) | rows . (moment, force) <= bounds}``."""

    stance: Stance
    forces: ContactForceSet
    polytope: Polytope
    """In (moment about ``reference``, force): N m and N, on axes of the world."""

    @property
    def reference(self) -> np.ndarray:
        """(3,), m: the point that the moments of ``polytope`` are about."""
        return self.forces.reference

    @property
    def flat(self) -> bool:
        """True when some wrench can never be given, however small: there is no margin then."""
        return self.polytope.flatness > 0

    def rows(
        self, about: Point = ORIGIN, *, unit: float = 1.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Moment rows (m, 3), force rows (m, 3) and bounds (m,) for moments about a point (m).

        ``moment_rows @ moment + force_rows @ force <= bounds``; each row of norm one when a force
        of 1 N counts as ``unit`` (m) N m, so that bounds are in N m. A flat set is told by its
        equations too, each as two rows.
        """
        moment, force, bounds = self._rows_about(about)
        length = np.linalg.norm(np.c_[moment, force / unit], axis=1)
        return moment / length[:, None], force / length[:, None], bounds / length

    @cached_property
    def all_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Moment rows and force rows (m, 3) about ``reference``, equations as two rows each."""
        shape = self.polytope
        rows = np.vstack([shape.A, shape.E, -shape.E])
        return rows[:, :3], rows[:, 3:]

    @cached_property
    def moment_row_squares(self) -> np.ndarray:
        """(rows,): |moment row|2."""
        return np.asarray((self.all_rows[0] ** 2).sum(axis=1))

    @cached_property
    def force_row_square_terms(self) -> np.ndarray:
        """(10, rows): |force row|2 as a polynomial of the point that moments are about.

        Of 1, a and the products xx, yy, zz, xy, yz, zx, with a from ``reference`` to the point.
        """
        m, F = self.all_rows
        length = (m**2).sum(axis=1)
        squares = [length - m[:, k] ** 2 for k in range(3)]
        mixed = [-2 * m[:, k] * m[:, (k + 1) % 3] for k in range(3)]
        return np.stack([(F**2).sum(axis=1), *(2 * np.cross(F, m)).T, *squares, *mixed])

    def _rows_about(self, about: Point) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        moment, force = self.all_rows
        bounds = np.r_[self.polytope.b, self.polytope.e, -self.polytope.e]
        across = skew(np.asarray(about, dtype=float) - self.reference)
        return moment, force + moment @ across, bounds

    def slack(
        self, force: np.ndarray, moment: np.ndarray, *, about: np.ndarray | Point = ORIGIN
    ) -> np.ndarray:
        """(..., rows): what is left to each side, in the units of ``polytope``; negative outside.

        ``force`` (N), ``moment`` (N m) and ``about`` (m) may be batches (..., 3).
        """
        wrench = self.at_reference(force, moment, about)
        return self.polytope.slack(wrench)

    def at_reference(
        self, force: np.ndarray, moment: np.ndarray, about: np.ndarray | Point = ORIGIN
    ) -> np.ndarray:
        """(..., 6): a force with its moment about a point, as a point of ``polytope``."""
        force, moment = np.asarray(force, dtype=float), np.asarray(moment, dtype=float)
        arm = np.asarray(about, dtype=float) - self.reference
        shifted = moment + np.cross(arm, force)
        shape = np.broadcast_shapes(shifted.shape, force.shape)
        return np.concatenate(
            [np.broadcast_to(shifted, shape), np.broadcast_to(force, shape)], axis=-1
        )

    def contains(
        self, force: np.ndarray, moment: np.ndarray, *, about: np.ndarray | Point = ORIGIN
    ) -> np.ndarray:
        """(...,): True where the supports can give a force (N) with a moment (N m) about a point.

        Equal to asking a linear program for contact forces, for batches of any shape.
        """
        return self.polytope.contains(self.at_reference(force, moment, about))

    def certificate(self) -> WrenchSetCertificate:
        """Numbers that prove the set: forces that reach each vertex, prices that bound each side.

        One linear program for each; a test needs nothing but products of matrices to check them.
        """
        forces, shape = self.forces, self.polytope
        k = len(forces.wrenches)
        rows, bounds = np.vstack([-np.eye(k), forces.C]), np.r_[np.zeros(k), forces.d]
        prices = [maximize(forces.wrenches @ side, rows, bounds).rows[k:] for side in shape.A]
        weights = [forces.weights(vertex) for vertex in shape.vertices]
        return WrenchSetCertificate(
            np.array(weights), np.array(prices).reshape(len(shape.A), len(forces.C))
        )

    def force_slice(self, com: Point) -> Polytope:
        """Forces (N) that can act through a point with zero moment: F_p of Qiu eq. 4.38."""
        _, force, bounds = self._rows_about(com)
        return _slice(force, bounds)

    def moment_slice(self, force: np.ndarray, *, about: Point) -> Polytope:
        """Moments (N m) about a point that can be given together with a force (N)."""
        moment, across, bounds = self._rows_about(about)
        return _slice(moment, bounds - across @ np.asarray(force, dtype=float))

    def printed_moment_slice(self, com: Point) -> Polytope:
        """T_p of Qiu eq. 4.39: the moments about the origin of forces through a point.

        Its forces act at the point, so it is flat and leaves no ball.
        """
        return self.force_slice(com).image(skew(np.asarray(com, dtype=float)))


def _slice(rows: np.ndarray, bounds: np.ndarray) -> Polytope:
    """Rows of a slice; those that do not feel it are zero but for rounding."""
    felt = np.linalg.norm(rows, axis=1) > 1e-9
    return Polytope.from_rows(np.where(felt[:, None], rows, 0.0), bounds)


def wrench_set(
    stance: Stance | ContactForceSet,
    *,
    method: Method = "auto",
    largest: int = MAX_VERTICES,
) -> WrenchSet:
    """The admissible wrenches of a stance; methods that apply give the same set.

    ``"hull"``: hull of all sums of loaded generators, where no force is under two limits.
    ``"shooting"``: ray shooting with the support function in closed form, for limits of normal
    force of each contact and of all. ``"programs"``: ray shooting by linear programs, for any
    linear limits. A set with more than ``largest`` vertices, which would take long, is refused with
    ``NoSolution``.
    """
    if isinstance(stance, Stance) and method == "auto":
        return _cached_wrench_set(stance, largest)
    return _construct(stance, method, largest)


@lru_cache(maxsize=128)
def _cached_wrench_set(stance: Stance, largest: int) -> WrenchSet:
    """Stances do not change once made, and plans and pictures ask for their sets again."""
    return _construct(stance, "auto", largest)


def _construct(stance: Stance | ContactForceSet, method: Method, largest: int) -> WrenchSet:
    if isinstance(stance, ContactForceSet):
        shape = construct_wrench_polytope(stance, method, largest=largest)
        return WrenchSet(None, stance, shape)  # type: ignore[arg-type]
    where = f"stance {stance.name!r}" if stance.name else f"the stance on {', '.join(stance.names)}"
    shape = construct_wrench_polytope(stance.forces, method, where=where, largest=largest)
    return WrenchSet(stance, stance.forces, shape)
