"""Editing of markers: assign, rename, remove, weight; selection in the view; marker errors."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from homodyn import capture
from homodyn.capture import Trial
from homodyn.capture.labeling import LabelMatching
from homodyn.errors import CaptureError, HomodynError, ModelError
from homodyn.foundation.text import unknown_name
from homodyn.studio.document import Actor, StudioDocument, nearest_frame
from homodyn.studio.model_editing import with_model

RECORDING, BODY, BOTH = "recording", "body", "both"
MARKER_SCOPES = (RECORDING, BODY, BOTH)
"""Where a marker is renamed or removed."""


@dataclass(frozen=True)
class Camera:
    """The camera of a page; its axes are x right, y down, z forward."""

    position: np.ndarray
    """(3,), m."""
    wxyz: np.ndarray
    """(4,): rotation from the axes of the camera to the world, a quaternion."""
    fov: float
    """Vertical field of view (rad)."""
    aspect: float
    """Width divided by height."""

    def project(self, points: np.ndarray) -> np.ndarray:
        """(n, 2): image coordinates of points (n, 3), m, from 0 to 1; NaN behind the camera."""
        rotation = Rotation.from_quat(np.asarray(self.wxyz, dtype=float), scalar_first=True)
        x, y, z = rotation.inv().apply(np.asarray(points, dtype=float) - self.position).T
        half = np.tan(self.fov / 2)
        depth = np.where(z > 1e-6, z, np.nan)
        return np.column_stack(
            [0.5 + x / depth / (2 * half * self.aspect), 0.5 + y / depth / (2 * half)]
        )


def points_in_rectangle(
    camera: Camera, points: np.ndarray, low: Sequence[float], high: Sequence[float]
) -> np.ndarray:
    """(n,): whether points (n, 3), m, lie in a rectangle of the image with corners from 0 to 1."""
    image = camera.project(points)
    with np.errstate(invalid="ignore"):
        return np.asarray(((image >= low) & (image <= high)).all(axis=1))


def active_body_and_recording(document: StudioDocument) -> tuple[Actor, Trial]:
    """The active body and the active recording.

    Raises:
        HomodynError: No body is open, or no recording with frames.
    """
    if document.actor is None:
        raise HomodynError("no body is open; add one under Open")
    if document.trial is None or not document.trial.frames:
        raise HomodynError("no recording with frames is open; drop a file on the page")
    return document.actor, document.trial


def assign_markers(
    document: StudioDocument, markers: Collection[str], segment: str, time: float
) -> StudioDocument:
    """The document with markers attached to a segment at their measured positions.

    p_local = R^T (measured - r) (Felis 2015, eq. 4.8), in the pose at an instant (s).

    Args:
        document: The document.
        markers: Markers of the active recording.
        segment: Segment of the active body.
        time: Instant (s) of the frame.
    """
    actor, trial = active_body_and_recording(document)
    if not markers:
        raise HomodynError(
            "no marker is selected; click one in the view, or hold Shift and drag a box"
        )
    if segment not in actor.model.body_names:
        raise ModelError(
            f"{actor.name} has {unknown_name('segment', segment, actor.model.body_names)}"
        )
    selected = [name for name in trial.markers if name in markers]
    model = capture.assign_markers(
        actor.model,
        actor.position(time),
        trial,
        frame=nearest_frame(trial.time, time),
        markers=selected,
        bodies=dict.fromkeys(selected, segment),
    )
    return document.with_active(with_model(actor, model, actor.recipe))


def rename_marker(
    document: StudioDocument, marker: str, name: str, scope: str = RECORDING
) -> StudioDocument:
    """The document with a marker renamed in the recording, on the active body, or in both."""
    name = name.strip()
    if not name:
        raise HomodynError(f"enter the new name of {marker} first")
    if name == marker:
        return document
    changed = document
    if scope in (RECORDING, BOTH):
        _, trial = active_body_and_recording(document)
        _refuse_taken(f"the recording {trial.name!r}", marker, name, trial.markers)
        changed = changed.with_active_trial(trial.rename_markers({marker: name}))
    if scope in (BODY, BOTH) and changed.actor is not None:
        actor = changed.actor
        names = [own.name for own in actor.model.markers]
        _refuse_taken(actor.name, marker, name, names)
        markers = tuple(
            replace(own, name=name) if own.name == marker else own for own in actor.model.markers
        )
        weights = {name if key == marker else key: w for key, w in actor.weights.items()}
        renamed = with_model(
            replace(actor, weights={}), replace(actor.model, markers=markers), actor.recipe
        )
        changed = changed.with_active(replace(renamed, weights=weights))
    return changed


def remove_markers(
    document: StudioDocument, markers: Collection[str], scope: str = BODY
) -> StudioDocument:
    """The document without markers on the active body, in the recording, or in both."""
    if not markers:
        raise HomodynError("no marker is selected to be removed")
    changed = document
    if scope in (RECORDING, BOTH) and document.trial is not None:
        remaining = [name for name in document.trial.markers if name not in markers]
        changed = changed.with_active_trial(document.trial.select_markers(remaining))
    actor = document.actor
    if scope in (BODY, BOTH) and actor is not None:
        kept = tuple(own for own in actor.model.markers if own.name not in markers)
        if len(kept) < len(actor.model.markers):
            model = replace(actor.model, markers=kept)
            changed = changed.with_active(with_model(actor, model, actor.recipe))
        elif scope == BODY:
            listed = ", ".join(sorted(markers))
            raise ModelError(f"{actor.name} does not have these markers: {listed}")
    return changed


def set_marker_weights(
    document: StudioDocument, markers: Collection[str], weight: float
) -> StudioDocument:
    """The document with a weight (0 or more) of some markers of the active body in fits."""
    actor = document.actor
    if actor is None:
        raise HomodynError("no body is open; add one under Open")
    if not markers:
        raise ModelError("no marker is selected to be weighted")
    unknown = sorted(set(markers) - {own.name for own in actor.model.markers})
    if unknown:
        raise ModelError(
            f"{', '.join(unknown)}: only markers of the body have weights; assign the marker to a "
            "segment first"
        )
    if not (np.isfinite(weight) and weight >= 0):
        raise CaptureError(f"the weight is {weight:g}; it must be 0 or more")
    weights = {**actor.weights, **dict.fromkeys(markers, float(weight))}
    kept = {name: value for name, value in weights.items() if value != 1.0}
    return document.with_active(replace(actor, weights=kept))


def match_marker_labels(document: StudioDocument) -> tuple[StudioDocument, LabelMatching]:
    """The document with labels matched to the active body, and the matching."""
    actor, trial = active_body_and_recording(document)
    matching = capture.match_labels(actor.model, trial)
    if matching.trial.markers == trial.markers:
        return document, matching
    return document.with_active_trial(matching.trial), matching


def marker_errors(
    actor: Actor, trial: Trial, positions: np.ndarray, time: float
) -> dict[str, float]:
    """Distance (m) of each model marker from the measured marker of the same name.

    Markers that are missing at the instant, in the body or in the recording are left out.

    Args:
        actor: The body.
        trial: The recording.
        positions: Positions (markers, 3), m, of the model markers in the axes of the scene.
        time: Instant (s).
    """
    if not trial.frames:
        return {}
    frame = nearest_frame(trial.time, time)
    index = {name: k for k, name in enumerate(trial.markers)}
    pairs = [
        (k, index[marker.name])
        for k, marker in enumerate(actor.model.markers)
        if marker.name in index and trial.seen[frame, index[marker.name]]
    ]
    if not pairs:
        return {}
    own, other = np.array(pairs).T
    distance = np.linalg.norm(positions[own] - trial.positions[frame][other], axis=1)
    return {trial.markers[k]: float(d) for k, d in zip(other, distance, strict=True)}


def root_mean_square(errors: dict[str, float]) -> float:
    """Root mean square (m) of marker errors; 0 if there are none."""
    return float(np.sqrt(np.mean(np.square(list(errors.values()))))) if errors else 0.0


def _refuse_taken(owner: str, marker: str, name: str, names: Collection[str]) -> None:
    if marker not in names:
        raise CaptureError(f"{owner} has {unknown_name('marker', marker, list(names))}")
    if name in names:
        raise CaptureError(f"{owner} already has a marker {name!r}; rename or remove it first")
