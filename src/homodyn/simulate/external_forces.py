"""Forces and pushes on bodies: given, scheduled, or as functions of the state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from homodyn.dynamics.external_wrenches import acting_body
from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.foundation import Record, record
from homodyn.simulate.contact_wrenches import generalized_forces
from homodyn.simulate.signals import Quantity, SignalInput
from homodyn.simulate.signals.timing import covered_fraction
from homodyn.spatial import Array, cross, stack

VectorFunction = Callable[[Any, Any, Any, Any], Any]
"""``f(t, q, v, batch)`` over symbols: three numbers."""


@record
class BodyForce(Record):
    """A force, and a moment, on a body, in world axes.

    The force acts while ``start <= t < start + duration``. A step that this covers partly gets that
    fraction of it, so that the impulse is the same for all steps of fixed length.
    """

    frame: str
    """Name of a body, frame, marker or contact."""
    force: Sequence[Quantity] | VectorFunction | str = (0.0, 0.0, 0.0)
    """N, world: three numbers or names of batch parameters or signals, the name of a signal with
    three entries, or ``f(t, q, v, batch)``."""
    moment: Sequence[Quantity] | VectorFunction | str = (0.0, 0.0, 0.0)
    """N m, world; given in the same way."""
    point: Sequence[float] = (0.0, 0.0, 0.0)
    """Where the force acts (m, axes of the frame)."""
    start: Quantity | None = None
    """s; None: always."""
    duration: Quantity = np.inf
    """s."""

    def wrench(self, at: SignalInput, tree: Tree) -> Array:
        """Moment about the point and force.

        Args:
            at: Time, state, batch parameters and signals.
            tree: The model at that state.

        Returns:
            N m and N, world, (6,).

        Raises:
            ModelError: Names are unknown or sizes do not fit.
        """
        wrench = stack(
            _column(self.moment, at, f"moment on {self.frame!r}"),
            _column(self.force, at, f"force on {self.frame!r}"),
        )
        if self.start is None:
            return wrench
        start = at.scalar(self.start, "start of a force")
        if self.duration == np.inf:
            return covered_fraction(at.t, at.h, start, at.t + at.h) * wrench
        duration = at.scalar(self.duration, "duration of a force")
        return covered_fraction(at.t, at.h, start, duration) * wrench

    def generalized_force(self, at: SignalInput, tree: Tree) -> Array:
        """The generalized forces.

        Args:
            at: Time, state, batch parameters and signals.
            tree: The model at that state.

        Returns:
            N m, N, (nv,).
        """
        body, placement = acting_body(tree.model, self.frame)
        point = np.asarray(self.point, dtype=float)
        if point.shape != (3,) or not np.isfinite(point).all():
            raise ModelError(f"point of the force on {self.frame!r}: three numbers are needed")
        wrench = self.wrench(at, tree)
        local = placement.point_back(point)
        arm = tree.placements[body].E.T @ local
        at_origin = stack(wrench[:3] + cross(arm, wrench[3:]), wrench[3:])
        return generalized_forces(tree, {tree.model.body_names[body]: at_origin})


def external_load(forces: Sequence[BodyForce], at: SignalInput, tree: Tree) -> Array | None:
    """The generalized forces of all forces on bodies; None without any."""
    if not forces:
        return None
    return sum((force.generalized_force(at, tree) for force in forces), ca.SX.zeros(at.model.nv))


def _column(given: Any, at: SignalInput, what: str) -> Array:
    if isinstance(given, str) or callable(given):
        value = at.evaluate(given, what)
    else:
        value = ca.vertcat(*[at.scalar(one, what) for one in given])
    if value.shape != (3, 1):
        raise ModelError(f"{what}: three numbers are needed, got {value.shape[0]}")
    return value
