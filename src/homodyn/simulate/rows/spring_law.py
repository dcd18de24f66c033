"""The law of a row: stiffness and damping, or ERP and CFM, with bounds, dead zones and pieces."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation import Record, record
from homodyn.simulate.constants import BatchParameters, resolve_constant
from homodyn.simulate.rows.implicit_rows import ImplicitRow
from homodyn.spatial import Array

Number = float | str
"""A number, or the name of a batch parameter."""


@record
class SpringLaw(Record):
    """A spring-damper at the end of the step, by ``kp`` and ``kd`` or by ``erp`` and ``cfm``.

    Raises:
        ModelError: Both or neither of the two pairs are given, or numbers are out of their range.
    """

    kp: Number | None = None
    """Stiffness (N/m, N m/rad)."""
    kd: Number = 0.0
    """Damping (N s/m, N m s/rad)."""
    erp: Number | None = None
    """Fraction of an error that one step removes, 0 to 1."""
    cfm: Number | None = None
    """Constraint force mixing (m/(N s), rad/(N m s)), as ODE has it: 1 / (h kp + kd)."""
    max_force: Number = np.inf
    """Largest force (N, N m)."""
    dead_zone: Number = 0.0
    """Largest error (m, rad) without force."""
    breaks: tuple[float, ...] = ()
    """Errors (m, rad) beyond which the spring is stiffer, increasing."""
    slopes: tuple[float, ...] = ()
    """Stiffness (N/m, N m/rad) beyond each of the breaks, increasing from ``kp``."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "breaks", tuple(self.breaks))
        object.__setattr__(self, "slopes", tuple(self.slopes))
        by_springs, by_erp = self.kp is not None, self.erp is not None and self.cfm is not None
        if by_springs == by_erp or (self.erp is None) != (self.cfm is None):
            raise ModelError("a spring law needs kp (and kd), or erp and cfm")
        if isinstance(self.erp, float) and not 0 <= self.erp <= 1:
            raise ModelError(f"erp is a fraction from 0 to 1, got {self.erp}")
        if not isinstance(self.cfm, str) and self.cfm is not None and not self.cfm > 0:
            raise ModelError(f"cfm must be positive, got {self.cfm}")
        steps = (0.0, *self.breaks)
        if len(self.breaks) != len(self.slopes) or any(b <= a for a, b in pairwise(steps)):
            raise ModelError(
                "a spring in pieces needs positive, increasing breaks, a slope for each"
            )
        if self.breaks:
            stiffness = (self.kp, *self.slopes)
            if any(isinstance(k, str) or k is None for k in stiffness) or any(
                b <= a  # type: ignore[operator]
                for a, b in pairwise(stiffness)
            ):
                raise ModelError("slopes of a spring in pieces are numbers that increase from kp")
            if self.dead_zone != 0 or self.max_force != np.inf:
                raise ModelError("a spring in pieces has neither a dead zone nor a largest force")

    @property
    def is_linear(self) -> bool:
        """Whether the force is proportional to error and velocity, without bounds."""
        return self.max_force == np.inf and self.dead_zone == 0.0 and not self.breaks

    def constants(self, h: Array, batch: BatchParameters, name: str) -> tuple[Array, Array]:
        """Stiffness and damping.

        Args:
            h: Step (s).
            batch: Batch parameters by name.
            name: What the law is for, for messages.

        Returns:
            Stiffness and damping.
        """
        if self.kp is not None:
            return (
                resolve_constant(self.kp, name, batch, "kp"),
                resolve_constant(self.kd, name, batch, "kd"),
            )
        erp = resolve_constant(self.erp, name, batch, "erp")
        cfm = resolve_constant(self.cfm, name, batch, "cfm")
        return erp / (h * cfm), (1 - erp) / cfm

    def rows(
        self, error: Array, velocity: Array, h: Array, batch: BatchParameters, name: str
    ) -> list[ImplicitRow]:
        """The rows along one direction, which add up.

        Args:
            error: Deviation from the target at the start of the step (m, rad).
            velocity: Velocity of the target (m/s, rad/s).
            h: Step (s).
            batch: Batch parameters by name.
            name: What the law is for, for messages.

        Returns:
            One row, or two for a dead zone, or one and two per break.
        """
        kp, kd = self.constants(h, batch, name)
        bound: Array = np.inf
        if self.max_force != np.inf:
            bound = resolve_constant(self.max_force, name, batch, "max_force")
        if self.dead_zone != 0.0:
            width = resolve_constant(self.dead_zone, name, batch, "dead_zone")
            below = ImplicitRow.stop(error + width, kp, kd, h, bound)
            above = ImplicitRow.stop(width - error, kp, kd, h, bound).mirrored
            return [_against(row, velocity) for row in (below, above)]
        rows = [ImplicitRow.spring(error, kp, kd, h, -bound, bound)]
        steps = pairwise((self.kp, *self.slopes))
        for start, (before, after) in zip(self.breaks, steps, strict=True):
            added: Array = after - before  # type: ignore[operator]
            rows.append(ImplicitRow.stop(start - error, added, 0.0, h).mirrored)
            rows.append(ImplicitRow.stop(start + error, added, 0.0, h))
        return [_against(row, velocity) for row in rows]


def _against(row: ImplicitRow, velocity: Array) -> ImplicitRow:
    """The row for velocities relative to a target."""
    return ImplicitRow(row.slope, row.offset - row.slope * velocity, row.lower, row.upper)
