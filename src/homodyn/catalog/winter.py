"""A person walking in the sagittal plane, with the proportions of Winter.

The human of J. van den Kieboom (2014), PhD thesis, EPFL, section 4.1: a trunk on a planar base and
two legs with hip, knee, ankle and toes with springs; 11 degrees of freedom. Angles are about +y:
positive is hip extension, knee flexion, and plantar flexion of ankles and toes.
"""

from __future__ import annotations

from typing import Any

from homodyn.catalog.data_tables import table_document
from homodyn.catalog.foot import two_part_foot
from homodyn.catalog.joint_ranges import motion_range
from homodyn.catalog.registry import entry
from homodyn.model import Assembly, Body, Model, joints
from homodyn.spatial import Array

LONGITUDINAL_INERTIA_SHARE = 0.1
"""Moment of inertia about the long axis of a segment, relative to that about the others."""
HALF_HIP_WIDTH_SHARE = 0.0461
"""Half the distance of the hips as a fraction of the stature (Dumas 2007)."""
TOE_MASS_SHARE = 0.1
"""Fraction of the foot's mass that is in the toes."""

ASSUMPTIONS = (
    "The table of proportions in the source is an image that is lost; the commonly reprinted "
    "numbers of Winter are used.",
    "Ankle and ball are at 20 % and 75 % of the foot, as in the CoMan model of the source.",
    "A tenth of the foot's mass is in the toes; with straight toes the whole is Winter's foot.",
    "Moments of inertia about long axes are a tenth of the others; they do not affect planar "
    "motion.",
    "The hips are 4.61 % of the stature from the middle, which does not affect planar motion.",
    "The knee ligament, 1e6 (q_l - q)^3 - 100 q' beyond q_l = -2 deg, is not part of the model.",
    "Capsules are for drawings and distances only.",
)


@entry(
    source="van den Kieboom 2014, section 4.1, with the proportions of Winter 2009",
    limits="ranges of the gait study of the source; toes: AAOS 1965",
    assumed=ASSUMPTIONS,
)
def winter_human(height: Array = 1.8, mass: Array = 70.0) -> Model:
    """A person in the sagittal plane after Winter: trunk, two legs and toes with springs.

    Five contact points are evenly spaced along each sole. The toes have a spring of 12 N m/rad with
    critical damping for the toes alone.

    Args:
        height: Stature (m); a number or a symbol.
        mass: Body mass (kg); a number or a symbol.

    Returns:
        The model: 9 bodies, 11 degrees of freedom.
    """
    table = table_document("winter")
    joint_height = {name: share * height for name, share in table["height"].items()}
    length = {
        "trunk": joint_height["shoulder"] - joint_height["hip"],
        "thigh": joint_height["hip"] - joint_height["knee"],
        "shank": joint_height["knee"] - joint_height["ankle"],
    }
    source = "Planar human of van den Kieboom (2014), section 4.1, proportions of Winter (2009)."
    assembly = Assembly("winter_human", notes=(source, *ASSUMPTIONS))
    root = joints.planar("y", default=(0.0, joint_height["hip"], 0.0))
    assembly = assembly.add(_segment("trunk", "trunk", 1, length, mass), root, joint_name="root")
    trunk = length["trunk"]
    assembly = assembly.capsule("trunk", "trunk", (0, 0, 0), [0.0, 0.0, 0.9 * trunk], 0.07 * height)
    crown = height - joint_height["hip"]
    neck, top = ([0.0, 0.0, crown - share * height] for share in (0.10, 0.05))
    assembly = assembly.capsule("head", "trunk", neck, top, 0.05 * height)
    assembly = assembly.marker("shoulder_point", "trunk", [0.0, 0.0, trunk])
    assembly = assembly.marker("vertex", "trunk", [0.0, 0.0, crown])
    for side, y in (
        ("right", -HALF_HIP_WIDTH_SHARE * height),
        ("left", HALF_HIP_WIDTH_SHARE * height),
    ):
        assembly = _with_leg(assembly, side, y, length, mass, table["study"])
        assembly = _with_foot(assembly, side, height, length["shank"], mass, table)
    return assembly.model()


def _segment(name: str, part: str, sign: int, length: dict[str, Array], mass: Array) -> Body:
    """A slender segment that extends upwards or downwards from its joint (``sign`` 1 or -1)."""
    table = table_document("winter")
    own = table["mass"][part] * mass
    across = own * (table["gyration"][part] * length[part]) ** 2
    center = sign * table["com"][part] * length[part]
    return Body(
        name, own, [0.0, 0.0, center], [across, across, LONGITUDINAL_INERTIA_SHARE * across]
    )


def _with_leg(
    assembly: Assembly, side: str, y: Array, length: dict[str, Array], mass: Array, study: Any
) -> Assembly:
    """Add thigh and shank of one side."""
    for part, joint, parent, at in (
        ("thigh", "hip", "trunk", [0.0, y, 0.0]),
        ("shank", "knee", f"{side}_thigh", [0.0, 0.0, -length["thigh"]]),
    ):
        name = f"{side}_{part}"
        lower, upper = study[joint]
        hinge = joints.revolute("y", lower=lower, upper=upper)
        body = _segment(name, part, -1, length, mass)
        assembly = assembly.add(body, hinge, parent, at=at, joint_name=f"{side}_{joint}")
        radius = (0.16 if part == "thigh" else 0.11) * length[part]
        assembly = assembly.capsule(name, name, (0, 0, 0), [0.0, 0.0, -length[part]], radius)
        assembly = assembly.marker(f"{side}_{joint}_point", name)
    return assembly


def _with_foot(
    assembly: Assembly, side: str, height: Array, shank: Array, mass: Array, table: dict[str, Any]
) -> Assembly:
    """Add rear foot and toes of one side, with five contacts along the sole."""
    own = table["foot"]
    foot_length = own["length"] * height
    sole, heel = table["height"]["ankle"] * height, own["heel"] * foot_length
    front, toes = (1 - own["heel"] - own["toes"]) * foot_length, own["toes"] * foot_length
    thick = 0.25 * sole
    weight = table["mass"]["foot"] * mass
    along = (front**2 + sole**2) ** 0.5
    across = weight * (table["gyration"]["foot"] * along) ** 2
    center = [table["com"]["foot"] * x for x in (front, 0.0, -sole)]
    whole = Body("foot", weight, center, [LONGITUDINAL_INERTIA_SHARE * across, across, across])
    names = (f"{side}_foot", f"{side}_toes")
    ball = [front, 0.0, -sole]
    breadth = own["breadth"] * height
    rear, tip = two_part_foot(
        whole, names, ball=ball, toes=[toes, breadth, thick], share=TOE_MASS_SHARE
    )
    lower, upper = table["study"]["ankle"]
    ankle = joints.revolute("y", lower=lower, upper=upper)
    lower, upper = motion_range("-toes.extension")
    turning = tip.inertia[1, 1] + tip.mass * (tip.com[0] ** 2 + tip.com[2] ** 2)
    stiffness = table["study"]["toe_stiffness"]
    spring = joints.revolute(
        "y",
        lower=lower,
        upper=upper,
        stiffness=stiffness,
        damping=2 * (stiffness * turning) ** 0.5,
    )
    assembly = assembly.add(
        rear, ankle, f"{side}_shank", at=[0.0, 0.0, -shank], joint_name=f"{side}_ankle"
    ).add(tip, spring, names[0], at=ball, joint_name=f"{side}_toes")
    for k in range(4):
        x = -heel + k / 4 * foot_length
        assembly = assembly.contact(f"{side}_sole_{k + 1}", names[0], position=[x, 0.0, -sole])
    assembly = assembly.contact(f"{side}_sole_5", names[1], position=[toes, 0.0, 0.0])
    radius = 0.4 * sole
    start, end = [radius - heel, 0.0, radius - sole], [front, 0.0, radius - sole]
    return (
        assembly.capsule(names[0], names[0], start, end, radius)
        .capsule(names[1], names[1], [0.0, 0.0, thick], [toes - thick, 0.0, thick], thick)
        .marker(f"{side}_ankle_point", names[0])
        .marker(f"{side}_heel_point", names[0], [-heel, 0.0, -sole])
        .marker(f"{side}_ball_point", names[0], ball)
        .marker(f"{side}_toe_point", names[1], [toes, 0.0, 0.0])
    )
