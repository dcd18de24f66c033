"""Where bodies may touch: gaps between the contact shapes of a model and what they can meet.

A `Scene` says which contact shapes meet which obstacles, and which pairs of bodies meet each other.
``scene.gaps(tree)`` gives one `Gap` for each place that may touch, in a fixed order and number, as
expressions of the state: signed distance, normal, point, and the rows of a Jacobian through the
``PairWrench`` records of `homodyn.dynamics.wrenches`. Every contact law builds on these.

Shapes meet obstacles with `probes`, spheres fixed in their body. Boxes also meet boxes with the
corners of those and where `edges` of both cross; axes of lines and capsules cross edges of boxes
and meet their nearest corner; boxes meet height fields with the node that stands deepest in their
lowest face. Bodies meet each other in the same way; two spheres or capsules in their one nearest
pair of points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from homodyn.dynamics import jacobian
from homodyn.dynamics.tree import Tree
from homodyn.dynamics.wrenches import PairWrench
from homodyn.errors import ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model import ContactShape, Model
from homodyn.simulate.box_edges import FADE_SLOPE, OrientedBox, edge_crossings
from homodyn.simulate.contact_probes import (
    ContactProbe,
    contact_probes,
    edge_probes,
    lowest_face,
    nearest_probe,
)
from homodyn.simulate.obstacles import BoxObstacle, HeightField, Obstacle, box_surface, level_ground
from homodyn.spatial import Array, Transform, cross, stack
from homodyn.symbolic import Kernel, kernel

NO_CONTACT_M = 1e3
"""m: stands for a place that is not near."""


@dataclass(frozen=True, eq=False)
class Gap:
    """A place of ``body`` and what it may touch on ``other`` (both body indices, -1: the world).

    ``distance`` (m) is negative when they overlap; ``normal`` is a unit vector of the world from
    the other to the body; ``point`` (m, world) is where forces act on both: on the surface of the
    body, at ``distance`` along the normal from the surface of the other. ``shape`` is the index of
    the contact shape in ``model.contacts``.
    """

    name: str
    body: int
    other: int
    shape: int
    distance: Array
    normal: Array
    point: Array

    @cached_property
    def tangents(self) -> tuple[Array, Array]:
        """Two unit vectors that make a right-handed frame with the normal: t1 x t2 = n.

        On level ground these are x and y; elsewhere the branch-free frame of Duff et al. 2017.
        """
        n = self.normal
        sign = ca.if_else(n[2] < 0, -1.0, 1.0)
        a = -1 / (sign + n[2])
        b = n[0] * n[1] * a
        first = stack(1 + sign * n[0] ** 2 * a, sign * b, -sign * n[0])
        return first, stack(b, sign + n[1] ** 2 * a, -n[1])

    @property
    def wrenches(self) -> tuple[PairWrench, PairWrench, PairWrench]:
        """Unit forces along the normal and the two tangents: rows of the gap's velocity."""
        still = np.zeros(3)
        return tuple(
            PairWrench(self.body, self.other, self.point, direction, still)
            for direction in (self.normal, *self.tangents)
        )  # type: ignore[return-value]


@dataclass(frozen=True, eq=False)
class ContactGeometry:
    """Which contact shapes of a model can touch which obstacles and each other.

    Attributes:
        model: The model.
        contacts: Names of contact shapes that can touch obstacles; None: all.
        ground: Obstacles; None: the horizontal plane through the origin.
        pairs: Names of two shapes on different bodies each that can touch each other.

    Raises:
        ModelError: A contact is unknown, or two shapes cannot touch each other.
    """

    model: Model
    contacts: tuple[str, ...] | None = None
    ground: tuple[Obstacle, ...] | None = None
    pairs: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if self.ground is None:
            object.__setattr__(self, "ground", (level_ground(self.model),))
        elif not isinstance(self.ground, Sequence):
            object.__setattr__(self, "ground", (self.ground,))
        known = [shape.name for shape in self.model.contacts]
        chosen = known if self.contacts is None else list(self.contacts)
        for name in [*chosen, *(name for pair in self.pairs for name in pair)]:
            if name not in known:
                what = unknown_name("contact", name, known)
                raise ModelError(f"model {self.model.name!r} has {what}")
        object.__setattr__(self, "contacts", tuple(chosen))
        object.__setattr__(self, "pairs", tuple((a, b) for a, b in self.pairs))
        for a, b in self.pairs:
            shapes = [self._shape(name)[1] for name in (a, b)]
            if shapes[0].body == shapes[1].body:
                raise ModelError(f"contacts {a!r} and {b!r} are on one body and cannot meet")
            if all(shape.kind in ("point", "line") for shape in shapes):
                raise ModelError(
                    f"contacts {a!r} and {b!r} have no thickness and pass through each other; make "
                    "one of them a sphere, capsule or box"
                )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the gaps, in their order."""
        q = ca.SX.sym("q", self.model.nq)
        return tuple(gap.name for gap in self.gaps(Tree(self.model, q)))

    def gaps(self, tree: Tree) -> list[Gap]:
        """All gaps at a state of the tree."""
        found: list[Gap] = []
        for name in self.contacts or ():
            index, shape = self._shape(name)
            for number, obstacle in enumerate(self.ground or ()):
                mark = f" on {number}" if len(self.ground or ()) > 1 else ""
                found += [
                    replace(gap, name=gap.name + mark)
                    for gap in self._obstacle_gaps(tree, index, shape, obstacle)
                ]
        for pair in self.pairs:
            found.extend(self._pair_gaps(tree, *pair))
        return found

    def _shape(self, name: str) -> tuple[int, ContactShape]:
        index = [shape.name for shape in self.model.contacts].index(name)
        return index, self.model.contacts[index]

    def _obstacle_gaps(
        self, tree: Tree, index: int, shape: ContactShape, obstacle: Obstacle
    ) -> list[Gap]:
        """Gaps of a shape and an obstacle."""
        body = self.model.body_names.index(shape.body)
        placed = tree.placements[body]
        probes = contact_probes(shape, body)
        if isinstance(obstacle, HeightField) and shape.kind in ("line", "capsule"):
            probes.append(nearest_probe(shape, body, placed, obstacle))
        elif isinstance(obstacle, HeightField) and shape.kind == "box":
            probes += edge_probes(shape, body, placed, obstacle)
        found = [_probe_gap(tree, probe, -1, index, obstacle.surface) for probe in probes]
        if shape.kind == "box" and isinstance(obstacle, BoxObstacle):
            solid = OrientedBox.from_obstacle(obstacle)
            found += _corner_gaps(solid, placed, shape, body, index)
            found += _crossing_gaps(
                shape.name, body, -1, index, _oriented_box(shape, placed), solid
            )
        elif shape.kind in ("line", "capsule") and isinstance(obstacle, BoxObstacle):
            found += _axis_gaps(shape, placed, body, -1, index, OrientedBox.from_obstacle(obstacle))
        elif shape.kind == "box" and isinstance(obstacle, HeightField):
            found.append(_node_gap(obstacle, placed, shape, body, index))
        return found

    def _pair_gaps(self, tree: Tree, a: str, b: str) -> list[Gap]:
        """Gaps of two shapes on different bodies."""
        (ia, first), (ib, second) = self._shape(a), self._shape(b)
        on_a, on_b = (self.model.body_names.index(s.body) for s in (first, second))
        if "box" not in (first.kind, second.kind):
            axes = [
                [tree.placements[body].point_back(p.center) for p in contact_probes(shape, body)]
                for shape, body in ((first, on_a), (second, on_b))
            ]
            p, q = nearest_points(*[(axis[0], axis[-1]) for axis in axes])
            apart = p - q
            length = ca.norm_2(apart)
            met = length > 0
            # Axes that cross have no direction between them: they part upwards.
            normal = ca.if_else(met, apart / ca.if_else(met, length, 1.0), ca.SX([0.0, 0.0, 1.0]))
            point = p - first.radius * normal
            distance = length - first.radius - second.radius
            return [Gap(f"{a} on {b}", on_a, on_b, ia, distance, normal, point)]
        found = []
        for (i, shape, body), (solid, other) in (
            ((ia, first, on_a), (second, on_b)),
            ((ib, second, on_b), (first, on_a)),
        ):
            if solid.kind != "box":
                continue
            surface = _surface_of(solid, tree.placements[other])
            gaps = [
                _probe_gap(tree, probe, other, i, surface) for probe in contact_probes(shape, body)
            ]
            if shape.kind in ("line", "capsule"):
                placed = tree.placements[body]
                edged = _oriented_box(solid, tree.placements[other])
                gaps += _axis_gaps(shape, placed, body, other, i, edged)
            found += [replace(gap, name=f"{gap.name} on {solid.name}") for gap in gaps]
        if first.kind == second.kind == "box":
            solids = [
                _oriented_box(s, tree.placements[at]) for s, at in ((first, on_a), (second, on_b))
            ]
            for gap in _crossing_gaps(a, on_a, on_b, ia, *solids):
                found.append(replace(gap, name=f"{gap.name} on {b}"))
        return found


def _probe_gap(tree: Tree, probe: ContactProbe, other: int, index: int, surface: Any) -> Gap:
    """The gap between a probe and a surface."""
    center = tree.placements[probe.body].point_back(probe.center)
    distance, normal = surface(center)
    return Gap(
        probe.name,
        probe.body,
        other,
        index,
        distance - probe.radius + probe.fading,
        normal,
        center - probe.radius * normal,
    )


def _surface_of(shape: ContactShape, placed: Transform) -> Any:
    """Distance and normal of points of the world from a box on a body."""

    def surface(x: Array) -> tuple[Array, Array]:
        local = shape.rotation @ (placed.point(x) - shape.position)
        distance, normal = box_surface(local, shape.size)
        return distance, placed.E.T @ (shape.rotation.T @ normal)

    return surface


def _oriented_box(shape: ContactShape, placed: Transform) -> OrientedBox:
    """A box on a body, in the world."""
    back = placed.E.T @ shape.rotation.T
    axes = [ca.SX(back[:, k]) for k in range(3)]
    return OrientedBox(placed.point_back(shape.position), axes, [shape.size[k] for k in range(3)])


def _corner_gaps(
    solid: OrientedBox, placed: Transform, shape: ContactShape, body: int, index: int
) -> list[Gap]:
    """Corners of a fixed box in a box on a body."""
    surface = _surface_of(shape, placed)
    found = []
    for k, corner in enumerate(solid.corners):
        distance, out = surface(corner)
        place = corner - distance * out
        found.append(Gap(f"{shape.name}.under {k}", body, -1, index, distance, -out, place))
    return found


def _crossing_gaps(
    name: str, body: int, other: int, index: int, a: OrientedBox, b: OrientedBox
) -> list[Gap]:
    """Where edges of two boxes cross."""
    return [
        Gap(f"{name}.crossing {k}", body, other, index, distance, normal, place)
        for k, (distance, normal, place) in enumerate(edge_crossings(a, b))
    ]


def _axis_gaps(
    shape: ContactShape, placed: Transform, body: int, other: int, index: int, solid: OrientedBox
) -> list[Gap]:
    """Where the axis of a line or capsule crosses edges of a box, and the box's nearest corner."""
    axis = _oriented_box(replace(shape, size=stack(shape.size[0], 0.0, 0.0)), placed)
    radius = shape.radius if shape.kind == "capsule" else 0.0
    # The near edges of a box without thickness are one: every crossing is there twice.
    found = [
        replace(gap, distance=gap.distance - radius, point=gap.point - radius * gap.normal)
        for gap in _crossing_gaps(shape.name, body, other, index, axis, solid)[:2]
    ]
    if shape.kind == "line":
        return found
    arm = shape.size[0] * axis.axes[0]
    least, apart, place = ca.SX(NO_CONTACT_M), ca.SX([0.0, 0.0, 1.0]), axis.center
    for corner in solid.corners:
        share = ca.dot(corner - axis.center, arm) / ca.dot(arm, arm)
        # At the ends of the axis the ends themselves stand for it.
        beyond = ca.fmax(ca.fabs(share) - 1, 0.0) * ca.norm_2(arm)
        near = axis.center + ca.fmin(ca.fmax(share, -1.0), 1.0) * arm
        length = ca.norm_2(near - corner)
        closer = length + FADE_SLOPE * beyond < least
        least = ca.if_else(closer, length + FADE_SLOPE * beyond, least)
        apart, place = ca.if_else(closer, near - corner, apart), ca.if_else(closer, near, place)
    size = ca.norm_2(apart)
    normal = apart / ca.if_else(size > 0, size, 1.0)
    name = f"{shape.name}.corner"
    gap = Gap(name, body, other, index, least - radius, normal, place - radius * normal)
    return [*found, gap]


def _node_gap(
    field: HeightField, placed: Transform, shape: ContactShape, body: int, index: int
) -> Gap:
    """The node of a height field that stands deepest in the lowest face of a box."""
    middle, ways = lowest_face(shape, placed)
    out = placed.E.T @ (middle - shape.position)
    out = out / ca.norm_2(out)
    face, sides = placed.point_back(middle), [placed.E.T @ way for way in ways]
    least, place = ca.SX(NO_CONTACT_M), face
    for node in field.nodes:
        arm = ca.SX(list(node)) - face
        beside = ca.SX(0.0)
        for side in sides:
            length = ca.norm_2(side)
            beside = beside + ca.fmax(ca.fabs(ca.dot(arm, side)) / length - length, 0.0)
        distance = ca.dot(arm, out)
        counted = distance + FADE_SLOPE * beside
        closer = counted < least
        least = ca.if_else(closer, counted, least)
        place = ca.if_else(closer, ca.SX(list(node)) - distance * out, place)
    return Gap(f"{shape.name}.face", body, -1, index, least, -out, place)


def nearest_points(first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
    """The points of two segments that are nearest to each other; a segment may be a point.

    The unbounded optimum of one is cut to its segment, then each is fitted to the other in turn.
    """
    (p0, p1), (q0, q1) = first, second
    u, w, r = p1 - p0, q1 - q0, p0 - q0
    a, b, c = ca.dot(u, u), ca.dot(u, w), ca.dot(w, w)
    d, e = ca.dot(u, r), ca.dot(w, r)
    determinant = a * c - b * b
    slanted = determinant > 1e-12 * (a * c)
    start = ca.if_else(slanted, (b * e - c * d) / ca.if_else(slanted, determinant, 1.0), 0.5)
    s = _unit_clip(start)
    t = _unit_clip((b * s + e) / ca.if_else(c > 0, c, 1.0))
    s = _unit_clip((b * t - d) / ca.if_else(a > 0, a, 1.0))
    t = _unit_clip((b * s + e) / ca.if_else(c > 0, c, 1.0))
    return p0 + s * u, q0 + t * w


def _unit_clip(share: Array) -> Array:
    return ca.fmin(ca.fmax(share, 0.0), 1.0)


def gap_distances(scene: ContactGeometry) -> Kernel:
    """Build a kernel that evaluates all gaps of a scene.

    Args:
        scene: The gaps.

    Returns:
        A kernel from positions ``q`` (..., nq) to ``"distance"`` (..., gaps), ``"normal"`` and
        ``"point"`` (..., gaps, 3), m, world.
    """

    def distances(q: Array) -> dict[str, Array]:
        gaps = scene.gaps(Tree(scene.model, q))
        return {
            "distance": ca.vertcat(ca.SX(0, 1), *[gap.distance for gap in gaps]),
            "normal": ca.horzcat(ca.SX(3, 0), *[gap.normal for gap in gaps]).T,
            "point": ca.horzcat(ca.SX(3, 0), *[gap.point for gap in gaps]).T,
        }

    count = len(scene.names)
    shapes: dict[str, int | tuple[int, ...]] = {
        "distance": count,
        "normal": (count, 3),
        "point": (count, 3),
    }
    return kernel(distances, q=scene.model.nq, outputs=shapes, name=f"gaps of {scene.model.name}")


def gap_velocity(tree: Tree, gap: Gap) -> Array:
    """Relative velocity of both bodies at a gap.

    Args:
        tree: The model at a state.
        gap: The gap.

    Returns:
        Velocity of the point of the body relative to that of the other (m/s, world), (3,).
    """
    total: Array = ca.SX.zeros(3)
    for body, sign in ((gap.body, 1.0), (gap.other, -1.0)):
        if body >= 0:
            placed, moving = tree.placements[body], tree.velocities[body]
            local = placed.point(gap.point)
            total = total + sign * (placed.E.T @ (moving[3:] + cross(moving[:3], local)))
    return total


def place_on_ground(
    model: Model, q: np.ndarray, height: float = 0.0, scene: ContactGeometry | None = None
) -> np.ndarray:
    """Lift or lower a pose until its lowest contact is at a height above what it may touch.

    It moves along gravity by the coordinates of the first joint, which must allow that.

    Args:
        model: The model.
        q: A pose, (nq,).
        height: Height of the lowest contact (m).
        scene: What it may touch; None: level ground.

    Returns:
        The pose, (nq,).

    Raises:
        ModelError: The model has no contacts, or its first joint cannot lift it.
    """
    chosen = scene or ContactGeometry(model)
    gravity = np.asarray(model._usual_value(model.gravity), dtype=float)
    up = -gravity / np.linalg.norm(gravity) if np.any(gravity) else np.array([0.0, 0.0, 1.0])
    lowest = gap_distances(chosen)(np.asarray(q, dtype=float))["distance"]
    if not lowest.size:
        raise ModelError(f"model {model.name!r} has no contacts to stand on")
    slots = model.joint_slots[0]
    step = np.zeros(model.nv)
    lift = jacobian(model, np.asarray(q, dtype=float), model.body_names[0])
    sliding = lift[:, slots.v.start : slots.v.stop]
    move, *_ = np.linalg.lstsq(sliding, up * (height - float(lowest.min())), rcond=None)
    if not np.allclose(sliding @ move, up * (height - float(lowest.min())), atol=1e-9):
        raise ModelError(
            f"model {model.name!r}: joint {model.joint_names[0]!r} cannot lift the whole body"
        )
    step[slots.v.start : slots.v.stop] = move
    return np.asarray(model.integrate(q, step))
