"""Feet of two parts with the mass properties of a whole foot."""

from __future__ import annotations

from homodyn.model import Body, box
from homodyn.spatial import Array, skew, stack


def two_part_foot(
    whole: Body, names: tuple[str, str], *, ball: Array, toes: Array, share: float = 0.1
) -> tuple[Body, Body]:
    """Rear foot and toes that together, with straight toes, have the inertia of the whole foot.

    The toes are a homogeneous box in front of their hinge; the origin of their frame is the hinge.

    Args:
        whole: The whole foot.
        names: Names of rear foot and toes.
        ball: Position of the hinge in the frame of the whole foot, (3,), m.
        toes: Length, breadth and height of the toes, (3,), m.
        share: Fraction of the mass that is in the toes.

    Returns:
        Rear foot and toes.
    """
    length, _, height = toes
    middle = [length / 2, 0.0, height / 2]
    front = box(names[1], share * whole.mass, toes, com=middle)
    center = stack(*(ball[k] + middle[k] for k in range(3)))
    mass = whole.mass - front.mass
    com = (whole.com * whole.mass - center * front.mass) / mass
    inertia = whole.inertia - front.inertia
    for part, at in ((front.mass, center), (mass, com)):
        arm = skew(at - whole.com)
        inertia = inertia - part * (arm @ arm.T)
    return Body(names[0], mass, com, inertia), front
