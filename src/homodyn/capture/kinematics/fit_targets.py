"""Targets of inverse kinematics: measured markers and tracked coordinates, frame by frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from homodyn.capture.kinematics.observability import common_markers
from homodyn.capture.kinematics.options import TrackedCoordinates
from homodyn.capture.kinematics.plausibility import check_units
from homodyn.capture.trial import Trial
from homodyn.capture.world_frame import world_axes
from homodyn.errors import CaptureError
from homodyn.foundation.text import count_of, enumerate_names, unknown_name
from homodyn.model import Model
from homodyn.model.configuration import plain_entries
from homodyn.motion.clinical import resolve_coordinate

MAX_LISTED_MARKERS = 12
"""Markers that a message lists."""


@dataclass(frozen=True)
class MarkerTargets:
    """The markers that a model and a trial share, in the world axes of the model."""

    names: tuple[str, ...]
    marker_indices: np.ndarray
    """Indices of the shared markers among those of the model."""
    measured: np.ndarray
    """(frames, shared markers, 3), m; NaN where not seen."""
    targets: np.ndarray
    """(frames, all markers of the model, 3), m; zero where not seen."""
    weights: np.ndarray
    """(frames, all markers of the model); zero where not seen."""
    notes: tuple[str, ...]


def marker_targets(
    model: Model, trial: Trial, weights: Mapping[str, float] | None
) -> MarkerTargets:
    """Positions and weights of the markers that a trial shows.

    Args:
        model: The model.
        trial: The recording.
        weights: Weights by marker name; 1 for markers that are not listed.

    Raises:
        CaptureError: No marker is shared or seen, a weight names an unknown marker, or the units of
            the trial cannot be meters.
    """
    ours, theirs = common_markers(model, trial)
    names = tuple(marker.name for marker in model.markers)
    if not ours:
        raise CaptureError(
            f"trial {trial.name!r} and model {model.name!r} have no marker name in common: "
            f"the trial has {_list_text(trial.markers)}; the model has {_list_text(names)}; "
            "match the labels (match_labels) or rename them (Trial.rename_markers)"
        )
    factors = np.ones(len(names))
    for name, weight in (weights or {}).items():
        if name not in names:
            raise CaptureError(
                f"weights: model {model.name!r} has {unknown_name('marker', name, names)}"
            )
        factors[names.index(name)] = weight
    measured = trial.positions[:, theirs] @ world_axes(model)
    seen = np.isfinite(measured).all(-1)
    targets = np.zeros((trial.frames, len(names), 3))
    targets[:, ours] = np.where(seen[..., None], measured, 0.0)
    frame_weights = np.zeros((trial.frames, len(names)))
    frame_weights[:, ours] = seen * factors[ours]
    if not frame_weights.any():
        raise CaptureError(
            f"trial {trial.name!r} shares {count_of(len(ours), 'marker')} with model "
            f"{model.name!r}; none is ever seen with a weight above zero"
        )
    check_units(model, targets, frame_weights)
    notes = []
    for what, extra in (
        ("markers that the model lacks, ignored", [m for m in trial.markers if m not in names]),
        ("markers of the model that the trial lacks", [m for m in names if m not in trial.markers]),
    ):
        if extra:
            notes.append(f"{what}: {_list_text(extra)}")
    shared = tuple(names[k] for k in ours)
    return MarkerTargets(shared, np.array(ours), measured, targets, frame_weights, tuple(notes))


def tracking_targets(
    model: Model, track: TrackedCoordinates | None, frames: int
) -> tuple[np.ndarray, np.ndarray]:
    """Weights and values (frames, nv) of the coordinates that follow given values.

    Args:
        model: The model.
        track: By coordinate, a weight and values (rad, m), with the sign of the name.
        frames: Number of frames.

    Raises:
        CaptureError: The number of values is wrong, or a coordinate belongs to a quaternion.
        HomodynError: A coordinate is unknown.
    """
    weights, targets = np.zeros((2, frames, model.nv))
    plain = plain_entries(model)[0]
    for name, (weight, values) in (track or {}).items():
        coordinate = resolve_coordinate(model, name)
        entry = model.coordinate_index(coordinate.coordinate)
        if entry not in plain:
            raise CaptureError(f"coordinate {name!r} is part of a quaternion and cannot be tracked")
        given = np.asarray(values, dtype=float)
        if given.shape not in ((), (frames,)):
            raise CaptureError(
                f"track: {name!r} has values of shape {given.shape}; one number or {frames} are "
                "needed"
            )
        every = np.broadcast_to(given, frames)
        known = np.isfinite(every)
        weights[known, entry] = weight
        targets[known, entry] = coordinate.sign * every[known]
    return weights, targets


def _list_text(names: Iterable[str]) -> str:
    return enumerate_names([str(name) for name in names], MAX_LISTED_MARKERS)
