"""Mass and inertia of robot links: bars between the joints, and the actuators and pins on them.

Construction of van den Kieboom (2014), section 5.3: aluminium bars, a triangle being three bars.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import casadi as ca

from homodyn.foundation.record import Record, record
from homodyn.spatial import Array, matrix

Point = tuple[Array, Array]
"""Forward position and height (m)."""


@record(eq=True)
class Construction(Record):
    """What a robot is built of."""

    bar_density: float = 0.7
    """kg/m: aluminium of 1 cm x 3.5 cm, cross-sectioned."""
    actuator_mass: float = 2.0
    """kg."""
    pin_mass: float = 0.5
    """kg: a joint without actuator."""
    joint_radius: float = 0.05
    """m: actuators and pins are cylinders about Y."""


@dataclass(frozen=True)
class LinkInertia:
    """Mass, center of mass and inertia of a link, over numbers or symbols."""

    mass: Array
    """kg."""
    com: Point
    """m, in the frame of the points."""
    about_y: Array
    """About the center of mass, kg m2."""

    def spatial(self) -> Array:
        """(3, 3), kg m2: a flat body in the plane of X and Z.

        Only the moment about Y acts in planar motion; the others are those of a square plate, half
        of it each.
        """
        half = self.about_y / 2
        return matrix([[half, 0.0, 0.0], [0.0, self.about_y, 0.0], [0.0, 0.0, half]])


def link_inertia(
    joints: Sequence[Point], carried: Sequence[tuple[Point, Array]], construction: Construction
) -> LinkInertia:
    """Inertia of bars between all joints of a link, with cylinders at some of them.

    Args:
        joints: Places of the joints of the link (m).
        carried: Place (m) and mass (kg) of each actuator or pin that the link carries.
        construction: Density of bars and radius of cylinders.

    Returns:
        The composed inertia.
    """
    parts: list[tuple[Array, Point, Array]] = []
    for (x0, z0), (x1, z1) in combinations(joints, 2):
        squared = (x1 - x0) ** 2 + (z1 - z0) ** 2
        mass = construction.bar_density * squared**0.5
        parts.append((mass, ((x0 + x1) / 2, (z0 + z1) / 2), mass * squared / 12))
    for place, mass in carried:
        parts.append((mass, place, mass * construction.joint_radius**2 / 2))
    total = sum((mass for mass, _, _ in parts), start=ca.SX(0.0))
    x = sum((mass * place[0] for mass, place, _ in parts), start=ca.SX(0.0)) / total
    z = sum((mass * place[1] for mass, place, _ in parts), start=ca.SX(0.0)) / total
    about_y = ca.SX(0.0)
    for mass, place, own in parts:
        about_y += own + mass * ((place[0] - x) ** 2 + (place[1] - z) ** 2)
    return LinkInertia(total, (x, z), about_y)
