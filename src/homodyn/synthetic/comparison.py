"""Errors of an analysis with respect to the ground truth of a synthetic trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

import numpy as np

from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.motion import (
    FOOT_OFF,
    FOOT_STRIKE,
    Event,
    Loads,
    Motion,
)
from homodyn.synthetic.ground_truth import GroundTruth
from homodyn.synthetic.ground_wrench import ROOT_COORDINATES

EVENT_WINDOW_S = 0.15
"""A detected event matches a true one within this time (s)."""
MIN_TRUE_LOAD_WEIGHTS, MAX_MISSING_LOAD_WEIGHTS = 0.05, 0.005
"""A foot that carries more than the first fraction of the weight, and less than the second one by
the analysis, stood on no plate: its force is missing, not wrong."""
MIN_PEAK_TORQUE_NM = 5.0
"""Smaller peak torques (N m) have no relative error."""


@record
class AnalysisErrors(Record):
    """Errors of an analysis; quantities that were not compared are empty or None."""

    angles: Mapping[str, float] = field(default_factory=dict)
    """Root mean square error of each angle (deg)."""
    positions: Mapping[str, float] = field(default_factory=dict)
    """Root mean square error of each translational coordinate (mm)."""
    lengths: Mapping[str, float] = field(default_factory=dict)
    """Error of the distance from each joint to its parent joint (mm)."""
    torques: Mapping[str, float] = field(default_factory=dict)
    """Root mean square error of each torque as a share of its true peak (%)."""
    torque_errors: Mapping[str, float] = field(default_factory=dict)
    """Root mean square error of each torque (N m)."""
    forces: Mapping[str, float] = field(default_factory=dict)
    """Root mean square error of the force on each foot (N), while a plate measured it."""
    residual: float | None = None
    """Root mean square of the residual force at the root (N); its true value is zero."""
    events: Mapping[str, float] = field(default_factory=dict)
    """Mean absolute timing error of each kind of event (ms)."""
    missed_events: int = 0
    """True events that were not detected, between the first and the last detected event."""
    spurious_events: int = 0
    """Detected events without a true one."""

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """Compared quantities and their errors as text."""
        rows: list[tuple[str, str]] = []
        if self.angles:
            worst = max(self.angles, key=lambda name: self.angles[name])
            rows.append(
                (
                    "joint angles",
                    f"rms error {_rms(self.angles):.2f} deg, "
                    f"worst {self.angles[worst]:.2f} deg ({worst})",
                )
            )
        if self.positions:
            rows.append(("pelvis position", f"rms error {_rms(self.positions):.1f} mm"))
        if self.lengths:
            worst = max(self.lengths, key=lambda name: abs(self.lengths[name]))
            rows.append(
                (
                    "segment lengths",
                    f"rms error {_rms(self.lengths):.1f} mm, "
                    f"worst {self.lengths[worst]:+.1f} mm ({worst})",
                )
            )
        if self.torques:
            worst = max(self.torques, key=lambda name: self.torques[name])
            rows.append(
                (
                    "joint torques",
                    f"rms error {_rms(self.torque_errors):.1f} N m, "
                    f"{_rms(self.torques):.1f} % of their peaks, "
                    f"worst {self.torques[worst]:.1f} % ({worst})",
                )
            )
        if self.forces:
            each = ", ".join(f"{side} {error:.1f} N" for side, error in self.forces.items())
            rows.append(("ground forces", f"rms error {each}"))
        if self.residual is not None:
            rows.append(("residual force at the root", f"{self.residual:.1f} N rms"))
        if self.events or self.missed_events or self.spurious_events:
            each = ", ".join(f"{kind} {error:.0f} ms" for kind, error in self.events.items())
            rows.append(
                (
                    "events",
                    f"timing error {each or '-'}; {self.missed_events} missed, "
                    f"{self.spurious_events} spurious",
                )
            )
        return tuple(rows)

    def summary(self) -> str:
        """One line per compared quantity."""
        return str(self)

    def __str__(self) -> str:
        return "\n".join(f"{quantity}: {error}" for quantity, error in self.rows)


def compare_with_truth(
    truth: GroundTruth,
    *,
    model: Model | None = None,
    motion: Motion | None = None,
    loads: Loads | None = None,
    events: Sequence[Event] = (),
    trim: float = 0.1,
) -> AnalysisErrors:
    """Errors of the results of an analysis: a scaled model, a motion, loads, events.

    Torques and forces are compared where plates measured every foot on the ground.

    Args:
        truth: Ground truth of the trial.
        model: The scaled model; by default that of the motion.
        motion: The result of inverse kinematics; by default that of the loads.
        loads: The result of inverse dynamics.
        events: Detected foot strikes and foot offs.
        trim: Time (s) at either end that is not compared, because of filter transients.

    Returns:
        Errors of all quantities that were given.

    Raises:
        CaptureError: The analysis and the truth do not overlap in time.
    """
    motion = loads.motion if loads is not None and motion is None else motion
    model = motion.model if motion is not None and model is None else model
    angles, positions = _coordinate_errors(truth, motion, trim) if motion is not None else ({}, {})
    shares, errors, forces, residual = (
        ({}, {}, {}, None) if loads is None else _load_errors(truth, loads, trim)
    )
    times, missed_events, spurious_events = (
        _event_errors(truth.events, events) if events else ({}, 0, 0)
    )
    return AnalysisErrors(
        angles,
        positions,
        _length_errors(truth.model, model) if model is not None else {},
        shares,
        errors,
        forces,
        residual,
        times,
        missed_events,
        spurious_events,
    )


def _comparable_frames(truth: GroundTruth, time: np.ndarray, trim: float) -> np.ndarray:
    start, end = truth.motion.time[0] + trim, truth.motion.time[-1] - trim
    inside = (time >= start - 1e-9) & (time <= end + 1e-9)
    if not inside.any():
        raise CaptureError(
            f"the analysis has no frame between {start:.2f} and {end:.2f} s, where the truth is"
        )
    return inside


def _truth_at(truth: GroundTruth, values: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Truth at other times, linear between frames."""
    return np.stack([np.interp(time, truth.motion.time, column) for column in values.T], -1)


def _coordinate_errors(
    truth: GroundTruth, motion: Motion, trim: float
) -> tuple[dict[str, float], dict[str, float]]:
    inside = _comparable_frames(truth, motion.time, trim)
    time = motion.time[inside]
    angles, positions = {}, {}
    for name in _common_coordinates(truth.model, motion.model):
        true = np.interp(
            time, truth.motion.time, truth.motion.q[:, truth.model.coordinate_index(name)]
        )
        found = motion.q[inside, motion.model.coordinate_index(name)]
        if name in ROOT_COORDINATES[:3]:
            positions[name] = 1e3 * _root_mean_square(found - true)
        else:
            difference = np.mod(found - true + np.pi, 2 * np.pi) - np.pi
            angles[name] = float(np.rad2deg(_root_mean_square(difference)))
    return angles, positions


def _length_errors(true: Model, model: Model) -> dict[str, float]:
    scaled = {joint.name: joint for joint in model.joints}
    errors = {}
    for joint in true.joints:
        length = float(np.linalg.norm(np.asarray(joint.placement.r, float)))
        if joint.name in scaled and length > 0:
            offset = np.asarray(scaled[joint.name].placement.r, float)
            errors[joint.name] = 1e3 * (float(np.linalg.norm(offset)) - length)
    return errors


def _load_errors(
    truth: GroundTruth, loads: Loads, trim: float
) -> tuple[dict[str, float], dict[str, float], dict[str, float], float | None]:
    motion = loads.motion
    inside = _comparable_frames(truth, motion.time, trim)
    true_feet = {foot.side: foot for foot in truth.loads.feet}
    weight = -float(truth.model.mass) * float(truth.model.gravity[2])
    forces: dict[str, float] = {}
    for foot in loads.feet:
        if foot.side not in true_feet:
            continue
        true = _truth_at(truth, true_feet[foot.side].force, motion.time)
        loaded = true[:, 2] > MIN_TRUE_LOAD_WEIGHTS * weight
        unmeasured = loaded & (foot.force[:, 2] < MAX_MISSING_LOAD_WEIGHTS * weight)
        inside = inside & ~unmeasured
    if not inside.any():
        return {}, {}, {}, None
    for foot in loads.feet:
        if foot.side in true_feet:
            true = _truth_at(truth, true_feet[foot.side].force, motion.time)
            error = np.linalg.norm(foot.force - true, axis=1)[inside]
            forces[str(foot.side)] = _root_mean_square(error)
    shares, errors = {}, {}
    for name in _common_coordinates(truth.model, motion.model):
        if name in ROOT_COORDINATES:
            continue
        column = truth.loads.tau[:, truth.model.coordinate_index(name)]
        true = np.interp(motion.time, truth.motion.time, column)
        found = loads.tau[:, motion.model.coordinate_index(name)]
        errors[name] = _root_mean_square((found - true)[inside])
        peak = float(np.abs(column).max())
        if peak > MIN_PEAK_TORQUE_NM:
            shares[name] = 100.0 * errors[name] / peak
    residual = _root_mean_square(np.linalg.norm(loads.residual_force, axis=1)[inside])
    return shares, errors, forces, residual


def _event_errors(
    true: Sequence[Event], found: Sequence[Event]
) -> tuple[dict[str, float], int, int]:
    """Mean timing error of each kind of event (ms), missed and spurious events."""
    known = [event for event in found if event.label in (FOOT_STRIKE, FOOT_OFF)]
    unmatched = list(true)
    errors: dict[str, list[float]] = {}
    spurious_events = 0
    for event in known:
        near = [
            other
            for other in unmatched
            if (other.label, other.context) == (event.label, event.context)
            and abs(other.time - event.time) <= EVENT_WINDOW_S
        ]
        if not near:
            spurious_events += 1
            continue
        nearest = min(near, key=lambda other: abs(other.time - event.time))
        unmatched.remove(nearest)
        errors.setdefault(event.label, []).append(abs(nearest.time - event.time))
    first = min((event.time for event in known), default=0.0)
    last = max((event.time for event in known), default=0.0)
    missed_events = sum(first <= event.time <= last for event in unmatched)
    return (
        {kind: 1e3 * float(np.mean(times)) for kind, times in errors.items()},
        missed_events,
        spurious_events,
    )


def _common_coordinates(true: Model, model: Model) -> list[str]:
    return [name for name in true.coordinate_names if name in model.coordinate_names]


def _root_mean_square(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def _rms(errors: Mapping[str, float]) -> float:
    return _root_mean_square(np.array(list(errors.values())))
