"""Clinical names and signs of the coordinates of any model.

Models differ in the names and signs of their coordinates. Here the joint is recognized by its name
and the plane by the rotation axis of the coordinate in the neutral pose. The sign follows from
both: hip flexion is positive whether the model rotates its thigh about +y or -y, and adduction is
positive on both sides. Coordinates that are not recognized keep their own name and sign.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np

from homodyn import dynamics
from homodyn.catalog.mirror import paired_names
from homodyn.errors import HomodynError
from homodyn.foundation.text import enumerate_names, unknown_name
from homodyn.model import Joint, Model
from homodyn.model.side import Side, side_of
from homodyn.motion.anatomical_axes import Axes

Value = TypeVar("Value", float, np.ndarray)

SAGITTAL, FRONTAL, TRANSVERSE = "sagittal", "frontal", "transverse"

JOINTS = (
    ("Hip", r"hip|femur|thigh"),
    ("Knee", r"knee|tibia|shank|shin"),
    ("Subtalar", r"subtalar|tarsal"),
    ("Toes", r"mtp|toe|hallux"),
    ("Ankle", r"ankle|talocrural|foot"),
    ("Trunk", r"lumbar|back|trunk|spine|sacral|thora|torso|waist"),
    ("Neck", r"neck|cervi|head"),
    ("Shoulder girdle", r"clav|scapula|girdle"),
    ("Elbow", r"elbow|forearm|radio|pro_sup|lower_?arm"),
    ("Wrist", r"wrist|hand"),
    ("Shoulder", r"shoulder|arm_|humer|acromi|upper_?arm|gleno"),
)
"""Joints and patterns of their names, in the order in which they are matched."""
ORDER = (
    "Pelvis",
    "Hip",
    "Knee",
    "Ankle",
    "Subtalar",
    "Toes",
    "Trunk",
    "Neck",
    "Shoulder girdle",
    "Shoulder",
    "Elbow",
    "Wrist",
)
"""Order of joints in tables and figures."""
LEGS = ("Hip", "Knee", "Ankle", "Subtalar", "Toes")
"""Joints of the legs."""

WORDS: dict[tuple[str, str], tuple[str, float]] = {
    ("Hip", SAGITTAL): ("flexion", -1),
    ("Knee", SAGITTAL): ("flexion", +1),
    ("Ankle", SAGITTAL): ("dorsiflexion", -1),
    ("Toes", SAGITTAL): ("dorsiflexion", -1),
    ("Trunk", SAGITTAL): ("flexion", +1),
    ("Neck", SAGITTAL): ("flexion", +1),
    ("Shoulder", SAGITTAL): ("flexion", -1),
    ("Elbow", SAGITTAL): ("flexion", -1),
    ("Hip", FRONTAL): ("adduction", +1),
    ("Knee", FRONTAL): ("adduction", +1),
    ("Ankle", FRONTAL): ("inversion", +1),
    ("Subtalar", FRONTAL): ("inversion", +1),
    ("Trunk", FRONTAL): ("bending to the side", +1),
    ("Neck", FRONTAL): ("bending to the side", +1),
    ("Shoulder", FRONTAL): ("abduction", -1),
    ("Hip", TRANSVERSE): ("internal rotation", +1),
    ("Knee", TRANSVERSE): ("internal rotation", +1),
    ("Ankle", TRANSVERSE): ("internal rotation", +1),
    ("Subtalar", TRANSVERSE): ("internal rotation", +1),
    ("Trunk", TRANSVERSE): ("rotation, side forward", +1),
    ("Neck", TRANSVERSE): ("rotation, side forward", +1),
    ("Shoulder", TRANSVERSE): ("internal rotation", +1),
    ("Elbow", TRANSVERSE): ("pronation", +1),
}
"""By joint and plane: the name of the positive direction, and its sign of rotation about the left,
forward or up axis for a joint on the right side. About forward and up, the sign is opposite on the
left side."""
TITLES = {("Elbow", TRANSVERSE): "Forearm pronation"}
"""Titles that do not begin with the name of the joint."""


@dataclass(frozen=True)
class Reading:
    """One coordinate with its clinical sign: ``sign * value`` is positive as ``title`` states."""

    index: int
    """Column in v and tau."""
    q: int | None
    """Column in q; None where the joint has a quaternion."""
    name: str
    """Name of the coordinate in the model."""
    joint: str
    """Clinical name of the joint; empty where it is not recognized."""
    plane: str
    """``"sagittal"``, ``"frontal"``, ``"transverse"``, or empty for a translation."""
    title: str
    """Clinical name without the side: ``"Knee flexion"``."""
    side: str
    """``"right"``, ``"left"`` or ``"middle"``."""
    sign: float
    """Sign of the reading; for a coordinate of the middle, as seen from the right."""

    @property
    def mirrored(self) -> float:
        """The sign as seen from the left, which differs for coordinates of the middle."""
        return self.sign if self.plane == SAGITTAL or self.side != "middle" else -self.sign


@dataclass(frozen=True)
class Pair:
    """The same movement on both sides; a coordinate of the middle is on both."""

    title: str
    """Clinical name without the side."""
    joint: str
    """Clinical name of the joint."""
    right: Reading | None
    """The coordinate on the right side."""
    left: Reading | None
    """The coordinate on the left side."""

    @property
    def middle(self) -> bool:
        """Whether both sides are one coordinate of the middle."""
        return self.right is not None and self.right is self.left


@lru_cache(maxsize=32)
def readings(model: Model) -> tuple[Reading, ...]:
    """All coordinates but those of the first joint, in the order of the model."""
    axes = Axes.of(model)
    names = paired_names(model)
    following = {coupler.coordinate for coupler in model.couplers}
    neutral = model.neutral()
    found = []
    for joint, place in list(zip(model.joints, model.joint_slots, strict=True))[1:]:
        own = [c.name for c in joint.coordinates if c.name not in following]
        if not own:
            continue
        axes_of_rotation = dynamics.angular_jacobian(model, neutral, joint.child)
        side = _side(joint.child, names[joint.child])
        for k, name in enumerate(own):
            column = place.v.start + k
            q = None if joint.quaternion else place.q.start + k
            found.append(_reading(column, q, name, joint, side, axes_of_rotation[:, column], axes))
    return tuple(found)


@lru_cache(maxsize=32)
def pairs(model: Model) -> tuple[Pair, ...]:
    """Pairs of right and left coordinates, from the hips down, then from the trunk up."""
    count = Counter((reading.title, reading.side) for reading in readings(model))
    sides: dict[tuple[str, str], dict[str, Reading]] = {}
    for reading in readings(model):
        title = reading.title
        if count[title, reading.side] > 1:
            title = f"{title} ({sideless(reading.name)})"
        sides.setdefault((reading.joint, title), {})[reading.side] = reading
    rank = {joint: place for place, joint in enumerate(ORDER)}
    paired = []
    for (joint, title), found in sides.items():
        middle = found.get("middle")
        paired.append(Pair(title, joint, middle or found.get("right"), middle or found.get("left")))
    return tuple(sorted(paired, key=lambda pair: rank.get(pair.joint, len(rank))))


def _side(child: str, other: str) -> str:
    """The side of a body, by its name and that of its mirror image."""
    if child == other:
        return "middle"
    # Names that state no side differ from their mirror image in one letter, R or L.
    return str(side_of(child) or (Side.RIGHT if child > other else Side.LEFT))


def _reading(
    column: int, q: int | None, name: str, joint: Joint, side: str, axis: np.ndarray, axes: Axes
) -> Reading:
    known = next(
        (
            title
            for word in (name, joint.name, joint.child)
            for title, pattern in JOINTS
            if re.search(pattern, word, re.IGNORECASE)
        ),
        "",
    )
    along = np.array([axis @ axes.left, axis @ axes.forward, axis @ axes.up])
    turns = np.linalg.norm(along) > 1e-9
    place = int(np.argmax(np.abs(along)))
    plane = (SAGITTAL, FRONTAL, TRANSVERSE)[place] if turns else ""
    if (known, plane) not in WORDS:
        return Reading(column, q, name, known, plane, sideless(name), side, 1.0)
    word, sign = WORDS[known, plane]
    sign *= float(np.sign(along[place]))
    if plane != SAGITTAL and side == "left":
        sign = -sign
    title = TITLES.get((known, plane), f"{known} {word}")
    return Reading(column, q, name, known, plane, title, side, sign)


def sideless(name: str) -> str:
    """A name of the model without its side, equal for both sides."""
    plain = re.sub(r"(?i)right|left", "", name)
    plain = re.sub(r"(?<![A-Za-z])[rlRL](?![a-z])", "", plain)
    return re.sub(r"[_ ]+", " ", plain).strip() or name


# -- accepted names


@dataclass(frozen=True)
class CoordinateName:
    """The coordinate that a name refers to: ``sign * value`` is positive as the name states."""

    coordinate: str
    """Name in the model."""
    title: str
    """Clinical name: ``"Right knee flexion"``."""
    sign: float
    """+1 or -1."""


OPENSIM_NAMES: dict[str, tuple[str, float]] = {
    "hip_flexion": ("hip flexion", 1.0),
    "hip_adduction": ("hip adduction", 1.0),
    "hip_rotation": ("hip internal rotation", 1.0),
    "knee_angle": ("knee flexion", 1.0),
    "knee_flexion": ("knee flexion", 1.0),
    "knee_adduction": ("knee adduction", 1.0),
    "knee_rotation": ("knee internal rotation", 1.0),
    "ankle_angle": ("ankle dorsiflexion", 1.0),
    "ankle_flexion": ("ankle dorsiflexion", 1.0),
    "subtalar_angle": ("subtalar inversion", 1.0),
    "mtp_angle": ("toes dorsiflexion", 1.0),
    "arm_flex": ("shoulder flexion", 1.0),
    "arm_add": ("shoulder abduction", -1.0),
    "arm_rot": ("shoulder internal rotation", 1.0),
    "elbow_flex": ("elbow flexion", 1.0),
    "elbow_flexion": ("elbow flexion", 1.0),
    "pro_sup": ("forearm pronation", 1.0),
    "lumbar_extension": ("trunk flexion", -1.0),
    "lumbar_flexion": ("trunk flexion", 1.0),
    "lumbar_bending": ("trunk bending to the side", 1.0),
    "lumbar_rotation": ("trunk rotation, side forward", 1.0),
}
"""Coordinates of the gait models of OpenSim without their side, and their clinical readings."""


@lru_cache(maxsize=32)
def clinical_names(model: Model) -> dict[str, CoordinateName]:
    """The clinical names of the coordinates of a model, in lower case.

    Args:
        model: The model.

    Returns:
        ``{"right knee flexion": ...}`` for all recognized coordinates.
    """
    count = Counter((reading.title, reading.side) for reading in readings(model))
    found: dict[str, CoordinateName] = {}
    for reading in readings(model):
        if reading.q is None or not reading.joint:
            continue
        title = reading.title
        if count[title, reading.side] > 1:
            title = f"{title} ({sideless(reading.name)})"
        if reading.side != "middle":
            title = f"{reading.side.capitalize()} {title[0].lower()}{title[1:]}"
        found.setdefault(title.lower(), CoordinateName(reading.name, title, reading.sign))
    return found


@lru_cache(maxsize=32)
def clinical_titles(model: Model) -> dict[str, str]:
    """Clinical names by coordinate: ``{"KneeRight_RY": "Right knee flexion"}``.

    Args:
        model: The model.

    Returns:
        Titles of the recognized coordinates; the others are left out.
    """
    return {found.coordinate: found.title for found in clinical_names(model).values()}


@lru_cache(maxsize=32)
def coordinate_readings(model: Model) -> dict[str, CoordinateName]:
    """By coordinate name, its clinical name and sign.

    Args:
        model: The model.

    Returns:
        An entry for every coordinate; those that are not recognized have their own name and +1.
    """
    known = {entry.coordinate: entry for entry in clinical_names(model).values()}
    return {
        name: known.get(name, CoordinateName(name, name, 1.0)) for name in model.coordinate_names
    }


def coordinate_label(model: Model, name: str, *, signed: bool = False) -> str:
    """A coordinate as people read it: ``"Right knee flexion (KneeRight_RY)"``.

    Args:
        model: The model.
        name: Name of the coordinate in the model.
        signed: Write a minus before the name where the coordinate counts the clinical direction
            negative: ``"Right hip flexion (−HipRight_RY)"``.

    Returns:
        The clinical name with the coordinate in parentheses; the coordinate alone where it is not
        recognized.
    """
    found = coordinate_readings(model).get(name)
    if found is None or found.title == name:
        return name
    return f"{found.title} ({'−' if signed and found.sign < 0 else ''}{name})"


def resolve_coordinate(model: Model, name: str, also: tuple[str, ...] = ()) -> CoordinateName:
    """The coordinate that a name of the model, a clinical name or an OpenSim name refers to.

    Args:
        model: The model.
        name: ``"KneeRight_RY"``, ``"right knee flexion"``, ``"knee_angle_r"``; case, underscores
            and hyphens do not matter in clinical names.
        also: Other names that the caller accepts, for the message.

    Returns:
        The coordinate with its sign: +1 for a name of the model.

    Raises:
        HomodynError: The name refers to no coordinate; the message lists what is accepted.
    """
    if name in model.coordinate_names:
        return CoordinateName(name, clinical_titles(model).get(name, name), 1.0)
    known = clinical_names(model)
    words = re.sub(r"[_\-\s]+", " ", name).strip().lower()
    if words in known:
        return known[words]
    side = side_of(name)
    stem = re.sub(r"(?i)[_ ](l|r|left|right)$", "", name.strip()).lower().replace(" ", "_")
    if stem in OPENSIM_NAMES:
        title, sign = OPENSIM_NAMES[stem]
        found = known.get(f"{side} {title}" if side else title)
        if found is not None:
            return CoordinateName(found.coordinate, found.title, sign * found.sign)
    titles = [entry.title for entry in known.values()]
    parts = [title for title in titles if set(words.split()) <= set(title.lower().split())]
    if parts:
        # Each candidate is a title that contains all words of the name: "knee".
        listed = enumerate_names(list(dict.fromkeys(repr(title) for title in parts)), 12)
        question = "did you mean" if len(parts) == 1 else "did you mean one of"
        raise HomodynError(f"model {model.name!r} has no coordinate {name!r}; {question} {listed}?")
    accepted = (*model.coordinate_names, *titles, *also)
    raise HomodynError(
        f"model {model.name!r} has {unknown_name('coordinate', name, dict.fromkeys(accepted))}"
    )


def resolve_values(model: Model, values: Mapping[str, Value]) -> dict[str, Value]:
    """Values by coordinate, from values by coordinate, clinical or OpenSim names.

    Args:
        model: The model.
        values: Number or array of each name (rad, m, N m or N); those of clinical and OpenSim names
            are positive in the direction that the name states.

    Returns:
        Values with the signs of the model, by coordinate name.

    Raises:
        HomodynError: A name is unknown, or two names mean the same coordinate.
    """
    found: dict[str, Value] = {}
    for name, value in values.items():
        entry = resolve_coordinate(model, name)
        if entry.coordinate in found:
            raise HomodynError(f"two names mean the coordinate {entry.coordinate!r}")
        found[entry.coordinate] = entry.sign * value
    return found
