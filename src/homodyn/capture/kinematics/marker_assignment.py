"""Marker positions of a model from one frame of a recording at a known pose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from homodyn.capture.trial import Trial
from homodyn.capture.world_frame import to_world_axes
from homodyn.dynamics import orientation, position
from homodyn.errors import CaptureError
from homodyn.foundation.text import count_of, unknown_name
from homodyn.model import Marker, Model


def assign_markers(
    model: Model,
    q: np.ndarray,
    trial: Trial,
    *,
    frame: int = 0,
    markers: Sequence[str] | None = None,
    bodies: Mapping[str, str] | None = None,
) -> Model:
    """Place markers on a model such that they match one frame of a trial at a given pose.

    p_local = R^T (measured - r) in the body of each marker (Felis 2015, eq. 4.8).

    Args:
        model: The model.
        q: (nq,): the pose.
        trial: The recording.
        frame: Index of the frame.
        markers: Markers to place; by default all that model and trial share and those in
            ``bodies``. Markers that the frame does not show are an error when listed and skipped
            otherwise.
        bodies: Body by label, for new markers or markers that change their body.

    Returns:
        A new model.

    Raises:
        CaptureError: The frame, a marker or a body does not exist, or a listed marker is not
            visible.
    """
    if not -trial.frames <= frame < trial.frames:
        raise CaptureError(
            f"trial {trial.name!r} has {count_of(trial.frames, 'frame')}; there is no frame {frame}"
        )
    owners = {marker.name: marker.body for marker in model.markers} | dict(bodies or {})
    for label in bodies or {}:
        if label not in trial.markers:
            raise CaptureError(
                f"trial {trial.name!r} has {unknown_name('marker', label, trial.markers)}"
            )
    chosen = [m for m in trial.markers if m in owners] if markers is None else list(markers)
    points = dict(zip(trial.markers, to_world_axes(model, trial).positions[frame], strict=True))
    placed: dict[str, Marker] = {}
    for label in chosen:
        if label not in points:
            raise CaptureError(
                f"trial {trial.name!r} has {unknown_name('marker', label, trial.markers)}"
            )
        if label not in owners:
            raise CaptureError(
                f"model {model.name!r} has no marker {label!r}; assign it to a body: "
                f"bodies={{{label!r}: ...}} with one of {', '.join(model.body_names)}"
            )
        if np.isfinite(points[label]).all():
            placed[label] = _marker_in_body(model, q, label, owners[label], points[label])
        elif markers is not None:
            raise CaptureError(
                f"marker {label!r} is not visible in frame {frame} of trial {trial.name!r}"
            )
    kept = [placed.pop(marker.name, marker) for marker in model.markers]
    return replace(model, markers=(*kept, *placed.values()))


def _marker_in_body(
    model: Model, q: np.ndarray, label: str, body: str, point: np.ndarray
) -> Marker:
    axes, origin = orientation(model, q, body), position(model, q, body)
    return Marker(label, body, axes.T @ (point - origin))
