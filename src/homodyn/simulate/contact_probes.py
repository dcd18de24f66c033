"""Spheres that stand for contact shapes where they meet something.

A point or sphere is one, a line or capsule has one at each end, a box one at each corner. Over
height fields lines and capsules have one more, at the place of their axis that is nearest, and
boxes one on each edge of their lowest face.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from homodyn.model import ContactShape
from homodyn.simulate.box_edges import CORNERS
from homodyn.simulate.obstacles import HeightField
from homodyn.spatial import Array, Transform, stack

AXIS_SAMPLES = 8
"""Places of an axis that are looked at above uneven ground, before the best one is improved."""
AXIS_BISECTIONS = 8
"""Halvings around the best place above uneven ground; the distance is flat there."""
END_FRACTION = 0.01
"""Share of an axis, at each end, in which its nearest place gives way to the end itself."""


@dataclass(frozen=True)
class ContactProbe:
    """A sphere fixed in a body: ``center`` (m, body axes) and ``radius`` (m).

    ``fading`` (m) is added to its distance: where another probe stands for the same place.
    """

    name: str
    body: int
    center: Array
    radius: Array
    fading: Array = 0.0


def contact_probes(shape: ContactShape, body: int) -> list[ContactProbe]:
    """The probes that a contact shape has everywhere."""
    back = shape.rotation.T
    if shape.kind in ("point", "sphere"):
        radius = shape.radius if shape.kind == "sphere" else 0.0
        return [ContactProbe(shape.name, body, shape.position, radius)]
    if shape.kind in ("line", "capsule"):
        radius = shape.radius if shape.kind == "capsule" else 0.0
        arm = back @ stack(shape.size[0], 0.0, 0.0)
        ends = ((".start", -1.0), (".end", 1.0))
        return [
            ContactProbe(shape.name + n, body, shape.position + s * arm, radius) for n, s in ends
        ]
    return [
        ContactProbe(
            f"{shape.name}.{k}",
            body,
            shape.position + back @ stack(*[s * shape.size[i] for i, s in enumerate(signs)]),
            0.0,
        )
        for k, signs in enumerate(CORNERS)
    ]


def nearest_probe(
    shape: ContactShape, body: int, placed: Transform, field: HeightField
) -> ContactProbe:
    """The place of a line's or capsule's axis that is nearest to uneven ground."""
    start, end = (probe.center for probe in contact_probes(shape, body))
    radius = shape.radius if shape.kind == "capsule" else 0.0
    return _along(f"{shape.name}.nearest", body, placed, field, start, end, radius)


def edge_probes(
    shape: ContactShape, body: int, placed: Transform, field: HeightField
) -> list[ContactProbe]:
    """The deepest place on each edge of the lowest face of a box above uneven ground."""
    middle, ways = lowest_face(shape, placed)
    found = []
    for k, (side, along) in enumerate(((0, 1), (1, 0))):
        for n, sign in enumerate((-1.0, 1.0)):
            at = middle + sign * ways[side]
            ends = (at - ways[along], at + ways[along])
            name = f"{shape.name}.edge {2 * k + n}"
            found.append(_along(name, body, placed, field, *ends, 0.0))
    return found


def lowest_face(shape: ContactShape, placed: Transform) -> tuple[Array, list[Array]]:
    """Middle of the face of a box that looks down most, and the two ways to its edges (body)."""
    back = shape.rotation.T
    arms = [shape.size[k] * (back @ ca.SX([float(k == i) for i in range(3)])) for k in range(3)]
    rise = [(placed.E.T @ (back @ ca.SX([float(k == i) for i in range(3)])))[2] for k in range(3)]
    steep = [ca.fabs(r) for r in rise]
    first = ca.logic_and(steep[0] >= steep[1], steep[0] >= steep[2])
    second = ca.logic_and(ca.logic_not(first), steep[1] >= steep[2])

    def pick(x: Array, y: Array, z: Array) -> Array:
        return ca.if_else(first, x, ca.if_else(second, y, z))

    down = [ca.if_else(r < 0, 1.0, -1.0) * arm for r, arm in zip(rise, arms, strict=True)]
    ways = [pick(arms[1], arms[2], arms[0]), pick(arms[2], arms[0], arms[1])]
    return shape.position + pick(*down), ways


def _along(
    name: str,
    body: int,
    placed: Transform,
    field: HeightField,
    start: Array,
    end: Array,
    radius: Array,
) -> ContactProbe:
    """The place between two points of a body that is nearest to uneven ground."""
    first, last = placed.point_back(start), placed.point_back(end)
    share = _nearest(field, first, last)
    length = ca.norm_2(last - first)
    fading = (
        length * ca.fmax(ca.fabs(2 * share - 1) - (1 - 2 * END_FRACTION), 0.0) / (2 * END_FRACTION)
    )
    return ContactProbe(name, body, start + share * (end - start), radius, fading)


def _nearest(field: HeightField, start: Array, end: Array) -> Array:
    """Where between two points the ground is nearest, as a share: the best of some, improved."""
    along = end - start
    best, least = ca.SX(0.0), ca.SX(1e300)
    for k in range(AXIS_SAMPLES):
        share = (k + 0.5) / AXIS_SAMPLES
        distance, _ = field.surface(start + share * along)
        closer = distance < least
        best, least = ca.if_else(closer, share, best), ca.if_else(closer, distance, least)
    low, high = ca.fmax(best - 1 / AXIS_SAMPLES, 0.0), ca.fmin(best + 1 / AXIS_SAMPLES, 1.0)
    for _ in range(AXIS_BISECTIONS):
        middle = (low + high) / 2
        rising = ca.dot(field.surface(start + middle * along)[1], along) > 0
        low, high = ca.if_else(rising, low, middle), ca.if_else(rising, middle, high)
    return (low + high) / 2
