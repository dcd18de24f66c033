"""What a gait laboratory calls the coordinates of a model, and which direction it counts positive.

Models name and sign their coordinates as they like. Here the joint is recognised by its name, the
plane by the axis the coordinate turns about in the neutral pose, and the sign follows from both:
hip flexion is positive whether the model turns its thigh about +y or -y, and adduction is positive
on both sides. Coordinates that are not recognised keep their own name and sign.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from homodyn import dynamics
from homodyn.catalog.mirror import paired_names
from homodyn.errors import HomodynError
from homodyn.foundation.text import unknown_name
from homodyn.model import Joint, Model
from homodyn.model.side import side_of
from homodyn.motion.anatomical_axes import Axes

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
"""Joints in the order in which their names are looked for, by what occurs in names of theirs."""
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
LEGS = ("Hip", "Knee", "Ankle", "Subtalar", "Toes")

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
}
"""What is positive, and its sign about the axes left, forward and up for a joint of the right.

About forward and up, a joint on the left turns the other way.
"""

_RIGHT = re.compile(r"(?<![A-Za-z])[Rr](?![a-z])|(?<=[a-z])R(?![a-z])")


@dataclass(frozen=True)
class Reading:
    """One coordinate as a gait laboratory reads it: ``sign * value`` is positive as it says."""

    index: int
    """Its column in v and tau."""
    q: int | None
    """Its column in q; None where the joint is told by a quaternion."""
    name: str
    joint: str
    plane: str
    """``"sagittal"``, ``"frontal"``, ``"transverse"``, or nothing for a slide."""
    title: str
    side: str
    """``"right"``, ``"left"`` or ``"middle"``."""
    sign: float
    """For a coordinate of the middle: as seen from the right."""

    @property
    def mirrored(self) -> float:
        """The sign seen from the left, where it differs for coordinates of the middle."""
        return self.sign if self.plane == SAGITTAL or self.side != "middle" else -self.sign


@dataclass(frozen=True)
class Pair:
    """The same movement of both sides; a coordinate of the middle stands on both."""

    title: str
    joint: str
    right: Reading | None
    left: Reading | None

    @property
    def middle(self) -> bool:
        """Whether it is one coordinate, seen from both sides."""
        return self.right is not None and self.right is self.left


@lru_cache(maxsize=32)
def readings(model: Model) -> tuple[Reading, ...]:
    """Every coordinate but those of the root, in the order of the model."""
    axes = Axes.of(model)
    names = paired_names(model)
    following = {coupler.coordinate for coupler in model.couplers}
    neutral = model.neutral()
    found = []
    for joint, place in list(zip(model.joints, model.joint_slots, strict=True))[1:]:
        own = [c.name for c in joint.coordinates if c.name not in following]
        if not own:
            continue
        turning = dynamics.angular_jacobian(model, neutral, joint.child)
        side = _side(joint.child, names[joint.child])
        for k, name in enumerate(own):
            column = place.v.start + k
            q = None if joint.quaternion else place.q.start + k
            found.append(_reading(column, q, name, joint, side, turning[:, column], axes))
    return tuple(found)


@lru_cache(maxsize=32)
def pairs(model: Model) -> tuple[Pair, ...]:
    """The coordinates paired right with left, from the hips down, then from the trunk up."""
    told = Counter((reading.title, reading.side) for reading in readings(model))
    sides: dict[tuple[str, str], dict[str, Reading]] = {}
    for reading in readings(model):
        title = reading.title
        if told[title, reading.side] > 1:
            title = f"{title} ({sideless(reading.name)})"
        sides.setdefault((reading.joint, title), {})[reading.side] = reading
    rank = {joint: place for place, joint in enumerate(ORDER)}
    made = []
    for (joint, title), found in sides.items():
        middle = found.get("middle")
        made.append(Pair(title, joint, middle or found.get("right"), middle or found.get("left")))
    return tuple(sorted(made, key=lambda pair: rank.get(pair.joint, len(rank))))


def _side(child: str, other: str) -> str:
    if child == other:
        return "middle"
    return "right" if _rightness(child) > _rightness(other) else "left"


def _rightness(name: str) -> int:
    """How much of a name says that it is on the right, to be compared with its mirror image."""
    if re.search("right", name, re.IGNORECASE):
        return 2
    if re.search("left", name, re.IGNORECASE):
        return -2
    return 1 if _RIGHT.search(name) else 0


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
    return Reading(column, q, name, known, plane, f"{known} {word}", side, sign)


def sideless(name: str) -> str:
    """A name of the model's own without its side, so that both sides meet under it."""
    plain = re.sub(r"(?i)right|left", "", name)
    plain = re.sub(r"(?<![A-Za-z])[rlRL](?![a-z])", "", plain)
    return re.sub(r"[_ ]+", " ", plain).strip() or name


# -- names that people write


@dataclass(frozen=True)
class CoordinateName:
    """A coordinate as a name means it: ``sign * value`` is positive as the name states."""

    coordinate: str
    """Its name in the model."""
    title: str
    """As people call it: ``"Right knee flexion"``."""
    sign: float


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
    "lumbar_extension": ("trunk flexion", -1.0),
    "lumbar_flexion": ("trunk flexion", 1.0),
    "lumbar_bending": ("trunk bending to the side", 1.0),
    "lumbar_rotation": ("trunk rotation, side forward", 1.0),
}
"""Names of OpenSim's gait models without their side, and the clinical reading of each."""


@lru_cache(maxsize=32)
def clinical_names(model: Model) -> dict[str, CoordinateName]:
    """The clinical names of the coordinates of a model, in lower case.

    Args:
        model: The model.

    Returns:
        ``{"right knee flexion": ...}`` for all coordinates that are recognized.
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
    """By coordinate name, what people call it: ``{"KneeRight_RY": "Right knee flexion"}``.

    Args:
        model: The model.

    Returns:
        Titles of the recognized coordinates; the others are left out.
    """
    return {found.coordinate: found.title for found in clinical_names(model).values()}


def resolve_coordinate(model: Model, name: str, also: tuple[str, ...] = ()) -> CoordinateName:
    """The coordinate that a name, a clinical name or an OpenSim name stands for.

    Args:
        model: The model.
        name: ``"KneeRight_RY"``, ``"right knee flexion"``, ``"knee_angle_r"``; case, underscores
            and hyphens do not matter in clinical names.
        also: Other names that the caller accepts, for the message.

    Returns:
        The coordinate with its sign: +1 for a name of the model's own.

    Raises:
        HomodynError: No coordinate is meant; the message lists what is accepted.
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
    accepted = (*model.coordinate_names, *(entry.title for entry in known.values()), *also)
    raise HomodynError(
        f"model {model.name!r} has {unknown_name('coordinate', name, dict.fromkeys(accepted))}"
    )
