"""Errors of angles and torques by marker noise, on a movement whose truth is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from homodyn.capture.world_frame import world_axes
from homodyn.dynamics import marker_positions
from homodyn.errors import CaptureError
from homodyn.foundation import Record, record
from homodyn.track.result import TrackingResult
from homodyn.track.studies.study import StudyCurve, StudyPanel, TrackingStudy
from homodyn.track.variants import TrackedVariants, track_variants

NOISE_LEVELS_M = (1e-4, 5e-4, 1e-3, 2e-3, 4e-3, 8e-3, 16e-3, 32e-3, 64e-3)
"""Standard deviations of the noise of each coordinate of a marker (m), those of HDM."""
PAPER_ANGLES_DEG = {1.0: "1.15", 4.0: "about 1 at 5 mm", 8.0: "usable up to here"}
"""Mean angle errors that the paper prints, by noise (mm)."""
PAPER_TORQUES_NM = {4.0: "5 to 10 at 5 mm"}
"""Mean torque errors that the paper prints (N m), by noise (mm)."""


@record
class NoiseStudy(Record, TrackingStudy):
    """Errors against the noise of the markers.

    The truth is a movement of the model whose torques are known. Errors are those against the
    tracking without noise, which noise alone causes, and those against the truth, which include
    the lag and the smoothing of springs and filter.
    """

    levels: np.ndarray
    """(levels,), m: standard deviation of the noise along each axis."""
    angle_errors: np.ndarray
    """(levels, trials), rad: mean absolute difference of the joint angles by the noise."""
    torque_errors: np.ndarray
    """(levels, trials), N m: mean absolute difference of the joint torques by the noise."""
    true_angle_errors: np.ndarray
    """(levels, trials), rad: mean absolute error of the joint angles against the truth."""
    true_torque_errors: np.ndarray
    """(levels, trials), N m: mean absolute error of the joint torques against the truth."""
    complete: np.ndarray
    """(levels, trials): whether all frames have a pose."""
    reference: TrackingResult
    """The tracked trial whose driven body is the truth."""

    @property
    def title(self) -> str:
        """One line."""
        return "Errors of joint angles and torques by the noise of the markers"

    @property
    def paper(self) -> str:
        """What the paper reports."""
        return (
            "Figure 3 of HDM: nine levels, 20 trials each. At about 5 mm, 1 deg and 5 to 10 N m; "
            "at 1 mm, 0.02 rad; usable up to 8 mm; all trials end."
        )

    def columns(self) -> dict[str, list[float | str]]:
        """Errors by level beside what the paper prints."""
        level = 1e3 * self.levels
        degrees = np.degrees(1.0)
        return {
            "noise (mm)": level.tolist(),
            "angles by noise (deg)": (degrees * self.angle_errors.mean(axis=1)).tolist(),
            "angles (deg)": (degrees * self.true_angle_errors.mean(axis=1)).tolist(),
            "angles, HDM (deg)": [PAPER_ANGLES_DEG.get(round(x, 3), "") for x in level],
            "torques by noise (N m)": self.torque_errors.mean(axis=1).tolist(),
            "torques (N m)": self.true_torque_errors.mean(axis=1).tolist(),
            "torques, HDM (N m)": [PAPER_TORQUES_NM.get(round(x, 3), "") for x in level],
            "trials that end": self.complete.sum(axis=1).astype(float).tolist(),
        }

    def panels(self) -> tuple[StudyPanel, ...]:
        """Errors over noise with their standard errors, as Figure 3 a and b."""
        level, count = 1e3 * self.levels, np.sqrt(self.angle_errors.shape[1])
        shown = level > 0
        panels = []
        for title, unit, factor, pairs in (
            (
                "angles",
                "deg",
                np.degrees(1.0),
                (("by noise", self.angle_errors), ("against the truth", self.true_angle_errors)),
            ),
            (
                "torques",
                "N m",
                1.0,
                (("by noise", self.torque_errors), ("against the truth", self.true_torque_errors)),
            ),
        ):
            curves = tuple(
                StudyCurve(
                    label,
                    level[shown],
                    factor * values.mean(axis=1)[shown],
                    factor * (values.std(axis=1) / count)[shown],
                )
                for label, values in pairs
            )
            panels.append(
                StudyPanel(f"mean error of {title}", "noise (mm)", unit, curves, logarithmic=True)
            )
        return tuple(panels)

    def findings(self) -> tuple[str, ...]:
        """Ends, growth and the value at 5 mm."""
        angles, torques = self.angle_errors.mean(axis=1), self.torque_errors.mean(axis=1)
        grows = bool((np.diff(angles) > 0).all() and (np.diff(torques) > 0).all())
        sentences = [
            f"{int(self.complete.sum())} of {self.complete.size} trials end with a pose in all "
            "frames.",
            f"Errors {'grow' if grows else 'do not grow'} at every step of the noise.",
        ]
        if self.levels.min() <= 5e-3 <= self.levels.max():
            at = [
                np.interp(5e-3, self.levels, values.mean(axis=1))
                for values in (self.true_angle_errors, self.true_torque_errors)
            ]
            sentences.append(
                f"At 5 mm (interpolated): {np.degrees(at[0]):.2f} deg and {at[1]:.1f} N m against "
                "the truth."
            )
        return tuple(sentences)

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

    The truth is made by the model: the movement of the driven body of a tracked trial, whose
    torques are known. Its markers are tracked without noise, and with the noise of each trial, all
    in one batch. All markers of a trial are disturbed once, before their velocities are computed.

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
    model, truth = reference.motion.model, reference.loads
    positions = np.asarray(marker_positions(model, truth.motion.q)) @ world_axes(model).T
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((len(sizes), trials, *positions.shape))
    noise *= sizes[:, None, None, None, None]
    noisy = (positions + noise).reshape(-1, *positions.shape)
    found = track_variants(
        model,
        np.concatenate([positions[None], noisy]),
        truth.motion.rate,
        truth.motion.q[0],
        reference.options,
        progress=progress,
    )
    shape = (len(sizes), trials)
    own = _mean_errors(found, found.q[0], found.tau[0], found.usable[0])
    true = _mean_errors(found, truth.motion.q, truth.tau, truth.usable)
    return NoiseStudy(
        sizes,
        own[0][1:].reshape(shape),
        own[1][1:].reshape(shape),
        true[0][1:].reshape(shape),
        true[1][1:].reshape(shape),
        found.complete[1:].reshape(shape),
        reference,
    )


def _mean_errors(
    found: TrackedVariants, q: np.ndarray, tau: np.ndarray, usable: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean absolute errors of angles and torques of each variant."""
    joints = list(found.joints)
    both = found.usable & usable
    angles, torques = [], []
    for k, own in enumerate(both):
        difference = found.model.difference(q, found.q[k])[:, joints]
        angles.append(np.abs(difference).mean())
        errors = np.abs(found.tau[k] - tau)[own][:, joints]
        torques.append(errors.mean() if errors.size else np.nan)
    return np.array(angles), np.array(torques)
