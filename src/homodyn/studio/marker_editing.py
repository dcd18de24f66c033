"""Work on markers: give them to segments, rename, remove and weigh them; how well they fit now."""

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
DEFAULT_ERROR_THRESHOLD_M = 0.03
"""Distance (m) of measured and model marker from which on a marker fits badly."""


@dataclass(frozen=True)
class Camera:
    """Where a browser looks from: axes are those of pictures, x right, y down, z ahead."""

    position: np.ndarray
    """(3,), m."""
    wxyz: np.ndarray
    """Turn from the axes of the camera to the world, a quaternion."""
    fov: float
    """Angle from the lower to the upper edge (rad)."""
    aspect: float
    """Width by height."""

    def seen_at(self, points: np.ndarray) -> np.ndarray:
        """(n, 2): where points (n, 3), m, are in the picture, from 0 to 1; NaN behind it."""
        turn = Rotation.from_quat(np.asarray(self.wxyz, dtype=float), scalar_first=True)
        x, y, z = turn.inv().apply(np.asarray(points, dtype=float) - self.position).T
        half = np.tan(self.fov / 2)
        ahead = np.where(z > 1e-6, z, np.nan)
        return np.column_stack(
            [0.5 + x / ahead / (2 * half * self.aspect), 0.5 + y / ahead / (2 * half)]
        )


def points_in_rectangle(
    camera: Camera, points: np.ndarray, low: Sequence[float], high: Sequence[float]
) -> np.ndarray:
    """(n,): which points (n, 3), m, a rectangle of the picture holds; corners from 0 to 1."""
    at = camera.seen_at(points)
    with np.errstate(invalid="ignore"):
        return np.asarray(((at >= low) & (at <= high)).all(axis=1))


def active_body_and_recording(document: StudioDocument) -> tuple[Actor, Trial]:
    """The active body and the recording; refused where one is missing."""
    if document.actor is None:
        raise HomodynError("no body is open; add one under Open")
    if document.trial is None or not document.trial.frames:
        raise HomodynError("no recording with frames is open; drop one on the page")
    return document.actor, document.trial


def assign_markers(
    document: StudioDocument, markers: Collection[str], segment: str, time: float
) -> StudioDocument:
    """Markers of the recording put on a segment, where they are seen now in its present pose.

    p_local = R^T (measured - r) (Felis 2015, eq. 4.8), at the frame of an instant (s).
    """
    actor, trial = active_body_and_recording(document)
    if not markers:
        raise HomodynError(
            "no marker is chosen; click one in the picture, or drag a box with the Shift key held"
        )
    if segment not in actor.model.body_names:
        raise ModelError(
            f"{actor.name} has {unknown_name('segment', segment, actor.model.body_names)}"
        )
    chosen = [name for name in trial.markers if name in markers]
    model = capture.assign_markers(
        actor.model,
        actor.position(time),
        trial,
        frame=nearest_frame(trial.time, time),
        markers=chosen,
        bodies=dict.fromkeys(chosen, segment),
    )
    return document.with_active(with_model(actor, model, actor.recipe))


def rename_marker(
    document: StudioDocument, marker: str, name: str, where: str = RECORDING
) -> StudioDocument:
    """A marker called otherwise, in the recording, on the active body, or on both."""
    name = name.strip()
    if not name:
        raise HomodynError(f"write the new name of {marker} first")
    if name == marker:
        return document
    changed = document
    if where in (RECORDING, BOTH):
        _, trial = active_body_and_recording(document)
        _refuse_taken(f"the recording {trial.name!r}", marker, name, trial.markers)
        changed = changed.with_active_trial(trial.rename_markers({marker: name}))
    if where in (BODY, BOTH) and changed.actor is not None:
        actor = changed.actor
        names = [one.name for one in actor.model.markers]
        _refuse_taken(actor.name, marker, name, names)
        markers = tuple(
            replace(one, name=name) if one.name == marker else one for one in actor.model.markers
        )
        weights = {name if key == marker else key: w for key, w in actor.weights.items()}
        made = with_model(
            replace(actor, weights={}), replace(actor.model, markers=markers), actor.recipe
        )
        changed = changed.with_active(replace(made, weights=weights))
    return changed


def remove_markers(
    document: StudioDocument, markers: Collection[str], where: str = BODY
) -> StudioDocument:
    """Markers taken off the active body, out of the recording, or both."""
    if not markers:
        raise HomodynError("no marker is chosen that could be removed")
    changed = document
    if where in (RECORDING, BOTH) and document.trial is not None:
        left = [name for name in document.trial.markers if name not in markers]
        changed = changed.with_active_trial(document.trial.select_markers(left))
    actor = document.actor
    if where in (BODY, BOTH) and actor is not None:
        kept = tuple(one for one in actor.model.markers if one.name not in markers)
        if len(kept) < len(actor.model.markers):
            model = replace(actor.model, markers=kept)
            changed = changed.with_active(with_model(actor, model, actor.recipe))
        elif where == BODY:
            listed = ", ".join(sorted(markers))
            raise ModelError(f"{actor.name} has no such marker: {listed}")
    return changed


def set_marker_weights(
    document: StudioDocument, markers: Collection[str], weight: float
) -> StudioDocument:
    """Markers of the active body that count so much from now on when it is fitted."""
    actor = document.actor
    if actor is None:
        raise HomodynError("no body is open; add one under Open")
    known = {one.name for one in actor.model.markers}
    strange = sorted(set(markers) - known)
    if strange or not markers:
        raise ModelError(
            f"{', '.join(strange) or 'no marker'}: assign a marker to a segment first; "
            "only markers of the body have weights"
        )
    if not (np.isfinite(weight) and weight >= 0):
        raise CaptureError(f"a weight is 0 or more, not {weight:g}")
    weights = {**actor.weights, **dict.fromkeys(markers, float(weight))}
    kept = {name: value for name, value in weights.items() if value != 1.0}
    return document.with_active(replace(actor, weights=kept))


def match_marker_labels(document: StudioDocument) -> tuple[StudioDocument, LabelMatching]:
    """The recording with the names that the active body has for its markers."""
    actor, trial = active_body_and_recording(document)
    matching = capture.match_labels(trial, actor.model)
    if matching.trial.markers == trial.markers:
        return document, matching
    return document.with_active_trial(matching.trial), matching


def marker_errors(actor: Actor, trial: Trial, places: np.ndarray, time: float) -> dict[str, float]:
    """Distance (m) of each marker of a body, at ``places`` in our axes, from the measured one.

    Markers that nobody saw at that instant (s), or that only one side has, are left out.
    """
    if not trial.frames:
        return {}
    frame = nearest_frame(trial.time, time)
    order = {name: k for k, name in enumerate(trial.markers)}
    pairs = [
        (k, order[marker.name])
        for k, marker in enumerate(actor.model.markers)
        if marker.name in order and trial.seen[frame, order[marker.name]]
    ]
    if not pairs:
        return {}
    ours, theirs = np.array(pairs).T
    distance = np.linalg.norm(places[ours] - trial.positions[frame][theirs], axis=1)
    return {trial.markers[k]: float(d) for k, d in zip(theirs, distance, strict=True)}


def root_mean_square(errors: dict[str, float]) -> float:
    """m, over all of them."""
    return float(np.sqrt(np.mean(np.square(list(errors.values()))))) if errors else 0.0


def _refuse_taken(owner: str, marker: str, name: str, names: Collection[str]) -> None:
    if marker not in names:
        raise CaptureError(f"{owner} has {unknown_name('marker', marker, list(names))}")
    if name in names:
        raise CaptureError(
            f"{owner} has a marker {name!r} already; rename or remove that one first"
        )
