"""CoMan, the child-size compliant humanoid, walking in the sagittal plane.

J. van den Kieboom (2014), PhD thesis, EPFL, appendix A: a torso on a planar base and two legs of
three hinges. Angles are about +y: positive is hip extension, knee flexion and plantar flexion.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from homodyn.catalog.data_tables import table_document
from homodyn.catalog.registry import entry
from homodyn.model import Assembly, Body, Model, joints

ASSUMPTIONS = (
    "Joint ranges are those of the human gait study in the same source, which states none for "
    "CoMan.",
    "Arms and head are part of the torso, as in the source; the robot itself has 23 joints.",
    "Capsules are for drawings and distances only; markers are at joints and contacts.",
)
_NEXT = {"hip": "knee", "knee": "ankle"}
_PARTS = {"hip": "thigh", "knee": "shank", "ankle": "foot"}


@entry(
    source="van den Kieboom 2014, appendix A, models A.1 and A.2",
    limits="ranges of the human gait study of the source; torque and speed of the motors",
    assumed=ASSUMPTIONS,
)
def coman() -> Model:
    """CoMan in the sagittal plane: torso, two legs with hip, knee and ankle, two contacts per foot.

    The height coordinate of the root is the height of the hips. Its default leaves 5 mm of
    clearance below the soles, as at the start of the simulations in the source.

    Returns:
        The model: 7 bodies, 9 degrees of freedom.
    """
    table = table_document("coman")
    source = "CoMan of van den Kieboom (2014), appendix A; full inertias, motion in a plane."
    torso = table["body"]["torso"]
    root = joints.planar("y", default=(0.0, torso["at"][2], 0.0))
    assembly = Assembly("coman", notes=(source, *ASSUMPTIONS))
    assembly = assembly.add(_body("torso", torso), root, joint_name="root")
    assembly = assembly.capsule("torso", "torso", (0, 0, 0.06), (0, 0, 0.35), 0.09)
    assembly = assembly.capsule("head", "torso", (0, 0, 0.5), (0, 0, 0.59), 0.06)
    assembly = assembly.marker("torso_center", "torso", torso["com"])
    for side in ("right", "left"):
        for joint, parent, child in _leg(side):
            own = table["body"][f"{joint}{side.title()}"]
            lower, upper = table["range"][joint]
            hinge = joints.revolute(
                "y",
                lower=lower,
                upper=upper,
                max_force=table["torque"],
                max_velocity=table["speed"],
            )
            assembly = assembly.add(
                _body(child, own), hinge, parent, at=own["at"], joint_name=f"{side}_{joint}"
            )
            assembly = assembly.marker(f"{side}_{joint}_center", child)
            if joint in _NEXT:
                end = table["body"][f"{_NEXT[joint]}{side.title()}"]["at"]
                assembly = assembly.capsule(child, child, (0, 0, 0), end, 0.045)
        assembly = _with_sole(assembly, side, table)
    return assembly.model()


def _leg(side: str) -> Iterator[tuple[str, str, str]]:
    """Joint, parent and child from the hip down."""
    parent = "torso"
    for joint, part in _PARTS.items():
        yield joint, parent, f"{side}_{part}"
        parent = f"{side}_{part}"


def _body(name: str, own: dict[str, Any]) -> Body:
    return Body(name, own["mass"], own["com"], own["inertia"])


def _with_sole(assembly: Assembly, side: str, table: dict[str, Any]) -> Assembly:
    """Contacts at the heel and at the start of the toes, which the model leaves out."""
    foot = f"{side}_foot"
    length, heel, height = (table[key] for key in ("foot_length", "heel_length", "foot_height"))
    front = length - heel - length * table["toe_length"]
    for name, x in (("heel", -heel), ("front", front)):
        assembly = assembly.contact(f"{side}_{name}", foot, position=(x, 0, -height))
        assembly = assembly.marker(f"{side}_{name}_marker", foot, (x, 0, -height))
    radius = 0.02
    return assembly.capsule(
        foot,
        foot,
        (-heel + radius, 0, radius - height),
        (front - radius, 0, radius - height),
        radius,
    )
