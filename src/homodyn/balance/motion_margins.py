"""Stability margins of any motion, or of a model standing in a pose, in one call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.balance.contact_detection import detect_contacts
from homodyn.balance.contact_phases import SupportPhase
from homodyn.balance.evaluation import BalanceEvaluation, evaluate
from homodyn.balance.sole_contacts import find_soles, ground_level
from homodyn.balance.stance import Stance
from homodyn.capture.kinetics import find_feet
from homodyn.capture.world_frame import world_axes
from homodyn.errors import ModelError
from homodyn.foundation.arguments import require_type
from homodyn.foundation.text import enumerate_names
from homodyn.model import Model
from homodyn.motion import ForcePlate, Motion, motion_from_poses
from homodyn.motion.supports import Support

STANDING_FRAMES = 41
STANDING_RATE_HZ = 100.0
"""A pose is evaluated as a short time of standing still, in which contacts are detected."""


def margins(
    motion: Motion | Model,
    q: np.ndarray | None = None,
    supports: Stance | Sequence[Support] | None = None,
    *,
    plates: Sequence[ForcePlate] = (),
    friction: float = 0.7,
    phases: Sequence[SupportPhase] | None = None,
    ground: float | None = None,
) -> BalanceEvaluation:
    """Compute the stability margins of a motion, or of a pose at rest.

    The supports of a pose are the points of its feet within 1 cm of the ground. The contacts of a
    motion are detected from loaded plates where there are any, else from its contact forces, else
    from the height and speed of the soles; see `detect_contacts`. Use `detect_contacts` and
    `evaluate` for more control.

    Args:
        motion: A motion from any source; or a model, for a pose at rest.
        q: (nq,), rad or m: the pose, with a model; its neutral pose when left out.
        supports: What carries the pose, such as soles, hands on a rail and a seat; None: the feet
            on the ground.
        plates: Force plates of a recorded motion.
        friction: Friction coefficient of the feet.
        phases: Contact phases, where they are known.
        ground: Height of the ground (m). None: zero for a pose and for feet that never step, else
            the lowest level of the soles.

    Returns:
        Margins of force (N), moment (N m) and both per frame; one frame for a pose. Its
        ``sentence`` and ``phases`` name the supports.

    Raises:
        ModelError: No foot is in contact, or a pose is given with a motion.
        CaptureError: The feet of the model are not found.
        NoSolution: The wrench set of a stance cannot be computed.
        HomodynError: ``motion`` has another type.
    """
    require_type("motion", motion, Motion, Model)
    if isinstance(motion, Motion):
        if q is not None:
            raise ModelError("a pose q goes with a model; leave it out for a motion")
        evaluated = motion
    else:
        pose = motion.neutral() if q is None else np.asarray(q, dtype=float)
        time = np.arange(STANDING_FRAMES) / STANDING_RATE_HZ
        motion = motion_from_poses(motion, time, np.tile(pose, (STANDING_FRAMES, 1)))
        evaluated = motion.take(np.array([0]))
    if supports is not None:
        if phases is not None or evaluated is motion:
            raise ModelError("supports go with a model and a pose; give phases for a motion")
        stance = supports if isinstance(supports, Stance) else Stance(tuple(supports))
        phases = (SupportPhase(stance, 0.0, STANDING_FRAMES / STANDING_RATE_HZ, stance.name),)
    if phases is None:
        phases = detect_contacts(motion, plates=plates, friction=friction, ground=ground)
        if all(phase.stance is None for phase in phases):
            raise ModelError(_no_contact_message(motion, ground))
    return evaluate(evaluated, phases)


def _no_contact_message(motion: Motion, ground: float | None) -> str:
    """Why there is no support: where the feet are, and what would be accepted."""
    if motion.contact_forces:
        bodies = ", ".join(force.body for force in motion.contact_forces)
        return f"no foot is in contact: the contact forces of the motion act on {bodies}"
    up = world_axes(motion.model)[2]
    feet = find_feet(motion.model)
    soles = find_soles(motion, feet, up)
    level = ground_level(motion, soles, ground)
    heights = enumerate_names(
        [
            f"{foot.body} {abs(sole.level - level.height):.3g} m "
            f"{'above' if sole.level >= level.height else 'below'} it"
            for foot, sole in zip(feet, soles, strict=True)
        ]
    )
    return (
        f"no foot is in contact: the ground is at {level.height:.3g} m, with {heights}; put the "
        "feet on it with simulate.place_on_ground, or give the height of the ground (ground=) or "
        "the contact phases (phases=)"
    )
