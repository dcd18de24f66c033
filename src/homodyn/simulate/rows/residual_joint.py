"""The residual joint: limited forces between a floating root and the world."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation import Record, record
from homodyn.model import Model
from homodyn.simulate.rows.spring_law import SpringLaw
from homodyn.simulate.rows.targets import (
    IsotropicSpring,
    RowInput,
    Target,
    TargetRow,
    TargetRows,
    target_value,
)


@record
class ResidualJoint(Record, TargetRows):
    """Limited forces and torques between a floating root and the world, by coordinate.

    They stand for what the model cannot do by itself, such as the balance of a body that is moved
    along a recording. They are part of ``constraint_forces``, under the names "residual ...".

    Raises:
        ModelError: No coordinate is limited.
    """

    limits: Mapping[str, float]
    """Largest force (N) or torque (N m) by coordinate of the root; others are free."""
    law: SpringLaw
    """Law of all coordinates; its ``max_force`` is replaced by the limits."""
    target: Target = None
    """Pose (nq,), or a function ``f(t, batch)`` over symbols; None: the neutral pose."""
    velocity: Target = None
    """Velocity of the target (nv,), likewise; None: zero."""

    def __post_init__(self) -> None:
        if not self.limits:
            raise ModelError("a residual joint needs the limit of at least one coordinate")

    def _entries(self, model: Model) -> dict[int, float]:
        root = [model.coordinate_names[k] for k in model.root.v]
        unknown = [name for name in self.limits if name not in root]
        if unknown:
            raise ModelError(
                f"residual joint: {unknown[0]!r} is no coordinate of the root of {model.name!r}; "
                f"it has {', '.join(root) or 'none'}"
            )
        return {model.coordinate_index(name): float(f) for name, f in self.limits.items()}

    def names(self, model: Model) -> tuple[str, ...]:
        """Names of the coordinates after "residual".

        Args:
            model: The model.

        Returns:
            One name per limited coordinate.
        """
        return tuple(f"residual {model.coordinate_names[k]}" for k in self._entries(model))

    def build(self, at: RowInput) -> list[TargetRow | IsotropicSpring]:
        """The rows at a state.

        Args:
            at: State and inputs of the step.

        Returns:
            One row per limited coordinate.
        """
        model = at.tree.model
        neutral = model.neutral() if self.target is None else self.target
        error = model.difference(target_value(neutral, at, model.nq), at.tree.q)
        velocity = np.zeros(model.nv) if self.velocity is None else self.velocity
        rate = target_value(velocity, at, model.nv)
        rows: list[TargetRow | IsotropicSpring] = []
        for k, limit in self._entries(model).items():
            name = f"residual {model.coordinate_names[k]}"
            law = SpringLaw(
                self.law.kp, self.law.kd, self.law.erp, self.law.cfm, limit, self.law.dead_zone
            )
            parts = law.rows(error[k], rate[k], at.h, at.batch, name)
            rows.append(TargetRow(name, {k: 1.0}, parts, law.is_linear))
        return rows
