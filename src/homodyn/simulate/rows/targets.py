"""Rows of users: springs from coordinates, points and loops to targets that may move.

Each is a specification; `TargetRows.build` evaluates it at the state of a step. A target is a body
of infinite mass: rows act on the model only, and its velocity enters them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
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
VALUES_PER_MARKER = 7
"""Position (m), velocity (m/s) and weight of a marker in the inputs of a step."""

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
        error = at.tree.q[place] - _value(self.target, at, 1)[0]
        parts = self.law.rows(error, _value(self.velocity, at, 1)[0], at.h, at.batch, name)
        return [TargetRow(name, {entry: 1.0}, parts, self.law.is_linear)]


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
        error = model.difference(_value(neutral, at, model.nq), at.tree.q)
        rate = _value(np.zeros(model.nv) if self.velocity is None else self.velocity, at, model.nv)
        rows: list[TargetRow | IsotropicSpring] = []
        for k, limit in self._entries(model).items():
            name = f"residual {model.coordinate_names[k]}"
            law = SpringLaw(
                self.law.kp, self.law.kd, self.law.erp, self.law.cfm, limit, self.law.dead_zone
            )
            parts = law.rows(error[k], rate[k], at.h, at.batch, name)
            rows.append(TargetRow(name, {k: 1.0}, parts, law.is_linear))
        return rows


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
        target, rate = _value(self.target, at, 3), _value(self.velocity, at, 3)
        return _point_rows(at, self.frame, self.point, self.directions, self.law, target, rate, 1.0)


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


@record
class MarkerSprings(Record, TargetRows):
    """Springs from markers of the model to recorded positions: bodies of infinite mass that move.

    Between samples the markers move linearly. Where a sample is not finite, the marker is missing
    and its rows have no force.

    Raises:
        ModelError: Times do not increase, or shapes do not fit.
    """

    markers: Sequence[str]
    """Names of markers or frames of the model."""
    time: ArrayLike
    """(samples,), s, increasing."""
    positions: ArrayLike
    """(samples, markers, 3), or (batch, samples, markers, 3); m, world."""
    law: SpringLaw = field(default_factory=lambda: SpringLaw(erp=0.2, cfm=1e-4))
    points: Mapping[str, ArrayLike] = field(default_factory=dict)
    """Places of markers in the axes of their frames (m), by name; zero by default."""
    frames: Mapping[str, str] = field(default_factory=dict)
    """Frames of markers that the model does not have, by name."""

    def __post_init__(self) -> None:
        time, positions = np.array(self.time, float), np.array(self.positions, float)
        names = tuple(self.markers)
        if time.ndim != 1 or not len(time) or np.any(np.diff(time) <= 0):
            raise ModelError("times of marker targets must be increasing numbers")
        if positions.ndim not in (3, 4) or positions.shape[-3:] != (len(time), len(names), 3):
            raise ModelError(
                f"marker targets need ({len(time)}, {len(names)}, 3) positions, got shape "
                f"{positions.shape}"
            )
        object.__setattr__(self, "markers", names)
        object.__setattr__(self, "time", time)
        object.__setattr__(self, "positions", positions)

    def names(self, model: Model) -> tuple[str, ...]:
        """Marker and direction.

        Args:
            model: The model.

        Returns:
            Three names per marker.
        """
        return tuple(f"{marker} {axis}" for marker in self.markers for axis in "xyz")

    @property
    def sampled_size(self) -> int:
        """Number of sampled values that a step needs."""
        return VALUES_PER_MARKER * len(self.markers)

    def sample(self, times: np.ndarray) -> np.ndarray:
        """Positions, velocities to the next time, and weights of the markers.

        Args:
            times: Starts of the steps (s), (n,).

        Returns:
            (n, 7 markers), or (batch, n, 7 markers).
        """
        ends = np.append(times[1:], times[-1] + (times[-1] - times[-2] if len(times) > 1 else 1.0))
        start, end = self._interpolate(times), self._interpolate(ends)
        step = (ends - times)[:, None, None]
        return marker_values(start, (end - start) / step)

    def _interpolate(self, times: np.ndarray) -> np.ndarray:
        known, values = np.asarray(self.time), np.asarray(self.positions)
        if len(known) == 1:
            return np.repeat(values, len(times), axis=-3)
        index = np.clip(np.searchsorted(known, times, side="right") - 1, 0, len(known) - 2)
        gap = known[index + 1] - known[index]
        part = np.clip((times - known[index]) / gap, 0.0, 1.0)[:, None, None]
        before, after = values[..., index, :, :], values[..., index + 1, :, :]
        # A sample that is missing does not hide its neighbor at the time of the neighbor.
        return np.where(
            part == 0, before, np.where(part == 1, after, (1 - part) * before + part * after)
        )

    def build(self, at: RowInput) -> list[TargetRow | IsotropicSpring]:
        """The rows at a state.

        Args:
            at: State and inputs of the step.

        Returns:
            Three rows per marker.
        """
        rows: list[TargetRow | IsotropicSpring] = []
        for k, marker in enumerate(self.markers):
            values = at.sampled[VALUES_PER_MARKER * k : VALUES_PER_MARKER * (k + 1)]
            frame = self.frames.get(marker, marker)
            point = tuple(np.asarray(self.points.get(marker, (0.0, 0.0, 0.0)), float))
            rows += _point_rows(
                at, frame, point, "xyz", self.law, values[:3], values[3:6], values[6], marker
            )
        return rows


def marker_values(positions: np.ndarray, velocities: np.ndarray) -> np.ndarray:
    """The sampled values of markers: zero, with weight zero, where they are not finite.

    Args:
        positions: (..., markers, 3), m.
        velocities: (..., markers, 3), m/s.

    Returns:
        (..., 7 markers).
    """
    known = np.isfinite(positions).all(-1) & np.isfinite(velocities).all(-1)
    parts = [
        np.where(known[..., None], positions, 0.0),
        np.where(known[..., None], velocities, 0.0),
        known[..., None].astype(float),
    ]
    joined = np.concatenate(parts, axis=-1)
    return joined.reshape(*joined.shape[:-2], -1)


def _point_rows(
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


def _value(target: Target, at: RowInput, size: int) -> Array:
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
