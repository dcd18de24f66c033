"""What is on the segments of HeiMan: contact shapes of the feet, markers, capsules."""

from __future__ import annotations

from math import pi

from homodyn.catalog.data_tables import table_rows
from homodyn.catalog.heiman_tables import (
    SIDE_TITLES,
    HeimanParameters,
    side_title,
    stem,
    subject_lengths,
)
from homodyn.model import Assembly
from homodyn.spatial import Array

DENSITY_KG_PER_M3 = 1000.0
"""Density (kg/m3) that gives the limbs their thickness; assumed."""

_SUBJECT3_HEIGHT = 1.86
_SUBJECT3_FOOT = 0.2719
# Places in the foot of Subject3 (m), from his public model: forwards of the ankle, and medially
# (positive) of it.
FOREFOOT_LENGTH_SHARE = 0.18
_MEDIAL = {"Hallux": 0.03, "Meta5": -0.06}

# Radius and half the width between the caps, as parts of the stature: the default person's trunk
# then has the volume of its mass at 1000 kg/m3.
_TRUNK = {
    "Pelvis": (0.0535, 0.0461),
    "MiddleTrunk": (0.0619, 0.0486),
    "UpperTrunk": (0.0586, 0.0586),
}
_NECK_RADIUS, _CLAVICLE_RADIUS = 0.033, 0.020


def with_shapes(made: Assembly, n: HeimanParameters) -> Assembly:
    """The assembly of HeiMan's segments with all that is attached to them."""
    return _capsules(_markers(_contacts(made, n), n), n)


def _contacts(made: Assembly, n: HeimanParameters) -> Assembly:
    """Heel sphere through the sole, and two points of the forefoot (section 4.7)."""
    for side in SIDE_TITLES:
        body, sole = f"Foot{side}", -n[f"Foot{side}Height"]
        behind = -n[f"Foot{side}PosteriorPoint"]
        made = made.contact(
            f"Heel{side}", body, "sphere", position=(behind, 0, 0), radius=n[f"Foot{side}Height"]
        )
        size = n[f"Foot{side}Length"] / _SUBJECT3_FOOT
        inwards = 1.0 if side == "Right" else -1.0
        for point, medial in _MEDIAL.items():
            at = (FOREFOOT_LENGTH_SHARE * size, inwards * medial * size, sole)
            made = made.contact(f"{point}{side}", body, "point", position=at)
    return made


def _markers(made: Assembly, n: HeimanParameters) -> Assembly:
    """Plug-in-Gait markers, symmetric: the mean of both sides of Subject3, scaled."""
    table = {row["marker"]: row for row in table_rows("heiman_markers")}
    lengths = subject_lengths("Subject3")
    for name, row in table.items():
        other = table.get({"R": "L", "L": "R"}.get(name[0], name[0]) + name[1:], row)
        x, y, z = (float(row[axis]) for axis in "xyz")
        x, z = (x + float(other["x"])) / 2, (z + float(other["z"])) / 2
        y = (y - float(other["y"])) / 2
        tall = n["height"] / _SUBJECT3_HEIGHT
        long = tall
        if row["scale"] != "height":
            length = row["scale"].replace(stem(row["segment"]), row["segment"])
            long = n[length] / lengths[length]
        if stem(row["segment"]) == "Foot":
            at = (x * long, y * tall, z * tall)
        else:
            at = (x * tall, y * tall, z * long)
        made = made.marker(name, row["segment"], at)
    return made


def _capsules(made: Assembly, n: HeimanParameters) -> Assembly:
    """One capsule for each segment, named like it."""
    height = n["height"]
    for body in made.bodies:
        name, side, kind = body.name, side_title(body.name), stem(body.name)
        if kind in _TRUNK:
            radius, half = (part * height for part in _TRUNK[kind])
            middle = n[f"{kind}Height"] / 2
            ends: tuple[Array, Array] = ((0, -half, middle), (0, half, middle))
        elif kind == "Clavicula":
            radius = _CLAVICLE_RADIUS * height
            out = n[f"Clavicula{side}Length"] * (1.0 if side == "Left" else -1.0)
            ends = ((0, 0, 0), (0, out, 0))
        elif kind == "Neck":
            radius = _NECK_RADIUS * height
            ends = ((0, 0, 0), (0, 0, n["NeckLength"]))
        else:
            length = n[f"{kind}{side}Length"]
            radius = (n[f"{name}Mass"] / (DENSITY_KG_PER_M3 * pi * length)) ** 0.5
            if kind == "Head":
                ends = ((0, 0, radius), (0, 0, length - radius))
            elif kind == "Foot":
                heel, sole = -n[f"Foot{side}PosteriorPoint"], radius - n[f"Foot{side}Height"]
                ends = ((heel + radius, 0, sole), (heel + length - radius, 0, sole))
            elif kind == "Hand":
                ends = ((0, 0, 0), (0, 0, radius - length))
            else:
                ends = ((0, 0, 0), (0, 0, -length))
        made = made.capsule(name, name, *ends, radius)
    return made
