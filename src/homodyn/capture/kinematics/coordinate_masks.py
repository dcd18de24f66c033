"""Which coordinates the markers of a trial determine, in all frames and in each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.capture.kinematics.observability import undetermined_coordinates, visibility_patterns
from homodyn.capture.kinematics.pose_initialization import placement_entries
from homodyn.errors import CaptureError
from homodyn.foundation.text import count_of, enumerate_names
from homodyn.model import Model
from homodyn.motion.clinical import coordinate_label


@dataclass(frozen=True)
class CoordinateMasks:
    """Coordinates that the fit cannot determine, and frames in which the model cannot be placed."""

    locked: np.ndarray
    """(nv,): True for coordinates that the model locks."""
    undetermined: np.ndarray
    """(nv,): True for coordinates that no frame determines."""
    gaps: np.ndarray
    """(frames, nv): True where the frame does not determine the coordinate, but others do."""
    placed: np.ndarray
    """(frames,): True where the visible markers determine the position of the model."""

    @property
    def free(self) -> np.ndarray:
        """(nv,): True for coordinates that some frame determines."""
        return ~(self.locked | self.undetermined)

    @property
    def interpolated(self) -> np.ndarray:
        """(frames, nv): True where a coordinate of a placed frame has to be interpolated."""
        return self.gaps & self.placed[:, None]


def coordinate_masks(
    model: Model, weights: np.ndarray, tracking_weights: np.ndarray, *, require_placement: bool
) -> CoordinateMasks:
    """Determine which coordinates the visible markers and the tracked values leave open.

    Args:
        model: The model.
        weights: (frames, markers): zero where a marker is not seen.
        tracking_weights: (frames, nv): zero where a coordinate is not tracked.
        require_placement: Refuse markers that do not determine the position of the model, because
            no initial pose is given.

    Raises:
        CaptureError: The markers do not determine the position of the model.
    """
    locked = np.array([coordinate.locked for coordinate in model.coordinates], dtype=bool)
    ever_seen = weights.max(0)[None]
    ever_tracked = tracking_weights.max(0)[None]
    undetermined = undetermined_coordinates(model, ever_seen, ever_tracked, locked)[0]
    roots = np.concatenate(placement_entries(model))
    if require_placement and undetermined[roots].any() and len(roots) >= 3:
        missing = [model.coordinate_names[i] for i in roots if undetermined[i]]
        names = [coordinate_label(model, name) for name in missing]
        raise CaptureError(
            f"the {count_of(int((ever_seen > 0).sum()), 'marker')} that trial and model "
            f"{model.name!r} share do not determine the position of the model "
            f"({', '.join(names)}): three markers that are not in line are needed on its first "
            f"segments{_root_markers(model)}"
        )
    patterns, pattern_of_frame = visibility_patterns(
        np.column_stack([weights > 0, tracking_weights > 0])
    )
    count = len(model.markers)
    complete = np.concatenate([ever_seen[0] > 0, ever_tracked[0] > 0])
    pattern_weights = np.where(patterns[:, :count], ever_seen, 0.0)
    pattern_tracking = np.where(patterns[:, count:], ever_tracked, 0.0)
    partial = (patterns != complete).any(-1)
    hidden = np.zeros((len(patterns), model.nv), dtype=bool)
    hidden[partial] = undetermined_coordinates(
        model, pattern_weights[partial], pattern_tracking[partial], locked | undetermined
    )
    gaps = hidden[pattern_of_frame]
    placed = np.logical_and((weights > 0).any(-1), ~gaps[:, roots].any(-1))
    if not placed.any():
        raise CaptureError(
            "no frame shows enough markers at once to determine the position of the model; three "
            "that are not in line are needed"
        )
    return CoordinateMasks(locked, undetermined, gaps, placed)


def _root_markers(model: Model) -> str:
    """The markers of the root body and of those joined to it, in parentheses."""
    roots = [name for name, p in zip(model.body_names, model.parents, strict=True) if p < 0]
    near = [
        name
        for name, p in zip(model.body_names, model.parents, strict=True)
        if p < 0 or model.body_names[p] in roots
    ]
    carried = {name: [m.name for m in model.markers if m.body == name] for name in near}
    listed = [f"{name}: {enumerate_names(ms, 4)}" for name, ms in carried.items() if ms]
    return f" (such as {'; '.join(listed)})" if listed else ""
