"""Tracking while markers vanish at random for a short time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from homodyn.errors import CaptureError
from homodyn.foundation import Record, record
from homodyn.track.result import TrackingResult
from homodyn.track.studies.study import (
    StudyCurve,
    StudyPanel,
    TrackingStudy,
    measured_positions,
    without_filter,
)
from homodyn.track.variants import track_variants

HIDDEN_SHARES = (0.05, 0.1, 0.2, 0.4)
"""Shares of the markers that are hidden at a time."""
OCCLUSION_S = 0.2
"""Time for which a marker vanishes (s)."""


@record
class OcclusionStudy(Record, TrackingStudy):
    """Errors of the joint angles while a share of the markers is hidden."""

    shares: np.ndarray
    """(shares,): share of the markers that are hidden at a time."""
    mean_errors: np.ndarray
    """(shares, trials), rad: mean absolute difference from the tracking with all markers."""
    largest_errors: np.ndarray
    """(shares, trials), rad: largest difference of one coordinate in one frame."""
    largest_steps: np.ndarray
    """(1 + shares,), rad: largest change of a coordinate from frame to frame; first with all."""
    complete: np.ndarray
    """(shares, trials): whether all frames have a pose."""
    duration: float
    """Time for which a marker vanishes (s)."""

    @property
    def title(self) -> str:
        """One line."""
        return f"Joint angles while markers vanish for {self.duration:g} s"

    @property
    def paper(self) -> str:
        """What the paper reports."""
        return (
            "HDM leaves out the springs of markers that are not seen; inertia and joint springs "
            "bridge the gap (no number)."
        )

    def columns(self) -> dict[str, list[float | str]]:
        """Errors by share."""
        return {
            "hidden (%)": (100 * self.shares).tolist(),
            "mean (deg)": np.degrees(self.mean_errors.mean(axis=1)).tolist(),
            "largest (deg)": np.degrees(self.largest_errors.max(axis=1)).tolist(),
            "largest change in a frame (deg)": np.degrees(self.largest_steps[1:]).tolist(),
            "trials that end": self.complete.sum(axis=1).astype(float).tolist(),
        }

    def panels(self) -> tuple[StudyPanel, ...]:
        """Mean and largest error over the share."""
        share, count = 100 * self.shares, np.sqrt(self.mean_errors.shape[1])
        mean = StudyCurve(
            "mean",
            share,
            np.degrees(self.mean_errors.mean(axis=1)),
            np.degrees(self.mean_errors.std(axis=1)) / count,
        )
        largest = StudyCurve("largest", share, np.degrees(self.largest_errors.mean(axis=1)))
        return (
            StudyPanel("mean error of angles", "hidden markers (%)", "deg", (mean,)),
            StudyPanel("largest error of an angle", "hidden markers (%)", "deg", (largest,)),
        )

    def findings(self) -> tuple[str, ...]:
        """Continuity of the pose."""
        with_all, others = self.largest_steps[0], self.largest_steps[1:].max()
        return (
            f"{int(self.complete.sum())} of {self.complete.size} trials end with a pose in all "
            "frames.",
            f"The largest change of an angle from frame to frame is {np.degrees(others):.1f} deg, "
            f"and {np.degrees(with_all):.1f} deg with all markers.",
        )

    def headline(self) -> str:
        """Shares and trials."""
        shares, trials = self.mean_errors.shape
        return f"OcclusionStudy: {shares} shares of hidden markers, {trials} trials each"


def hidden_markers(
    frames: int, markers: int, share: float, length: int, rng: np.random.Generator
) -> np.ndarray:
    """Which markers are hidden: in every interval of a length, others at random.

    Args:
        frames: Number of frames.
        markers: Number of markers.
        share: Share of the markers that are hidden at a time.
        length: Frames of an interval.
        rng: Random numbers.

    Returns:
        (frames, markers) of bool; the first interval has all markers.
    """
    hidden = np.zeros((frames, markers), dtype=bool)
    count = max(1, round(share * markers))
    for start in range(length, frames, length):
        hidden[start : start + length, rng.choice(markers, count, replace=False)] = True
    return hidden


def occlusion_study(
    reference: TrackingResult,
    *,
    shares: Sequence[float] = HIDDEN_SHARES,
    trials: int = 5,
    duration: float = OCCLUSION_S,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> OcclusionStudy:
    """Hide markers of a tracked trial at random, and compare with the tracking of all of them.

    Args:
        reference: A tracked trial.
        shares: Shares of the markers that are hidden at a time, above 0 and below 1.
        trials: Number of trials with each.
        duration: Time for which a marker vanishes (s).
        seed: Start of the random numbers.
        progress: Called with the completed share.

    Returns:
        The errors.

    Raises:
        CaptureError: A share is not between 0 and 1, or there is no trial.
    """
    parts = np.asarray(shares, dtype=float)
    if not parts.size or trials < 1 or not ((parts > 0) & (parts < 1)).all():
        raise CaptureError("an occlusion study needs shares between 0 and 1, and a trial or more")
    model, rate = reference.motion.model, reference.motion.rate
    positions = measured_positions(reference)
    frames, markers = positions.shape[0], positions.shape[1]
    length = max(1, round(duration * rate))
    rng = np.random.default_rng(seed)
    variants = [positions]
    for share in parts:
        for _ in range(trials):
            hidden = hidden_markers(frames, markers, share, length, rng)
            variants.append(np.where(hidden[..., None], np.nan, positions))
    options = without_filter(reference)
    start = reference.motion.q[0]
    found = track_variants(model, np.array(variants), rate, start, options, progress=progress)
    joints = list(found.joints)
    errors = np.abs([model.difference(found.q[0], q)[:, joints] for q in found.q[1:]])
    steps = np.array([np.abs(model.difference(q[:-1], q[1:])[:, joints]).max() for q in found.q])
    shape = (len(parts), trials)
    return OcclusionStudy(
        parts,
        errors.mean(axis=(1, 2)).reshape(shape),
        errors.max(axis=(1, 2)).reshape(shape),
        np.concatenate([steps[:1], steps[1:].reshape(shape).max(axis=1)]),
        found.complete[1:].reshape(shape),
        duration,
    )
