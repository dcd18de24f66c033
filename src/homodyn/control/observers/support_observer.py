"""The pose of a floating root from joint angles and support forces alone.

A robot without a sensor of its own pose knows it from a support that does not move: the root is
where the points of that support are at their reference. Generalized from the observer of Bip
(HuMAnS, INRIA 2006, chapter 7): any model, any supports, any points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from homodyn.dynamics.kinematics import jacobian, position
from homodyn.errors import ModelError, NoSolution
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.model import Model

DEFAULT_THRESHOLD_N = 40.0
"""Summed force that loads a support; the document of Bip prints 400 with a doubt whether 40."""
SUSPENSION = "suspension"
"""Name of the reference where no support is loaded."""
MAX_NEWTON_STEPS = 30
STEP_TOLERANCE = 1e-13
"""Step of the root (m, rad) at which Newton's method ends."""
MIN_RANK_RATIO = 1e-9
"""Ratio of singular values below which the points do not determine the root."""


@record
class RootEstimate(Record):
    """Positions and velocities of all coordinates, with the support they rest on."""

    q: np.ndarray
    """(nq,)."""
    v: np.ndarray
    """(nv,): zero at the first call, then by the `VelocityRule` of the observer."""
    support: str
    """The support whose points give the root."""
    error: float
    """m: root mean square distance of its points from their reference. It is zero for a rigid
    support at rest, and grows where it deforms; a support that slips as a whole does not show."""
    loaded: tuple[str, ...]
    """Supports whose force exceeds the threshold."""

    def headline(self) -> str:
        """Support and error."""
        return f"RootEstimate on {self.support}, error {1000 * self.error:.3g} mm"


class VelocityRule(StrEnum):
    """How velocities follow from poses."""

    DIFFERENCE = "difference"
    """Plain difference of two estimates, as in the document: a change of support is a jump."""
    SUPPORT = "support"
    """Differences of joints; the root moves so that the support rests."""


class SupportChoice(StrEnum):
    """Which of several loaded supports is the reference."""

    ORDER = "order"
    """The first in the order of the supports, as in the document."""
    CURRENT = "current"
    """The present one as long as it is loaded: feet that lose and find the ground in turn do not
    make the estimate jump."""


class SupportObserver:
    """Estimates the root from joint angles and forces, call by call.

    A support that is loaded now and was at the previous call gives the reference, by default the
    first in the order of ``supports``, else the suspension. A support that has just been loaded
    gets its reference: the first of all the places of its points in ``start``, later ones those of
    the estimate.

    Args:
        model: A model with a floating root.
        supports: Points (markers, contacts, frames) by support, in the order of preference, such as
            the right foot before the left one.
        suspension: Points that are at rest where no support is loaded.
        start: Pose that the model has at the first call in the coordinates of the root, (nq,);
            None: the neutral pose.
        threshold: Summed force from which a support counts as loaded, N.
        velocity: How velocities follow from poses.
        choice: Which of several loaded supports is the reference.

    Raises:
        ModelError: The model has no floating root, or points are unknown or too few.
    """

    def __init__(
        self,
        model: Model,
        supports: Mapping[str, Sequence[str]],
        suspension: Sequence[str],
        *,
        start: ArrayLike | None = None,
        threshold: float = DEFAULT_THRESHOLD_N,
        velocity: VelocityRule | str = VelocityRule.DIFFERENCE,
        choice: SupportChoice | str = SupportChoice.ORDER,
    ) -> None:
        self.model = model.at(model.parameter_values) if model.parameters else model
        if not self.model.root:
            raise ModelError(f"model {model.name!r} has no floating root to observe")
        if not threshold >= 0:
            raise ModelError(f"threshold is a force from 0 N up, got {threshold!r}")
        self.supports = {name: tuple(points) for name, points in supports.items()}
        self.suspension = tuple(suspension)
        self.threshold = float(threshold)
        try:
            self.velocity = VelocityRule(velocity)
        except ValueError:
            raise ModelError(unknown_name("velocity rule", velocity, list(VelocityRule))) from None
        try:
            self.choice = SupportChoice(choice)
        except ValueError:
            raise ModelError(
                unknown_name("choice of support", choice, list(SupportChoice))
            ) from None
        q = self.model.neutral() if start is None else np.array(start, dtype=float)
        if q.shape != (self.model.nq,) or not np.isfinite(q).all():
            raise ModelError(f"start is {self.model.nq} finite numbers, got shape {q.shape}")
        for name, points in {**self.supports, SUSPENSION: self.suspension}.items():
            rows = self._root_rows(q, points)
            values = np.linalg.svd(rows, compute_uv=False)
            if len(rows) < len(self.model.root.v) or values[-1] < MIN_RANK_RATIO * values[0]:
                raise ModelError(
                    f"the points of {name} ({', '.join(points)}) do not determine the root; give "
                    "three or more that are not on a line"
                )
        self._start = q
        self._q: np.ndarray | None = None
        self._before: frozenset[str] = frozenset()
        self._touched = False
        self._support = SUSPENSION
        self._references: dict[str, np.ndarray] = {}
        self._hanging = self._places(q, self.suspension)

    def update(self, joints: ArrayLike, forces: Mapping[str, float], dt: float) -> RootEstimate:
        """The estimate after a new measurement.

        Args:
            joints: Measured positions of all coordinates, (nq,); entries of the root are ignored.
            forces: Summed force of each support, N; missing ones are not loaded.
            dt: Time since the previous call, s.

        Returns:
            Pose, velocity, the support used and its error.

        Raises:
            ModelError: A support is unknown, or a number is not finite.
            NoSolution: No root brings the points to their reference.
        """
        measured = np.array(joints, dtype=float)
        others = [k for k in range(self.model.nq) if k not in self.model.root.q]
        if measured.shape != (self.model.nq,) or not np.isfinite(measured[others]).all():
            raise ModelError(f"joints are {self.model.nq} numbers, finite besides the root")
        for name in forces:
            if name not in self.supports:
                raise ModelError(unknown_name("support", name, self.supports))
        if not dt > 0:
            raise ModelError(f"dt is a time above 0 s, got {dt!r}")
        now = frozenset(n for n in self.supports if forces.get(n, 0.0) > self.threshold)
        steady = [n for n in self.supports if n in now & self._before and n in self._references]
        if self.choice is SupportChoice.CURRENT and self._support in steady:
            steady = [self._support]
        support = self._support = steady[0] if steady else SUSPENSION
        points = self.supports.get(support, self.suspension) if steady else self.suspension
        reference = self._references[support] if steady else self._hanging
        guess = (self._start if self._q is None else self._q).copy()
        guess[others] = measured[others]
        q, error = self._fit_root(guess, points, reference)
        for name in now - self._before:
            first = not self._touched
            self._references[name] = self._places(self._start if first else q, self.supports[name])
            self._touched = True
        if self._q is None:
            v = np.zeros(self.model.nv)
        else:
            v = np.asarray(self.model.difference(self._q, q)) / dt
            if self.velocity is VelocityRule.SUPPORT:
                v = self._rest_support(q, v, points)
        self._q, self._before = q, now
        return RootEstimate(q, v, support, error, tuple(n for n in self.supports if n in now))

    def _rest_support(self, q: np.ndarray, v: np.ndarray, points: Sequence[str]) -> np.ndarray:
        """Velocities in which the root moves so that the points rest, as far as they can."""
        root = list(self.model.root.v)
        rows = np.vstack([jacobian(self.model, q, point) for point in points])
        v = v.copy()
        v[root] = 0.0
        v[root] = np.linalg.lstsq(rows[:, root], -rows @ v, rcond=None)[0]
        return v

    def _places(self, q: np.ndarray, points: Sequence[str]) -> np.ndarray:
        return np.concatenate([position(self.model, q, point) for point in points])

    def _root_rows(self, q: np.ndarray, points: Sequence[str]) -> np.ndarray:
        rows = [jacobian(self.model, q, point) for point in points]
        return np.vstack(rows)[:, list(self.model.root.v)]

    def _fit_root(
        self, q: np.ndarray, points: Sequence[str], reference: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """The pose whose root brings the points to their reference, by Gauss-Newton steps."""
        for _ in range(MAX_NEWTON_STEPS):
            gap = reference - self._places(q, points)
            step = np.zeros(self.model.nv)
            found = np.linalg.lstsq(self._root_rows(q, points), gap, rcond=None)[0]
            step[list(self.model.root.v)] = found
            q = np.asarray(self.model.integrate(q, step))
            if np.abs(found).max() < STEP_TOLERANCE * (1 + np.abs(reference).max()):
                break
        else:
            if np.abs(found).max() > 1e-6:
                raise NoSolution(
                    "the root does not converge: its coordinates are near a singularity"
                )
        gap = (reference - self._places(q, points)).reshape(-1, 3)
        return q, float(np.sqrt((gap**2).sum(axis=1).mean()))
