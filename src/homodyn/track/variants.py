"""Tracking of many variants of one recording at once: each variant is an element of a batch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from homodyn.capture.filters import lowpass
from homodyn.errors import CaptureError
from homodyn.foundation import Record, count_of, record
from homodyn.model import Model
from homodyn.motion import Loads, MotionSource, motion_from_states
from homodyn.track.live import START_FRAMES
from homodyn.track.options import TrackingOptions
from homodyn.track.tracker import Tracker

LEAD_FRAMES = START_FRAMES + 10
"""Frames before the first one, extended by point reflection, in which the bodies start to move."""


@record
class TrackedVariants(Record):
    """Poses and forces of the variants of a recording."""

    model: Model
    time: np.ndarray
    """(frames,), s."""
    q: np.ndarray
    """(variants, frames, nq): the bodies that follow the markers."""
    driven_q: np.ndarray
    """(variants, frames, nq): the bodies that motors drive."""
    driven_v: np.ndarray
    """(variants, frames, nv)."""
    tau: np.ndarray
    """(variants, frames, nv), N m or N: torques, and residual forces in the columns of the root."""
    usable: np.ndarray
    """(variants, frames): frames with forces, before which the driven body was not put back."""
    complete: np.ndarray
    """(variants,): whether all frames have a pose."""

    @property
    def joints(self) -> tuple[int, ...]:
        """Columns of the joints, without those of the root."""
        root = set(self.model.root.v)
        return tuple(k for k in range(self.model.nv) if k not in root)

    def headline(self) -> str:
        """Model, variants and frames."""
        variants = count_of(len(self.q), "variant")
        return f"TrackedVariants of {self.model.name!r}: {variants}, {len(self.time)} frames each"

    def loads(self, variant: int) -> Loads:
        """Torques of one variant.

        Args:
            variant: Its index.

        Returns:
            Movement and torques of the driven body.
        """
        motion = motion_from_states(
            self.model,
            self.time,
            self.driven_q[variant],
            self.driven_v[variant],
            method="joints driven by motors along a tracked movement",
            source=MotionSource.SIMULATED,
        )
        return Loads.from_torques(motion, self.tau[variant], method=motion.method)


def with_lead(positions: np.ndarray) -> np.ndarray:
    """Positions after frames in which the bodies start to move.

    Args:
        positions: (frames, ...).

    Returns:
        (`LEAD_FRAMES` + frames, ...): the lead is the start, reflected at the first frame.
    """
    return np.concatenate([2 * positions[0] - positions[LEAD_FRAMES:0:-1], positions])


def filter_positions(positions: np.ndarray, rate: float, cutoff: float | None) -> np.ndarray:
    """Positions after a zero-lag low-pass filter.

    Args:
        positions: (frames, ...), m; NaN where not seen.
        rate: Frames per second (Hz).
        cutoff: Hz; None for no filter.

    Returns:
        Positions of the same shape.
    """
    if cutoff is None:
        return positions
    flat = positions.reshape(len(positions), -1)
    return np.asarray(lowpass(flat, rate, cutoff=cutoff).reshape(positions.shape))


def track_variants(
    model: Model,
    positions: np.ndarray,
    rate: float,
    start: np.ndarray,
    options: TrackingOptions | None = None,
    *,
    progress: Callable[[float], None] | None = None,
) -> TrackedVariants:
    """Track variants of a recording, all in one batch.

    Args:
        model: A model with markers, and with contacts if its root floats.
        positions: (variants, frames, markers, 3), m, Z up: all markers of the model in their order;
            NaN where not seen.
        rate: Frames per second (Hz).
        start: Pose near the first frame, (nq,).
        options: Laws, limits and filter.
        progress: Called with the share of frames that are tracked.

    Returns:
        Poses and forces.

    Raises:
        CaptureError: The shape of ``positions`` does not fit, or there are too few frames.
    """
    options = options or TrackingOptions()
    shape = positions.shape
    if len(shape) != 4 or shape[2:] != (len(model.markers), 3):
        raise CaptureError(
            f"positions: (variants, frames, {len(model.markers)}, 3) numbers are needed, got shape "
            f"{shape}"
        )
    if shape[1] <= LEAD_FRAMES:
        raise CaptureError(f"{shape[1]} frames; variants need more than {LEAD_FRAMES}")
    frames = np.moveaxis(positions, 1, 0)
    frames = with_lead(filter_positions(frames, rate, options.filter))
    poses = np.tile(start, (shape[0], 1))
    tracker = Tracker(model, poses, 1.0 / rate, None, options)
    frames = tracker.to_model_axes(frames)
    tracker.relax(poses, frames[0])
    kept: dict[str, list[np.ndarray]] = {
        name: [] for name in ("q", "driven_q", "driven_v", "torques", "usable", "fitted")
    }
    for k in range(1, len(frames)):
        step = tracker.advance(frames[k])
        usable = step.solved & ~step.fallen & step.fitted
        starting = k < START_FRAMES
        again = np.full(len(usable), True) if starting else ~usable
        if again.any():
            tracker.restart(again)
        if k < LEAD_FRAMES:
            continue
        for name, values in kept.items():
            values.append(usable if name == "usable" else getattr(step, name))
        if progress is not None and k % 50 == 0:
            progress(k / len(frames))
    arrays = {name: np.stack(values, axis=1) for name, values in kept.items()}
    return TrackedVariants(
        model,
        np.arange(shape[1]) / rate,
        arrays["q"],
        arrays["driven_q"],
        arrays["driven_v"],
        arrays["torques"],
        arrays["usable"],
        np.asarray(arrays["fitted"].all(axis=1)),
    )
