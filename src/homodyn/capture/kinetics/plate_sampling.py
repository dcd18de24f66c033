"""Force plates sampled at the frames of a motion, as wrenches in the world of its model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.capture.filters.butterworth_filter import lowpass
from homodyn.capture.world_frame import world_axes
from homodyn.errors import CaptureError
from homodyn.motion import ForcePlate
from homodyn.motion.motion import Motion


@dataclass(frozen=True, eq=False)
class PlateWrench:
    """One plate at the frames of a motion; zero where it is not loaded."""

    name: str
    force: np.ndarray
    """(frames, 3), N."""
    moment: np.ndarray
    """(frames, 3), N m, about the origin of the world."""
    height: float
    """Height of the surface of the plate (m)."""
    has_reading: np.ndarray
    """(frames,): True where the plate has a reading."""
    corners: np.ndarray | None = None
    """(4, 3), m."""


def sample_plates(
    motion: Motion, plates: Sequence[ForcePlate], *, cutoff: float | None, threshold: float
) -> tuple[PlateWrench, ...]:
    """The plates rotated into the world axes of the model and sampled at its frames.

    On the clock of the plate, readings with a normal force below the threshold are set to zero;
    force and moment are low-pass filtered and interpolated linearly. Forces that the filter spreads
    beyond foot strike and foot off are removed where they are below the threshold.

    Args:
        motion: The motion.
        plates: Force plates in Z-up axes.
        cutoff: Cutoff frequency (Hz); None does not filter.
        threshold: Vertical force (N) below which a plate counts as unloaded; 0 keeps all readings.

    Raises:
        CaptureError: Two plates have the same name, or a plate does not overlap the motion in time.
    """
    names = [plate.name for plate in plates]
    if len(set(names)) < len(names):
        raise CaptureError(f"several plates have the same name: {', '.join(names)}; rename them")
    axes = world_axes(motion.model)
    return tuple(
        _sample_plate(motion, p.rotate(axes.T), axes[2], cutoff, threshold) for p in plates
    )


def center_of_pressure(
    force: np.ndarray, moment: np.ndarray, up: np.ndarray, height: np.ndarray | float
) -> tuple[np.ndarray, np.ndarray]:
    """Center of pressure and free moment of a wrench about the origin, in a horizontal plane.

    Solving (M - p x F) x n = 0 with p . n = h gives p = (n x M + h F) / (n . F).

    Args:
        force: (..., 3), N.
        moment: (..., 3), N m, about the origin.
        up: (3,): unit vector.
        height: Height of the plane (m).

    Returns:
        The point p (m), NaN without a vertical force, and the free moment M - p x F (N m).
    """
    normal = force @ up
    with np.errstate(divide="ignore", invalid="ignore"):
        point = (np.cross(up, moment) + np.asarray(height)[..., None] * force) / normal[..., None]
    loaded = normal != 0
    point = np.where(loaded[..., None], point, np.nan)
    free = np.where(loaded[..., None], moment - np.cross(point, force), 0.0)
    return point, free


def _sample_plate(
    motion: Motion, plate: ForcePlate, up: np.ndarray, cutoff: float | None, threshold: float
) -> PlateWrench:
    time, where = motion.time, f"plate {plate.name!r}"
    if len(plate.force) < 2 or plate.time[-1] < time[0] or plate.time[0] > time[-1]:
        raise CaptureError(
            f"{where} has readings from {plate.start:.3f} to "
            f"{plate.start + max(len(plate.force) - 1, 0) / plate.rate:.3f} s, the motion lasts "
            f"from {time[0]:.3f} to {time[-1]:.3f} s: their clocks differ; set the start of the "
            "plate to its time on the clock of the motion"
        )
    read = np.isfinite(plate.force).all(-1)
    force = np.where(read[:, None], plate.force, 0.0)
    _check_upright(force @ up, plate.name, threshold)
    loaded = _loaded_samples(force @ up, threshold)
    read &= ~loaded | np.isfinite(plate.point).all(-1) & np.isfinite(plate.torque).all(-1)
    loaded &= read
    force = np.where(loaded[:, None], force, 0.0)
    point = np.where(loaded[:, None], plate.point, 0.0)
    torque = np.where(loaded[:, None], plate.torque, 0.0)
    # About a point on the plate: about a distant origin, filtering would mix force into moment.
    center = np.median(point[loaded], axis=0) if loaded.any() else np.zeros(3)
    moment = torque + np.cross(point - center, force)
    wrench = np.concatenate([moment, force], -1)
    if cutoff is not None and cutoff < plate.rate / 2 and loaded.any():
        wrench = lowpass(wrench, plate.rate, cutoff=cutoff)
    at_frames = np.stack([np.interp(time, plate.time, column) for column in wrench.T], -1)
    half = 0.5 / plate.rate
    covered = (time >= plate.time[0] - half) & (time <= plate.time[-1] + half)
    covered &= np.interp(time, plate.time, read.astype(float)) > 0.999
    kept = covered & _loaded_samples(at_frames[:, 3:] @ up, threshold)
    at_frames = np.where(kept[:, None], at_frames, 0.0)
    moment, force = at_frames[:, :3], at_frames[:, 3:]
    moment = moment + np.cross(center, force)
    return PlateWrench(plate.name, force, moment, float(center @ up), covered, plate.corners)


def _loaded_samples(normal: np.ndarray, threshold: float) -> np.ndarray:
    """Readings that are kept; with a threshold of zero all are, negative ones too."""
    return normal >= threshold if threshold > 0 else normal != 0


def _check_upright(normal: np.ndarray, name: str, threshold: float) -> None:
    down, upward = -normal.min(initial=0.0), normal.max(initial=0.0)
    if down > max(5 * threshold, 100.0) and down > upward:
        raise CaptureError(
            f"plate {name!r} has a negative vertical force of up to {down:.0f} N: it reports the "
            "force on the plate, or its vertical axis points down; negate force and torque, or "
            "state the vertical axis with --up (in Python, up=)"
        )
