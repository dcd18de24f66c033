"""Kinematics and kinetics by physics beside those by inverse kinematics and dynamics."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from homodyn.capture import Trial
from homodyn.capture.kinetics import Work, joint_work
from homodyn.capture.world_frame import world_axes
from homodyn.foundation import Record, record
from homodyn.model import Model
from homodyn.motion import Loads, Motion
from homodyn.motion.clinical import clinical_titles
from homodyn.track import TrackingResult, track

MIN_STANCE_SHARE = 0.05
"""Vertical force on the plates, as a share of the weight, from which on a frame is stance."""


@record
class MethodComparison(Record):
    """Differences of both methods on one trial; entries are NaN where one of them has no loads."""

    coordinates: tuple[str, ...]
    """Names of the joint coordinates in the model."""
    titles: tuple[str, ...]
    """Clinical names, or those in the model."""
    angle_difference: np.ndarray
    """(coordinates,), rad or m: root mean square of the difference."""
    torque_difference: np.ndarray
    """(coordinates,), N m or N: root mean square of the difference."""
    inverse_torque: np.ndarray
    """(coordinates,), N m or N: root mean square by inverse dynamics."""
    physics_torque: np.ndarray
    """(coordinates,), N m or N: root mean square by physics."""
    ground_force_difference: float
    """Mean absolute difference of the vertical force from plates in stance, as a share of the
    weight; NaN without plates."""
    physics_work: Work
    inverse_work: Work | None = None

    def headline(self) -> str:
        """Median differences."""
        angle = np.degrees(np.median(self.angle_difference))
        return f"MethodComparison: angles differ by {angle:.2g} deg (median of the coordinates)"

    def sentences(self) -> tuple[str, ...]:
        """What the comparison says, one sentence each."""
        angle = np.degrees(np.median(self.angle_difference))
        found = [f"Joint angles of both methods differ by {angle:.1f} deg rms (median)."]
        if np.isfinite(self.torque_difference).any():
            torque = np.nanmedian(self.torque_difference)
            size = np.nanmedian(self.inverse_torque)
            found.append(
                f"Torques differ by {torque:.1f} N m rms; those of inverse dynamics are {size:.1f} "
                "N m rms (medians)."
            )
        if np.isfinite(self.ground_force_difference):
            found.append(
                "In stance the vertical ground force without plates deviates from the plates by "
                f"{100 * self.ground_force_difference:.1f} % of the weight (mean)."
            )
        return tuple(found)


def track_fitted(model: Model, trial: Trial, fitted: Motion, cutoff: float) -> TrackingResult:
    """Track a trial by physics after its model was fitted.

    Args:
        model: The model of the subject.
        trial: The recording with the marker names of the model.
        fitted: The result of inverse kinematics, whose details of the fit are kept.
        cutoff: Low-pass filter of the markers (Hz).

    Returns:
        Movement and loads; the movement has the weights and statuses of the fit.
    """
    result = track(model, trial, filter=cutoff)
    motion = replace(
        result.motion,
        status=fitted.status,
        iterations=fitted.iterations,
        unobserved=fitted.unobserved,
        at_limit=fitted.at_limit,
        notes=fitted.notes,
    )
    return replace(result, motion=motion)


def compare_methods(
    motion: Motion, loads: Loads | None, tracked: TrackingResult
) -> MethodComparison:
    """Compare tracking by physics with inverse kinematics and dynamics.

    Args:
        motion: The movement by inverse kinematics.
        loads: Loads by inverse dynamics; None where there are none.
        tracked: The same trial by physics.

    Returns:
        Differences by coordinate, of the ground force and of the work.
    """
    model, own = motion.model, tracked.loads
    joints = list(own.joints)
    names = [model.coordinate_names[k] for k in joints]
    titles = clinical_titles(model)
    difference = model.difference(motion.q, tracked.motion.q)[:, joints]
    missing = np.full(len(joints), np.nan)
    torques = (missing, missing, missing)
    ground, work = np.nan, None
    if loads is not None:
        both = np.asarray(loads.valid) & own.usable
        if both.any():
            tau, theirs = own.tau[both][:, joints], loads.tau[both][:, joints]
            torques = (_rms(tau - theirs), _rms(theirs), _rms(tau))
            ground = np.nan if loads.predicted else _stance_difference(loads, own, both)
            work = joint_work(loads)
    return MethodComparison(
        tuple(names),
        tuple(titles.get(name, name) for name in names),
        _rms(difference),
        *torques,
        ground,
        joint_work(own),
        work,
    )


def comparison_summary(comparison: MethodComparison) -> dict[str, Any]:
    """The comparison as plain numbers.

    Args:
        comparison: The comparison.

    Returns:
        Differences by coordinate (rad, N m), of the ground force, and works (J) of both methods.
    """
    works = {"physics": comparison.physics_work, "inverse": comparison.inverse_work}
    return {
        "angle_difference_rms": dict(
            zip(comparison.coordinates, comparison.angle_difference.tolist(), strict=True)
        ),
        "torque_difference_rms": dict(
            zip(comparison.coordinates, comparison.torque_difference.tolist(), strict=True)
        ),
        "ground_force_difference": comparison.ground_force_difference,
        "work_j": {
            name: {
                "net": work.total_net,
                "positive": work.total_positive,
                "negative": work.total_negative,
                "absolute": work.total_absolute,
            }
            for name, work in works.items()
            if work is not None
        },
    }


def _rms(values: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt(np.mean(values**2, axis=0)))


def _stance_difference(measured: Loads, tracked: Loads, frames: np.ndarray) -> float:
    """Mean deviation of the vertical ground force in stance as a share of the weight."""
    model = measured.motion.model
    up = world_axes(model)[2]
    weight = model.mass * float(np.linalg.norm(np.asarray(model.gravity, dtype=float)))
    plates, own = measured.ground_force @ up, tracked.ground_force @ up
    stance = frames & (plates > MIN_STANCE_SHARE * weight)
    return float(np.abs(own - plates)[stance].mean() / weight) if stance.any() else np.nan
