"""Gaps between a contact shape of a model and a fixed obstacle.

Shapes touch obstacles with their probes. Boxes also touch boxes with the corners of the obstacle
and where edges cross. The axes of lines and capsules touch edges and the nearest corner of boxes.
On height fields and cylinders the nearest place of an axis counts too, on height fields also the
deepest place of each edge of the lowest face of a box and the node deepest in that face. Spheres
and capsules as obstacles touch shapes as those of other bodies do.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import casadi as ca
import numpy as np

from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.model import ContactShape
from homodyn.motion import (
    BoxObstacle,
    CapsuleObstacle,
    CylinderObstacle,
    HeightField,
    MeshObstacle,
    Obstacle,
    SphereObstacle,
)
from homodyn.simulate.geometry.box_edges import FADE_SLOPE, OrientedBox
from homodyn.simulate.geometry.contact_probes import (
    END_FRACTION,
    contact_probes,
    edge_probes,
    lowest_face,
    nearest_probe,
)
from homodyn.simulate.geometry.distance_fields import (
    NO_CONTACT_M,
    GroundPart,
    MeshPlanes,
    signed_distance,
)
from homodyn.simulate.geometry.gap import WORLD_BODY, Gap
from homodyn.simulate.geometry.shape_gaps import (
    PlacedShape,
    axis_gaps,
    crossing_gaps,
    nearest_corner,
    oriented_box,
    probe_gap,
    round_gap,
    shape_surface,
)
from homodyn.spatial import Array, Transform

AXIS_SHAPES = ("line", "capsule")


def obstacle_gaps(tree: Tree, placed: PlacedShape, part: GroundPart) -> list[Gap]:
    """The gaps of a contact shape and an obstacle, in a fixed order and number.

    Raises:
        ModelError: The shape cannot touch the obstacle.
    """
    gaps = _gaps_by_kind(tree, placed, part)
    part = part.obstacle if isinstance(part, MeshPlanes) else part
    if isinstance(part, Obstacle) and part.friction is not None:
        gaps = [replace(gap, friction=part.friction) for gap in gaps]
    if isinstance(part, Obstacle) and np.any(part.surface_velocity):
        velocity = ca.SX(np.asarray(part.surface_velocity))
        gaps = [
            replace(gap, surface_velocity=velocity - ca.dot(velocity, gap.normal) * gap.normal)
            for gap in gaps
        ]
    return gaps


def _gaps_by_kind(tree: Tree, placed: PlacedShape, part: GroundPart) -> list[Gap]:
    shape, body = placed.shape, placed.body
    if isinstance(part, MeshObstacle | MeshPlanes):
        planes = part if isinstance(part, MeshPlanes) else MeshPlanes(part, {})
        return _mesh_gaps(tree, placed, planes)
    if isinstance(part, SphereObstacle | CapsuleObstacle):
        if shape.kind == "box":
            return _round_obstacle_gaps(placed, part)
        if shape.kind in AXIS_SHAPES:
            return [round_gap(shape.name, placed, _fixed_shape(part))]
    probes = contact_probes(shape, body)
    if isinstance(part, CylinderObstacle) and shape.kind == "box":
        raise ModelError(
            f"contact {shape.name!r} is a box, which cannot touch {part.title}: replace the "
            "cylinder by a capsule or box, or leave the contact out of contacts"
        )
    if isinstance(part, HeightField | CylinderObstacle) and shape.kind in AXIS_SHAPES:
        probes.append(nearest_probe(shape, body, placed.placement, part))
    elif isinstance(part, HeightField) and shape.kind == "box":
        probes += edge_probes(shape, body, placed.placement, part)
    surface = partial(signed_distance, part)
    gaps = [probe_gap(tree, probe, WORLD_BODY, placed.index, surface) for probe in probes]
    if shape.kind == "box" and isinstance(part, BoxObstacle):
        box = OrientedBox.from_obstacle(part)
        gaps += _corner_gaps(box.corners, placed)
        gaps += crossing_gaps(shape.name, placed, WORLD_BODY, oriented_box(placed), box)
    elif shape.kind in AXIS_SHAPES and isinstance(part, BoxObstacle):
        gaps += axis_gaps(placed, WORLD_BODY, OrientedBox.from_obstacle(part))
    elif shape.kind == "box" and isinstance(part, HeightField):
        gaps.append(_node_gap(part, placed))
    return gaps


def _mesh_gaps(tree: Tree, placed: PlacedShape, mesh: MeshPlanes) -> list[Gap]:
    """Gaps of the probes of a shape, and of the nearest place of its axis, and tangent planes."""
    probes = contact_probes(placed.shape, placed.body)
    if placed.shape.kind in AXIS_SHAPES:
        start, end = probes
        fraction = mesh.plane(f"{placed.shape.name}.nearest")[2]
        at_end = ca.fmin(fraction, 1 - fraction) < END_FRACTION
        center = (1 - fraction) * start.center + fraction * end.center
        name = f"{placed.shape.name}.nearest"
        # The probe of the end represents this place already.
        probes.append(replace(start, name=name, center=center, fading=NO_CONTACT_M * at_end))
    gaps = []
    for probe in probes:
        normal, offset, _ = mesh.plane(probe.name)

        def surface(x: Array, n: Array = normal, c: Array = offset) -> tuple[Array, Array]:
            return ca.dot(n, x) - c, n

        gaps.append(probe_gap(tree, probe, WORLD_BODY, placed.index, surface))
    return gaps


def _corner_gaps(corners: list[Array], placed: PlacedShape, radius: float = 0.0) -> list[Gap]:
    """Fixed points, or spheres around them, in a box on a body."""
    surface = shape_surface(placed)
    gaps = []
    for k, corner in enumerate(corners):
        distance, outward = surface(corner)
        place = corner - distance * outward
        name = f"{placed.shape.name}.under {k}"
        depth = distance - radius if radius else distance
        gaps.append(Gap(name, placed.body, WORLD_BODY, placed.index, depth, -outward, place))
    return gaps


def _fixed_shape(obstacle: SphereObstacle | CapsuleObstacle) -> PlacedShape:
    """A sphere or capsule of the world as a contact shape, whose axis is its first one."""
    turn = np.asarray(obstacle.orientation).T
    capsule = isinstance(obstacle, CapsuleObstacle)
    shape = ContactShape(
        obstacle.name,
        "world",
        "capsule" if capsule else "sphere",
        np.asarray(obstacle.position),
        obstacle.radius,
        np.array([obstacle.length if isinstance(obstacle, CapsuleObstacle) else 0.0, 0.0, 0.0]),
        turn[[2, 0, 1]],
    )
    return PlacedShape(shape, WORLD_BODY, -1, Transform.identity())


def _round_obstacle_gaps(
    placed: PlacedShape, obstacle: SphereObstacle | CapsuleObstacle
) -> list[Gap]:
    """Gaps of a box on a body and a fixed sphere or capsule."""
    radius = obstacle.radius
    if isinstance(obstacle, SphereObstacle):
        return _corner_gaps([ca.SX(np.asarray(obstacle.position))], placed, radius)
    gaps = _corner_gaps([ca.SX(end) for end in obstacle.ends], placed, radius)
    fixed = _fixed_shape(obstacle)
    axis, box = fixed.axis_box, oriented_box(placed)
    # The near edges of a box without thickness coincide: every crossing occurs twice.
    crossings = crossing_gaps(placed.shape.name, placed, WORLD_BODY, box, axis)
    gaps += [replace(gap, distance=gap.distance - radius) for gap in (crossings[0], crossings[2])]
    distance, arm, place = nearest_corner(axis, box)
    length = ca.norm_2(arm)
    normal = -arm / ca.if_else(length > 0, length, 1.0)
    name = f"{placed.shape.name}.corner"
    corner = place - arm
    gaps.append(Gap(name, placed.body, WORLD_BODY, placed.index, distance - radius, normal, corner))
    return gaps


def _node_gap(field: HeightField, placed: PlacedShape) -> Gap:
    """The node of a height field that is deepest in the lowest face of a box."""
    shape, placement = placed.shape, placed.placement
    middle, arms = lowest_face(shape, placement)
    outward = placement.E.T @ (middle - shape.position)
    outward = outward / ca.norm_2(outward)
    face, sides = placement.point_back(middle), [placement.E.T @ arm for arm in arms]
    smallest, place = ca.SX(NO_CONTACT_M), face
    for node in field.nodes:
        arm = ca.SX(list(node)) - face
        outside = ca.SX(0.0)
        for side in sides:
            length = ca.norm_2(side)
            outside = outside + ca.fmax(ca.fabs(ca.dot(arm, side)) / length - length, 0.0)
        distance = ca.dot(arm, outward)
        faded = distance + FADE_SLOPE * outside
        closer = faded < smallest
        smallest = ca.if_else(closer, faded, smallest)
        place = ca.if_else(closer, ca.SX(list(node)) - distance * outward, place)
    return Gap(
        f"{shape.name}.face", placed.body, WORLD_BODY, placed.index, smallest, -outward, place
    )
