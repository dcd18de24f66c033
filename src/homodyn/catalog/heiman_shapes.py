"""Contact shapes, markers and capsules of HeiMan."""

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
"""Density that gives the radii of the limbs; assumed."""

_SUBJECT3_HEIGHT_M = 1.86
_SUBJECT3_FOOT_LENGTH_M = 0.2719
# Positions in the foot of Subject3, from his public model: in front of the ankle, and medial
# (positive) of it.
SUBJECT3_FOREFOOT_M = 0.18
_SUBJECT3_MEDIAL_M = {"Hallux": 0.03, "Meta5": -0.06}

# Radius and half the width between the caps, as fractions of the stature: the trunk of the default
# person then has the volume of its mass at 1000 kg/m3.
_TRUNK = {
    "Pelvis": (0.0535, 0.0461),
    "MiddleTrunk": (0.0619, 0.0486),
    "UpperTrunk": (0.0586, 0.0586),
}
_NECK_RADIUS, _CLAVICLE_RADIUS = 0.033, 0.020


def with_shapes(assembly: Assembly, n: HeimanParameters) -> Assembly:
    """Add contacts, markers and capsules to the segments of HeiMan."""
    return _capsules(_markers(_contacts(assembly, n), n), n)


def _contacts(assembly: Assembly, n: HeimanParameters) -> Assembly:
    """A heel sphere that touches the sole, and two points of the forefoot (section 4.7)."""
    for side in SIDE_TITLES:
        body, sole = f"Foot{side}", -n[f"Foot{side}Height"]
        heel = -n[f"Foot{side}PosteriorPoint"]
        assembly = assembly.contact(
            f"Heel{side}", body, "sphere", position=(heel, 0, 0), radius=n[f"Foot{side}Height"]
        )
        size = n[f"Foot{side}Length"] / _SUBJECT3_FOOT_LENGTH_M
        medial_sign = 1.0 if side == "Right" else -1.0
        for point, medial in _SUBJECT3_MEDIAL_M.items():
            at = (SUBJECT3_FOREFOOT_M * size, medial_sign * medial * size, sole)
            assembly = assembly.contact(f"{point}{side}", body, "point", position=at)
    return assembly


def _markers(assembly: Assembly, n: HeimanParameters) -> Assembly:
    """Plug-in-Gait markers, symmetric: the mean of both sides of Subject3, scaled."""
    table = {row["marker"]: row for row in table_rows("heiman_markers")}
    lengths = subject_lengths("Subject3")
    for name, row in table.items():
        other = table.get({"R": "L", "L": "R"}.get(name[0], name[0]) + name[1:], row)
        x, y, z = (float(row[axis]) for axis in "xyz")
        x, z = (x + float(other["x"])) / 2, (z + float(other["z"])) / 2
        y = (y - float(other["y"])) / 2
        height_ratio = n["height"] / _SUBJECT3_HEIGHT_M
        length_ratio = height_ratio
        if row["scale"] != "height":
            length = row["scale"].replace(stem(row["segment"]), row["segment"])
            length_ratio = n[length] / lengths[length]
        if stem(row["segment"]) == "Foot":
            at = (x * length_ratio, y * height_ratio, z * height_ratio)
        else:
            at = (x * height_ratio, y * height_ratio, z * length_ratio)
        assembly = assembly.marker(name, row["segment"], at)
    return assembly


def _capsules(assembly: Assembly, n: HeimanParameters) -> Assembly:
    """One capsule per segment, with its name."""
    height = n["height"]
    for body in assembly.bodies:
        name, side, kind = body.name, side_title(body.name), stem(body.name)
        if kind in _TRUNK:
            radius, half = (share * height for share in _TRUNK[kind])
            middle = n[f"{kind}Height"] / 2
            ends: tuple[Array, Array] = ((0, -half, middle), (0, half, middle))
        elif kind == "Clavicula":
            radius = _CLAVICLE_RADIUS * height
            lateral = n[f"Clavicula{side}Length"] * (1.0 if side == "Left" else -1.0)
            ends = ((0, 0, 0), (0, lateral, 0))
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
        assembly = assembly.capsule(name, name, *ends, radius)
    return assembly
