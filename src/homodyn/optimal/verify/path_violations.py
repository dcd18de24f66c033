"""Violations of path constraints between the nodes.

A transcription enforces constraints at finitely many points. Here they are evaluated along the
resimulated intervals (`resimulation`), with the contact forces there. Each constraint has a
tolerance for the violation that is accepted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

import casadi as ca
import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.optimal.statement.muscle_point import MusclePoint, MuscleVariables
from homodyn.optimal.statement.path_constraints import ConstraintPlacement, PathConstraint
from homodyn.optimal.statement.time_point import TimePoint
from homodyn.optimal.transcription.constraint_rows import ConstraintRowList
from homodyn.optimal.verify.resimulation import Resimulation

PLACEMENTS: tuple[ConstraintPlacement, ...] = get_args(ConstraintPlacement)


@record
class PathViolation(Record):
    """The largest violation of one row of a path constraint in a phase."""

    phase: str
    """Name of the phase."""
    constraint: str
    """Constraint, and contact or coordinate."""
    time: float
    """s, from the start of the movement."""
    amount: float
    """In the unit of the constraint."""
    tolerance_ratio: float
    """Violation over tolerance; more than one is too much."""

    def __str__(self) -> str:
        return (
            f"phase {self.phase!r}, {self.time:.3f} s, between nodes: {self.constraint} is "
            f"violated by {self.amount:.3g}"
        )

    def headline(self) -> str:
        """Location, constraint and amount."""
        return str(self)


def find_path_violations(
    model: Model, resimulations: Sequence[Resimulation], parameters: Mapping[str, float]
) -> tuple[PathViolation, ...]:
    """Violations between the nodes, the worst first; constraints without tolerance are skipped.

    Args:
        model: The model.
        resimulations: One per phase.
        parameters: Parameters of the problem.

    Returns:
        The violations.
    """
    violations = [
        violation
        for resimulation in resimulations
        for placement in PLACEMENTS
        for violation in _phase_violations(model, resimulation, placement, parameters)
    ]
    return tuple(sorted(violations, key=lambda violation: -violation.tolerance_ratio))


def _phase_violations(
    model: Model,
    resimulation: Resimulation,
    placement: ConstraintPlacement,
    parameters: Mapping[str, float],
) -> list[PathViolation]:
    constraints = resimulation.phase.constraints
    chosen = [c for c in constraints if c.when == placement and c.tolerance is not None]
    where = _placement_mask(resimulation, placement)
    if not chosen or not where.any():
        return []
    values, rows = _constraint_values(model, resimulation, chosen, where, parameters)
    low, high = (np.array(side) for side in rows.bounds)
    excess = np.maximum(low - values, values - high)
    worst = excess.argmax(axis=0)
    amounts = excess[worst, np.arange(len(worst))]
    times = resimulation.time[where][worst]
    tolerances = np.repeat([_tolerance(c, model) for c in chosen], rows.counts)
    # Written so that NaN counts as a violation.
    return [
        PathViolation(
            resimulation.phase.name, name, float(time), float(amount), float(amount / tolerance)
        )
        for name, time, amount, tolerance in zip(
            rows.names, times, amounts, tolerances, strict=True
        )
        if not amount <= 0
    ]


def _placement_mask(resimulation: Resimulation, placement: ConstraintPlacement) -> np.ndarray:
    """(samples, intervals): where a constraint of that placement applies."""
    fraction = resimulation.fraction
    if placement == "path":
        return np.ones_like(fraction, dtype=bool)
    if placement == "inside":
        return (fraction > 0.0) & (fraction < 1.0)
    mask = np.zeros_like(fraction, dtype=bool)
    # At the end the node counts, and not the end of the last integration.
    mask[(0, 0) if placement == "start" else (-1, -1)] = True
    return mask


def _tolerance(constraint: PathConstraint, model: Model) -> float:
    tolerance = constraint.tolerance
    return float(tolerance(model) if callable(tolerance) else tolerance or 0.0)


def _constraint_values(
    model: Model,
    resimulation: Resimulation,
    chosen: Sequence[PathConstraint],
    where: np.ndarray,
    parameters: Mapping[str, float],
) -> tuple[np.ndarray, ConstraintRowList]:
    """(samples, rows) of constraints, and their names and bounds."""
    r = resimulation
    quantities = [x[where] for x in (r.q, r.v, r.a, r.tau, r.force, *r.muscles.values())]
    symbols = [ca.SX.sym("x", x.shape[1]) for x in quantities]
    q, v, a, tau, force = symbols[:5]
    elapsed = ca.SX.sym("elapsed")
    duration = float(r.time[-1, -1] - r.time[0, 0])
    known = {name: ca.SX(value) for name, value in parameters.items()}
    contacts = r.phase.contacts
    time_point = TimePoint(model, q, v, a, tau, force, contacts, elapsed, ca.SX(duration), known)
    if r.drive is not None:
        own = MusclePoint(model, r.drive, q, v, MuscleVariables(*symbols[5:]))
        time_point = replace(time_point, muscle_point=own)
    rows = ConstraintRowList()
    rows.add_constraints(chosen, time_point, f"phase {r.phase.name!r}")
    function = ca.Function("conditions", [*symbols, elapsed], [ca.densify(rows.values)])
    times = (r.time - r.time[0, 0])[where]
    values = function.map(len(times))(*(x.T for x in quantities), times[None, :])
    return np.array(values).T, rows
