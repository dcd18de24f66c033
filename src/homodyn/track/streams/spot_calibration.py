"""Calibration on the spot: from a few seconds of standing and moving to a model of the person."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.capture import CalibrationOptions, ScalingResult, Trial, calibrate, match_labels
from homodyn.errors import CaptureError
from homodyn.model import Model
from homodyn.track.streams.marker_frame import MarkerFrame

MIN_FRAMES = 10
MIN_MATCHED_MARKERS = 8
"""Markers that a model must share with a stream."""
CALIBRATION_FRAMES = 8
"""Frames that are fitted: a compromise of accuracy and the seconds that a person waits."""


def frames_to_trial(frames: Sequence[MarkerFrame], name: str = "calibration") -> Trial:
    """The recording of frames of a stream; frames with other labels than the last are left out.

    Args:
        frames: Frames in order.
        name: Name of the trial.

    Returns:
        The trial, at the median rate of the frames, interpolated to equal steps.

    Raises:
        CaptureError: There are fewer than two frames.
    """
    labels = frames[-1].labels if frames else ()
    kept = [frame for frame in frames if frame.labels == labels]
    times = np.array([frame.time for frame in kept])
    order = np.flatnonzero(np.diff(np.maximum.accumulate(times), prepend=-np.inf) > 0.0)
    if len(order) < 2:
        raise CaptureError(f"{len(order)} frames with the same labels are not enough for a trial")
    times = times[order]
    values = np.stack([kept[k].positions for k in order]).astype(float)
    step = float(np.median(np.diff(times)))
    grid = np.arange(times[0], times[-1] + 0.5 * step, step)
    nearest = np.rint(np.interp(grid, times, np.arange(len(times)))).astype(int)
    rows = values[nearest]
    rows[np.abs(times[nearest] - grid) > 0.75 * step] = np.nan
    return Trial(name, labels, rows, 1.0 / step, float(times[0]))


def calibrate_on_the_spot(
    model: Model,
    frames: Sequence[MarkerFrame],
    *,
    mass: float | None = None,
    height: float | None = None,
) -> ScalingResult:
    """Fit sizes and marker places of a model to a few seconds of a stream.

    Args:
        model: The generic model.
        frames: Frames of a person who stands and moves.
        mass: Mass of the person (kg); estimated from the sizes when left out.
        height: Height of the person (m).

    Returns:
        The fitted model and how certain it is.

    Raises:
        CaptureError: There are too few frames or markers.
    """
    if len(frames) < MIN_FRAMES:
        raise CaptureError(
            f"{len(frames)} frames are not enough for a calibration; at least {MIN_FRAMES} are "
            "needed"
        )
    matching = match_labels(model, frames_to_trial(frames))
    if len(matching.matched) < MIN_MATCHED_MARKERS:
        raise CaptureError(
            f"{len(matching.matched)} markers of the stream belong to {model.name}; at least "
            f"{MIN_MATCHED_MARKERS} are needed for a calibration; the stream has "
            f"{', '.join(matching.trial.markers[:12])}"
        )
    options = CalibrationOptions(mass=mass, height=height, frames=CALIBRATION_FRAMES)
    return calibrate(model, matching.trial, options)
