"""What a model and some trials have in common: markers of the same name, in the model's world."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.capture.trial import Trial
from homodyn.capture.world_frame import to_world_axes
from homodyn.errors import CaptureError
from homodyn.model import Model

MIN_SHARED_MARKERS = 4
"""Fewer common markers than this tell nothing of a person."""


@dataclass(frozen=True, eq=False)
class SharedMarkers:
    """Markers of a model as trials show them, all frames in a row."""

    markers: tuple[str, ...]
    positions: np.ndarray
    """(frames, markers, 3), m, in the world of the model; NaN where not seen."""
    frames: tuple[tuple[str, int], ...]
    """Name of the trial and index in it, of every frame."""
    warnings: tuple[str, ...]
    """Markers without a partner and bodies without markers, one sentence each."""


def shared_markers(model: Model, trials: Sequence[Trial]) -> SharedMarkers:
    """The markers that a model and trials share by name."""
    if not trials:
        raise CaptureError("no trial to learn the person from; give one Trial or several")
    seen = {
        name for trial in trials for k, name in enumerate(trial.markers) if trial.seen[:, k].any()
    }
    names = tuple(marker.name for marker in model.markers if marker.name in seen)
    if len(names) < MIN_SHARED_MARKERS:
        raise CaptureError(
            f"model {model.name!r} and the trials share {len(names)} marker names; at least "
            f"{MIN_SHARED_MARKERS} are needed. The model has "
            f"{list_text(m.name for m in model.markers)}; the trials show {list_text(sorted(seen))}"
        )
    return SharedMarkers(
        names,
        np.concatenate([_positions(to_world_axes(model, trial), names) for trial in trials]),
        tuple((trial.name, k) for trial in trials for k in range(trial.frames)),
        tuple(_warnings(model, names, seen)),
    )


def list_text(names: Iterable[str]) -> str:
    """Names in a sentence, the first eight of them."""
    found = list(names)
    shown = ", ".join(found[:8]) or "none"
    return f"{shown} and {len(found) - 8} more" if len(found) > 8 else shown


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
        warnings.append(f"markers the model does not have, not used: {list_text(extra)}")
    absent = [marker.name for marker in model.markers if marker.name not in names]
    if absent:
        warnings.append(f"markers of the model that no frame shows: {list_text(absent)}")
    carrying = {marker.body for marker in model.markers if marker.name in names}
    empty = [body for body in model.body_names if body not in carrying]
    if empty:
        warnings.append(f"bodies without markers, sized after the others: {list_text(empty)}")
    return warnings
