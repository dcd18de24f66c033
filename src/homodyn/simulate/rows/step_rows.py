"""Rows with bounds as the solver of a step sees them: a direction and a force along it."""

from __future__ import annotations

from dataclasses import dataclass

from homodyn.simulate.rows.implicit_rows import ImplicitRow
from homodyn.spatial import Array


@dataclass(frozen=True, eq=False)
class StepRow:
    """A force along a direction of the state, with its bounds."""

    entries: dict[int, Array]
    """Entries of the direction that can differ from zero, by their index in v."""
    row: ImplicitRow
    friction_deceleration: Array | None = None
    """For dry friction of a coordinate: its largest deceleration by it (rad/s2, m/s2)."""
