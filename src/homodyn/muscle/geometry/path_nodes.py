"""The points of paths in a tree of bodies: fixed, moving and conditional."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from homodyn.dynamics.tree import Tree
from homodyn.model import Model
from homodyn.model.coordinate_layout import joint_positions
from homodyn.model.joint import WORLD
from homodyn.model.muscles import PathPoint, PointLaw, WrapObject
from homodyn.muscle.geometry.selects import both, column, is_constant, select
from homodyn.spatial import Array, Transform


@dataclass(frozen=True)
class PointRate:
    """How fast a moving point moves in its body with an entry of ``v``."""

    entry: int
    """Entry of ``v``."""
    rate: Array
    """World vector, (3,), m per unit of the coordinate."""


@dataclass(frozen=True)
class PathNode:
    """A point of a path at one state."""

    body: int
    """Index of its body; -1: the world."""
    position: Array
    """World position, (3,), m."""
    active: Array = True
    """Whether the path passes through it."""
    rates: tuple[PointRate, ...] = ()
    end: SegmentEnd | None = None
    """The point as an end of a segment; None for points on surfaces."""


@dataclass(frozen=True)
class SegmentEnd:
    """An end of a segment; its place in a body is known if it does not depend on the state."""

    position: Array
    """World position, (3,), m."""
    body: str | None = None
    """The body in which it is fixed; None: not known."""
    local: Array = None
    """Position in that body, (3,), m."""

    @staticmethod
    def choose(condition: Array, x: SegmentEnd, y: SegmentEnd) -> SegmentEnd:
        """``x`` where the condition is true, else ``y``."""
        if is_constant(condition):
            return x if bool(float(condition)) else y
        return x if x is y else SegmentEnd(select(condition, x.position, y.position))


@dataclass(frozen=True)
class PathFrames:
    """A tree of bodies at one state with what paths need of it."""

    tree: Tree

    @property
    def model(self) -> Model:
        """The model."""
        return self.tree.model

    @cached_property
    def body_index(self) -> dict[str, int]:
        """Index of each body by name; -1 for the world."""
        return {WORLD: -1, **{name: k for k, name in enumerate(self.model.body_names)}}

    @cached_property
    def coordinate_values(self) -> dict[str, tuple[Array, int, Array]]:
        """For each coordinate its value, its entry of ``v`` and the factor of that entry."""
        model = self.model
        positions = joint_positions(model.joint_slots, self.tree.q)
        found = {}
        for joint, values, weights in zip(model.joints, positions, self.tree.weights, strict=True):
            if joint.quaternion:
                continue
            for k, coordinate in enumerate(joint.coordinates):
                found[coordinate.name] = (values[k], *weights[k])
        return found

    @cached_property
    def chains(self) -> dict[int, frozenset[int]]:
        """For each body the joints that move it; none for the world."""
        parents = self.model.parents
        found: dict[int, frozenset[int]] = {-1: frozenset()}
        for body, parent in enumerate(parents):
            found[body] = found[parent] | {body}
        return found

    @cached_property
    def world_axes(self) -> list[Array]:
        """For each joint its motion subspace about the world origin, (6, degrees of freedom)."""
        tree = self.tree
        return [
            column(X.motion_back(column(joint.S)))
            for X, joint in zip(tree.placements, tree.joints, strict=True)
        ]

    @cached_property
    def wraps(self) -> dict[str, WrapObject]:
        """Wrap objects by name."""
        return {wrap.name: wrap for wrap in self.model.wraps}

    @cached_property
    def _wrap_placements(self) -> dict[str, Transform]:
        return {}

    def wrap_placement(self, wrap: WrapObject) -> Transform:
        """From the world to the frame of a wrap object."""
        if wrap.name not in self._wrap_placements:
            body = self.body_index[wrap.body]
            placement = wrap.placement
            if body >= 0:
                placement = placement @ self.tree.placements[body]
            self._wrap_placements[wrap.name] = placement
        return self._wrap_placements[wrap.name]

    def to_wrap(self, wrap: WrapObject, end: SegmentEnd) -> Array:
        """Position of an end of a segment in the frame of a wrap object."""
        if end.body == wrap.body:
            return column(wrap.placement.point(end.local))
        return column(self.wrap_placement(wrap).point(end.position))

    def to_world(self, body: int, local: Array) -> Array:
        """World position of a point of a body."""
        return column(local if body < 0 else self.tree.placements[body].point_back(local))

    def nodes(self, points: Sequence[PathPoint]) -> list[PathNode]:
        """The points of a path at this state."""
        return [self._node(point) for point in points]

    def _node(self, point: PathPoint) -> PathNode:
        body = self.body_index[point.body]
        local, rates = point.position, []
        for law in point.laws:
            unit = ca.SX.zeros(3)
            unit["xyz".index(law.axis)] = 1
            value, rate = self._law(law)
            local = column(local) + unit * value
            direction = unit if body < 0 else self.tree.placements[body].E.T @ unit
            entry, factor = self.coordinate_values[law.coordinate][1:]
            rates.append(PointRate(entry, direction * (rate * factor)))
        active: Array = True
        if point.when is not None:
            value = self.coordinate_values[point.when.coordinate][0]
            active = both(value >= point.when.lower, value <= point.when.upper)
        position = self.to_world(body, local)
        fixed = None if point.laws else point.body
        return PathNode(body, position, active, tuple(rates), SegmentEnd(position, fixed, local))

    def _law(self, law: PointLaw) -> tuple[Array, Array]:
        value = self.coordinate_values[law.coordinate][0]
        return law.function.value(value), law.function.slope(value)
