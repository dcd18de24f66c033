"""Errors of angles and torques by marker noise, on a movement whose truth is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from homodyn.errors import CaptureError
from homodyn.foundation import Record, record
from homodyn.track.live import Live
from homodyn.track.result import TrackingResult, TrackingStatus
from homodyn.track.track import follow_trial, trial_of_motion

NOISE_LEVELS_M = (1e-4, 5e-4, 1e-3, 2e-3, 4e-3, 8e-3, 16e-3, 32e-3, 64e-3)
"""Standard deviations of the noise of each coordinate of a marker (m), those of HDM."""


@record
class NoiseStudy(Record):
    """Errors against the noise of the markers."""

    levels: np.ndarray
    """(levels,), m: standard deviation of the noise along each axis."""
    angle_errors: np.ndarray
    """(levels, trials), rad: mean absolute error of the joint angles."""
    torque_errors: np.ndarray
    """(levels, trials), N m: mean absolute error of the joint torques."""
    complete: np.ndarray
    """(levels, trials): whether all frames have a pose."""
    reference: TrackingResult
    """The movement and torques that are the truth: those without noise."""

    def headline(self) -> str:
        """Model, levels and trials."""
        levels, trials = self.angle_errors.shape
        name = self.reference.motion.model.name
        return f"NoiseStudy of {name!r}: {levels} levels, {trials} trials each"


def noise_study(
    reference: TrackingResult,
    *,
    levels: Sequence[float] = NOISE_LEVELS_M,
    trials: int = 20,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> NoiseStudy:
    """Track the markers of a known movement with noise, as in Figure 3 of the HDM paper.

    The truth is made by the model: its own markers in the tracked poses are tracked again, without
    noise, and the angles and torques of that are compared with those of noisy markers. All markers
    of a trial are disturbed once, before their velocities are computed.

    Args:
        reference: A tracked trial.
        levels: Standard deviations (m) of the noise along each axis.
        trials: Number of trials with each.
        seed: Start of the random numbers.
        progress: Called with the completed share; an exception that it raises ends the study.

    Returns:
        The errors.

    Raises:
        CaptureError: There is no level or no trial, or a level is negative.
    """
    sizes = np.asarray(levels, dtype=float)
    if not sizes.size or trials < 1 or not (np.isfinite(sizes) & (sizes >= 0)).all():
        raise CaptureError("a noise study needs levels from zero up (m) and at least one trial")
    model, options = reference.motion.model, reference.options
    clean = trial_of_motion(reference.motion)
    start = reference.motion.q[0]
    live = Live(model, options, rate=clean.rate, start=start)
    truth = follow_trial(live, clean, options)
    rng = np.random.default_rng(seed)
    angles, torques, complete = (np.zeros((len(sizes), trials)) for _ in range(3))
    joints = list(truth.loads.joints)
    for i, size in enumerate(sizes):
        for k in range(trials):
            noise = size * rng.standard_normal(clean.positions.shape)
            noisy = replace(clean, positions=clean.positions + noise)
            live.restart(start)
            found = follow_trial(live, noisy, options)
            error = model.difference(truth.motion.q, found.motion.q)[:, joints]
            angles[i, k] = np.abs(error).mean()
            both = truth.loads.usable & found.loads.usable
            difference = (found.loads.tau - truth.loads.tau)[both][:, joints]
            torques[i, k] = np.abs(difference).mean()
            complete[i, k] = found.status is not TrackingStatus.INCOMPLETE
            if progress is not None:
                progress((i * trials + k + 1) / (len(sizes) * trials))
    return NoiseStudy(sizes, angles, torques, complete.astype(bool), truth)
