"""A manikin for balance in cluttered scenes: 19 segments, 45 degrees of freedom.

Qiu (2012), PhD thesis, Paris VI, tables 2.1 and B.1, completed with de Leva (1996). The root has
six coordinates, three translations and yaw, pitch and roll, as in its section 2.2; 39 joint angles
are actuated. x is forward, y to the left and z up. In the zero pose the manikin stands upright with
the arms down and the palms forward.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import pi
from typing import Any

from homodyn.catalog.data_tables import table_document
from homodyn.catalog.joint_ranges import LIMITS, motion_range
from homodyn.catalog.manikin_dimensions import MIDDLE, ManikinDimensions
from homodyn.catalog.registry import entry
from homodyn.model import Assembly, Body, Model, joints
from homodyn.model.side import Side
from homodyn.spatial import Array

ASSUMPTIONS = (
    "The source states segments, degrees of freedom, stature, mass, sole and ankle height only.",
    "Masses (divided by their sum), centers of mass and radii of gyration are de Leva's (1996).",
    "Lengths are de Leva's, scaled by one factor so that with the ankle 10 cm above the sole the "
    "stature is right.",
    "Hips and shoulders have the positions of Human36 of HuMAnS.",
    "The joints of the spine are at omphalion, xiphion and cervicale; the neck has no mass, since "
    "de Leva's head includes it.",
    "Ball joints have the order flexion, abduction, rotation; abduction of the arm ends before 90 "
    "deg, where that order is singular, and flexion reaches overhead.",
    "The ankle is at one quarter of the sole and the ball at three quarters; a tenth of the mass "
    "of the foot is in the toes.",
    "Each of the two joints of the back has half the range of the back.",
    "Capsule radii follow from mass and length at 1000 kg/m3.",
)
DENSITY_KG_PER_M3 = 1000.0
"""Density that gives the radii of capsules; assumed."""
_MIRRORED_AXES = {"x": "-x", "-x": "x", "z": "-z", "-z": "z", "y": "y", "-y": "-y"}


@entry(
    source="Qiu 2012, PhD thesis, Paris VI; lengths, masses and inertias of de Leva 1996",
    limits=LIMITS,
    assumed=ASSUMPTIONS,
)
def manikin(height: Array = 1.75, mass: Array = 79.0, sex: str = "male") -> Model:
    """Digital human for cluttered scenes: 19 segments, 45 degrees of freedom, soles and grips.

    Args:
        height: Stature (m); a number or a symbol.
        mass: Body mass (kg); a number or a symbol.
        sex: ``"male"`` or ``"female"``; selects the tables of de Leva.

    Returns:
        The model, with markers and contact shapes.

    Raises:
        ModelError: ``sex`` is unknown.
    """
    dimensions = ManikinDimensions.of(height, mass, sex)
    source = f"Manikin of Qiu (2012), completed with the tables of de Leva ({sex})."
    assembly = Assembly("manikin", notes=(source, *ASSUMPTIONS))
    for segment, side in _segments():
        assembly = _with_segment(assembly, segment, side, dimensions)
    return _with_landmarks(assembly, dimensions).model()


def segment_numbers() -> dict[int, str]:
    """Names of the bodies by the segment numbers of the source."""
    return {
        segment["id"][0 if side != "left" else 1]: _side_name(segment["name"], side)
        for segment, side in _segments()
    }


def _segments() -> Iterator[tuple[dict[str, Any], str]]:
    """The segments in the order of their numbers, each with its side or an empty string."""
    numbered = [
        (number, segment, side)
        for segment in table_document("manikin")["segment"]
        for number, side in zip(
            segment["id"], ("right", "left") if len(segment["id"]) > 1 else ("",), strict=True
        )
    ]
    for _, segment, side in sorted(numbered, key=lambda item: item[0]):
        yield segment, side


def _side_name(name: str, side: str) -> str:
    paired = any(
        s["name"] == name and len(s["id"]) > 1 for s in table_document("manikin")["segment"]
    )
    return f"{side}_{name}" if paired else name


def _with_segment(
    assembly: Assembly, segment: dict[str, Any], side: str, dimensions: ManikinDimensions
) -> Assembly:
    name = segment["name"]
    body = replace(dimensions.body[name], name=_side_name(name, side))
    if "parent" not in segment:
        height = dimensions.ankle + dimensions.length["leg"] + dimensions.length["thigh"]
        root = joints.euler_free("zyx", default=(0.0, 0.0, height, 0.0, 0.0, 0.0))
        assembly = assembly.add(body, root, joint_name="root")
    else:
        joint = f"{side}_{segment['joint']}" if side else segment["joint"]
        assembly = assembly.add(
            body,
            _joint(segment, joint, side),
            _side_name(segment["parent"], side),
            at=dimensions.joint_place(name, side),
            joint_name=joint,
        )
    return _with_capsule(assembly, name, body, dimensions)


def _joint(segment: dict[str, Any], name: str, side: str) -> joints.JointType:
    rotations = segment["turns"]
    axes = [_MIRRORED_AXES[one["axis"]] if side == "left" else one["axis"] for one in rotations]
    share = segment.get("part", 1.0)
    ranges = [motion_range(one["range"]) for one in rotations]
    settings: dict[str, Any] = {
        "names": [f"{name}_{one['name']}" for one in rotations],
        "lower": [share * lower for lower, _ in ranges],
        "upper": [share * upper for _, upper in ranges],
    }
    if not axes:
        return joints.fixed()
    if len(axes) == 1:
        return joints.revolute(axes[0], **settings)
    if len(axes) == 2:
        return joints.universal(*axes, **settings)
    return joints.custom(*(joints.turn(axis, k) for k, axis in enumerate(axes)), **settings)


def _with_capsule(
    assembly: Assembly, name: str, body: Body, dimensions: ManikinDimensions
) -> Assembly:
    """Add a capsule with the length of the segment and a radius that follows from its mass."""
    length = dimensions.length
    if name == "neck":
        return assembly
    if name in ("foot", "toes"):
        radius = dimensions.ankle / 4
        back = (
            -table_document("manikin")["heel"] * length["foot"] + radius if name == "foot" else 0.0
        )
        floor = radius - dimensions.ankle if name == "foot" else radius
        front = length["ball"] if name == "foot" else length["toes"] - radius
        start, end = [back, 0.0, floor], [front, 0.0, floor]
        return assembly.capsule(body.name, body.name, start, end, radius)
    radius = (body.mass / (DENSITY_KG_PER_M3 * pi * length[name])) ** 0.5
    bottom = 0.0 if name in MIDDLE else -length[name]
    if name == "head":
        bottom = -length["head_center"]
    start, end = [0.0, 0.0, bottom], [0.0, 0.0, bottom + length[name]]
    return assembly.capsule(body.name, body.name, start, end, radius)


def _with_landmarks(assembly: Assembly, dimensions: ManikinDimensions) -> Assembly:
    """Add de Leva's landmarks as markers, grips as frames, corners of the soles as contacts."""
    length, (sole, breadth) = dimensions.length, dimensions.sole
    heel = table_document("manikin")["heel"] * sole
    assembly = assembly.marker("VERT", "head", [0.0, 0.0, length["head"] - length["head_center"]])
    assembly = assembly.marker("CERV", "neck").marker("XYPH", "thoracic_spine")
    assembly = assembly.marker("OMPH", "lumbar_spine").marker("MIDH", "pelvis")
    for side in Side:
        y = side.sign
        for name, body, at in (
            ("SJC", "arm", [0.0, 0.0, 0.0]),
            ("EJC", "forearm", [0.0, 0.0, 0.0]),
            ("WJC", "hand", [0.0, 0.0, 0.0]),
            ("DAC3", "hand", [0.0, 0.0, -length["hand"]]),
            ("HJC", "thigh", [0.0, 0.0, 0.0]),
            ("KJC", "leg", [0.0, 0.0, 0.0]),
            ("AJC", "foot", [0.0, 0.0, 0.0]),
            ("HEEL", "foot", [-heel, 0.0, -dimensions.ankle]),
            ("TTIP", "toes", [length["toes"], 0.0, 0.0]),
        ):
            assembly = assembly.marker(f"{side[0].upper()}{name}", f"{side}_{body}", at)
        grip = [0.0, 0.0, -length["grip"]]
        assembly = assembly.frame(f"{side}_grip", f"{side}_hand", grip)
        assembly = assembly.contact(f"{side}_palm", f"{side}_hand", position=grip)
        for name, body, x, z in (
            ("heel", "foot", -heel, -dimensions.ankle),
            ("ball", "foot", length["ball"], -dimensions.ankle),
            ("toe", "toes", length["toes"], 0.0),
        ):
            for edge, way in (("outer", y), ("inner", -y)):
                at = [x, way * breadth / 2, z]
                assembly = assembly.contact(f"{side}_{name}_{edge}", f"{side}_{body}", position=at)
    return assembly
