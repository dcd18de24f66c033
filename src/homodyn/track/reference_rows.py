"""Rows that follow a reference motion: motors of the joints, and the residual joint of the root."""

from __future__ import annotations

from homodyn.foundation import Record, record
from homodyn.model import Model
from homodyn.simulate.rows import SpringLaw
from homodyn.simulate.rows.targets import IsotropicSpring, RowInput, TargetRow, TargetRows


@record
class ReferenceRows(Record, TargetRows):
    """Springs along coordinates to a reference motion: motors, or forces of the residual joint.

    The sampled values of a step are the pose of the reference at its start and its velocity over
    the step: a motor that has reached the reference stays on it.
    """

    laws: dict[str, SpringLaw]
    """Law by coordinate."""
    size: int
    """Number of positions and velocities of the model."""

    def names(self, model: Model) -> tuple[str, ...]:
        """The names of the coordinates.

        Args:
            model: The model.

        Returns:
            One name per row.
        """
        return tuple(self.laws)

    @property
    def sampled_size(self) -> int:
        """Number of sampled values: pose and velocity of the reference."""
        return self.size

    def build(self, at: RowInput) -> list[TargetRow | IsotropicSpring]:
        """The rows at a state.

        Args:
            at: State and inputs of the step.

        Returns:
            One row per coordinate.
        """
        model = at.tree.model
        target, velocity = at.sampled[: model.nq], at.sampled[model.nq :]
        error = model.difference(target, at.tree.q)
        rows: list[TargetRow | IsotropicSpring] = []
        for name, law in self.laws.items():
            k = model.coordinate_index(name)
            parts = law.rows(error[k], velocity[k], at.h, at.batch, name)
            rows.append(TargetRow(name, {k: 1.0}, parts, law.is_linear))
        return rows
