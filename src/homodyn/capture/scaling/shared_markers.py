"""Markers that a model and trials share by name, in the world axes of the model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.capture.scaling.marker_kinds import derived_markers
from homodyn.capture.trial import Trial
from homodyn.capture.world_frame import to_world_axes
from homodyn.errors import CaptureError
from homodyn.foundation.text import count_of, enumerate_names
from homodyn.model import Model

MIN_SHARED_MARKERS = 4
"""Shared markers that scaling needs."""
MAX_LISTED_NAMES = 8
"""Names that a message lists."""


@dataclass(frozen=True, eq=False)
class SharedMarkers:
    """Positions of the shared markers in all frames of all trials."""

    markers: tuple[str, ...]
    positions: np.ndarray
    """(frames, markers, 3), m, in the world of the model; NaN where not seen."""
    frames: tuple[tuple[str, int], ...]
    """Name of the trial and index in it, per frame."""
    warnings: tuple[str, ...]
    """Unmatched markers and bodies without markers, one sentence each."""
    trials: np.ndarray
    """(frames,): index of the trial of each frame."""


def shared_markers(model: Model, trials: Sequence[Trial]) -> SharedMarkers:
    """The markers that a model and trials share by name.

    Raises:
        CaptureError: There is no trial, or too few markers are shared.
    """
    if not trials:
        raise CaptureError("there is no trial to scale from; pass one Trial or several")
    seen = {
        name for trial in trials for k, name in enumerate(trial.markers) if trial.seen[:, k].any()
    }
    names = tuple(marker.name for marker in model.markers if marker.name in seen)
    if len(names) < MIN_SHARED_MARKERS:
        raise CaptureError(
            f"model {model.name!r} and the trials share {count_of(len(names), 'marker name')}; "
            f"{MIN_SHARED_MARKERS} or more are needed. The model has "
            f"{list_text(m.name for m in model.markers)}; the trials show {list_text(sorted(seen))}"
        )
    positions = np.concatenate([_positions(to_world_axes(model, trial), names) for trial in trials])
    derived = derived_markers(names, positions)
    kept = [k for k, name in enumerate(names) if name not in derived]
    warnings = _warnings(model, names, seen)
    if derived:
        warnings.append(f"points computed from other markers, not used: {list_text(derived)}")
    return SharedMarkers(
        tuple(names[k] for k in kept),
        positions[:, kept],
        tuple((trial.name, k) for trial in trials for k in range(trial.frames)),
        tuple(warnings),
        np.repeat(np.arange(len(trials)), [trial.frames for trial in trials]),
    )


def list_text(names: Iterable[str]) -> str:
    """Names separated by commas, a long list abbreviated; ``none`` where there are none."""
    return enumerate_names(list(names), MAX_LISTED_NAMES) or "none"


def _positions(trial: Trial, names: Sequence[str]) -> np.ndarray:
    positions = np.full((trial.frames, len(names), 3), np.nan)
    for k, name in enumerate(names):
        if name in trial.markers:
            positions[:, k] = trial.marker(name)
    return positions


def _warnings(model: Model, names: Sequence[str], seen: set[str]) -> list[str]:
    warnings = []
    extra = sorted(seen - set(names))
    if extra:
        warnings.append(f"markers that the model lacks, not used: {list_text(extra)}")
    absent = [marker.name for marker in model.markers if marker.name not in names]
    if absent:
        warnings.append(f"markers of the model that no frame shows: {list_text(absent)}")
    marked = {marker.body for marker in model.markers if marker.name in names}
    empty = [body for body in model.body_names if body not in marked]
    if empty:
        warnings.append(f"bodies without markers, scaled like the others: {list_text(empty)}")
    return warnings
