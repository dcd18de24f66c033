"""Longer phases where the whole body is out of balance.

The rate of the angular momentum falls with the square of the duration. A phase whose whole body has
less margin than the point mass becomes longer by the root of the share that has to go.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from homodyn.motion import Scene, SceneStep
from homodyn.plan.motion_assembly import MotionDraft

MARGIN_RESERVE_NM = 2.0
"""Margin beyond what is asked, for the frames between those of a draft."""
MIN_FACTOR, MAX_FACTOR = 1.15, 1.4
"""Factors of the duration of a phase in one round."""


def lengthened_scene(draft: MotionDraft, min_margin: float) -> Scene | None:
    """The scene with longer phases where the margin of the whole body is too small.

    Args:
        draft: A motion through the scene.
        min_margin: Smallest margin (N m).

    Returns:
        The scene; None where all margins are large enough.
    """
    sequence, balance = draft.schedule.sequence, draft.balance
    steps = tuple(
        _lengthen_step(
            step,
            float(duration),
            balance.wrench[balance.phase == k],
            balance.point_mass.wrench[balance.phase == k],
            min_margin + MARGIN_RESERVE_NM,
        )
        for k, (step, duration) in enumerate(
            zip(sequence.steps, np.diff(sequence.instants), strict=True)
        )
    )
    changed = steps != tuple(sequence.steps)
    return replace(sequence.context.scene, steps=steps) if changed else None


def _lengthen_step(
    step: SceneStep, duration: float, whole: np.ndarray, point: np.ndarray, needed: float
) -> SceneStep:
    """A phase that lasts longer if the whole body has less margin (N m) than needed."""
    if not len(whole) or not np.isfinite(whole).all() or whole.min() >= needed:
        return step
    worst = int(np.argmin(whole))
    lost, room = point[worst] - whole[worst], point[worst] - needed
    factor = np.sqrt(lost / room) if room > 0 and lost > 0 else MAX_FACTOR
    longer = float(duration * np.clip(factor, MIN_FACTOR, MAX_FACTOR))
    return replace(
        step,
        duration=None if step.duration is None else longer,
        min_duration=max(step.min_duration, longer),
    )
