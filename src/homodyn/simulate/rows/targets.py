"""Rows of users: springs from coordinates, points and loops to targets that may move.

Those of markers and of the residual joint are in modules of their own.
Each is a specification; `TargetRows.build` evaluates it at the state of a step. A target is a body
of infinite mass: rows act on the model only, and its velocity enters them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from homodyn.dynamics.constraint_rows import ConstraintRows
from homodyn.dynamics.constraints import Constraint, row_names
from homodyn.dynamics.tree import Tree
from homodyn.dynamics.wrenches import PairWrench, WrenchRows
from homodyn.errors import ModelError
from homodyn.foundation import Record, record
from homodyn.model import Model
from homodyn.motion.clinical import resolve_coordinate
from homodyn.simulate.constants import BatchParameters
from homodyn.simulate.rows.implicit_rows import ImplicitRow
from homodyn.simulate.rows.spring_law import SpringLaw
from homodyn.spatial import Array, cross

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
Target = ArrayLike | Callable[[Any, Any], Any] | None
"""Numbers, or a function ``f(t, batch)`` over symbols."""


@dataclass(frozen=True, eq=False)
class RowInput:
    """State and inputs of a step, over symbols."""

    tree: Tree
    t: Array
    h: Array
    batch: BatchParameters
    sampled: Array
    """Sampled targets of these rows at the time of the step."""


@dataclass(frozen=True, eq=False)
class TargetRow:
    """A named row of a user: forces along one direction, which add up."""

    name: str
    entries: dict[int, Array]
    parts: list[ImplicitRow]
    linear: bool
    """Whether it is one part without bounds."""


@dataclass(frozen=True, eq=False)
class IsotropicSpring:
    """Equal springs without bounds along x, y and z at a point: as inertia, a particle."""

    names: tuple[str, str, str]
    body: int
    place: Array
    """Point (m, world)."""
    slope: Array
    """N s/m."""
    offset: Array
    """N, (3,)."""


@dataclass(frozen=True, eq=False)
class BuiltRows:
    """Rows at a state, in the order of their names."""

    rows: list[TargetRow | IsotropicSpring] = field(default_factory=list)


class TargetRows(ABC):
    """Rows that a user adds to the steps of a simulation."""

    @abstractmethod
    def names(self, model: Model) -> tuple[str, ...]:
        """Names of the rows, in order.

        Args:
            model: The model.

        Returns:
            One name per row.
        """

    @abstractmethod
    def build(self, at: RowInput) -> list[TargetRow | IsotropicSpring]:
        """The rows at a state.

        Args:
            at: State and inputs of the step.

        Returns:
            Rows, with the names in order.
        """

    @property
    def sampled_size(self) -> int:
        """Number of sampled values that a step needs."""
        return 0

    def sample(self, times: np.ndarray) -> np.ndarray:
        """Sampled values at the starts of steps.

        Args:
            times: Starts of the steps (s), (n,).

        Returns:
            (n, size), or (batch, n, size).
        """
        return np.zeros((len(times), 0))


@record
class JointSpring(Record, TargetRows):
    """A spring from a coordinate to a target."""

    coordinate: str
    """Name, which may be a clinical or an OpenSim name."""
    law: SpringLaw
    target: Target = 0.0
    """rad, m; or a function ``f(t, batch)`` over symbols."""
    velocity: Target = 0.0
    """rad/s, m/s, likewise."""

    def names(self, model: Model) -> tuple[str, ...]:
        """The name of the coordinate.

        Args:
            model: The model.

        Returns:
            One name.
        """
        return (resolve_coordinate(model, self.coordinate).coordinate,)

    def build(self, at: RowInput) -> list[TargetRow | IsotropicSpring]:
        """The row at a state.

        Args:
            at: State and inputs of the step.

        Returns:
            One row.

        Raises:
            ModelError: The coordinate is part of a rotation without an angle of its own.
        """
        model = at.tree.model
        (name,) = self.names(model)
        entry = model.coordinate_index(name)
        place = model.position_index[entry]
        if place is None:
            raise ModelError(
                f"coordinate {name!r} has no position of its own; springs of a floating root are "
                "those of ResidualJoint"
            )
        error = at.tree.q[place] - target_value(self.target, at, 1)[0]
        parts = self.law.rows(error, target_value(self.velocity, at, 1)[0], at.h, at.batch, name)
        return [TargetRow(name, {entry: 1.0}, parts, self.law.is_linear)]


@record
class PointSpring(Record, TargetRows):
    """Springs from a point of a body to a target in the world."""

    frame: str
    """A body, frame or marker."""
    law: SpringLaw
    target: Target
    """Position (m, world), (3,), or a function ``f(t, batch)`` over symbols."""
    velocity: Target = (0.0, 0.0, 0.0)
    """Velocity of the target (m/s), likewise."""
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Place in the axes of the frame (m)."""
    directions: str = "xyz"
    """World axes along which it acts."""

    def names(self, model: Model) -> tuple[str, ...]:
        """Frame and direction.

        Args:
            model: The model.

        Returns:
            One name per direction.
        """
        return tuple(f"{self.frame} {axis}" for axis in self.directions)

    def build(self, at: RowInput) -> list[TargetRow | IsotropicSpring]:
        """The rows at a state.

        Args:
            at: State and inputs of the step.

        Returns:
            One row per direction.
        """
        target, rate = target_value(self.target, at, 3), target_value(self.velocity, at, 3)
        return point_rows(at, self.frame, self.point, self.directions, self.law, target, rate, 1.0)


@record
class LoopSpring(Record, TargetRows):
    """Springs that close a loop or pin a point, with a law of their own.

    Constraints in ``constraints=`` are much stiffer.
    """

    constraint: Constraint
    """Closed loops and pinned points (`homodyn.dynamics`), with anchors."""
    law: SpringLaw

    def names(self, model: Model) -> tuple[str, ...]:
        """Names of the rows of the constraint.

        Args:
            model: The model.

        Returns:
            One name per row.
        """
        return row_names(self.constraint)

    def build(self, at: RowInput) -> list[TargetRow | IsotropicSpring]:
        """The rows at a state.

        Args:
            at: State and inputs of the step.

        Returns:
            One row per row of the constraint.

        Raises:
            ModelError: The constraint has no anchor.
        """
        rows = ConstraintRows(at.tree, self.constraint)
        missing = [r.name for r in rows.rows if r.measure != "none" and not r.has_anchor]
        if missing:
            raise ModelError(
                f"loop spring {missing[0]!r} has no anchor: give one, or take it from a pose with "
                "homodyn.dynamics.constraint_rows.anchor_constraints"
            )
        return [
            TargetRow(
                row.name,
                entries,
                self.law.rows(error, 0.0, at.h, at.batch, row.name),
                self.law.is_linear,
            )
            for row, entries, error in zip(rows.rows, rows.matrix.entries, rows.errors, strict=True)
        ]


def point_rows(
    at: RowInput,
    frame: str,
    point: Any,
    directions: str,
    law: SpringLaw,
    target: Array,
    velocity: Array,
    weight: Array,
    label: str | None = None,
) -> list[TargetRow | IsotropicSpring]:
    """Rows from a point of a frame to a target, scaled by a weight."""
    tree, name = at.tree, label or frame
    body, placement = tree.model.locate(frame)
    if body < 0:
        raise ModelError(f"a row holds {frame!r}, which is fixed in the world")
    local = placement.r + placement.E.T @ np.asarray(point)
    place = tree.placements[body].point_back(local)
    if law.is_linear and directions == "xyz":
        kp, kd = law.constants(at.h, at.batch, name)
        slope = weight * (at.h * kp + kd)
        offset = weight * kp * (place - target) - slope * velocity
        names = (f"{name} x", f"{name} y", f"{name} z")
        return [IsotropicSpring(names, body, place, slope, offset)]
    rows: list[TargetRow | IsotropicSpring] = []
    for axis in directions:
        along, none = np.array(AXES[axis]), np.zeros(3)
        k = "xyz".index(axis)
        (entries,) = WrenchRows(tree, [PairWrench(body, -1, place, along, none)]).entries
        parts = law.rows(place[k] - target[k], velocity[k], at.h, at.batch, name)
        if not isinstance(weight, float):
            parts = [_scale_row(part, weight) for part in parts]
        rows.append(TargetRow(f"{name} {axis}", entries, parts, law.is_linear))
    return rows


def _scale_row(row: ImplicitRow, weight: Array) -> ImplicitRow:
    bounds = [
        side if not isinstance(side, ca.SX) and np.isinf(side) else weight * side
        for side in (row.lower, row.upper)
    ]
    return ImplicitRow(weight * row.slope, weight * row.offset, *bounds)


def target_value(target: Target, at: RowInput, size: int) -> Array:
    """A target as a column of symbols."""
    value = ca.SX(target(at.t, at.batch)) if callable(target) else None
    if value is None:
        value = ca.SX(np.atleast_1d(np.asarray(target, float)))
    if value.numel() != size:
        raise ModelError(f"the target of a row needs {size} numbers, got {value.numel()}")
    return ca.vec(value)


def point_velocity(tree: Tree, spring: IsotropicSpring) -> Array:
    """Velocity (m/s, world) of the point of a spring."""
    placement, velocity = tree.placements[spring.body], tree.velocities[spring.body]
    local = placement.E @ (spring.place - placement.r)
    return placement.E.T @ (velocity[3:] + cross(velocity[:3], local))
