"""KHR-1, the small humanoid of Kondo: 18 solids, 17 servos on a free base.

After the HuMAnS toolbox (INRIA, User Documentation of 23 October 2006, chapter 4). Its figure with
the lengths is lost: lengths, boxes and positions of tags are a surrogate, marked as such in the
table. x is forward, y to the left and z up. Positive are frontal rotations away from the middle,
sagittal rotations that move a part backwards, and rotation of the head to the left.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import radians
from typing import Any

from homodyn.catalog.data_tables import table_document
from homodyn.catalog.registry import entry
from homodyn.model import Assembly, Body, Model, box, joints
from homodyn.model.side import Side

ASSUMPTIONS = (
    "SURROGATE: the figure with the 24 lengths is lost. Lengths, boxes and positions of the tags "
    "were chosen for a robot 340 mm tall and 180 mm wide; masses, and centers of mass as "
    "fractions of the lengths, are those of the document.",
    "Right coordinates come before left ones, as in Human36; the document only lists the pairs.",
    "The origin of a shoulder is the intersection of its two axes; its mass is medial of it.",
    "The size and the servos (90 deg to either side, 0.853 N m, 6.16 rad/s) are recalled from data "
    "of the manufacturer and not verified.",
    "Capsules are for drawings and distances only.",
)
_PAIRED_SOLIDS = ("hip", "thigh", "leg", "ankle", "foot", "shoulder", "arm", "hand")


@entry(
    source="HuMAnS (INRIA, 2006), chapter 4; lengths are a surrogate",
    limits="travel, torque and speed of the servos, recalled and not verified",
    assumed=ASSUMPTIONS,
)
def khr1() -> Model:
    """Kondo KHR-1 of HuMAnS: documented masses, surrogate lengths, 23 degrees of freedom, 34 tags.

    Returns:
        The model: 18 bodies, tags as markers, 8 contact points.
    """
    assembly = Assembly("khr1", notes=("Kondo KHR-1 of HuMAnS (INRIA, 2006).", *ASSUMPTIONS))
    for solid, side in _solids():
        assembly = _with_solid(assembly, solid, side)
    return _with_tags(assembly).model()


def humans_order() -> tuple[str, ...]:
    """Coordinates in the document's order q1 to q23, with a minus where the sign is opposite."""
    names = {}
    for solid, side in _solids():
        if "q" in solid:
            number = solid["q"][1 if side == "left" else 0]
            names[number] = _side_name(solid["joint"], side)
    root = ("root_tx", "root_tz", "-root_ty", "root_rx", "root_rz", "-root_ry")
    return (*(names[number] for number in sorted(names)), *root)


def _solids() -> Iterator[tuple[dict[str, Any], str]]:
    """The solids in the document's order: trunk, right leg, left leg, right arm, left arm, head."""
    solids = {solid["name"]: solid for solid in table_document("khr1")["solid"]}
    yield solids["trunk"], ""
    for limb in (_PAIRED_SOLIDS[:5], _PAIRED_SOLIDS[5:]):
        for side in Side:
            yield from ((solids[name], side) for name in limb)
    yield solids["head"], ""


def _side_name(name: str, side: str) -> str:
    return f"{side}_{name}" if side else name


def _with_solid(assembly: Assembly, solid: dict[str, Any], side: str) -> Assembly:
    """Add a box, its joint and its capsule."""
    length, servo = table_document("khr1")["length"], table_document("khr1")["servo"]
    name, sign = _side_name(solid["name"], side), (Side(side).sign if side else 1.0)
    com = [share * edge for share, edge in zip(solid["com"], solid["size"], strict=True)]
    com[1] *= -sign
    body = box(name, solid["mass"], solid["size"], com=com)
    if "parent" not in solid:
        legs = sum(length[part] for part in ("foot", "ankle", "leg", "thigh", "hip"))
        root = joints.euler_free("yzx")
        assembly = assembly.add(body, root, at=(0.0, 0.0, legs), joint_name="root")
    else:
        axis = {"-x": "x"}.get(solid["axis"], solid["axis"]) if side == "left" else solid["axis"]
        travel = radians(servo["travel"])
        hinge = joints.revolute(
            axis,
            lower=-travel,
            upper=travel,
            max_force=servo["torque"],
            max_velocity=servo["speed"],
        )
        parent = _side_name(solid["parent"], side if solid["parent"] in _PAIRED_SOLIDS else "")
        at = _joint_place(solid["name"], sign)
        joint = _side_name(solid["joint"], side)
        assembly = assembly.add(body, hinge, parent, at=at, joint_name=joint)
    return _with_capsule(assembly, body, solid["size"])


def _joint_place(name: str, sign: float) -> list[float]:
    """Position of a solid's joint in its parent (m); ``sign`` is that of y on its side."""
    length = table_document("khr1")["length"]
    return {
        "hip": [0.0, sign * length["half_hip"], 0.0],
        "thigh": [0.0, 0.0, -length["hip"]],
        "leg": [0.0, 0.0, -length["thigh"]],
        "ankle": [0.0, 0.0, -length["leg"]],
        "foot": [0.0, 0.0, -length["ankle"]],
        "shoulder": [0.0, sign * length["half_shoulder"], length["shoulder_height"]],
        "arm": [0.0, 0.0, 0.0],
        "hand": [0.0, 0.0, -length["arm"]],
        "head": [0.0, 0.0, length["trunk"]],
    }[name]


def _with_capsule(assembly: Assembly, body: Body, size: list[float]) -> Assembly:
    """A capsule inside the box, along its longest edge."""
    longest = max(range(3), key=lambda axis: size[axis])
    radius = sorted(size)[1] / 2
    half = max(size[longest] / 2 - radius, 0.0)
    start, end = list(body.com), list(body.com)
    start[longest] -= half
    end[longest] += half
    if body.name.endswith("foot"):
        length = table_document("khr1")["length"]
        radius = length["foot"] / 3
        start = [radius - length["foot_back"], body.com[1], radius - length["foot"]]
        end = [length["foot_front"] - radius, body.com[1], radius - length["foot"]]
    return assembly.capsule(body.name, body.name, start, end, radius)


def _with_tags(assembly: Assembly) -> Assembly:
    """The 34 tags in the document's order, and contacts at the corners of the feet."""
    length = table_document("khr1")["length"]
    sole = -length["foot"]
    for side in Side:
        foot = f"{side}_foot"
        reach = {
            other: way * length["foot_outer" if other == side else "foot_inner"]
            for other, way in ((s, s.sign) for s in Side)
        }
        for end, x in (("heel", -length["foot_back"]), ("toe", length["foot_front"])):
            for edge in Side:
                corner = (x, reach[edge], sole)
                assembly = assembly.marker(f"{foot}_{end}_{edge}", foot, corner)
                assembly = assembly.contact(f"{foot}_{end}_{edge}_contact", foot, position=corner)
        assembly = assembly.marker(f"{side}_ankle_on_foot", foot)
        assembly = assembly.marker(f"{side}_ankle_on_leg", f"{side}_ankle")
        assembly = assembly.marker(f"{side}_knee_point", f"{side}_leg")
        assembly = assembly.marker(f"{side}_great_trochanter", f"{side}_thigh")
        assembly = assembly.marker(f"{side}_iliac_crest", f"{side}_hip")
    for side in Side:
        y = side.sign
        hand = f"{side}_hand"
        inner = -y * length["shoulder"]
        assembly = assembly.marker(f"{side}_clavicular", f"{side}_shoulder", (0.0, inner, 0.0))
        assembly = assembly.marker(f"{side}_shoulder_point", f"{side}_arm")
        assembly = assembly.marker(f"{side}_arm_bone", hand)
        fist, tip = -0.7 * length["hand"], -length["hand"]
        assembly = assembly.marker(f"{side}_fist", hand, (0.0, 0.0, fist))
        assembly = assembly.marker(f"{side}_thumb_tip", hand, (0.015, 0.0, 0.9 * tip))
        assembly = assembly.marker(f"{side}_middle_finger_tip", hand, (0.0, 0.0, tip))
    middle = length["head"] / 2
    assembly = assembly.marker("neck_point", "head").marker("nose", "head", (0.027, 0.0, middle))
    for side in (Side.LEFT, Side.RIGHT):
        assembly = assembly.marker(f"{side}_ear", "head", (0.0, side.sign * 0.02, middle))
    return assembly
