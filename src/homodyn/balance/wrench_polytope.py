"""The wrench set of a stance: a polytope in six dimensions.

A body is in balance if its supports can give the wrench that its motion requires, ``f_p = m (a -
g)`` and the corresponding moment (Qiu 2012, eq. 4.6). Wrenches have the moment first, as everywhere
in Homodyn. A force of 1 N counts as much as a moment of ``unit`` N m.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np

from homodyn.balance.polytopes.linear_program import maximize
from homodyn.balance.polytopes.polytope import Polytope
from homodyn.balance.stance import ORIGIN, ContactForceSet, Stance
from homodyn.balance.wrench_construction import MAX_VERTICES, Method, construct_wrench_polytope
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
from homodyn.spatial import skew

Point = np.ndarray | tuple[float, float, float] | list[float]


@record
class WrenchSetCertificate(Record):
    """Proof that a wrench set is exactly the set of wrenches that its supports can give.

    ``weights[k] >= 0`` satisfy ``C weights <= d`` and give vertex k, so every vertex is attainable.
    ``prices[k] >= 0`` with ``C' prices[k] >= wrenches . side k`` and ``d . prices[k] = bound k``,
    so no wrench beyond facet k is attainable.
    """

    weights: np.ndarray
    """(vertices, generators)."""
    prices: np.ndarray
    """(facets, rows of C): dual values."""


@record
class WrenchSet(Record):
    """All wrenches of a stance, ``{(moment, force) | rows . (moment, force) <= bounds}``."""

    stance: Stance | None
    """The stance; None for a set of contact forces without one."""
    forces: ContactForceSet
    """The contact forces."""
    polytope: Polytope
    """In (moment about ``reference``, force): N m and N, in world axes."""

    def headline(self) -> str:
        """Stance, and numbers of facets and vertices."""
        stance = "contact forces" if self.stance is None else ", ".join(self.stance.names)
        shape = self.polytope
        vertices = count_of(len(shape.vertices), "vertex", "vertices")
        return f"WrenchSet of {stance}: {count_of(len(shape.A), 'facet')}, {vertices}"

    @property
    def reference(self) -> np.ndarray:
        """(3,), m: reference point of the moments of ``polytope``."""
        return self.forces.reference

    @property
    def flat(self) -> bool:
        """Whether the supports give no wrench in some direction; M_s3 is then at most 0."""
        return self.polytope.flatness > 0

    def rows(
        self, about: Point = ORIGIN, *, unit: float = 1.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Give the facets as inequalities for moments about a point.

        ``moment_rows @ moment + force_rows @ force <= bounds``. Each row has norm one when 1 N
        counts as ``unit`` N m, so the bounds are in N m. Each equation of a flat set gives two
        rows.

        Args:
            about: Reference point of the moments, (3,), m.
            unit: Length (m) that relates forces to moments.

        Returns:
            Moment rows (rows, 3), force rows (rows, 3) and bounds (rows,).
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
        """(10, rows): |force row|2 as a polynomial of the reference point of the moments.

        Coefficients of 1, a and the products xx, yy, zz, xy, yz, zx, with a from ``reference`` to
        the point.
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
        """Compute the slack of each facet inequality in the units of ``polytope``.

        Args:
            force: (..., 3), N.
            moment: Moment about ``about``, (..., 3), N m.
            about: Reference point of the moment, (..., 3), m.

        Returns:
            (..., rows): negative outside.
        """
        wrench = self.at_reference(force, moment, about)
        return self.polytope.slack(wrench)

    def at_reference(
        self, force: np.ndarray, moment: np.ndarray, about: np.ndarray | Point = ORIGIN
    ) -> np.ndarray:
        """Express a wrench as a point of ``polytope``.

        Args:
            force: (..., 3), N.
            moment: Moment about ``about``, (..., 3), N m.
            about: Reference point of the moment, (..., 3), m.

        Returns:
            (..., 6): moment (N m) about ``reference`` and force (N).
        """
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
        """Test whether the supports can give wrenches.

        Equivalent to a linear program for contact forces, but for batches of any shape.

        Args:
            force: (..., 3), N.
            moment: Moment about ``about``, (..., 3), N m.
            about: Reference point of the moment, (..., 3), m.

        Returns:
            (...,): True for wrenches in the set.
        """
        return self.polytope.contains(self.at_reference(force, moment, about))

    def certificate(self) -> WrenchSetCertificate:
        """Compute a proof of the set, with one linear program per vertex and facet.

        Matrix products are sufficient to verify it.

        Returns:
            Weights that attain each vertex and dual prices that bound each facet.
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
        """Compute the forces that can act through a point with zero moment (F_p, Qiu eq. 4.38).

        Args:
            com: The point, (3,), m.

        Returns:
            Polytope of forces, N.
        """
        _, force, bounds = self._rows_about(com)
        return _slice(force, bounds)

    def moment_slice(self, force: np.ndarray, *, about: Point) -> Polytope:
        """Compute the moments about a point that can be given together with a force.

        Args:
            force: (3,), N.
            about: Reference point of the moments, (3,), m.

        Returns:
            Polytope of moments, N m.
        """
        moment, across, bounds = self._rows_about(about)
        return _slice(moment, bounds - across @ np.asarray(force, dtype=float))

    def printed_moment_slice(self, com: Point) -> Polytope:
        """Compute the moments about the origin of forces through a point (T_p, Qiu eq. 4.39).

        The forces act at the point, so the set is flat and contains no ball.

        Args:
            com: The point, (3,), m.

        Returns:
            Polytope of moments, N m.
        """
        return self.force_slice(com).image(skew(np.asarray(com, dtype=float)))


def _slice(rows: np.ndarray, bounds: np.ndarray) -> Polytope:
    """The polytope of the rows of a slice; rows that are zero except for rounding are cleared."""
    nonzero = np.linalg.norm(rows, axis=1) > 1e-9
    return Polytope.from_rows(np.where(nonzero[:, None], rows, 0.0), bounds)


def wrench_set(
    stance: Stance | ContactForceSet,
    *,
    method: Method = "auto",
    max_vertices: int = MAX_VERTICES,
) -> WrenchSet:
    """Compute the wrenches that the supports of a stance can give.

    All methods that apply give the same set. Sets of a `Stance` are cached for ``"auto"``.

    Args:
        stance: A stance, or its forces under further limits, as from `torque_limited_forces`.
        method: ``"hull"`` takes the convex hull of all sums of loaded generators, where no force is
            under two limits. ``"shooting"`` uses ray shooting with the support function in closed
            form, for limits on the normal forces of each contact and of all contacts.
            ``"programs"`` uses ray shooting by linear programs, for any linear limits. ``"auto"``
            selects the fastest.
        max_vertices: Maximum number of vertices; larger sets take long to compute.

    Returns:
        The wrench set.

    Raises:
        Unbounded: A normal force has no limit, and linear programs are needed.
        NoSolution: The set has more than ``max_vertices`` vertices, or the method does not apply.
    """
    if isinstance(stance, Stance) and method == "auto":
        return _cached_wrench_set(stance, max_vertices)
    return _construct(stance, method, max_vertices)


@lru_cache(maxsize=128)
def _cached_wrench_set(stance: Stance, max_vertices: int) -> WrenchSet:
    """The wrench set of a stance; stances are immutable, and plans and figures reuse the set."""
    return _construct(stance, "auto", max_vertices)


def _construct(stance: Stance | ContactForceSet, method: Method, max_vertices: int) -> WrenchSet:
    if isinstance(stance, ContactForceSet):
        shape = construct_wrench_polytope(stance, method, max_vertices=max_vertices)
        return WrenchSet(None, stance, shape)
    where = f"stance {stance.name!r}" if stance.name else f"the stance on {', '.join(stance.names)}"
    shape = construct_wrench_polytope(stance.forces, method, where=where, max_vertices=max_vertices)
    return WrenchSet(stance, stance.forces, shape)
