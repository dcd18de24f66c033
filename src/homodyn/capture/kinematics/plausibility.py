"""Plausibility of a fit: units before it, marker errors and notes after it."""

from __future__ import annotations

import numpy as np

from homodyn.dynamics import marker_positions
from homodyn.errors import CaptureError, NoSolution
from homodyn.model import Model
from homodyn.motion.clinical import coordinate_label
from homodyn.motion.motion import FitStatus, Motion

POOR_FIT_RMS_M = 0.04
"""Marker error (m, rms) above which the notes call a fit poor."""
MAX_MEAN_MARKER_ERROR_M = 0.05
"""Mean error (m) above which the notes name a marker."""


def check_units(model: Model, targets: np.ndarray, weights: np.ndarray) -> None:
    """Refuse markers whose spread does not match the model: millimeters or centimeters.

    Args:
        model: The model.
        targets: (frames, markers, 3): measured positions.
        weights: (frames, markers): zero where a marker is not seen.

    Raises:
        CaptureError: The spread is that of another unit, or of no person.
    """
    frame = int(np.argmax((weights > 0).sum(-1)))
    seen = weights[frame] > 0
    if seen.sum() < 3:
        return
    ours = _median_spread(marker_positions(model, model.neutral())[seen])
    theirs = _median_spread(targets[frame, seen])
    if not ours or not theirs:
        return
    for unit, size in (("millimeters", 1000.0), ("centimeters", 100.0)):
        if size / 3 < theirs / ours < 3 * size:
            raise CaptureError(
                f"the markers spread over {theirs:.4g} m, those of model {model.name!r} over "
                f"{ours:.2g} m: positions in {unit}? divide them by {size:g}"
            )
    if not 0.2 < theirs / ours < 5:
        raise CaptureError(
            f"the markers spread over {theirs:.3g} m, those of model {model.name!r} over "
            f"{ours:.2g} m: check units and labels"
        )


INSPECTION_HINT = (
    ": check the labels, scale the model to the subject, or raise max_rms to inspect the fit"
)
"""The remedy in Python; `homodyn analyze` names options instead."""


def refuse_misfit(motion: Motion, max_rms: float) -> None:
    """Raise `NoSolution` when the rms marker error exceeds ``max_rms`` (m)."""
    if motion.rms <= max_rms:
        return
    raise NoSolution(
        f"the best fit of model {motion.model.name!r} has a marker error of "
        f"{100 * motion.rms:.1f} cm rms, more than {100 * max_rms:g} cm; largest errors: "
        f"{_worst_markers_text(motion, 4)}. Swapped labels, a model of another person or wrong "
        f"axes are typical causes{INSPECTION_HINT}"
    )


def fit_notes(motion: Motion) -> list[str]:
    """Poor fits, frames that did not converge and joint limits, one sentence each."""
    notes = []
    if motion.rms > POOR_FIT_RMS_M:
        notes.append(
            f"the fit is poor, {100 * motion.rms:.1f} cm rms: is the model scaled to the subject? "
            f"Largest errors: {_worst_markers_text(motion, 3)}"
        )
    else:
        mean = _mean_errors(motion)
        if np.any(mean > MAX_MEAN_MARKER_ERROR_M):
            count = int(np.sum(mean > MAX_MEAN_MARKER_ERROR_M))
            notes.append(f"markers with a large mean error: {_worst_markers_text(motion, count)}")
    for status, sentence in (
        (FitStatus.STALLED, "did not converge; the best poses found are kept"),
        (FitStatus.UNSEEN, "show too few markers and were interpolated"),
    ):
        count = int(np.sum(motion.status == status))
        if count:
            notes.append(f"{count} of {len(motion.time)} frames {sentence}")
    if motion.at_limit.any():
        notes.append(f"at a joint limit (share of frames): {', '.join(limit_shares(motion))}")
    return notes


def limit_shares(motion: Motion, min_share: float = 0.0, count: int | None = None) -> list[str]:
    """Coordinates that a joint limit stopped, with the share of frames in percent.

    Args:
        motion: The result of a fit.
        min_share: Share of frames above which a coordinate is listed.
        count: Coordinates to list, the most frequent first; all in the order of the model if None.

    Returns:
        Texts such as ``"Right knee flexion (KneeRight_RY) 12 %"``.
    """
    names, shares = motion.model.coordinate_names, motion.at_limit.mean(0)
    order = np.arange(len(shares)) if count is None else np.argsort(-shares)[:count]
    return [
        f"{coordinate_label(motion.model, names[k])} {100 * shares[k]:.0f} %"
        for k in order
        if shares[k] > min_share
    ]


def _median_spread(points: np.ndarray) -> float:
    """Median distance from the centroid (m)."""
    return float(np.median(np.linalg.norm(points - points.mean(0), axis=-1)))


def _mean_errors(motion: Motion) -> np.ndarray:
    """Mean error of each marker (m), zero for markers that were never seen or have no weight."""
    seen = np.isfinite(motion.residual) & (motion.weights > 0)
    total = np.where(seen, motion.residual, 0.0).sum(0)
    return total / np.maximum(seen.sum(0), 1)


def _worst_markers_text(motion: Motion, count: int) -> str:
    mean = _mean_errors(motion)
    order = np.argsort(-mean, kind="stable")[:count]
    return ", ".join(f"{motion.markers[k]} {100 * mean[k]:.1f} cm" for k in order)
