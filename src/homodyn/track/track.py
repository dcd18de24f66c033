"""Tracking of a whole trial: attach, follow the markers, drive the joints, read the forces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np

from homodyn.capture.kinematics import inverse_kinematics
from homodyn.capture.labeling import match_labels
from homodyn.capture.scaling import ScalingResult
from homodyn.capture.trial import Trial
from homodyn.capture.world_frame import world_axes
from homodyn.dynamics import inverse_dynamics, marker_positions
from homodyn.errors import CaptureError
from homodyn.foundation.arguments import require_type
from homodyn.foundation.options import change_options
from homodyn.foundation.text import count_of
from homodyn.model import Model
from homodyn.motion import Loads, Motion, MotionSource, motion_from_states
from homodyn.track.live import FrameStatus, Live, TrackedFrame
from homodyn.track.options import TrackingKeywords, TrackingOptions
from homodyn.track.residual_wrench import residual_wrench
from homodyn.track.result import TrackingResult, TrackingStatus
from homodyn.track.sole_contacts import with_sole_contacts
from homodyn.track.variants import filter_positions, with_lead
from homodyn.track.worlds import residual_limits

MIN_FRAMES = 10
"""Frames of the shortest trial that can be tracked."""


def track(
    model: Model | ScalingResult,
    trial: Trial,
    options: TrackingOptions | None = None,
    *,
    progress: Callable[[float], None] | None = None,
    **changes: Unpack[TrackingKeywords],
) -> TrackingResult:
    """Movement and loads of a trial by physics, without force plates.

    A simulated body follows the markers (`homodyn.track.worlds`). A second one is driven by motors
    to the same joint angles and stands on the ground by itself, up to the limits of the residual
    joint: torques, ground forces and residuals are the forces of its rows. Labels are matched to
    the markers of the model; a model without contacts gets them under its feet.

    Args:
        model: The model of the subject, or the result of `scale` or `calibrate`.
        trial: The recording, with the floor at height 0.
        options: Laws, limits and filter; the defaults when left out.
        progress: Called with the share of frames that are tracked; an exception that it raises ends
            the tracking.
        changes: Fields of `TrackingOptions` to change, such as ``residual_limits=30``.

    Returns:
        Movement, loads and status.

    Raises:
        CaptureError: The markers do not match the model, or the trial is too short.
        ModelError: No foot of a model without contacts comes near the ground.
        HomodynError: ``model`` has another type.
    """
    require_type("model", model, Model, ScalingResult)
    chosen = change_options("track", options or TrackingOptions(), changes)
    if isinstance(model, ScalingResult):
        model = model.model
    if model.parameters:
        model = model.at(model.parameter_values)
    if trial.frames < MIN_FRAMES:
        raise CaptureError(
            f"trial {trial.name!r} has {count_of(trial.frames, 'frame')}; tracking needs at least "
            f"{MIN_FRAMES}"
        )
    matching = match_labels(model, trial)
    trial = matching.trial
    notes: list[str] = []
    if model.root and not model.contacts:
        kinematic = inverse_kinematics(model, trial)
        model = with_sole_contacts(model, kinematic)
        notes.append(
            f"the model has no contacts; {len(model.contacts)} spheres were placed under its feet"
        )
        start = kinematic.q[0]
    else:
        start = inverse_kinematics(model, _first_frame(trial)).q[0]
    live = Live(model, chosen, rate=trial.rate, start=start)
    return follow_trial(live, trial, chosen, tuple(notes), progress)


def follow_trial(
    live: Live,
    trial: Trial,
    options: TrackingOptions,
    notes: tuple[str, ...] = (),
    progress: Callable[[float], None] | None = None,
) -> TrackingResult:
    """Track a trial with a body that is placed at its first frame.

    Args:
        live: The body, which has a pose near the first frame and has not been placed.
        trial: The recording, with the marker names of the model.
        options: Those of ``live``.
        notes: Decisions so far.
        progress: Called with the share of frames that are tracked.

    Returns:
        Movement, loads and status.
    """
    positions = filter_positions(marker_array(live.markers, trial), trial.rate, options.filter)
    extended = with_lead(positions)
    count = len(extended) - len(positions)
    frames: list[TrackedFrame] = []
    for k, sample in enumerate(extended):
        frame = live.step(trial.start + (k - count) / trial.rate, sample)
        if k >= count:
            frames.append(frame)
        if progress is not None and k % 50 == 0:
            progress(max(0.0, (k - count) / trial.frames))
    return tracking_result(live, trial, positions, frames, options, notes)


def _first_frame(trial: Trial) -> Trial:
    """The first frame in which most markers are seen, as a trial."""
    seen = np.isfinite(trial.positions).all(-1).sum(-1)
    first = int(np.argmax(seen >= 0.9 * seen.max()))
    time = trial.time[first]
    return trial.crop(time, time + 0.5 / trial.rate)


def marker_array(markers: Sequence[str], trial: Trial) -> np.ndarray:
    """Positions of markers in their order; NaN for those that a trial lacks.

    Args:
        markers: Names of the markers.
        trial: The recording.

    Returns:
        (frames, markers, 3), m, Z up.

    Raises:
        CaptureError: The trial has none of the markers.
    """
    known = {name: k for k, name in enumerate(trial.markers)}
    if not set(known) & set(markers):
        raise CaptureError(
            f"trial {trial.name!r} has none of the markers {', '.join(markers[:8])}, ...; it has "
            f"{', '.join(trial.markers[:8])}, ..."
        )
    missing = np.full((trial.frames, 3), np.nan)
    columns = [trial.positions[:, known[m]] if m in known else missing for m in markers]
    return np.stack(columns, axis=1)


def trial_of_motion(motion: Motion) -> Trial:
    """The markers of a model along a motion, as a recording.

    Args:
        motion: A motion with even time steps, of a model with markers.

    Returns:
        The recording, Z up.
    """
    model = motion.model
    positions = np.asarray(marker_positions(model, motion.q)) @ world_axes(model).T
    names = tuple(marker.name for marker in model.markers)
    return Trial(f"markers of {model.name}", names, positions, motion.rate, motion.time[0])


def tracking_result(
    live: Live,
    trial: Trial,
    positions: np.ndarray,
    frames: Sequence[TrackedFrame],
    options: TrackingOptions,
    notes: tuple[str, ...],
) -> TrackingResult:
    """The record of tracked frames.

    Args:
        live: What tracked them.
        trial: The recording.
        positions: Markers that were followed, (frames, markers, 3), m, Z up.
        frames: The frames.
        options: Laws and limits.
        notes: Decisions so far.

    Returns:
        The record.
    """
    model = live.model
    time = trial.time
    statuses = np.array([frame.status for frame in frames], dtype=object)
    motion = motion_from_states(
        model,
        time,
        np.array([frame.q for frame in frames]),
        np.array([frame.v for frame in frames]),
        method=_method(options),
        source=MotionSource.RECORDED,
    )
    motion = replace(
        motion,
        markers=live.markers,
        measured=live.to_model_axes(positions),
        residual=np.array([frame.marker_error for frame in frames]),
    )
    driven = motion_from_states(
        model,
        time,
        np.array([frame.driven_q for frame in frames]),
        np.array([frame.driven_v for frame in frames]),
        method="joints driven by motors along the tracked movement",
        source=MotionSource.SIMULATED,
    )
    tau = np.array([frame.torques + frame.residual for frame in frames])
    feet = frames[0].contacts.forces(
        np.array([frame.contact_forces for frame in frames]),
        np.array([frame.contact_points for frame in frames]),
    )
    feet = tuple(replace(foot, predicted=True) for foot in feet)
    usable = statuses == FrameStatus.TRACKED
    force, moment = residual_wrench(driven, tau)
    loads = Loads.from_torques(
        driven,
        tau,
        feet,
        residual_force=force,
        residual_moment=moment,
        method=_method(options),
    )
    loads = replace(loads, usable=usable)
    status, message = _judge(statuses)
    return TrackingResult(
        status,
        message,
        motion,
        loads,
        statuses,
        residual_limits(model, options.residual_limits),
        options,
        notes,
        gravity_torques(motion),
    )


def gravity_torques(motion: Motion) -> np.ndarray:
    """Generalized forces that carry the weight of the segments, without ground forces.

    Args:
        motion: The movement.

    Returns:
        (frames, nv), N m or N: those of the root carry the whole body.
    """
    zero = np.zeros_like(motion.v)
    return np.asarray(inverse_dynamics(motion.model, motion.q, zero, zero))


def _judge(statuses: np.ndarray) -> tuple[TrackingStatus, str]:
    counts = Counter(statuses.tolist())
    total = len(statuses)
    missing = counts[FrameStatus.LOST] + counts[FrameStatus.REFUSED]
    if missing:
        text = f"{missing} of {total} frames have no pose: too few markers"
        return TrackingStatus.INCOMPLETE, text
    fallen = counts[FrameStatus.BALANCE_LOST] + counts[FrameStatus.NOT_CONVERGED]
    if fallen:
        text = f"the driven body was put back at {fallen} of {total} frames"
        return TrackingStatus.BALANCE_LOST, text
    bridged = counts[FrameStatus.BRIDGED]
    more = f", {bridged} of them with too few markers" if bridged else ""
    return TrackingStatus.FINISHED, f"all {total} frames were tracked{more}"


def _method(options: TrackingOptions) -> str:
    filtered = (
        "unfiltered markers"
        if options.filter is None
        else (f"markers filtered at {options.filter:g} Hz")
    )
    return f"tracking by physics of {filtered}"
