"""Implicit rows: springs and dampers evaluated at the end of a step, and their constants.

A *row* is a force f along a direction of the state whose velocity at the end of the step is u. With
error phi at its start and step h,

    f = -kp (phi + h u) - kd u = -(h kp + kd) u - kp phi,    clipped to two bounds,

so any stiffness is stable at any step. Physics engines describe the same row by error reduction and
constraint force mixing (Witkin, Smith; HDM eqs. 11 to 15): ERP = h kp / (h kp + kd) and
CFM = 1 / (h kp + kd); the compliance beta of eq. 10 is CFM / h.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.spatial import Array

NO_BOUND = 1e300
"""Finite number used as an infinite bound."""


class SpringDamper(NamedTuple):
    """Stiffness ``kp`` (N/m, N m/rad) and damping ``kd`` (N s/m, N m s/rad)."""

    kp: float
    kd: float


class ErrorReduction(NamedTuple):
    """Error reduction and constraint force mixing."""

    erp: float
    """Fraction of an error that one step removes."""
    cfm: float
    """Softness (m/(N s), rad/(N m s))."""


def erp_cfm_from_spring_damper(kp: float, kd: float, h: float) -> ErrorReduction:
    """Error reduction and constraint force mixing of a spring-damper.

    Args:
        kp: Stiffness (N/m, N m/rad).
        kd: Damping (N s/m, N m s/rad).
        h: Step (s).

    Returns:
        ERP and CFM.

    Raises:
        ModelError: Stiffness and damping are both zero.
    """
    total = h * kp + kd
    if not total > 0:
        raise ModelError(f"kp {kp:g} and kd {kd:g} at step {h:g} give no force; one must be > 0")
    return ErrorReduction(h * kp / total, 1 / total)


def spring_damper_from_erp_cfm(erp: float, cfm: float, h: float) -> SpringDamper:
    """The spring-damper with given error reduction and constraint force mixing.

    Args:
        erp: Fraction of an error that one step removes, 0 to 1.
        cfm: Constraint force mixing (m/(N s), rad/(N m s)), positive.
        h: Step (s).

    Returns:
        Stiffness and damping.

    Raises:
        ModelError: A value is out of its range.
    """
    if not (0 <= erp <= 1 and cfm > 0 and h > 0):
        raise ModelError(f"ERP {erp:g} must lie in [0, 1], CFM {cfm:g} and step {h:g} be positive")
    return SpringDamper(erp / (h * cfm), (1 - erp) / cfm)


def spring_damper_from_frequency(mass: float, frequency: float, ratio: float = 1.0) -> SpringDamper:
    """The spring-damper with which a mass oscillates at a frequency.

    Args:
        mass: Mass or inertia (kg, kg m2).
        frequency: Undamped natural frequency (Hz).
        ratio: Damping ratio; 1 is critical.

    Returns:
        Stiffness and damping.
    """
    omega = 2 * np.pi * frequency
    return SpringDamper(mass * omega**2, 2 * ratio * mass * omega)


@dataclass(frozen=True, eq=False)
class ImplicitRow:
    """A force ``clip(-slope u - offset, lower, upper)`` of the end velocity u along a direction.

    It is monotone in u, so that the forces of many rows have a unique solution.
    """

    slope: Array
    """N s/m, N m s/rad."""
    offset: Array
    """N, N m."""
    lower: Array = -np.inf
    """Lower bound of the force (N, N m)."""
    upper: Array = np.inf
    """Upper bound of the force (N, N m)."""

    @staticmethod
    def spring(
        error: Array,
        kp: Array,
        kd: Array,
        h: Array | None,
        lower: Array = -np.inf,
        upper: Array = np.inf,
        velocity: Array = 0.0,
    ) -> ImplicitRow:
        """A bilateral spring-damper toward a target with its own velocity.

        Args:
            error: Deviation from the target (m, rad).
            kp: Stiffness (N/m, N m/rad).
            kd: Damping (N s/m, N m s/rad).
            h: Step (s); None: the force at the present state.
            lower: Lower bound of the force (N, N m).
            upper: Upper bound of the force (N, N m).
            velocity: Velocity of the target (m/s, rad/s), which moves during the step: phi at its
                end is error + h (u - velocity).

        Returns:
            The row.
        """
        slope = kd if h is None else h * kp + kd
        return ImplicitRow(slope, kp * error - slope * velocity, lower, upper)

    @staticmethod
    def stop(
        gap: Array, kp: Array, kd: Array, h: Array | None, upper: Array = np.inf
    ) -> ImplicitRow:
        """A unilateral spring-damper that acts where a gap is closed.

        Inside (gap < 0) it is `spring`. Outside it acts only on the penetration within this step,
        -(kp + kd / h) (gap + h u): there is no force before contact, and f stays continuous.

        Args:
            gap: Distance (m, rad), negative inside.
            kp: Stiffness (N/m, N m/rad).
            kd: Damping (N s/m, N m s/rad).
            h: Step (s); None: the force at the present state.
            upper: Upper bound of the force (N, N m).

        Returns:
            The row.
        """
        if h is None:
            return ImplicitRow(
                kd, kp * gap, 0.0, ca.if_else(gap < 0, upper if upper < NO_BOUND else NO_BOUND, 0.0)
            )
        slope = h * kp + kd
        return ImplicitRow(slope, kp * gap + kd / h * ca.fmax(gap, 0.0), 0.0, upper)

    @staticmethod
    def dead_zone(
        error: Array, width: Array, kp: Array, kd: Array, h: Array | None
    ) -> tuple[ImplicitRow, ImplicitRow]:
        """No force for |error| < width, a spring-damper beyond: two rows along one direction.

        Args:
            error: Deviation (m, rad).
            width: Half width of the zone without force (m, rad).
            kp: Stiffness (N/m, N m/rad).
            kd: Damping (N s/m, N m s/rad).
            h: Step (s); None: forces at the present state.

        Returns:
            The rows below and above the zone.
        """
        return ImplicitRow.stop(error + width, kp, kd, h), ImplicitRow.stop(
            width - error, kp, kd, h
        ).mirrored

    @property
    def mirrored(self) -> ImplicitRow:
        """The row with the opposite direction."""
        return ImplicitRow(self.slope, -self.offset, -self.upper, -self.lower)

    def raw(self, u: Array) -> Array:
        """The force without bounds at the end velocity ``u``."""
        return -self.slope * u - self.offset

    def force(self, u: Array) -> Array:
        """The force at the end velocity ``u``."""
        raw = self.raw(u)
        if not (is_unbounded(self.lower) or is_unbounded(self.upper)):
            # Not fmin and fmax, which would turn NaN of a target into a bound.
            low, high = raw < self.lower, raw > self.upper
            return ca.if_else(low, self.lower, ca.if_else(high, self.upper, raw))
        if not is_unbounded(self.lower):
            raw = ca.fmax(raw, self.lower)
        return raw if is_unbounded(self.upper) else ca.fmin(raw, self.upper)

    def active(self, u: Array) -> Array:
        """1 where the force changes with the velocity, 0 at a bound."""
        raw = self.raw(u)
        inside = []
        if not is_unbounded(self.lower):
            inside.append(raw > self.lower)
        if not is_unbounded(self.upper):
            inside.append(raw < self.upper)
        if not inside:
            return ca.SX(1.0)
        return inside[0] if len(inside) == 1 else ca.logic_and(*inside)

    def secant(self, u: Array) -> Array:
        """Fraction of the slope with which a spring without bounds would have the present force.

        It is 1 inside the bounds. Outside, a stiff row with bounds that are not zero has no tangent
        that leads back; its secant does (iteratively reweighted least squares).

        Args:
            u: Velocity at the end of the step.

        Returns:
            0 to 1; `active` for bounds at zero and infinity.
        """
        limits = [
            bound
            for bound in (self.lower, self.upper)
            if not (is_zero(bound) or is_unbounded(bound))
        ]
        if not limits:
            return self.active(u)
        raw = self.raw(u)
        safe = ca.if_else(raw == 0, 1.0, raw)
        return ca.if_else(self.active(u), 1.0, self.force(u) / safe)


def is_zero(bound: Array) -> bool:
    """Whether a bound is the number zero."""
    return not isinstance(bound, ca.SX) and bound == 0


def is_unbounded(bound: Array) -> bool:
    """Whether a bound is infinite."""
    return not isinstance(bound, ca.SX) and bool(np.isinf(bound))


def piecewise_spring(
    breaks: Sequence[float], slopes: Sequence[float], error: Array, kd: Array, h: Array | None
) -> list[ImplicitRow]:
    """Rows whose sum is a progressive spring: slopes[0] up to breaks[0], then slopes[1], ...

    Args:
        breaks: Deflections at which the stiffness changes (m, rad), increasing.
        slopes: Stiffness of each piece (N/m, N m/rad), one more than breaks, increasing.
        error: Deflection from rest, not negative.
        kd: Damping of the first piece (N s/m, N m s/rad).
        h: Step (s); None: forces of the present state.

    Returns:
        One row per piece.

    Raises:
        ModelError: There is not one more slope than breaks, or the slopes do not increase.
    """
    if len(slopes) != len(breaks) + 1 or any(b <= a for a, b in pairwise(slopes)):
        raise ModelError(
            f"a piecewise spring needs one more slope than breaks, and increasing slopes; got "
            f"breaks {breaks} and slopes {slopes}"
        )
    rows = [ImplicitRow.spring(error, slopes[0], kd, h)]
    for start, (before, after) in zip(breaks, pairwise(slopes), strict=True):
        rows.append(ImplicitRow.stop(start - error, after - before, 0.0, h).mirrored)
    return rows
