"""A foot in two parts, made from the mass properties of a whole one."""

from __future__ import annotations

from homodyn.model import Body, box
from homodyn.spatial import Array, skew, stack


def two_part_foot(
    whole: Body, names: tuple[str, str], *, ball: Array, toes: Array, share: float = 0.1
) -> tuple[Body, Body]:
    """Rear foot and toes that, with straight toes, weigh and turn like the ``whole`` foot.

    ``names`` are those of rear foot and toes; ``ball`` (m, in the frame of the whole foot) is where
    the toes are hinged, ``toes`` (m) their length, breadth and height: a homogeneous box in front
    of the hinge with a ``share`` of the mass. The frame of the toes lies in the hinge.
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
