"""Stances: the supports that are in contact at the same time, and the forces they can give."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from homodyn.balance.force_generators import ForceGenerators, force_generators
from homodyn.balance.polytopes.linear_program import Infeasible, maximize
from homodyn.errors import ModelError, NoSolution
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of, duplicate_names, unknown_name
from homodyn.motion.supports import ContactPatch, Grasp, Support

ORIGIN = np.zeros(3)
ORIGIN.flags.writeable = False


@record
class ForceBudget(Record):
    """Limits of generator weights: one limit per part, and a common limit.

    The weights of each part sum to at most its limit, those of all parts to at most ``total``.
    """

    parts: tuple[tuple[np.ndarray, float], ...]
    """Indices of generators, and the limit of their sum."""
    total: float = np.inf

    @property
    def has_one_part(self) -> bool:
        """Whether the budget has a single part."""
        return len(self.parts) == 1

    @property
    def unbounded(self) -> bool:
        """Whether some weight has no limit."""
        return not np.isfinite(self.total) and any(not np.isfinite(d) for _, d in self.parts)


@record
class ContactForceSet(Record):
    """Admissible weights of the force generators of supports: ``weights >= 0``, ``C weights <= d``.

    The wrench on the body is ``weights @ wrenches``: moment about ``reference``, then force.
    """

    wrenches: np.ndarray
    """(generators, 6): moment (N m) about ``reference`` and force (N), for a weight of one."""
    C: np.ndarray
    """(rows, generators)."""
    d: np.ndarray
    """(rows,)."""
    owner: np.ndarray
    """(generators,): index of the support."""
    corner: np.ndarray
    """(generators,): index of the corner of a patch, or of the part of a grasp."""
    reference: np.ndarray
    """(3,), m: reference point of the moments."""
    budgets: tuple[ForceBudget, ...] | None
    """The same limits as disjoint budgets; None where the rows do not have that form."""

    def headline(self) -> str:
        """Numbers of generators and limits."""
        generators = count_of(len(self.wrenches), "generator")
        return f"ContactForceSet: {generators}, {count_of(len(self.d), 'limit')}"

    def with_rows(self, C: np.ndarray, d: np.ndarray) -> ContactForceSet:
        """Add inequalities ``C weights <= d``.

        Args:
            C: Rows, (rows, generators).
            d: Bounds, (rows,).

        Returns:
            The same generators under the additional limits.
        """
        return ContactForceSet(
            self.wrenches,
            np.vstack([self.C, C]),
            np.r_[self.d, d],
            self.owner,
            self.corner,
            self.reference,
            None,
        )

    def weights(self, wrench: np.ndarray) -> np.ndarray:
        """Compute the weights with the smallest sum that give a wrench.

        Args:
            wrench: Moment (N m) about ``reference`` and force (N), (6,).

        Returns:
            (generators,).

        Raises:
            Infeasible: The supports cannot give the wrench; the error carries the proof.
        """
        k = len(self.wrenches)
        # Scaled columns: tolerances of the program then apply equally to moments and forces.
        scale = np.abs(self.wrenches).max(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        force = float(np.abs(wrench / scale).max()) or 1.0
        optimum = maximize(
            -np.ones(k),
            np.vstack([-np.eye(k), self.C]),
            np.r_[np.zeros(k), self.d / force],
            (self.wrenches / scale).T,
            wrench / scale / force,
        )
        return np.maximum(optimum.x, 0.0) * force


@record
class SupportForce(Record):
    """Force and moment of one support on the body."""

    support: str
    force: np.ndarray
    """(3,), N."""
    moment: np.ndarray
    """(3,), N m, about the center of the support."""

    def headline(self) -> str:
        """Support and force."""
        return f"{self.support}: ({', '.join(f'{x:.4g}' for x in self.force)}) N"


@record
class Stance(Record):
    """Supports that act together, each with its own limits, and an optional common limit.

    Raises:
        ModelError: There is no support, two supports have the same name, or the limit is not
            positive.
    """

    supports: tuple[Support, ...]
    limit: float = np.inf
    """N: maximum sum of the normal forces of all contacts (Qiu 4.26, of normal forces)."""
    name: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "supports", tuple(self.supports))
        where = f"stance {self.name!r}" if self.name else "a stance"
        if not self.supports:
            raise ModelError(f"{where} needs at least one support; a body in flight has no stance")
        for support in self.supports:
            if not isinstance(support, ContactPatch | Grasp):
                raise ModelError(
                    f"{where}: a support is a ContactPatch or a Grasp, got {support!r}"
                )
        duplicates = duplicate_names(self.names)
        if duplicates:
            raise ModelError(f"{where} has several supports of one name: {', '.join(duplicates)}")
        if not self.limit > 0:
            raise ModelError(f"{where}: limit is a force above 0 N, got {self.limit!r}")

    def headline(self) -> str:
        """Name and supports."""
        name = f" {self.name!r}" if self.name else ""
        return f"Stance{name} on {', '.join(self.names)}"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the supports."""
        return tuple(support.name for support in self.supports)

    def support(self, name: str) -> Support:
        """Look up a support by name.

        Args:
            name: Name of the support.

        Returns:
            The support.

        Raises:
            ModelError: The stance has no support of this name.
        """
        if name not in self.names:
            raise ModelError(f"the stance has {unknown_name('support', name, self.names)}")
        return self.supports[self.names.index(name)]

    def without(self, *names: str) -> Stance:
        """Remove supports.

        Args:
            *names: Names of the supports to remove.

        Returns:
            The stance of the remaining supports.

        Raises:
            ModelError: A name is unknown, or no support remains.
        """
        for name in names:
            self.support(name)
        remaining = tuple(s for s in self.supports if s.name not in names)
        return Stance(remaining, self.limit, self.name, self.notes)

    def with_support(self, *supports: Support) -> Stance:
        """Add supports.

        Args:
            *supports: Contact patches or grasps.

        Returns:
            The stance with the additional supports.

        Raises:
            ModelError: A name occurs twice.
        """
        return Stance((*self.supports, *supports), self.limit, self.name, self.notes)

    @property
    def patches(self) -> tuple[ContactPatch, ...]:
        """The contact patches, without grasps."""
        return tuple(s for s in self.supports if isinstance(s, ContactPatch))

    @cached_property
    def points(self) -> np.ndarray:
        """(points, 3), m: corners of patches and positions of grasps."""
        return np.concatenate(
            [s.corners if isinstance(s, ContactPatch) else s.middle[None] for s in self.supports]
        )

    @cached_property
    def reference(self) -> np.ndarray:
        """(3,), m: mean of the points; reference point for moments."""
        return np.asarray(self.points.mean(axis=0))

    @cached_property
    def generators(self) -> tuple[ForceGenerators, ...]:
        """The force generators of each support."""
        return tuple(force_generators(support) for support in self.supports)

    @cached_property
    def forces(self) -> ContactForceSet:
        """All forces that the supports can give, as generator weights under linear limits."""
        wrenches = [
            np.c_[g.moments + np.cross(g.points - self.reference, g.forces), g.forces]
            for g in self.generators
        ]
        counts = [len(part) for part in wrenches]
        starts = np.r_[0, np.cumsum(counts)]
        total = int(starts[-1])
        yaw: list[tuple[np.ndarray, float]] = []
        normal_parts: list[tuple[np.ndarray, float]] = []
        budgets: list[ForceBudget] = []
        for support, generators, (first, last) in zip(
            self.supports, self.generators, pairwise(starts), strict=True
        ):
            indices = np.arange(first, last)
            if isinstance(support, ContactPatch):
                normal_parts.append((indices, support.limit))
                yaw += _yaw_rows(support, generators, indices, total)
            else:
                budgets += [
                    ForceBudget(((indices[part], bound),)) for part, bound in generators.parts
                ]
        budgets = [*_normal_force_budgets(normal_parts, self.limit), *budgets]
        limits = [row for budget in budgets for row in _budget_rows(budget, total)] + yaw
        return ContactForceSet(
            np.concatenate(wrenches),
            np.array([row for row, _ in limits]).reshape(-1, total),
            np.array([bound for _, bound in limits]),
            np.repeat(np.arange(len(self.supports)), counts),
            np.concatenate([g.groups for g in self.generators]),
            self.reference,
            None if yaw else tuple(budgets),
        )

    def distribute(
        self,
        force: Sequence[float] | np.ndarray,
        moment: Sequence[float] | np.ndarray,
        *,
        about: Sequence[float] | np.ndarray = ORIGIN,
    ) -> tuple[SupportForce, ...]:
        """Distribute a wrench over the supports with the smallest sum of normal forces.

        Args:
            force: Force, (3,), N.
            moment: Moment about ``about``, (3,), N m.
            about: Reference point of the moment, (3,), m.

        Returns:
            Force and moment of each support.

        Raises:
            NoSolution: The supports cannot give the wrench.
        """
        force = np.asarray(force, dtype=float)
        shifted = np.asarray(moment, dtype=float) + np.cross(
            np.asarray(about, dtype=float) - self.reference, force
        )
        try:
            weights = self.forces.weights(np.r_[shifted, force])
        except Infeasible as error:
            raise NoSolution(
                f"the supports {', '.join(self.names)} cannot give the force {force} N with the "
                f"moment {np.asarray(moment)} N m about {np.asarray(about)}"
            ) from error
        shares = []
        for k, (support, generators) in enumerate(zip(self.supports, self.generators, strict=True)):
            own = weights[self.forces.owner == k]
            arms = np.cross(generators.points - support.middle, generators.forces)
            shares.append(
                SupportForce(
                    support.name, own @ generators.forces, own @ (arms + generators.moments)
                )
            )
        return tuple(shares)


def _normal_force_budgets(parts: list[tuple[np.ndarray, float]], total: float) -> list[ForceBudget]:
    """Budgets of the contacts, without limits that are never active."""
    if not parts:
        return []
    if sum(limit for _, limit in parts) <= total:
        return [ForceBudget((part,), part[1]) for part in parts]
    if all(limit >= total for _, limit in parts):
        return [ForceBudget(((np.concatenate([own for own, _ in parts]), total),), total)]
    return [ForceBudget(tuple((own, min(limit, total)) for own, limit in parts), total)]


def _budget_rows(budget: ForceBudget, count: int) -> list[tuple[np.ndarray, float]]:
    """Rows over all generators and bounds of the finite limits of a budget."""
    rows = [(np.isin(np.arange(count), own).astype(float), limit) for own, limit in budget.parts]
    if not budget.has_one_part:
        rows.append((np.sum([row for row, _ in rows], axis=0), budget.total))
    return [(row, limit) for row, limit in rows if np.isfinite(limit)]


def _yaw_rows(
    support: ContactPatch, generators: ForceGenerators, indices: np.ndarray, total: int
) -> list[tuple[np.ndarray, float]]:
    """Rows of Qiu 4.21: moments along n + mu s, n - mu s, n + mu t, ... stay below the limit."""
    if not np.isfinite(support.yaw_limit):
        return []
    moments = np.cross(generators.points - support.middle, generators.forces)
    s, t, n = support.axes
    rows = []
    for sign in (1, -1):
        for tangent in (s, -s, t, -t):
            row = np.zeros(total)
            row[indices] = moments @ (sign * n + support.friction * tangent)
            rows.append((row, support.yaw_limit))
    return rows
