"""HeiMan: a person from stature and mass; every number can be overridden by name.

M. Felis (2015), Modeling Emotional Aspects in Human Locomotion, PhD thesis, Heidelberg, section
4.3, with the misprints of its tables corrected (see the tables). X forward, Y left, Z up; in the
zero pose all segment frames are parallel to the world, with their origins at the proximal joints,
and arms and legs point downwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from homodyn.catalog.heiman_shapes import with_shapes
from homodyn.catalog.heiman_tables import (
    SIDE_TITLES,
    HeimanParameters,
    coordinate_numbers,
    heiman_parameters,
    side_title,
    stem,
    subject_lengths,
)
from homodyn.catalog.registry import entry
from homodyn.errors import ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model import Assembly, Body, Model
from homodyn.model import joints as joint_types
from homodyn.spatial import Array, ScalarInput

BASE = "TX TY TZ RY RX RZ"
BALL = "RY RX RZ"
HINGE = "RY"
"""Degrees of freedom of the kinds of joints, in the order of rotations."""

PLANAR: Mapping[str, str] = {
    "Pelvis": "TX TZ RY",
    "Lumbar": "RY",
    "Head": "RY",
    **{f"{joint}{side}": "RY" for joint in ("Hip", "Ankle", "Shoulder") for side in SIDE_TITLES},
}
"""Degrees of freedom for motion in the sagittal plane: ``heiman(joints=PLANAR)``."""

SUBJECTS: Mapping[str, Mapping[str, Any]] = {
    "Subject1": {"height": 1.82, "overrides": subject_lengths("Subject1")},
    "Subject3": {"height": 1.86, "mass": 75.0, "overrides": subject_lengths("Subject3")},
}
"""The subjects of Felis (2015), table 6.1: ``heiman(**SUBJECTS["Subject3"])``."""

CLEARANCES = (("ShankRight", "ShankLeft"), ("FootRight", "FootLeft"))
"""Pairs of capsules that must not overlap in walking (section 5.4)."""


@entry(
    source=(
        "Felis 2015, tables 4.3 to 4.6 (lengths, masses and inertias mostly of de Leva 1996, "
        "widths of Dumas 2007); foot points and markers of the public model of his Subject3"
    ),
    limits="AAOS 1965, widened to the walking ranges of Felis 2015, tables 5.1 and 5.3",
    assumed=(
        "clavicles and neck have no mass",
        "the center of mass of the foot is below the ankle, as in the thesis, unless "
        "foot='anatomical'",
        "capsules: radii from mass and length at 1000 kg/m3; trunk, neck and clavicles estimated",
        "Hallux and Meta5 have the relative positions of the foot of Subject3",
        "markers are the means of both sides of Subject3; STRN is on the xiphion",
        "women: widths, foot height and the position of the ankle in the foot are those of men",
        "torque limits are those of table 5.2, equal for both sides and directions",
    ),
)
def heiman(
    height: Array = 1.79,
    mass: Array = 76.0,
    sex: str = "male",
    *,
    overrides: Mapping[str, ScalarInput | Sequence[float]] | None = None,
    joints: Mapping[str, str | Sequence[str]] | None = None,
    limits: str = "anatomical",
    foot: str = "thesis",
) -> Model:
    """A person of 19 segments and 34 degrees of freedom, from stature (m) and mass (kg).

    The neutral pose stands on the ground, Z = 0. No coordinate has a spring; to add one, use
    ``model.with_numbers({"KneeRight_RY.stiffness": 20.0, "KneeRight_RY.damping": 1.0})``.

    Args:
        height: Stature (m); a number or a symbol.
        mass: Body mass (kg); a number or a symbol.
        sex: ``"male"`` or ``"female"``; selects the tables.
        overrides: Values by name that replace those of the tables before the inertias are computed:
            lengths in m (``"PelvisHeight"``, ``"ThighRightLength"``), masses in kg
            (``"ThighRightMass"``), centers of mass and radii of gyration as fractions of the
            segment's length (``"ThighRightCOM"``: one number, along z, or three;
            ``"ThighRightGyration"``: three numbers). A name without a side, such as
            ``"ThighLength"``, applies to both sides. `heiman_tables.heiman_parameters` returns all
            names with their values.
        joints: Degrees of freedom by joint name, chosen from TX TY TZ RX RY RZ in the order of the
            rotations: ``{"KneeRight": "RY RX RZ", "Lumbar": ""}``.
        limits: Joint limits: ``"anatomical"``, or the bounds of the subject of the thesis,
            ``"reconstruction"`` or ``"synthesis"``.
        foot: ``"thesis"``, or ``"anatomical"`` for a foot with its center of mass in front of the
            ankle, as in de Leva, and its long axis along x.

    Returns:
        The model, with markers, capsules and contact points.

    Raises:
        ModelError: An option, a name in ``overrides``, a joint or a degree of freedom is unknown,
            or the values describe an invalid model.
    """
    n = heiman_parameters(height, mass, sex, overrides or {}, foot)
    tree = _tree(n)
    dofs = _degrees_of_freedom({joint: default for joint, *_, default in tree}, joints or {})
    standing = n["FootRightHeight"] + n["ShankRightLength"] + n["ThighRightLength"]
    assembly = Assembly("HeiMan", notes=("Felis 2015, section 4.3",))
    for joint, parent, child, at, _ in tree:
        names = [f"{'Neck' if joint == 'Head' else joint}_{dof}" for dof in dofs[joint]]
        settings = [coordinate_numbers(name, limits) for name in names]
        for name, setting in zip(names, settings, strict=True):
            if name == "Pelvis_TZ":
                setting["default"] = standing
        assembly = assembly.add(
            _segment(n, child),
            _joint_type(dofs[joint], names, settings),
            parent,
            at=at,
            joint_name=joint,
        )
    return with_shapes(assembly, n).model()


def _tree(n: HeimanParameters) -> list[tuple[str, str, str, tuple[Array, Array, Array], str]]:
    """Joint, parent, child, position in the parent and degrees of freedom, depth first.

    Felis (2015), section 4.3.2, which omits the minus sign of the right hip.
    """

    def leg(side: str, sign: float) -> list[Any]:
        thigh, shank = f"Thigh{side}", f"Shank{side}"
        return [
            (f"Hip{side}", "Pelvis", thigh, (0, sign * n[f"Hip{side}Width"], 0), BALL),
            (f"Knee{side}", thigh, shank, (0, 0, -n[f"Thigh{side}Length"]), HINGE),
            (f"Ankle{side}", shank, f"Foot{side}", (0, 0, -n[f"Shank{side}Length"]), BALL),
        ]

    def arm(side: str, sign: float) -> list[Any]:
        clavicle, upper, lower = f"Clavicula{side}", f"UpperArm{side}", f"LowerArm{side}"
        lateral = sign * n[f"Clavicula{side}Length"]
        return [
            (
                f"InnerShoulder{side}",
                "UpperTrunk",
                clavicle,
                (0, 0, n[f"Shoulder{side}Height"]),
                "",
            ),
            (f"Shoulder{side}", clavicle, upper, (0, lateral, 0), BALL),
            (f"Elbow{side}", upper, lower, (0, 0, -n[f"UpperArm{side}Length"]), HINGE),
            (f"Wrist{side}", lower, f"Hand{side}", (0, 0, -n[f"LowerArm{side}Length"]), ""),
        ]

    return [
        ("Pelvis", "world", "Pelvis", (0, 0, 0), BASE),
        *leg("Right", -1.0),
        *leg("Left", 1.0),
        ("Lumbar", "Pelvis", "MiddleTrunk", (0, 0, n["PelvisHeight"]), BALL),
        ("Thorax", "MiddleTrunk", "UpperTrunk", (0, 0, n["MiddleTrunkHeight"]), ""),
        *arm("Right", -1.0),
        *arm("Left", 1.0),
        ("Neck", "UpperTrunk", "Neck", (0, 0, n["SuprasternaleHeight"]), ""),
        ("Head", "Neck", "Head", (0, 0, n["NeckLength"]), BALL),
    ]


def _segment(n: HeimanParameters, name: str) -> Body:
    """The body of a segment: com = share x length, I = m (share x length)^2 (eq. 4.5 to 4.7)."""
    mass, side = n[f"{name}Mass"], side_title(name)
    lengths = {"Pelvis": "PelvisHeight", "MiddleTrunk": "MiddleTrunkHeight"}
    lengths |= {"UpperTrunk": "UpperTrunkHeight"}
    kind = stem(name)
    length = n[lengths.get(kind, f"{kind}{side}Length")]
    com_length = n[f"Foot{side}Height"] if kind == "Foot" else length
    com = n[f"{name}COM"]
    com = com if isinstance(com, (tuple, list, np.ndarray)) else (0.0, 0.0, com)
    inertia = [mass * (share * length) ** 2 for share in n[f"{name}Gyration"]]
    return Body(name, mass, [share * com_length for share in com], inertia)


def _degrees_of_freedom(
    defaults: Mapping[str, str], chosen: Mapping[str, str | Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """Degrees of freedom of each joint: the default ones, or those that were chosen."""
    result = {name: tuple(dofs.split()) for name, dofs in defaults.items()}
    for name, dofs in chosen.items():
        if name not in result:
            raise ModelError(f"HeiMan has {unknown_name('joint', name, defaults)}")
        listed = tuple(dofs.split() if isinstance(dofs, str) else dofs)
        unknown = [dof for dof in listed if dof not in BASE.split()]
        if unknown or len(set(listed)) != len(listed):
            raise ModelError(
                f"joint {name!r}: degrees of freedom are some of {BASE}, each once; "
                f"got {' '.join(listed)!r}"
            )
        result[name] = listed
    return result


def _joint_type(
    dofs: tuple[str, ...], names: list[str], settings: list[dict[str, Any]]
) -> joint_types.JointType:
    if not dofs:
        return joint_types.fixed()
    numbers = {key: [setting[key] for setting in settings] for key in settings[0]}
    text = " ".join(dofs)
    if text == BASE:
        return joint_types.euler_free("yxz", names=names, **numbers)
    if text == BALL:
        return joint_types.euler("yxz", names=names, **numbers)
    if len(dofs) == 1 and text.startswith("R"):
        return joint_types.revolute(text[1].lower(), names=names, **numbers)
    axes = [
        (joint_types.turn if dof.startswith("R") else joint_types.slide)(dof[1].lower(), k)
        for k, dof in enumerate(dofs)
    ]
    return joint_types.custom(*axes, names=names, **numbers)
