"""Inverse kinematics: the motion of a model that best matches the markers of a recording."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from homodyn.capture.filters.pose_derivatives import (
    interpolate_poses,
    pose_derivatives,
    unwrap_quaternions,
)
from homodyn.capture.kinematics.coordinate_masks import CoordinateMasks, coordinate_masks
from homodyn.capture.kinematics.fit_targets import MarkerTargets, marker_targets, tracking_targets
from homodyn.capture.kinematics.hinge_turns import unlimited_hinges, unwind_trajectory
from homodyn.capture.kinematics.jerk_smoothing import smooth_trajectory
from homodyn.capture.kinematics.least_squares import (
    MarkerProblem,
    PoseEstimate,
    ProgressCallback,
    fit_in_batches,
    levenberg_marquardt,
    runs_natively,
    sugihara,
)
from homodyn.capture.kinematics.options import InverseKinematicsKeywords, InverseKinematicsOptions
from homodyn.capture.kinematics.plausibility import fit_notes, refuse_misfit
from homodyn.capture.kinematics.pose_initialization import (
    fit_all_frames,
    initial_pose,
    placement_entries,
)
from homodyn.capture.scaling.scaling_result import ScalingResult
from homodyn.capture.trial import Trial
from homodyn.errors import CaptureError
from homodyn.foundation.arguments import require_type
from homodyn.foundation.options import change_options
from homodyn.foundation.text import count_of, enumerate_names
from homodyn.model import Model
from homodyn.model.configuration import normalize, plain_entries
from homodyn.motion.clinical import coordinate_label
from homodyn.motion.motion import FitStatus, Motion, MotionSource

MAX_LISTED_COORDINATES = 12
"""Coordinates that a note lists."""


def inverse_kinematics(
    model: Model | ScalingResult,
    trial: Trial,
    options: InverseKinematicsOptions | None = None,
    *,
    progress: ProgressCallback | None = None,
    **changes: Unpack[InverseKinematicsKeywords],
) -> Motion:
    """The motion of a model that best matches the markers of a trial.

    In each frame the sum of w |measured - model|^2 over the visible markers is minimized within
    the joint limits; the root joint has no limits. Markers are matched by name; markers that only
    the model or only the trial has are listed in the notes. A coordinate that the visible markers
    do not determine in some frames is interpolated between its values before and after; one that
    they never determine keeps its starting value and is listed in ``Motion.unobserved``. Frames
    with too few markers to place the model have the status ``UNSEEN`` and are interpolated.
    Velocities and accelerations come from quintic splines. Without limits, full revolutions of
    joints are removed: no marker shows them.

    Args:
        model: The model of the subject, or the result of `scale` or `calibrate`.
        trial: The recording.
        options: Weights, limits, robustness, smoothing and solver; the defaults when left out.
        progress: Called with the share of frames that are fitted; an exception that it raises ends
            the fit.
        changes: Fields of `InverseKinematicsOptions` to change, such as ``robust="huber"``.

    Returns:
        The motion, with marker errors and a status per frame.

    Raises:
        CaptureError: The markers do not match the model, do not determine its position, or an
            option is invalid.
        NoSolution: The rms marker error exceeds ``max_rms``.
        HomodynError: ``model`` has another type.
    """
    require_type("model", model, Model, ScalingResult)
    chosen = change_options("inverse_kinematics", options or InverseKinematicsOptions(), changes)
    if isinstance(model, ScalingResult):
        model = model.model
    if model.parameters:
        model = model.at(model.parameter_values)
    markers = marker_targets(model, trial, chosen.weights)
    tracking = tracking_targets(model, chosen.track, trial.frames)
    masks = coordinate_masks(
        model, markers.weights, tracking[0], require_placement=chosen.start is None
    )
    loss, distance = chosen.robust_loss
    problem = MarkerProblem(
        model,
        markers.targets,
        markers.weights,
        *tracking,
        (masks.free & ~masks.gaps).astype(float),
        *_joint_limits(model, chosen.limits),
        loss,
        distance,
        runs_natively(trial.frames),
    )
    if progress is not None:
        progress(0.0)
    estimate = _fit_poses(problem, masks, chosen, progress)
    if not chosen.limits:
        estimate = replace(estimate, q=_without_turns(problem, estimate.q))
    if chosen.smooth is not None:
        free = problem.with_free(masks.free.astype(float))
        estimate = smooth_trajectory(free, estimate, trial.rate, chosen.smooth)
    motion = _motion(trial, markers, masks, problem, estimate, chosen.sentence)
    refuse_misfit(motion, chosen.max_rms)
    return replace(motion, notes=(*motion.notes, *fit_notes(motion)))


def _joint_limits(model: Model, limits: bool) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper limits (nv,), infinite for the root and for quaternions."""
    lower, upper = model.lower.copy(), model.upper.copy()
    unlimited = np.ones(model.nv, dtype=bool)
    if limits:
        unlimited[plain_entries(model)[0]] = False
        unlimited[np.concatenate(placement_entries(model))] = True
    lower[unlimited], upper[unlimited] = -np.inf, np.inf
    return lower, upper


def _without_turns(problem: MarkerProblem, q: np.ndarray) -> np.ndarray:
    """Poses without full revolutions of joints; the root and tracked coordinates keep theirs."""
    model = problem.model
    hinges = unlimited_hinges(model, problem.lower, problem.upper)
    root = np.concatenate(placement_entries(model))
    tracked = np.flatnonzero((problem.tracking_weights > 0).any(0))
    joints = hinges[~np.isin(hinges, [*root, *tracked])]
    return unwind_trajectory(model, q, joints, model.neutral())


def _fit_poses(
    problem: MarkerProblem,
    masks: CoordinateMasks,
    options: InverseKinematicsOptions,
    progress: ProgressCallback | None,
) -> PoseEstimate:
    """Poses of all frames: fitted where the model can be placed, interpolated elsewhere."""
    model = problem.model
    limits: dict[str, Any] = {
        "tolerance": options.tolerance,
        "iterations": options.max_iterations,
    }
    rows = np.flatnonzero(masks.placed)
    placed = problem.select_frames(rows)
    start = _initial_poses(model, options.start, problem.frames)
    neutral = model.neutral() if start is None else start.reshape(-1, model.nq)[0]
    if options.method == "sugihara":
        first = (
            neutral if start is not None else initial_pose(placed.select_frames([0]), neutral).q[0]
        )
        estimate = sugihara(placed, first, progress=progress, **limits)
    elif start is not None and start.ndim > 1:
        estimate = fit_in_batches(placed, start[rows], progress, **limits)
    else:
        seed = int(np.argmax((placed.weights > 0).sum(-1)))
        pose = initial_pose(placed.select_frames([seed]), neutral).q[0] if start is None else start
        estimate = fit_all_frames(placed, seed, pose, progress=progress, **limits)
    estimate = _scatter_frames(problem.frames, rows, estimate)
    return _fit_across_gaps(problem, masks, estimate, limits)


def _fit_across_gaps(
    problem: MarkerProblem,
    masks: CoordinateMasks,
    estimate: PoseEstimate,
    limits: dict[str, Any],
) -> PoseEstimate:
    """Interpolate what some frames do not determine, and fit the rest of these frames again."""
    model, q = problem.model, estimate.q
    if not masks.placed.all():
        q = interpolate_poses(model, q, masks.placed)
    gaps = masks.interpolated
    if not gaps.any():
        return replace(estimate, q=q)
    for entry in np.flatnonzero(gaps.any(0)):
        q = interpolate_poses(model, q, ~gaps[:, entry], np.array([entry]))
    rows = np.flatnonzero(gaps.any(-1))
    second = levenberg_marquardt(problem.select_frames(rows), q[rows], **limits)
    q[rows] = second.q
    arrays = {name: getattr(estimate, name).copy() for name in ("cost", "converged", "blocked")}
    for name, array in arrays.items():
        array[rows] = getattr(second, name)[...]
    return replace(estimate, q=q, **arrays)


def _initial_poses(
    model: Model, start: Motion | np.ndarray | None, frames: int
) -> np.ndarray | None:
    if start is None:
        return None
    poses = np.array(start.q if isinstance(start, Motion) else start, dtype=float)
    if poses.shape not in ((model.nq,), (frames, model.nq)) or not np.isfinite(poses).all():
        raise CaptureError(
            f"start has shape {poses.shape}; a pose of {model.nq} finite numbers is needed, or "
            f"{frames} of them"
        )
    return poses


def _scatter_frames(frames: int, rows: np.ndarray, estimate: PoseEstimate) -> PoseEstimate:
    """Results of some frames at their indices among all; zero elsewhere."""
    if len(rows) == frames:
        return estimate
    names = ("q", "cost", "iterations", "converged", "blocked")
    arrays = {}
    for name in names:
        part = getattr(estimate, name)
        arrays[name] = np.zeros((frames, *part.shape[1:]), dtype=part.dtype)
        arrays[name][rows] = part
    return PoseEstimate(**arrays)


def _motion(
    trial: Trial,
    markers: MarkerTargets,
    masks: CoordinateMasks,
    problem: MarkerProblem,
    estimate: PoseEstimate,
    method: str,
) -> Motion:
    model = problem.model
    q = estimate.q
    if model.nq > model.nv:
        q = unwrap_quaternions(model, normalize(model, q))
    residual = problem.distances(q)[:, markers.marker_indices]
    residual[~np.isfinite(markers.measured).all(-1)] = np.nan
    status = np.where(estimate.converged, FitStatus.CONVERGED, FitStatus.STALLED).astype(object)
    status[~masks.placed] = FitStatus.UNSEEN
    v, a = pose_derivatives(model, trial.time, q)
    names = np.array(model.coordinate_names, dtype=object)
    return Motion(
        model,
        trial.time,
        q,
        v,
        a,
        markers.names,
        markers.measured,
        residual,
        markers.weights[:, markers.marker_indices].max(0),
        status,
        estimate.iterations,
        tuple(names[masks.undetermined]),
        estimate.blocked & masks.free,
        method,
        (*markers.notes, *_mask_notes(model, masks)),
        source=MotionSource.RECORDED,
    )


def _mask_notes(model: Model, masks: CoordinateMasks) -> list[str]:
    """Locked coordinates, and coordinates that were interpolated in some frames."""
    names = np.array(model.coordinate_names, dtype=object)
    notes = []
    if masks.locked.any():
        notes.append(f"locked by the model: {_list_text(model, names[masks.locked])}")
    gaps = masks.interpolated
    for entry in np.flatnonzero(gaps.any(0)):
        frames = count_of(int(gaps[:, entry].sum()), "frame")
        notes.append(
            f"{coordinate_label(model, names[entry])} is not determined by the visible markers in "
            f"{frames} and was interpolated there"
        )
    return notes


def _list_text(model: Model, names: Iterable[str]) -> str:
    return enumerate_names(
        [coordinate_label(model, name) for name in names], MAX_LISTED_COORDINATES
    )
