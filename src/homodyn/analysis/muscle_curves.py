"""Curves of muscles over the gait cycle, and the frames in which the loads of a leg are known."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from homodyn.analysis.curves import CYCLE_PERCENT, CurveEnsemble, CycleSegmentation
from homodyn.analysis.load_validity import foot_force_valid
from homodyn.gait import cycles
from homodyn.model.side import Side, side_of
from homodyn.motion import Loads
from homodyn.motion.clinical import LEGS, readings
from homodyn.muscle import MuscleActivations


def known_by_side(loads: Loads, segmentation: CycleSegmentation) -> dict[str, np.ndarray]:
    """Frames in which the torques of a leg are known.

    The torques of a leg need the force on its own foot only.

    Args:
        loads: The loads.
        segmentation: The gait cycles.

    Returns:
        (frames,) for ``"right"``, ``"left"`` and ``"middle"``; the last is where all torques are
        known.
    """
    inside = ~loads.edge if loads.edge.size else np.ones(loads.motion.frames, dtype=bool)
    found = {str(side): foot_force_valid(loads, segmentation, side) & inside for side in Side}
    return {**found, "middle": loads.valid}


def known_activations(result: MuscleActivations, known: Mapping[str, np.ndarray]) -> np.ndarray:
    """Frames in which the activation of each muscle is known, (frames, muscles).

    Args:
        result: The activations.
        known: Frames by side, as `known_by_side` returns them.
    """
    model = result.loads.motion.model
    sides = {one.name: one.side for one in readings(model) if one.joint in LEGS}
    columns = []
    for k, name in enumerate(result.muscles):
        moved = [
            coordinate
            for j, coordinate in enumerate(result.coordinates)
            if result.moment_arms[:, k, j].any()
        ]
        side = side_of(name)
        own = side is not None and all(sides.get(one) == side for one in moved)
        columns.append(known[str(side) if own else "middle"])
    return np.column_stack(columns)


def known_ensemble(
    segmentation: CycleSegmentation, values: np.ndarray, known: np.ndarray, side: str
) -> CurveEnsemble | None:
    """A quantity over the cycles of a side; without a complete one, over what is known of them.

    Args:
        segmentation: The gait cycles.
        values: (frames,).
        known: (frames,).
        side: ``"right"`` or ``"left"``.

    Returns:
        The curves. A single mean curve has NaN where no cycle is known; None if nothing is known.
    """
    masked = np.where(known, values, np.nan)
    complete = segmentation.ensemble(masked, side)
    if complete is not None or not segmentation.has_cycles:
        return complete
    cut = cycles(segmentation.time, masked, segmentation.events, side).values
    seen = np.isfinite(cut)
    if not seen.any():
        return None
    total, count = np.where(seen, cut, 0.0).sum(axis=0), seen.sum(axis=0)
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return CurveEnsemble(CYCLE_PERCENT, mean[None])
