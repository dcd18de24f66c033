"""Stability margins of any motion, or of a model standing in a pose, in one call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.balance.contact_detection import detect_contacts
from homodyn.balance.contact_phases import SupportPhase
from homodyn.balance.evaluation import BalanceEvaluation, evaluate
from homodyn.errors import ModelError
from homodyn.model import Model
from homodyn.motion import ForcePlate, Motion, motion_from_poses

STANDING_FRAMES = 41
STANDING_RATE_HZ = 100.0
"""A pose is evaluated as a short stretch of standing still, in which contacts are detected."""


def margins(
    motion: Motion | Model,
    q: np.ndarray | None = None,
    *,
    plates: Sequence[ForcePlate] = (),
    friction: float = 0.7,
    phases: Sequence[SupportPhase] | None = None,
) -> BalanceEvaluation:
    """Compute how far a motion, or a pose at rest, is from losing its balance.

    Contacts are detected from loaded plates where there are any, else from the height and speed of
    the soles. Use `detect_contacts` and `evaluate` for more control.

    Args:
        motion: Any motion, whoever made it; or a model, for a pose at rest.
        q: (nq,), rad or m: the pose, with a model; its neutral pose when left out.
        plates: Force plates of a recorded motion.
        friction: Friction coefficient of the feet.
        phases: Contact phases, where they are known.

    Returns:
        Margins of force (N), moment (N m) and both per frame; one frame for a pose.

    Raises:
        ModelError: No foot is in contact, or a pose is given with a motion.
        CaptureError: The feet of the model are not found.
    """
    if isinstance(motion, Motion):
        if q is not None:
            raise ModelError("a pose q goes with a model; leave it out for a motion")
        found = detect_contacts(motion, plates=plates, friction=friction)
        return evaluate(motion, found if phases is None else phases)
    pose = motion.neutral() if q is None else np.asarray(q, dtype=float)
    time = np.arange(STANDING_FRAMES) / STANDING_RATE_HZ
    standing = motion_from_poses(motion, time, np.tile(pose, (STANDING_FRAMES, 1)))
    found = detect_contacts(standing, plates=plates, friction=friction)
    return evaluate(standing.take(np.array([0])), found if phases is None else phases)
