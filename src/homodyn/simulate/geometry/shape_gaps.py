"""Gaps between contact shapes, on bodies or fixed: the parts that all pairs of shapes share.

Two spheres, capsules, points or lines touch at the one nearest pair of points. Probes of one shape
touch the surface of a box; boxes also touch where their edges cross. The axes of lines and capsules
touch the edges and the nearest corner of a box.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca

from homodyn.dynamics.tree import Tree
from homodyn.model import ContactShape
from homodyn.simulate.geometry.box_edges import FADE_SLOPE, OrientedBox, edge_crossings
from homodyn.simulate.geometry.contact_probes import (
    ContactProbe,
    SurfaceDistance,
    contact_probes,
    contact_radius,
)
from homodyn.simulate.geometry.distance_fields import NO_CONTACT_M, box_distance
from homodyn.simulate.geometry.gap import Gap
from homodyn.spatial import Array, Transform, stack


@dataclass(frozen=True, eq=False)
class PlacedShape:
    """A contact shape on a body, with the placement of the body in the world."""

    shape: ContactShape
    body: int
    """Index of the body, -1 for the world."""
    index: int
    """Index of the shape in ``model.contacts``."""
    placement: Transform

    @property
    def axis_ends(self) -> tuple[Array, Array]:
        """Ends of the axis of a line or capsule (m, world); twice the center of a sphere."""
        ends = [
            self.placement.point_back(probe.center)
            for probe in contact_probes(self.shape, self.body)
        ]
        return ends[0], ends[-1]

    @property
    def axis_box(self) -> OrientedBox:
        """The axis of a line or capsule as a box without thickness."""
        thin = replace(self.shape, size=stack(self.shape.size[0], 0.0, 0.0))
        return oriented_box(replace(self, shape=thin))


def probe_gap(
    tree: Tree, probe: ContactProbe, other: int, index: int, surface: SurfaceDistance
) -> Gap:
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


def shape_surface(placed: PlacedShape) -> SurfaceDistance:
    """Distance and normal of points of the world from a box on a body."""
    shape, placement = placed.shape, placed.placement

    def surface(x: Array) -> tuple[Array, Array]:
        local = shape.rotation @ (placement.point(x) - shape.position)
        distance, normal = box_distance(local, shape.half_size)
        return distance, placement.E.T @ (shape.rotation.T @ normal)

    return surface


def oriented_box(placed: PlacedShape) -> OrientedBox:
    """A box on a body, in the world."""
    shape, placement = placed.shape, placed.placement
    back = placement.E.T @ shape.rotation.T
    axes = [ca.SX(back[:, k]) for k in range(3)]
    half = [shape.half_size[k] for k in range(3)]
    return OrientedBox(placement.point_back(shape.position), axes, half)


def round_gap(name: str, first: PlacedShape, second: PlacedShape) -> Gap:
    """The nearest pair of points of two shapes that are not boxes."""
    p, q = nearest_points(first.axis_ends, second.axis_ends)
    arm = p - q
    length = ca.norm_2(arm)
    separate = length > 0
    # Axes that intersect have no direction between them: they separate upwards.
    normal = ca.if_else(separate, arm / ca.if_else(separate, length, 1.0), ca.SX([0.0, 0.0, 1.0]))
    first_radius, second_radius = contact_radius(first.shape), contact_radius(second.shape)
    point = p - first_radius * normal
    distance = length - first_radius - second_radius
    return Gap(name, first.body, second.body, first.index, distance, normal, point)


def crossing_gaps(
    name: str, placed: PlacedShape, other: int, a: OrientedBox, b: OrientedBox
) -> list[Gap]:
    """The four crossings of the edges of two boxes; ``a`` is on the body."""
    return [
        Gap(f"{name}.crossing {k}", placed.body, other, placed.index, distance, normal, place)
        for k, (distance, normal, place) in enumerate(edge_crossings(a, b))
    ]


def axis_gaps(placed: PlacedShape, other: int, box: OrientedBox) -> list[Gap]:
    """Crossings of the axis of a line or capsule with edges of a box, and its nearest corner."""
    shape, axis, radius = placed.shape, placed.axis_box, contact_radius(placed.shape)
    # The near edges of a box without thickness coincide: every crossing occurs twice.
    gaps = [
        replace(gap, distance=gap.distance - radius, point=gap.point - radius * gap.normal)
        for gap in crossing_gaps(shape.name, placed, other, axis, box)[:2]
    ]
    if shape.kind == "line":
        return gaps
    distance, arm, place = nearest_corner(axis, box)
    length = ca.norm_2(arm)
    normal = arm / ca.if_else(length > 0, length, 1.0)
    return [
        *gaps,
        Gap(
            f"{shape.name}.corner",
            placed.body,
            other,
            placed.index,
            distance - radius,
            normal,
            place - radius * normal,
        ),
    ]


def nearest_corner(axis: OrientedBox, box: OrientedBox) -> tuple[Array, Array, Array]:
    """Distance of the nearest corner of a box from an axis, vector to the axis, and place on it.

    Beyond the ends of the axis the distance grows steeply: the probes of the ends count there.
    """
    half_axis = axis.half[0] * axis.axes[0]
    smallest, nearest, place = ca.SX(NO_CONTACT_M), ca.SX([0.0, 0.0, 1.0]), axis.center
    for corner in box.corners:
        fraction = ca.dot(corner - axis.center, half_axis) / ca.dot(half_axis, half_axis)
        beyond = ca.fmax(ca.fabs(fraction) - 1, 0.0) * ca.norm_2(half_axis)
        on_axis = axis.center + ca.fmin(ca.fmax(fraction, -1.0), 1.0) * half_axis
        length = ca.norm_2(on_axis - corner)
        closer = length + FADE_SLOPE * beyond < smallest
        smallest = ca.if_else(closer, length + FADE_SLOPE * beyond, smallest)
        nearest = ca.if_else(closer, on_axis - corner, nearest)
        place = ca.if_else(closer, on_axis, place)
    return smallest, nearest, place


def pair_gaps(tree: Tree, first: PlacedShape, second: PlacedShape) -> list[Gap]:
    """The gaps of two shapes on different bodies, in a fixed order and number."""
    a, b = first.shape.name, second.shape.name
    if "box" not in (first.shape.kind, second.shape.kind):
        return [round_gap(f"{a} on {b}", first, second)]
    gaps = []
    for placed, solid in ((first, second), (second, first)):
        if solid.shape.kind != "box":
            continue
        surface = shape_surface(solid)
        found = [
            probe_gap(tree, probe, solid.body, placed.index, surface)
            for probe in contact_probes(placed.shape, placed.body)
        ]
        if placed.shape.kind in ("line", "capsule"):
            found += axis_gaps(placed, solid.body, oriented_box(solid))
        gaps += [replace(gap, name=f"{gap.name} on {solid.shape.name}") for gap in found]
    if first.shape.kind == second.shape.kind == "box":
        boxes = oriented_box(first), oriented_box(second)
        for gap in crossing_gaps(a, first, second.body, *boxes):
            gaps.append(replace(gap, name=f"{gap.name} on {b}"))
    return gaps


def nearest_points(first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
    """The nearest points of two segments; a segment may be a point.

    The unconstrained optimum of one is clipped to its segment, then each is projected onto the
    other in turn.
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


def _unit_clip(fraction: Array) -> Array:
    return ca.fmin(ca.fmax(fraction, 0.0), 1.0)
