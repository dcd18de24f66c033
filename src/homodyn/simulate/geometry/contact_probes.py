"""Probes: spheres fixed in a body that represent its contact shapes at surfaces.

A point or sphere is one probe, a line or capsule has one at each end, a box one at each corner. On
curved surfaces lines and capsules have one more, at the nearest place of their axis, and boxes one
on each edge of their lowest face.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import casadi as ca

from homodyn.model import ContactShape
from homodyn.simulate.geometry.box_edges import CORNERS
from homodyn.simulate.geometry.distance_fields import GroundPart, signed_distance
from homodyn.spatial import Array, Transform, stack

SurfaceDistance = Callable[[Array], tuple[Array, Array]]
"""Signed distance (m) and normal of a surface at a point (m, world)."""

AXIS_SAMPLES = 8
"""Places of an axis at which the distance is evaluated before the nearest one is refined."""
AXIS_BISECTIONS = 8
"""Bisections around the nearest sample; the distance is stationary there."""
END_FRACTION = 0.01
"""Fraction of an axis, at each end, in which the probe of the end replaces the nearest one."""


@dataclass(frozen=True)
class ContactProbe:
    """A sphere fixed in a body."""

    name: str
    body: int
    center: Array
    """m, body axes, (3,)."""
    radius: Array
    """m."""
    fading: Array = 0.0
    """m: added to its distance where another probe represents the same place."""


def contact_radius(shape: ContactShape) -> Array:
    """Radius (m) of the spheres of a contact shape; zero for points, lines and boxes."""
    return shape.radius if shape.kind in ("sphere", "capsule") else 0.0


def contact_probes(shape: ContactShape, body: int) -> list[ContactProbe]:
    """The probes of a contact shape at any surface."""
    back = shape.rotation.T
    radius = contact_radius(shape)
    if shape.kind in ("point", "sphere"):
        return [ContactProbe(shape.name, body, shape.position, radius)]
    if shape.kind in ("line", "capsule"):
        arm = back @ stack(shape.half_size[0], 0.0, 0.0)
        ends = ((".start", -1.0), (".end", 1.0))
        return [
            ContactProbe(shape.name + n, body, shape.position + s * arm, radius) for n, s in ends
        ]
    return [
        ContactProbe(
            f"{shape.name}.{k}",
            body,
            shape.position + back @ stack(*[s * shape.half_size[i] for i, s in enumerate(signs)]),
            0.0,
        )
        for k, signs in enumerate(CORNERS)
    ]


def nearest_probe(
    shape: ContactShape, body: int, placement: Transform, part: GroundPart
) -> ContactProbe:
    """The place of the axis of a line or capsule that is nearest to a curved surface."""
    start, end = (probe.center for probe in contact_probes(shape, body))
    surface = partial(signed_distance, part)
    name, radius = f"{shape.name}.nearest", contact_radius(shape)
    return _segment_probe(ContactProbe(name, body, start, radius), end, placement, surface)


def edge_probes(
    shape: ContactShape, body: int, placement: Transform, part: GroundPart
) -> list[ContactProbe]:
    """The deepest place on each edge of the lowest face of a box above a curved surface."""
    middle, arms = lowest_face(shape, placement)
    surface = partial(signed_distance, part)
    probes = []
    for k, (side, along) in enumerate(((0, 1), (1, 0))):
        for n, sign in enumerate((-1.0, 1.0)):
            at = middle + sign * arms[side]
            start, end = at - arms[along], at + arms[along]
            probe = ContactProbe(f"{shape.name}.edge {2 * k + n}", body, start, 0.0)
            probes.append(_segment_probe(probe, end, placement, surface))
    return probes


def lowest_face(shape: ContactShape, placement: Transform) -> tuple[Array, list[Array]]:
    """Middle of the lowest face of a box, and the two vectors to its edges (m, body axes)."""
    back = shape.rotation.T
    arms = [
        shape.half_size[k] * (back @ ca.SX([float(k == i) for i in range(3)])) for k in range(3)
    ]
    rise = [
        (placement.E.T @ (back @ ca.SX([float(k == i) for i in range(3)])))[2] for k in range(3)
    ]
    steep = [ca.fabs(r) for r in rise]
    first = ca.logic_and(steep[0] >= steep[1], steep[0] >= steep[2])
    second = ca.logic_and(ca.logic_not(first), steep[1] >= steep[2])

    def pick(x: Array, y: Array, z: Array) -> Array:
        return ca.if_else(first, x, ca.if_else(second, y, z))

    down = [ca.if_else(r < 0, 1.0, -1.0) * arm for r, arm in zip(rise, arms, strict=True)]
    in_face = [pick(arms[1], arms[2], arms[0]), pick(arms[2], arms[0], arms[1])]
    return shape.position + pick(*down), in_face


def _segment_probe(
    start: ContactProbe, end: Array, placement: Transform, surface: SurfaceDistance
) -> ContactProbe:
    """The place between a probe and another point of its body that is nearest to a surface."""
    first, last = placement.point_back(start.center), placement.point_back(end)
    fraction = _nearest_fraction(surface, first, last)
    length = ca.norm_2(last - first)
    fading = (
        length
        * ca.fmax(ca.fabs(2 * fraction - 1) - (1 - 2 * END_FRACTION), 0.0)
        / (2 * END_FRACTION)
    )
    center = start.center + fraction * (end - start.center)
    return ContactProbe(start.name, start.body, center, start.radius, fading)


def _nearest_fraction(surface: SurfaceDistance, start: Array, end: Array) -> Array:
    """Fraction of a segment at which a surface is nearest: the best sample, refined."""
    along = end - start
    best, smallest = ca.SX(0.0), ca.SX(1e300)
    for k in range(AXIS_SAMPLES):
        fraction = (k + 0.5) / AXIS_SAMPLES
        distance, _ = surface(start + fraction * along)
        closer = distance < smallest
        best = ca.if_else(closer, fraction, best)
        smallest = ca.if_else(closer, distance, smallest)
    low, high = ca.fmax(best - 1 / AXIS_SAMPLES, 0.0), ca.fmin(best + 1 / AXIS_SAMPLES, 1.0)
    for _ in range(AXIS_BISECTIONS):
        middle = (low + high) / 2
        rising = ca.dot(surface(start + middle * along)[1], along) > 0
        low, high = ca.if_else(rising, low, middle), ca.if_else(rising, middle, high)
    return (low + high) / 2
