"""Angles of trunk, neck, arms and legs as the worksheets of ergonomics define them.

Angles compare bodies with the neutral pose of the model, which is upright with hanging arms. Those
of the trunk are against gravity, those of neck and arms against the trunk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from homodyn.dynamics import orientation, position
from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.model.side import Side
from homodyn.motion import Motion
from homodyn.motion.anatomical_axes import Axes
from homodyn.motion.clinical import Reading, readings

WRIST_FLEXION, WRIST_DEVIATION = ("flex", "pitch"), ("devia", "roll", "ulnar", "radial")
"""Parts of the names of coordinates of a wrist."""
MIN_FOOT_SHARE = 0.15
"""Share of the weight below which a foot counts as unloaded."""


@record
class ArmAngles(Record):
    """Angles of one arm, degrees, (frames,)."""

    elevation: np.ndarray
    """Upper arm from the trunk; negative behind it."""
    abduction: np.ndarray
    """Upper arm to the side."""
    elbow_flexion: np.ndarray
    wrist_flexion: np.ndarray
    """Zero where the model has no wrist."""
    wrist_deviation: np.ndarray
    twist_share: np.ndarray
    """Pronation from the middle of its range: 0 in the middle, 1 at the ends."""
    across: np.ndarray
    """True where the hand is beyond the middle of the body."""
    reach: np.ndarray
    """m: from the shoulder to the hand (or the end of the forearm)."""
    arm_length: float
    """m."""


@record
class PostureAngles(Record):
    """Angles of a movement, degrees, (frames,)."""

    trunk_flexion: np.ndarray
    trunk_bend: np.ndarray
    """To the side, either way positive."""
    trunk_twist: np.ndarray
    """Against the pelvis, either way positive."""
    neck_flexion: np.ndarray
    neck_bend: np.ndarray
    neck_twist: np.ndarray
    knee_flexion: np.ndarray
    """The larger of both."""
    both_feet: np.ndarray
    """True where the weight is on both feet; all True where forces are not known."""
    arms: Mapping[str, ArmAngles]
    """By side, ``"right"`` and ``"left"``."""
    notes: tuple[str, ...]
    """What is not known and how it counts."""


def posture_angles(motion: Motion) -> PostureAngles:
    """Angles of a movement.

    Args:
        motion: Any motion of a person or humanoid.

    Returns:
        Angles of all frames.

    Raises:
        ModelError: The model has no trunk or no arm that is recognized by its joints.
    """
    body = _Body(motion)
    notes = list(body.notes)
    up, forward, left = (np.asarray(getattr(body.axes, k)) for k in ("up", "forward", "left"))
    pelvis, trunk = body.turn(body.pelvis), body.turn(body.trunk)
    heading = pelvis @ forward
    heading = heading - np.outer(heading @ up, up)
    length = np.linalg.norm(heading, axis=1, keepdims=True)
    heading = np.where(length > 1e-6, heading / np.maximum(length, 1e-6), forward)
    trunk_up = trunk @ up
    ahead = np.einsum("fx,fx->f", trunk_up, heading)
    aside = np.einsum("fx,fx->f", trunk_up, np.cross(up, heading))
    flexion, bend = np.arctan2(ahead, trunk_up @ up), np.arcsin(np.clip(aside, -1, 1))
    twist = _twist(_relative(pelvis, trunk), up)
    neck = np.zeros((3, motion.frames))
    if body.head is None:
        notes.append("The model has no neck; it counts as upright.")
    else:
        turn = _relative(trunk, body.turn(body.head))
        head_up = turn @ up
        neck = np.array(
            [
                np.arctan2(head_up @ forward, head_up @ up),
                np.arcsin(np.clip(head_up @ left, -1, 1)),
                _twist(turn, up),
            ]
        )
    arms = {str(side): body.arm(str(side), trunk) for side in Side if body.has_arm(str(side))}
    if not arms:
        raise ModelError(f"model {motion.model.name!r} has no arm with shoulder and elbow")
    both, support_note = _both_feet(motion)
    if support_note:
        notes.append(support_note)
    if not body.has_wrist:
        notes.append("The model has no wrists; they count as straight.")
    degrees = np.degrees
    return PostureAngles(
        degrees(flexion),
        np.abs(degrees(bend)),
        np.abs(degrees(twist)),
        degrees(neck[0]),
        np.abs(degrees(neck[1])),
        np.abs(degrees(neck[2])),
        body.knee_flexion(),
        both,
        arms,
        tuple(notes),
    )


class _Body:
    """The bodies of a model by their joints, and their motion."""

    def __init__(self, motion: Motion) -> None:
        self.motion, self.model = motion, motion.model
        if self.model.parameters:
            self.model = self.model.at(self.model.parameter_values)
        self.axes = Axes.of(self.model)
        self.readings = readings(motion.model)
        self.children = _children(motion.model)
        self.notes: list[str] = []
        trunks = [r for r in self.readings if r.joint == "Trunk"]
        if not trunks:
            raise ModelError(
                f"model {motion.model.name!r} has no joint of the trunk; its angles are needed"
            )
        self.trunk = self.children[trunks[-1].index]
        self.pelvis = motion.model.body_names[0]
        necks = [r for r in self.readings if r.joint == "Neck"]
        self.head = self.children[necks[-1].index] if necks else None
        self.has_wrist = any(self._wrist(str(side), WRIST_FLEXION) for side in Side)

    def turn(self, body: str) -> np.ndarray:
        """Rotations (frames, 3, 3) of a body from the neutral pose, world."""
        rest = orientation(self.model, self.model.neutral(), body)
        return np.asarray(orientation(self.model, self.motion.q, body) @ rest.T)

    def has_arm(self, side: str) -> bool:
        """Whether shoulder and elbow of a side are known."""
        return bool(self._of("Shoulder", side) and self._of("Elbow", side))

    def arm(self, side: str, trunk: np.ndarray) -> ArmAngles:
        """Angles of the arm of a side."""
        q, up, forward = self.motion.q, self.axes.up, self.axes.forward
        out = self.axes.left * (1.0 if side == "left" else -1.0)
        upper = self.children[self._of("Shoulder", side)[-1].index]
        lower = self.children[self._of("Elbow", side)[-1].index]
        hand = self._hand(side, lower)
        shoulder, elbow = position(self.model, q, upper), position(self.model, q, lower)
        end = position(self.model, q, hand) if hand else elbow
        along = np.einsum("fxy,fx->fy", trunk, elbow - shoulder)
        along = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
        raised = np.degrees(np.arccos(np.clip(-along @ up, -1, 1)))
        behind = (along @ forward < 0) & (np.abs(along @ forward) > np.abs(along @ out))
        middle = position(self.model, q, self.trunk)
        offset = np.einsum("fxy,fx->fy", trunk, end - middle)
        flexions = [r for r in self._of("Elbow", side) if r.plane == "sagittal"]
        bends = self._values(flexions)
        neutral = self.model.neutral()
        lengths = [
            np.linalg.norm(position(self.model, neutral, b) - position(self.model, neutral, a))
            for a, b in ((upper, lower), (lower, hand or lower))
        ]
        return ArmAngles(
            np.where(behind, -raised, raised),
            np.degrees(np.arcsin(np.clip(along @ out, -1, 1))),
            bends,
            self._values(self._wrist(side, WRIST_FLEXION)),
            np.abs(self._values(self._wrist(side, WRIST_DEVIATION))),
            self._twist_share([r for r in self._of("Elbow", side) if r.plane == "transverse"]),
            offset @ out < 0,
            np.linalg.norm(end - shoulder, axis=1),
            float(sum(lengths)),
        )

    def knee_flexion(self) -> np.ndarray:
        """Flexion of the more bent knee, degrees."""
        values = [
            self._values([r for r in self._of("Knee", str(side)) if r.plane == "sagittal"])
            for side in Side
        ]
        return np.asarray(np.max(values, axis=0))

    def _of(self, joint: str, side: str) -> list[Reading]:
        return [r for r in self.readings if r.joint == joint and r.side == side]

    def _wrist(self, side: str, words: Sequence[str]) -> list[Reading]:
        return [
            r for r in self._of("Wrist", side) if any(word in r.name.lower() for word in words)
        ][:1]

    def _hand(self, side: str, lower: str) -> str | None:
        """The body beyond the forearm."""
        wrists = self._of("Wrist", side)
        if wrists:
            return self.children[wrists[0].index]
        for joint in self.model.joints:
            if joint.parent == lower:
                return str(joint.child)
        return None

    def _values(self, chosen: Sequence[Reading]) -> np.ndarray:
        """Sum of readings, degrees."""
        total = np.zeros(self.motion.frames)
        for reading in chosen:
            if reading.q is not None:
                total = total + reading.sign * np.degrees(self.motion.q[:, reading.q])
        return total

    def _twist_share(self, chosen: Sequence[Reading]) -> np.ndarray:
        share = np.zeros(self.motion.frames)
        for reading in chosen:
            low, high = self.model.lower[reading.index], self.model.upper[reading.index]
            if reading.q is None or not np.isfinite(high - low) or high <= low:
                continue
            middle, half = (low + high) / 2, (high - low) / 2
            share = np.maximum(share, np.abs(self.motion.q[:, reading.q] - middle) / half)
        return share


def _children(model: Model) -> dict[int, str]:
    """The body that each coordinate moves, by column in v."""
    found = {}
    for joint, place in zip(model.joints, model.joint_slots, strict=True):
        for k in range(len(joint.coordinates)):
            found[place.v.start + k] = str(joint.child)
    return found


def _relative(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.asarray(np.swapaxes(first, -1, -2) @ second)


def _twist(turn: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """Angle (frames,), rad, of the twist of rotations about an axis (swing-twist decomposition)."""
    trace = np.trace(turn, axis1=-2, axis2=-1)
    skew = np.stack(
        [
            turn[:, 2, 1] - turn[:, 1, 2],
            turn[:, 0, 2] - turn[:, 2, 0],
            turn[:, 1, 0] - turn[:, 0, 1],
        ],
        axis=-1,
    )
    return np.asarray(2 * np.arctan2(skew @ axis, 1 + trace))


def _both_feet(motion: Motion) -> tuple[np.ndarray, str]:
    """Where the weight is on both feet, and a note where forces are not known."""
    up = Axes.of(motion.model).up
    sides = {
        side: sum(np.nan_to_num(f.force @ up) for f in motion.contact_forces if f.side is side)
        for side in Side
    }
    if all(np.ndim(force) == 0 for force in sides.values()):
        return np.ones(motion.frames, dtype=bool), (
            "Foot forces are not known; the weight counts as on both feet."
        )
    forces = np.array([np.broadcast_to(force, (motion.frames,)) for force in sides.values()])
    total = np.maximum(forces.sum(axis=0), 1e-9)
    return np.asarray(forces.min(axis=0) / total > MIN_FOOT_SHARE), ""
