"""Bip, the anthropomorphic biped of INRIA: 15 joints on a free pelvis.

After the HuMAnS toolbox (INRIA, User Documentation of 23 October 2006, chapter 2), which shows its
listings in part only. Their values are used; the rest is a surrogate, marked as such in the table.
x is forward, y to the left and z up. Pitch is about y, roll about x and yaw about z, except for the
pitch of the trunk, which is about -y as in the listing.
"""

from __future__ import annotations

from collections.abc import Iterator

from homodyn.catalog.data_tables import table_document
from homodyn.catalog.joint_ranges import motion_range
from homodyn.catalog.registry import entry
from homodyn.model import Assembly, Body, Model, joints
from homodyn.model.side import Side

ASSUMPTIONS = (
    "SURROGATE: mass and inertia of hip crosses, thighs and shanks, so that the robot weighs 105 "
    "kg (recalled, not verified); the distance of the hips; the inertia of the cabinet, which is "
    "that of a box between its tags.",
    "SURROGATE: the order of hip rotations is roll, yaw, pitch. The listings show the ankles and "
    "the trunk only.",
    "Thighs are 0.410 m long: the base height less shank and sole.",
    "The left leg has q1 to q6 (the listing shows q5 and q6), the right leg q7 to q12.",
    "Inertias that are impossible as rounded in the listing are replaced by possible ones that "
    "round to the same values.",
    "Tags 7 to 10 are hips, left knee and left ankle; 11 to 14 mirror 1 to 4.",
    "The joint ranges of the robot are unknown; those of people (AAOS 1965) are used.",
    "Capsules are for drawings and distances only.",
)
_LEG = ("hip_bracket", "hip_cross", "thigh", "shank", "ankle_cardan", "foot")
_TRUNK = ("lumbar_lever", "trunk_cardan", "cabinet")
_MIRROR_SIGNS = (1.0, 1.0, 1.0, -1.0, 1.0, -1.0)
"""Signs of xx, yy, zz, xy, xz, yz of the mirror image."""


@entry(
    source="HuMAnS (INRIA, 2006), figures 2.2, 2.5 and 2.6 in part; the rest is a surrogate",
    limits="AAOS 1965, of people",
    assumed=ASSUMPTIONS,
)
def bip() -> Model:
    """Bip of HuMAnS: a biped robot of 105 kg with 15 joints, 25 tags and 12 contact points.

    Returns:
        The model: 16 bodies, 21 degrees of freedom, tags as markers.
    """
    assembly = Assembly("bip", notes=("Biped robot Bip of HuMAnS (INRIA, 2006).", *ASSUMPTIONS))
    height = table_document("bip")["base_height"]
    root = joints.euler_free("zyx")
    assembly = assembly.add(_body("pelvis", ""), root, at=(0.0, 0.0, height), joint_name="root")
    for name, side, parent in _links():
        body = _body(name, side)
        joint = _side_name(table_document("bip")["solid"][name]["joint"], side)
        at = _joint_place(name, (Side(side).sign if side else 0.0))
        assembly = assembly.add(body, _hinge(name, side), parent, at=at, joint_name=joint)
    return _with_tags(_with_capsules(assembly)).model()


def humans_order() -> tuple[str, ...]:
    """Coordinates in the document's order q1 to q21, with a minus where the sign is opposite."""
    names = {}
    for name, side, _ in _links():
        solid = table_document("bip")["solid"][name]
        names[solid["q"][1 if side == "right" else 0]] = _side_name(solid["joint"], side)
    root = ("root_tx", "root_tz", "-root_ty", "root_rx", "root_rz", "-root_ry")
    return (*(names[number] for number in sorted(names)), *root)


def _links() -> Iterator[tuple[str, str, str]]:
    """Solid, side and parent, from the pelvis outwards."""
    for side in Side:
        parent = "pelvis"
        for name in _LEG:
            yield name, side, parent
            parent = _side_name(name, side)
    parent = "pelvis"
    for name in _TRUNK:
        yield name, "", parent
        parent = name


def _side_name(name: str, side: str) -> str:
    return f"{side}_{name}" if side else name


def _body(name: str, side: str) -> Body:
    solid = table_document("bip")["solid"][name]
    x, y, z = solid["com"]
    entries = solid["inertia"]
    if side == "right":
        y, entries = -y, [sign * value for sign, value in zip(_MIRROR_SIGNS, entries, strict=True)]
    xx, yy, zz, xy, xz, yz = entries
    inertia = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    return Body(_side_name(name, side), solid["mass"], [x, y, z], inertia)


def _hinge(name: str, side: str) -> joints.JointType:
    """The joint of a solid; roll and yaw of the right leg have the opposite sign."""
    solid = table_document("bip")["solid"][name]
    movement = solid["range"]
    if side == "right" and solid["axis"] in ("x", "z"):
        movement = f"-{movement}"
    lower, upper = motion_range(movement)
    return joints.revolute(solid["axis"], lower=lower, upper=upper)


def _joint_place(name: str, side: float) -> list[float]:
    """Position of a solid's joint in its parent (m)."""
    table = table_document("bip")
    places = {
        "hip_bracket": [0.0, side * table["half_hip"], 0.0],
        "shank": [0.0, 0.0, -table["thigh"]],
        "ankle_cardan": [0.0, 0.0, -table["shank"]],
        "lumbar_lever": [0.0, 0.0, table["lumbar"]],
    }
    return places.get(name, [0.0, 0.0, 0.0])


def _with_capsules(assembly: Assembly) -> Assembly:
    table = table_document("bip")
    hip = table["half_hip"]
    assembly = assembly.capsule("pelvis", "pelvis", (0, -hip, 0.03), (0, hip, 0.03), 0.07)
    assembly = assembly.capsule("cabinet", "cabinet", (0, 0, 0.11), (0, 0, 0.55), 0.11)
    for side in Side:
        for name, radius in (("thigh", 0.06), ("shank", 0.05)):
            body = f"{side}_{name}"
            assembly = assembly.capsule(body, body, (0, 0, 0), (0, 0, -table[name]), radius)
        body, radius = f"{side}_foot", 0.03
        floor = radius - table["sole"]
        assembly = assembly.capsule(body, body, (-0.09, 0, floor), (0.14, 0, floor), radius)
    return assembly


def _with_tags(assembly: Assembly) -> Assembly:
    """The 25 tags in the document's order, with contacts at tags 1 to 4, 11 to 14 and 22 to 25."""
    down = -table_document("bip")["sole"]
    tags: list[tuple[str, str, tuple[float, float, float]]] = []
    corners = {
        side: [
            (f"{side}_{end}_{edge}", f"{side}_foot", (x, way * y, down))
            for end, x, y in (("front", 0.170, 0.090), ("rear", -0.120, 0.060))
            for edge, way in ((s, s.sign) for s in Side)
        ]
        for side in Side
    }
    zero = (0.0, 0.0, 0.0)
    tags += corners[Side.RIGHT]
    tags += [
        ("right_ankle", "right_ankle_cardan", zero),
        ("right_knee_center", "right_shank", zero),
    ]
    tags += [(f"{side}_hip_center", f"{side}_thigh", zero) for side in Side]
    tags += [("left_knee_center", "left_shank", zero), ("left_ankle", "left_ankle_cardan", zero)]
    tags += corners[Side.LEFT]
    tags += [("lumbar", "lumbar_lever", zero)]
    tags += [
        (f"trunk_{end}_{side}", "cabinet", (0.0, 0.110 * way, z))
        for end, z in (("bottom", 0.0), ("top", 0.660))
        for side, way in ((s, s.sign) for s in Side)
    ]
    tags += [(f"{side}_sole_center", f"{side}_foot", (0.0, 0.0, down)) for side in Side]
    hooks = [
        (f"hook_{end}_{side}", "cabinet", (x, 0.110 * Side(side).sign, 0.660))
        for end, side, x in (
            ("back", "right", -0.150),
            ("back", "left", -0.150),
            ("front", "left", 0.150),
            ("front", "right", 0.150),
        )
    ]
    for name, body, at in tags + hooks:
        assembly = assembly.marker(name, body, at)
    for name, body, at in corners[Side.RIGHT] + corners[Side.LEFT] + hooks:
        assembly = assembly.contact(f"{name}_contact", body, position=at)
    return assembly
