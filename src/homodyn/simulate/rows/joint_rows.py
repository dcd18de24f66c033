"""Rows along single coordinates: limits, dry friction, springs, dampers and locks.

Each is an `ImplicitRow` along one degree of freedom, evaluated at the end of the step by laws that
support this, or as a force at the present state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from homodyn.dynamics import mass_matrix
from homodyn.foundation import Record, record
from homodyn.model import Model
from homodyn.simulate.rows.implicit_rows import ImplicitRow
from homodyn.simulate.rows.step_rows import StepRow
from homodyn.spatial import Array
from homodyn.symbolic import Kernel
from homodyn.symbolic.trace import trace

STICK_SPEED = 1e-3
"""Speed (rad/s, m/s) from which dry friction of a joint is fully developed."""

LOCK_FREQUENCY = 1000.0
"""Rate (1/s) at which a locked coordinate is stopped, by a damper on its inertia."""
LOCK_STIFFENING = 1e3
"""Factor of that damper, so that a lock yields little."""


@dataclass(frozen=True, eq=False)
class JointRow:
    """A row along one degree of freedom."""

    name: str
    entry: int
    """Index in v."""
    row: ImplicitRow
    motor: bool = False
    """Whether its work counts as work of actuators."""
    friction_deceleration: Array | None = None
    """For dry friction: largest deceleration of the coordinate by it (rad/s2, m/s2), with the
    inertia of the neutral pose and the other coordinates free; None for other rows."""

    @property
    def step_row(self) -> StepRow:
        """The row for the solver of a step."""
        return StepRow({self.entry: 1.0}, self.row, self.friction_deceleration)


@record(eq=True)
class JointLimits(Record):
    """Spring-dampers that keep coordinates in their ranges.

    ``frequency`` and ``ratio`` define a spring-damper for the inertia of each coordinate in the
    neutral pose with the others free; ``stiffness`` and ``damping`` replace it.
    """

    frequency: float = 15.0
    """Undamped natural frequency (Hz)."""
    ratio: float = 1.0
    """Damping ratio; 1 is critical."""
    stiffness: float | None = None
    """N m/rad, N/m."""
    damping: float | None = None
    """N m s/rad, N s/m."""

    def constants(self, model: Model) -> tuple[np.ndarray, np.ndarray]:
        """Stiffness and damping along each degree of freedom.

        Args:
            model: The model.

        Returns:
            Stiffness (N m/rad, N/m) and damping (N m s/rad, N s/m), (nv,) each.
        """
        inertia = free_inertia(model)
        omega = 2 * np.pi * self.frequency
        k = inertia * omega**2 if self.stiffness is None else np.full(model.nv, self.stiffness)
        d = 2 * self.ratio * inertia * omega
        return k, d if self.damping is None else np.full(model.nv, self.damping)


DEFAULT_JOINT_LIMITS = JointLimits()
"""Joint limits of simulations by default."""


def free_inertia(model: Model) -> np.ndarray:
    """Inertia (kg m2, kg) of each coordinate in the neutral pose with the others free."""
    mass = mass_matrix(model, model.neutral())
    inverse = np.diag(np.linalg.pinv(mass, hermitian=True))
    return np.where(inverse > 0, 1 / np.maximum(inverse, 1e-300), 0.0)


def joint_rows(
    model: Model, q: Array, h: Array | None, limits: JointLimits | None
) -> list[JointRow]:
    """All rows that the model defines, at the end of a step or, without ``h``, as forces."""
    rows: list[JointRow] = []
    stiffness, damping = limits.constants(model) if limits else (None, None)
    inertia = free_inertia(model)
    for entry, (coordinate, place) in enumerate(
        zip(model.coordinates, model.position_index, strict=True)
    ):
        name = coordinate.name
        if coordinate.locked:
            damping_constant = inertia[entry] * LOCK_FREQUENCY
            lock = ImplicitRow(damping_constant * LOCK_STIFFENING, 0.0)
            rows.append(JointRow(f"{name} lock", entry, lock))
            continue
        if _is_present(coordinate.stiffness) or _is_present(coordinate.damping):
            error = 0.0 if place is None else q[place] - coordinate.rest
            kp = 0.0 if place is None else coordinate.stiffness
            rows.append(
                JointRow(
                    f"{name} spring", entry, ImplicitRow.spring(error, kp, coordinate.damping, h)
                )
            )
        if _is_present(coordinate.friction):
            friction = coordinate.friction
            row = ImplicitRow(friction / STICK_SPEED, 0.0, -friction, friction)
            deceleration = friction / max(float(inertia[entry]), 1e-300)
            rows.append(
                JointRow(f"{name} friction", entry, row, friction_deceleration=deceleration)
            )
        if limits is None or stiffness is None or damping is None or place is None:
            continue
        kp, kd = stiffness[entry], damping[entry]
        if np.isfinite(model.lower[entry]):
            row = ImplicitRow.stop(q[place] - coordinate.lower, kp, kd, h)
            rows.append(JointRow(f"{name} lower", entry, row))
        if np.isfinite(model.upper[entry]):
            row = ImplicitRow.stop(coordinate.upper - q[place], kp, kd, h).mirrored
            rows.append(JointRow(f"{name} upper", entry, row))
    return rows


def spring_energy(model: Model, q: Array) -> Array:
    """Energy (J) in the springs along coordinates."""
    total: Array = ca.SX(0.0)
    for coordinate, place in zip(model.coordinates, model.position_index, strict=True):
        if place is not None and _is_present(coordinate.stiffness):
            total = total + coordinate.stiffness * (q[place] - coordinate.rest) ** 2 / 2
    return total


def spring_energies(
    model: Model, q: np.ndarray, parameters: np.ndarray | None = None
) -> np.ndarray:
    """Energy (J) in the springs along coordinates, over batch elements and times.

    ``parameters`` are those of the model, one row for all or per batch element; None: the usual
    values.
    """
    sizes: dict[str, tuple[int, ...]] = {"q": (model.nq,)}
    values: dict[str, np.ndarray] = {"q": q}
    known = {}
    if model.parameters:
        sizes["parameters"] = (len(model.parameters),)
        known["parameters"] = model.parameter_symbols
        numbers = np.asarray(model.parameter_values if parameters is None else parameters, float)
        values["parameters"] = numbers if numbers.ndim == 1 else numbers[:, None]

    def springs(*symbols: Any) -> dict[str, Any]:
        return {"energy": spring_energy(model, symbols[0])}

    traced = trace(springs, sizes, {"energy": ()}, f"springs of {model.name}", given=known)
    return np.asarray(Kernel(traced)(**values))


def _is_present(number: Array) -> bool:
    return isinstance(number, ca.SX) or bool(number)
