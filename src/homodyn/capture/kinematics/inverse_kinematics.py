"""Inverse kinematics: the motion of a model that comes closest to the markers of a recording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from homodyn.capture.filters.pose_derivatives import (
    interpolate_poses,
    pose_derivatives,
    unwrap_quaternions,
)
from homodyn.capture.kinematics.jerk_smoothing import smooth_trajectory
from homodyn.capture.kinematics.least_squares import (
    MAX_ITERATIONS,
    STEP_TOLERANCE,
    MarkerProblem,
    PoseEstimate,
    ProgressCallback,
    fit_in_batches,
    levenberg_marquardt,
    runs_natively,
    sugihara,
)
from homodyn.capture.kinematics.marker_step import LOSSES
from homodyn.capture.kinematics.observability import (
    common_markers,
    undetermined_coordinates,
    visibility_patterns,
)
from homodyn.capture.kinematics.plausibility import check_units, fit_notes, refuse_misfit
from homodyn.capture.kinematics.pose_initialization import (
    fit_all_frames,
    initial_pose,
    placement_entries,
)
from homodyn.capture.scaling.scaling_result import ScalingResult
from homodyn.capture.trial import Trial
from homodyn.capture.world_frame import world_axes
from homodyn.errors import CaptureError
from homodyn.foundation.text import unknown_name
from homodyn.model import Model
from homodyn.model.configuration import normalize, plain_entries
from homodyn.motion.motion import FitStatus, Motion

SOLVER_METHODS = ("levenberg-marquardt", "sugihara")
DEFAULT_ROBUST_SCALE_M = 0.02
"""Distance (m) at which a robust loss bends unless told otherwise."""


@dataclass(frozen=True)
class MarkerTargets:
    """What of the model's markers a trial shows, in the model's world."""

    names: tuple[str, ...]
    marker_indices: np.ndarray
    """Places of the compared markers among those of the model."""
    measured: np.ndarray
    """(frames, compared markers, 3), m; NaN where not seen."""
    targets: np.ndarray
    """(frames, all markers of the model, 3), m; zero where not seen."""
    weights: np.ndarray
    """(frames, all markers of the model); zero where not seen."""
    notes: tuple[str, ...]


@dataclass(frozen=True)
class CoordinateMasks:
    """Which coordinates the markers leave open."""

    locked: np.ndarray
    """(nv,): those that the model locks."""
    undetermined: np.ndarray
    """(nv,): those that no frame determines."""
    gaps: np.ndarray
    """(frames, nv): those that this frame does not determine, but others do."""
    placed: np.ndarray
    """(frames,): whether the frame shows where the model is."""


def inverse_kinematics(
    model: Model | ScalingResult,
    trial: Trial,
    *,
    weights: Mapping[str, float] | None = None,
    track: Mapping[str, tuple[float, Any]] | None = None,
    limits: bool = True,
    robust: str | tuple[str, float] | None = None,
    smooth: float | None = None,
    start: Motion | np.ndarray | None = None,
    method: str = "levenberg-marquardt",
    tolerance: float = STEP_TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
    max_rms: float = 0.15,
    progress: ProgressCallback | None = None,
) -> Motion:
    """The motion of a model that best matches the markers of a trial.

    In each frame the sum of w |measured - model|^2 over the visible markers is minimised within
    the joint limits; the root joint has no limits. Markers are matched by name; markers that only
    the model or only the trial has are listed in the notes. A coordinate that the visible markers
    do not determine in some frames is interpolated between its values before and after; one that
    they never determine keeps its starting value and is listed in ``Motion.unobserved``. Frames
    with too few markers to place the model have the status ``UNSEEN`` and are interpolated.
    Velocities and accelerations come from quintic splines.

    Args:
        model: The model of the subject, or the result of `scale` or `calibrate`.
        trial: The recording.
        weights: Marker weights by name; 1 by default, 0 excludes a marker.
        track: Coordinates that also follow values, with a weight (rad, m):
            ``{"knee_angle_r": (0.1, values)}``; one value, or one per frame.
        limits: Whether joint limits apply.
        robust: ``"huber"`` or ``"cauchy"`` reduces the influence of markers with errors above
            0.02 m; a pair such as ``("huber", 0.01)`` sets that distance (m).
        smooth: Cutoff frequency (Hz) of a jerk penalty over the whole trajectory; None fits each
            frame separately.
        start: A pose, one pose per frame, or a motion to start from; searched when left out.
        method: ``"levenberg-marquardt"``, all frames at once, or ``"sugihara"``, frame by frame
            as in Felis 2015.
        tolerance: Length of the last step (rad, m) at which a frame has converged.
        max_iterations: Iterations per frame.
        max_rms: Largest rms marker error (m) that is accepted.
        progress: Called with the share of frames that are fitted; an exception that it raises ends
            the fit.

    Returns:
        The motion, with marker errors and a status per frame.

    Raises:
        CaptureError: The markers do not match the model, do not determine its position, or an
            argument is invalid.
        NoSolution: The rms marker error exceeds ``max_rms``.
    """
    if isinstance(model, ScalingResult):
        model = model.model
    if model.parameters:
        model = model.at(model.parameter_values)
    if method not in SOLVER_METHODS:
        raise CaptureError(
            f"there is no method {method!r}; it may be {' or '.join(SOLVER_METHODS)}"
        )
    if method == "sugihara" and smooth is not None:
        raise CaptureError("method 'sugihara' takes frame after frame; it cannot smooth over them")
    sight = _marker_targets(model, trial, weights)
    pull, goal = _tracking_terms(model, track, trial.frames)
    freedom = _coordinate_masks(model, sight, pull, anywhere=start is None)
    loss, scale = _robust_loss(robust)
    problem = MarkerProblem(
        model,
        sight.targets,
        sight.weights,
        pull,
        goal,
        (~(freedom.locked | freedom.undetermined | freedom.gaps)).astype(float),
        *_joint_limits(model, limits),
        loss,
        scale,
        runs_natively(trial.frames),
    )
    if progress is not None:
        progress(0.0)
    fitted = _fit_poses(problem, freedom, start, method, tolerance, max_iterations, progress)
    told = f"{method} to a last step of {tolerance:g}, limits {'on' if limits else 'off'}"
    if loss:
        told += f", {loss} loss from {scale:g} m"
    if smooth is not None:
        free = ~(freedom.locked | freedom.undetermined)
        fitted = smooth_trajectory(
            problem.with_free(free.astype(float)), fitted, trial.rate, smooth
        )
        told += f", jerk penalised from {smooth:g} Hz"
    motion = _motion(trial, sight, freedom, problem, fitted, told)
    refuse_misfit(motion, max_rms)
    return replace(motion, notes=(*motion.notes, *fit_notes(motion)))


def _marker_targets(
    model: Model, trial: Trial, weights: Mapping[str, float] | None
) -> MarkerTargets:
    ours, theirs = common_markers(model, trial)
    names = tuple(marker.name for marker in model.markers)
    if not ours:
        raise CaptureError(
            f"trial {trial.name!r} and model {model.name!r} have no marker name in common: "
            f"the trial has {_list_text(trial.markers)}; the model has {_list_text(names)}; "
            "rename them (Trial.renamed, match_labels)"
        )
    factors = np.ones(len(names))
    for name, weight in (weights or {}).items():
        if name not in names:
            raise CaptureError(
                f"weights: model {model.name!r} has {unknown_name('marker', name, names)}"
            )
        if not (np.isfinite(weight) and weight >= 0):
            raise CaptureError(f"the weight of marker {name!r} is {weight}; it may be 0 or more")
        factors[names.index(name)] = weight
    measured = trial.positions[:, theirs] @ world_axes(model)
    seen = np.isfinite(measured).all(-1)
    targets = np.zeros((trial.frames, len(names), 3))
    targets[:, ours] = np.where(seen[..., None], measured, 0.0)
    shares = np.zeros((trial.frames, len(names)))
    shares[:, ours] = seen * factors[ours]
    if not shares.any():
        raise CaptureError(
            f"trial {trial.name!r}: none of the {len(ours)} markers that model {model.name!r} "
            "also has is ever seen with a weight above zero"
        )
    check_units(model, targets, shares)
    notes = []
    for what, extra in (
        ("markers that the model lacks, ignored", [m for m in trial.markers if m not in names]),
        ("markers of the model that the trial lacks", [m for m in names if m not in trial.markers]),
    ):
        if extra:
            notes.append(f"{what}: {_list_text(extra)}")
    compared = tuple(names[k] for k in ours)
    return MarkerTargets(compared, np.array(ours), measured, targets, shares, tuple(notes))


def _tracking_terms(
    model: Model, track: Mapping[str, tuple[float, Any]] | None, frames: int
) -> tuple[np.ndarray, np.ndarray]:
    pull, goal = np.zeros((2, frames, model.nv))
    plain = plain_entries(model)[0]
    for name, (weight, values) in (track or {}).items():
        entry = model.coordinate_index(name)
        if entry not in plain:
            raise CaptureError(f"coordinate {name!r} is part of a quaternion and cannot be tracked")
        if not (np.isfinite(weight) and weight >= 0):
            raise CaptureError(
                f"the weight of coordinate {name!r} is {weight}; it may be 0 or more"
            )
        given = np.asarray(values, dtype=float)
        if given.shape not in ((), (frames,)):
            raise CaptureError(
                f"track: {name!r} has values of shape {given.shape}; one number or {frames} are "
                "needed"
            )
        known = np.isfinite(np.broadcast_to(given, frames))
        pull[known, entry] = weight
        goal[known, entry] = np.broadcast_to(given, frames)[known]
    return pull, goal


def _coordinate_masks(
    model: Model, sight: MarkerTargets, pull: np.ndarray, anywhere: bool
) -> CoordinateMasks:
    """Which coordinates stay, in all frames and in each, and which frames place the model."""
    locked = np.array([coordinate.locked for coordinate in model.coordinates], dtype=bool)
    ever = sight.weights.max(0)[None]
    held = undetermined_coordinates(model, ever, pull.max(0)[None], locked)[0]
    roots = np.concatenate(placement_entries(model))
    if anywhere and held[roots].any() and len(roots) >= 3:
        open_ = ", ".join(model.coordinate_names[i] for i in roots if held[i])
        raise CaptureError(
            f"the {int((ever > 0).sum())} markers that trial and model {model.name!r} share do not "
            f"tell where the model is ({open_} stay open): it takes three that are not in line, or "
            "a start"
        )
    patterns, index = visibility_patterns(np.column_stack([sight.weights > 0, pull > 0]))
    count = len(model.markers)
    usual = np.concatenate([ever[0] > 0, pull.max(0) > 0])
    shares = np.where(patterns[:, :count], ever, 0.0)
    drawn = np.where(patterns[:, count:], pull.max(0), 0.0)
    odd = (patterns != usual).any(-1)
    hidden = np.zeros((len(patterns), model.nv), dtype=bool)
    hidden[odd] = undetermined_coordinates(model, shares[odd], drawn[odd], locked | held)
    gaps = hidden[index]
    placed = np.logical_and((sight.weights > 0).any(-1), ~gaps[:, roots].any(-1))
    if not placed.any():
        raise CaptureError(
            "no frame sees enough markers at once to tell where the model is; it takes three that "
            "are not in line"
        )
    return CoordinateMasks(locked, held, gaps, placed)


def _joint_limits(model: Model, limits: bool) -> tuple[np.ndarray, np.ndarray]:
    lower, upper = model.lower.copy(), model.upper.copy()
    loose = np.ones(model.nv, dtype=bool)
    if limits:
        loose[plain_entries(model)[0]] = False
        loose[np.concatenate(placement_entries(model))] = True
    lower[loose], upper[loose] = -np.inf, np.inf
    return lower, upper


def _robust_loss(robust: str | tuple[str, float] | None) -> tuple[str, float]:
    loss, scale = (
        (robust, DEFAULT_ROBUST_SCALE_M) if isinstance(robust, str) else robust or ("", 1.0)
    )
    if loss not in LOSSES:
        raise CaptureError(f"there is no robust loss {loss!r}; it may be 'huber' or 'cauchy'")
    if not (np.isfinite(scale) and scale > 0):
        raise CaptureError(f"a robust loss bends at a distance above zero (m), not at {scale}")
    return loss, float(scale)


def _fit_poses(
    problem: MarkerProblem,
    freedom: CoordinateMasks,
    start: Motion | np.ndarray | None,
    method: str,
    tolerance: float,
    iterations: int,
    tell: ProgressCallback | None,
) -> PoseEstimate:
    """Poses of all frames: those that place the model fitted, the others between them."""
    model = problem.model
    rows = np.flatnonzero(freedom.placed)
    part = problem.select_frames(rows)
    seed = int(np.argmax((part.weights > 0).sum(-1)))
    given = _initial_poses(model, start, problem.frames)
    neutral = model.neutral() if given is None else given.reshape(-1, model.nq)[0]
    options: dict[str, Any] = {"tolerance": tolerance, "iterations": iterations}
    if method == "sugihara":
        first = (
            neutral if given is not None else initial_pose(part.select_frames([0]), neutral).q[0]
        )
        fitted = sugihara(part, first, progress=tell, **options)
    elif given is not None and given.ndim > 1:
        fitted = fit_in_batches(part, given[rows], tell, **options)
    else:
        pose = initial_pose(part.select_frames([seed]), neutral).q[0] if given is None else given
        fitted = fit_all_frames(part, seed, pose, progress=tell, **options)
    fitted = _scatter_frames(problem.frames, rows, fitted)
    q = fitted.q
    if not freedom.placed.all():
        q = interpolate_poses(model, q, freedom.placed)
    gaps = freedom.gaps & freedom.placed[:, None]
    if not gaps.any():
        return replace(fitted, q=q)
    for entry in np.flatnonzero(gaps.any(0)):
        q = interpolate_poses(model, q, ~gaps[:, entry], np.array([entry]))
    again = np.flatnonzero(gaps.any(-1))
    second = levenberg_marquardt(problem.select_frames(again), q[again], **options)
    q[again] = second.q
    arrays = {name: getattr(fitted, name).copy() for name in ("cost", "converged", "blocked")}
    for name, array in arrays.items():
        array[again] = getattr(second, name)[...]
    return replace(fitted, q=q, **arrays)


def _initial_poses(
    model: Model, start: Motion | np.ndarray | None, frames: int
) -> np.ndarray | None:
    if start is None:
        return None
    given = np.array(start.q if isinstance(start, Motion) else start, dtype=float)
    if given.shape not in ((model.nq,), (frames, model.nq)) or not np.isfinite(given).all():
        raise CaptureError(
            f"start has shape {given.shape}; a pose of {model.nq} finite numbers is needed, or "
            f"{frames} of them"
        )
    return given


def _scatter_frames(frames: int, rows: np.ndarray, fitted: PoseEstimate) -> PoseEstimate:
    """Results of some frames at their places among all."""
    if len(rows) == frames:
        return fitted
    names = ("q", "cost", "iterations", "converged", "blocked")
    arrays = {}
    for name in names:
        part = getattr(fitted, name)
        arrays[name] = np.zeros((frames, *part.shape[1:]), dtype=part.dtype)
        arrays[name][rows] = part
    return PoseEstimate(**arrays)


def _motion(
    trial: Trial,
    sight: MarkerTargets,
    freedom: CoordinateMasks,
    problem: MarkerProblem,
    fitted: PoseEstimate,
    told: str,
) -> Motion:
    model = problem.model
    q = fitted.q
    if model.nq > model.nv:
        q = unwrap_quaternions(model, normalize(model, q))
    residual = problem.distances(q)[:, sight.marker_indices]
    residual[~np.isfinite(sight.measured).all(-1)] = np.nan
    status = np.where(fitted.converged, FitStatus.CONVERGED, FitStatus.STALLED).astype(object)
    status[~freedom.placed] = FitStatus.UNSEEN
    v, a = pose_derivatives(model, trial.time, q)
    names = np.array(model.coordinate_names, dtype=object)
    notes = list(sight.notes)
    shut = freedom.undetermined | freedom.locked
    if freedom.locked.any():
        notes.append(f"locked by the model: {_list_text(names[freedom.locked])}")
    gaps = freedom.gaps & freedom.placed[:, None]
    for entry in np.flatnonzero(gaps.any(0)):
        notes.append(
            f"{names[entry]} is not shown by the markers of {int(gaps[:, entry].sum())} frames and "
            "was laid between its values around them"
        )
    weights = sight.weights[:, sight.marker_indices].max(0)
    return Motion(
        model,
        trial.time,
        q,
        v,
        a,
        sight.names,
        sight.measured,
        residual,
        weights,
        status,
        fitted.iterations,
        tuple(names[freedom.undetermined]),
        fitted.blocked & ~shut,
        told,
        tuple(notes),
    )


def _list_text(names: Any, most: int = 12) -> str:
    names = [str(name) for name in names]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
