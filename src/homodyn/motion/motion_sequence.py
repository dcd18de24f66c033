"""Movements in sequence: parts joined on one time axis, and a step repeated to a stride."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from homodyn.errors import HomodynError
from homodyn.foundation.text import enumerate_names
from homodyn.motion.contact_force import ContactForce
from homodyn.motion.mirrored_motion import mirror_motion
from homodyn.motion.motion import Motion


def repeat_step(motion: Motion, steps: int = 2, *, forward: str = "Pelvis_TX") -> Motion:
    """A periodic step followed by its mirror image, and so on: two steps are a stride.

    Args:
        motion: One step, whose end is the mirror image of its start apart from the distance that it
            travels.
        steps: Number of steps.
        forward: Name of the coordinate (m) along which the step travels, parallel to X.

    Returns:
        The steps in sequence. Each begins with the frame at which the one before ends.

    Raises:
        HomodynError: The number of steps is not positive.
        ModelError: The model is not symmetric, or has no such coordinate.
    """
    if steps < 1:
        raise HomodynError(f"a motion has at least one step, got {steps}")
    entry = _distance_entry(motion, forward)
    travel = float(motion.q[-1, entry] - motion.q[0, entry])
    parts = [
        advance_motion(
            mirror_motion(motion) if n % 2 else motion,
            time=n * motion.duration,
            distance=n * travel,
            forward=forward,
        )
        for n in range(steps)
    ]
    return join_motions(parts)


def advance_motion(
    motion: Motion, *, time: float = 0.0, distance: float = 0.0, forward: str = "Pelvis_TX"
) -> Motion:
    """The same movement later and farther ahead.

    Args:
        motion: The movement.
        time: Time (s) to add to frames and events.
        distance: Distance (m) along X to add to the pose and to points of application.
        forward: Name of the coordinate (m) that moves the whole model parallel to X.

    Returns:
        A copy of the motion.

    Raises:
        ModelError: The model has no such coordinate.
        HomodynError: The coordinate belongs to a quaternion.
    """
    q = motion.q.copy()
    q[:, _distance_entry(motion, forward)] += distance
    ahead = np.array([distance, 0.0, 0.0])
    return replace(
        motion,
        time=motion.time + time,
        q=q,
        contact_forces=tuple(replace(f, point=f.point + ahead) for f in motion.contact_forces),
        events=tuple(replace(event, time=event.time + time) for event in motion.events),
    )


def _distance_entry(motion: Motion, name: str) -> int:
    """The entry of q of a coordinate."""
    entry = motion.model.position_index[motion.model.coordinate_index(name)]
    if entry is None:
        raise HomodynError(f"{name!r} belongs to a quaternion and is no distance")
    return entry


def join_motions(motions: Sequence[Motion]) -> Motion:
    """Movements of one model in sequence, on one time axis.

    Where a movement begins at the time at which the one before ends, the later one counts: the
    frame has its state, its torques and its contact forces. Velocities may jump there. Bodies that
    are not in contact in a part have zero force and no point of application there. Quantities that
    one of the parts lacks are left out.

    Args:
        motions: The parts, in the order of time.

    Returns:
        The movement from the start of the first part to the end of the last one.

    Raises:
        HomodynError: There is no part, the models differ, or the parts overlap in time.
    """
    if not motions:
        raise HomodynError("there is no motion to join")
    model = motions[0].model
    for before, after in pairwise(motions):
        if after.model is not model and after.model != model:
            raise HomodynError(
                "motions of different models cannot be joined: "
                + enumerate_names([motion.model.name for motion in motions])
            )
        if after.time[0] < before.time[-1] - 1e-9:
            raise HomodynError(
                f"a motion that begins at {after.time[0]:g} s cannot follow one that ends at "
                f"{before.time[-1]:g} s"
            )
    parts = [_without_shared_end(*pair) for pair in pairwise(motions)] + [motions[-1]]
    bodies = dict.fromkeys(f.body for part in parts for f in part.contact_forces)
    return Motion(
        model,
        np.concatenate([part.time for part in parts]),
        np.concatenate([part.q for part in parts]),
        np.concatenate([part.v for part in parts]),
        np.concatenate([part.a for part in parts]),
        method=motions[0].method,
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        tau=_joined_rows([part.tau for part in parts]),
        contact_forces=tuple(_joined_force(body, parts) for body in bodies),
        activations=_joined_rows([part.activations for part in parts]),
        events=tuple(dict.fromkeys(event for motion in motions for event in motion.events)),
        source=motions[0].source,
        result=motions[0].result,
    )


def _without_shared_end(before: Motion, after: Motion) -> Motion:
    """A part without its last frame, where the next part begins at the same time."""
    rounding = 1e-9 * max(1.0, abs(float(after.time[0])))
    return before.take(np.flatnonzero(before.time < after.time[0] - rounding))


def _joined_rows(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Rows of all parts; empty where a part has none."""
    return np.concatenate(parts) if all(part.size for part in parts) else np.zeros((0, 0))


def _joined_force(body: str, parts: Sequence[Motion]) -> ContactForce:
    """The force on one body over all parts."""
    pieces = []
    for part in parts:
        found = next((f for f in part.contact_forces if f.body == body), None)
        if found is None:
            zero = np.zeros((part.frames, 3))
            found = ContactForce(body, None, zero, np.full((part.frames, 3), np.nan), zero)
        pieces.append(found)
    known = next(f for part in parts for f in part.contact_forces if f.body == body)
    return replace(
        known,
        force=np.concatenate([piece.force for piece in pieces]),
        point=np.concatenate([piece.point for piece in pieces]),
        torque=np.concatenate([piece.torque for piece in pieces]),
    )
