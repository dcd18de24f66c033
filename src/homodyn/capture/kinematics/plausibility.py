"""Signs that a recording and a model do not belong together, before and after a fit."""

from __future__ import annotations

import numpy as np

from homodyn.dynamics import marker_positions
from homodyn.errors import CaptureError, NoSolution
from homodyn.model import Model
from homodyn.motion.motion import FitStatus, Motion

POOR_FIT_RMS_M = 0.04
"""Rms distance (m) from which a fit is told to be poor."""
MAX_MEAN_MARKER_ERROR_M = 0.05
"""Mean distance (m) from which a marker is named."""


def check_units(model: Model, targets: np.ndarray, weights: np.ndarray) -> None:
    """Refuse markers that are spread a thousandfold or a hundredfold of what the model allows."""
    frame = int(np.argmax((weights > 0).sum(-1)))
    seen = weights[frame] > 0
    if seen.sum() < 3:
        return
    ours = _median_spread(marker_positions(model, model.neutral())[seen])
    theirs = _median_spread(targets[frame, seen])
    if not ours or not theirs:
        return
    for unit, size in (("millimetres", 1000.0), ("centimetres", 100.0)):
        if size / 3 < theirs / ours < 3 * size:
            raise CaptureError(
                f"the markers are spread over {theirs:.4g} m where those of model {model.name!r} "
                f"take {ours:.2g} m: positions in {unit}? divide them by {size:g}"
            )
    if not 0.2 < theirs / ours < 5:
        raise CaptureError(
            f"the markers are spread over {theirs:.3g} m where those of model {model.name!r} take "
            f"{ours:.2g} m: check units and labels"
        )


def refuse_misfit(motion: Motion, largest: float) -> None:
    """Raise `NoSolution` when the rms distance is beyond what any scaling would excuse."""
    if motion.rms <= largest:
        return
    raise NoSolution(
        f"the best fit of model {motion.model.name!r} has a marker error of "
        f"{100 * motion.rms:.1f} cm rms, more than {100 * largest:g} cm; largest errors: "
        f"{_worst_markers_text(motion, 4)}. Swapped labels, a model of another person or wrong "
        "axes are typical causes: check the labels, scale the model to the subject, or raise "
        "max_rms to inspect the fit"
    )


def fit_notes(motion: Motion) -> list[str]:
    """What a reader of the fit should know, one sentence each."""
    told = []
    if motion.rms > POOR_FIT_RMS_M:
        told.append(
            f"the fit is poor, {100 * motion.rms:.1f} cm rms: is the model scaled to the subject? "
            f"Furthest off: {_worst_markers_text(motion, 3)}"
        )
    else:
        mean = _mean_errors(motion)
        if np.any(mean > MAX_MEAN_MARKER_ERROR_M):
            count = int(np.sum(mean > MAX_MEAN_MARKER_ERROR_M))
            told.append(f"markers with a large mean error: {_worst_markers_text(motion, count)}")
    for status, sentence in (
        (FitStatus.STALLED, "did not come to rest; the best poses found stand"),
        (FitStatus.UNSEEN, "see too few markers and were laid between those around them"),
    ):
        count = int(np.sum(motion.status == status))
        if count:
            told.append(f"{count} of {len(motion.time)} frames {sentence}")
    stopped = motion.at_limit.any(0)
    if stopped.any():
        names = motion.model.coordinate_names
        shares = motion.at_limit.mean(0)
        listed = ", ".join(f"{names[i]} ({100 * shares[i]:.0f} %)" for i in np.flatnonzero(stopped))
        told.append(f"at a joint limit (share of the frames): {listed}")
    return told


def _median_spread(points: np.ndarray) -> float:
    """Median distance from the centroid (m)."""
    return float(np.median(np.linalg.norm(points - points.mean(0), axis=-1)))


def _mean_errors(motion: Motion) -> np.ndarray:
    """Mean distance of each marker (m), zero for those that were never seen or weigh nothing."""
    seen = np.isfinite(motion.residual) & (motion.weights > 0)
    total = np.where(seen, motion.residual, 0.0).sum(0)
    return total / np.maximum(seen.sum(0), 1)


def _worst_markers_text(motion: Motion, count: int) -> str:
    mean = _mean_errors(motion)
    order = np.argsort(-mean, kind="stable")[:count]
    return ", ".join(f"{motion.markers[k]} {100 * mean[k]:.1f} cm" for k in order)
