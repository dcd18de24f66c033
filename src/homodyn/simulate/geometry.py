"""Where bodies may touch: gaps between the contact shapes of a model and what they can meet.

A `Scene` says which contact shapes meet which obstacles, and which pairs of bodies meet each other.
``scene.gaps(tree)`` gives one `Gap` for each place that may touch, in a fixed order and number, as
expressions of the state: signed distance, normal, point, and the rows of a Jacobian through the
``PairWrench`` records of `homodyn.dynamics.wrenches`. Every contact law builds on these.

A shape meets obstacles with *probes*, spheres fixed in its body: a point or sphere is one, a line
or capsule has one at each end, a box one at each corner. Against boxes, lines and capsules have one
more, at the place of their axis that is nearest. Bodies meet each other in the same way, probes of
each in the solid of the other; two spheres or capsules in their one nearest pair of points. Edges
of two boxes that cross are not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from homodyn.dynamics import jacobian
from homodyn.dynamics.tree import Tree
from homodyn.dynamics.wrenches import PairWrench
from homodyn.errors import ModelError
from homodyn.model import ContactShape, Model
from homodyn.model.naming import missing
from homodyn.simulate.ground import Box, Obstacle, box_surface, level
from homodyn.spatial import Array, cross, stack
from homodyn.symbolic import Kernel, kernel

HALVINGS = 26
"""Steps that look for the nearest place of an axis: 26 find it to 1e-8 of its length."""

CORNERS = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]


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


@dataclass(frozen=True)
class Probe:
    """A sphere fixed in a body: ``center`` (m, body axes) and ``radius`` (m)."""

    name: str
    body: int
    center: Array
    radius: Array


@dataclass(frozen=True, eq=False)
class Scene:
    """Which contact shapes of a model meet which obstacles and each other.

    ``contacts`` names shapes (None: all). ``ground`` holds obstacles (None: the plane across
    gravity through the origin). ``pairs`` names two shapes of different bodies each.
    """

    model: Model
    contacts: tuple[str, ...] | None = None
    ground: tuple[Obstacle, ...] | None = None
    pairs: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if self.ground is None:
            object.__setattr__(self, "ground", (level(self.model),))
        elif not isinstance(self.ground, Sequence):
            object.__setattr__(self, "ground", (self.ground,))
        known = [shape.name for shape in self.model.contacts]
        chosen = known if self.contacts is None else list(self.contacts)
        for name in [*chosen, *(name for pair in self.pairs for name in pair)]:
            if name not in known:
                what = missing("contact", name, known)
                raise ModelError(f"model {self.model.name!r} has {what}")
        object.__setattr__(self, "contacts", tuple(chosen))
        object.__setattr__(self, "pairs", tuple((a, b) for a, b in self.pairs))
        for a, b in self.pairs:
            if self._shape(a)[1].body == self._shape(b)[1].body:
                raise ModelError(f"contacts {a!r} and {b!r} are on one body and cannot meet")

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
                for probe in self._probes_at(tree, shape, obstacle):
                    center = tree.placements[probe.body].point_back(probe.center)
                    distance, normal = obstacle.surface(center)
                    found.append(
                        Gap(
                            probe.name + mark,
                            probe.body,
                            -1,
                            index,
                            distance - probe.radius,
                            normal,
                            center - probe.radius * normal,
                        )
                    )
        for pair in self.pairs:
            found.extend(self._between(tree, *pair))
        return found

    def _shape(self, name: str) -> tuple[int, ContactShape]:
        index = [shape.name for shape in self.model.contacts].index(name)
        return index, self.model.contacts[index]

    def _probes_at(self, tree: Tree, shape: ContactShape, obstacle: Obstacle) -> list[Probe]:
        body = self.model.body_names.index(shape.body)
        probes = probes_of(shape, body)
        if shape.kind in ("line", "capsule") and isinstance(obstacle, Box):
            placed = tree.placements[body]
            ends = [placed.point_back(probe.center) for probe in probes]
            share = _nearest(lambda x: obstacle.surface(x)[1], *ends)
            center = probes[0].center + share * (probes[1].center - probes[0].center)
            probes.append(Probe(f"{shape.name}.nearest", body, center, shape.radius))
        return probes

    def _between(self, tree: Tree, a: str, b: str) -> list[Gap]:
        """Gaps of two shapes on different bodies."""
        (ia, first), (ib, second) = self._shape(a), self._shape(b)
        on_a, on_b = (self.model.body_names.index(s.body) for s in (first, second))
        if "box" not in (first.kind, second.kind):
            axes = [
                [tree.placements[body].point_back(p.center) for p in probes_of(shape, body)]
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
            placed, under = tree.placements[body], tree.placements[other]
            for probe in probes_of(shape, body):
                center = placed.point_back(probe.center)
                local = solid.rotation @ (under.point(center) - solid.position)
                distance, normal = box_surface(local, solid.size)
                out = under.E.T @ (solid.rotation.T @ normal)
                found.append(
                    Gap(
                        f"{probe.name} on {solid.name}",
                        body,
                        other,
                        i,
                        distance - probe.radius,
                        out,
                        center - probe.radius * out,
                    )
                )
        return found


def probes_of(shape: ContactShape, body: int) -> list[Probe]:
    """The spheres that stand for a contact shape where it meets something."""
    back = shape.rotation.T
    if shape.kind in ("point", "sphere"):
        radius = shape.radius if shape.kind == "sphere" else 0.0
        return [Probe(shape.name, body, shape.position, radius)]
    if shape.kind in ("line", "capsule"):
        radius = shape.radius if shape.kind == "capsule" else 0.0
        arm = back @ stack(shape.size[0], 0.0, 0.0)
        ends = ((".start", -1.0), (".end", 1.0))
        return [Probe(shape.name + n, body, shape.position + s * arm, radius) for n, s in ends]
    return [
        Probe(
            f"{shape.name}.{k}",
            body,
            shape.position + back @ stack(*[s * shape.size[i] for i, s in enumerate(signs)]),
            0.0,
        )
        for k, signs in enumerate(CORNERS)
    ]


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
    s = _clipped(start)
    t = _clipped((b * s + e) / ca.if_else(c > 0, c, 1.0))
    s = _clipped((b * t - d) / ca.if_else(a > 0, a, 1.0))
    t = _clipped((b * s + e) / ca.if_else(c > 0, c, 1.0))
    return p0 + s * u, q0 + t * w


def _clipped(share: Array) -> Array:
    return ca.fmin(ca.fmax(share, 0.0), 1.0)


def _nearest(normal: Any, start: Array, end: Array) -> Array:
    """Where between two points a convex distance is least, as a share of the way: by halving."""
    low, high = ca.SX(0.0), ca.SX(1.0)
    along = end - start
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        rising = ca.dot(normal(start + middle * along), along) > 0
        low, high = ca.if_else(rising, low, middle), ca.if_else(rising, middle, high)
    return (low + high) / 2


def gap_distances(scene: Scene) -> Kernel:
    """A kernel from positions ``q`` to all distances, normals and points of a scene."""

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
    """World velocity (m/s) of the body's point against the other's, at the place of the gap."""
    total: Array = ca.SX.zeros(3)
    for body, sign in ((gap.body, 1.0), (gap.other, -1.0)):
        if body >= 0:
            placed, moving = tree.placements[body], tree.velocities[body]
            local = placed.point(gap.point)
            total = total + sign * (placed.E.T @ (moving[3:] + cross(moving[:3], local)))
    return total


def grounded(
    model: Model, q: np.ndarray, height: float = 0.0, scene: Scene | None = None
) -> np.ndarray:
    """The pose with its lowest contact ``height`` (m) above what it may touch.

    It is moved up along gravity by the first coordinates that carry the whole model, so its first
    joint must let it move that way.
    """
    chosen = scene or Scene(model)
    gravity = np.asarray(model._usual(model.gravity), dtype=float)
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
