"""Calibration: segment sizes, joint centers, marker offsets and poses from moving trials.

The full estimation problem of Felis (2015, eq. 4.3). Markers do not determine all of it: marker
offsets and sizes are correlated, and the center of a hinge is free along its axis. The prior
(`ScalingPrior`) determines the rest, and the result says which numbers the markers determine and
how certain they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np

from homodyn.capture.scaling.bundle_adjustment import (
    CalibrationEstimate,
    CalibrationProblem,
    Evidence,
    adjust_bundle,
    fit_poses,
)
from homodyn.capture.scaling.conventional_markers import conventional_markers
from homodyn.capture.scaling.foot_evidence import foot_evidence
from homodyn.capture.scaling.frame_selection import diverse_frames
from homodyn.capture.scaling.functional_evidence import (
    JointFit,
    functional_evidence,
    functional_fits,
)
from homodyn.capture.scaling.hip_evidence import hip_evidence
from homodyn.capture.scaling.initial_poses import initial_poses, initial_size
from homodyn.capture.scaling.marker_model import MarkerModel, Person, marker_model
from homodyn.capture.scaling.marker_rigidity import recorded_kinds
from homodyn.capture.scaling.mass_scaling import scale_masses
from homodyn.capture.scaling.noise_estimation import (
    NoiseLevels,
    camera_noise,
    estimate_with_noise,
    weight_problem,
    with_artifacts,
)
from homodyn.capture.scaling.options import CalibrationKeywords, CalibrationOptions
from homodyn.capture.scaling.parameter_prior import ParameterPrior, parameter_prior
from homodyn.capture.scaling.pelvis_checks import pelvis_warnings
from homodyn.capture.scaling.scaling_prior import ScalingPrior
from homodyn.capture.scaling.scaling_result import (
    BodyScale,
    MarkerShift,
    MassSource,
    ScalingResult,
    ScalingStatus,
    center_shifts,
    scaling_warnings,
)
from homodyn.capture.scaling.shared_markers import SharedMarkers, list_text, shared_markers
from homodyn.capture.scaling.soft_tissue import ARTIFACT_FEATURES
from homodyn.capture.scaling.stature import expected_size
from homodyn.capture.trial import Trial
from homodyn.errors import CaptureError
from homodyn.foundation.arguments import require_type
from homodyn.foundation.options import change_options
from homodyn.foundation.text import count_of
from homodyn.model import Model

MIN_FRAMES = 5
"""Frames below which joint centers and noise are poorly determined."""
BOUND_TOLERANCE = 1e-3
"""Relative distance from a bound at which an estimate counts as at the bound."""
MAX_POSTERIOR_RATIO = 0.5
"""Markers determine a number when its posterior deviation is below this share of the prior one."""


def calibrate(
    model: Model,
    trials: Trial | Sequence[Trial],
    options: CalibrationOptions | None = None,
    *,
    functional: Trial | Sequence[Trial] = (),
    progress: Callable[[float], None] | None = None,
    **changes: Unpack[CalibrationKeywords],
) -> ScalingResult:
    """Estimate sizes, marker offsets and poses of a subject together, from moving trials.

    Args:
        model: The generic model.
        trials: One or several recordings.
        options: Subject, tied scale factors, prior and frames; the defaults when left out.
        functional: Recordings of single joints that move through their range, such as star-shaped
            movements of a hip. They are used like ``trials``, and the joint centers (SCoRE) and
            axes (SARA) that they show are further evidence.
        progress: Called with the completed share of the work; an exception that it raises ends it.
        changes: Fields of `CalibrationOptions` to change, such as ``mass=72, height=1.78``.

    Returns:
        The scaled model, what changed, and how certain it is.

    Raises:
        CaptureError: Too few markers or frames match, or an option is invalid.
        HomodynError: ``model`` has another type.
    """
    require_type("model", model, Model)
    chosen = change_options("calibrate", options or CalibrationOptions(), changes)
    moving, joint_trials = _as_list(trials), _as_list(functional)
    conventional = conventional_markers(model, [*moving, *joint_trials], chosen.plug_in_gait)
    if conventional is None:
        return _calibrate(model, moving, joint_trials, chosen, progress)
    one, two = conventional.trials[: len(moving)], conventional.trials[len(moving) :]
    result = _calibrate(conventional.model, one, two, chosen, progress)
    return conventional.restore(model, result)


def _calibrate(
    model: Model,
    moving: Sequence[Trial],
    joint_trials: Sequence[Trial],
    chosen: CalibrationOptions,
    progress: Callable[[float], None] | None,
) -> ScalingResult:
    """`calibrate` with the markers of ``model`` as they are."""
    recording = shared_markers(model, [*moving, *joint_trials])
    fits, functional_doubts = functional_fits(
        model, recording, range(len(moving), len(moving) + len(joint_trials))
    )
    frames = _select_frames(recording, chosen.frames)
    markers = marker_model(model, recording.markers)
    size, notes = expected_size(model, chosen.height)
    prior = parameter_prior(
        model,
        recording.markers,
        chosen,
        size=size,
        uniform=chosen.uniform,
        free_joints=[fit.joint for fit in fits if fit.ball],
        kinds=recorded_kinds(model, recording),
    )
    if chosen.prior.artifact > 0:
        prior = prior.with_artifacts(ARTIFACT_FEATURES)
    joints = functional_evidence(model, recording, prior.unknowns, fits, chosen.prior)
    calibration = _estimate(markers, prior, recording, frames, joints, chosen, progress)
    strength = chosen.strength_law
    scaled, mass_warnings = scale_masses(
        model,
        calibration.person,
        recording.markers,
        chosen.mass,
        chosen.keep_shares,
        strength,
    )
    bodies = _body_rows(model, scaled, calibration)
    shifts = _marker_rows(markers, calibration)
    doubts = [
        *scaling_warnings(bodies, shifts, calibration.rms),
        *pelvis_warnings(model, scaled, recording, chosen),
        *_bound_warnings(calibration.levels, chosen.prior),
    ]
    status, warnings = _status(doubts, calibration.estimate)
    estimate = calibration.estimate
    return ScalingResult(
        model=scaled,
        generic=model,
        status=status,
        bodies=bodies,
        joints=center_shifts(model, scaled, _center_deviations(model, calibration)),
        marker_shifts=shifts,
        rms_before=float(np.sqrt(np.nanmean(calibration.generic_errors**2))),
        rms_after=calibration.rms,
        q=estimate.q,
        frames=tuple(recording.frames[k] for k in frames),
        iterations=estimate.iterations,
        warnings=(
            *warnings,
            *functional_doubts,
            *recording.warnings,
            *_frame_warnings(recording.markers, recording.positions[frames]),
            *mass_warnings,
        ),
        notes=(
            *notes,
            *(_functional_note(model, fit) for fit in fits),
            *strength.notes(model, scaled),
        ),
        method=_method_text(chosen, len(frames), len(recording.frames), calibration.levels),
        mass_source=MassSource.DENSITY if chosen.mass is None else MassSource.GIVEN,
        strength=strength,
        noise_levels={
            "noise": calibration.levels.noise,
            "landmark": calibration.levels.landmark,
            "tracking": calibration.levels.tracking,
            "artifact": calibration.levels.artifact,
        },
    )


@dataclass(frozen=True, eq=False)
class _Calibration:
    """The estimate with its prior and the errors of the generic model."""

    prior: ParameterPrior
    estimate: CalibrationEstimate
    levels: NoiseLevels
    generic_errors: np.ndarray
    """(frames, markers), m: marker errors of the generic model in its best poses."""
    posterior: np.ndarray
    """(unknowns, unknowns): covariance."""
    errors: np.ndarray
    """(frames, markers), m: marker errors of the scaled model, which has no artifacts."""

    @property
    def rms(self) -> float:
        """Root mean square of the marker errors (m)."""
        return float(np.sqrt(np.nanmean(self.errors**2)))

    @property
    def person(self) -> Person:
        """Geometry of the subject."""
        return self.prior.unknowns.person(self.estimate.phi)


def _estimate(
    markers: MarkerModel,
    prior: ParameterPrior,
    recording: SharedMarkers,
    frames: np.ndarray,
    joints: Sequence[Evidence],
    options: CalibrationOptions,
    progress: Callable[[float], None] | None,
) -> _Calibration:
    """Solve the estimation problem, from the generic model scaled to the measured size."""
    unknowns, measured = prior.unknowns, recording.positions[frames]
    size = initial_size(markers, measured)
    generic_q = initial_poses(markers, markers.generic, measured)
    generic_errors = np.linalg.norm(
        markers.positions(generic_q, markers.generic) - measured, axis=-1
    )
    phi = prior.mean.copy()
    phi[: unknowns.logarithms] = np.log(size)
    q = fit_poses(markers, unknowns.person(phi), measured, generic_q)
    hips = hip_evidence(markers.model, recording, unknowns, options)
    evidence = (*joints, *(() if hips is None else (hips,)))
    feet = foot_evidence(markers.model, recording, frames, options.prior.flat_foot)
    problem = CalibrationProblem(
        markers,
        unknowns,
        measured,
        prior.mean,
        prior.precision(options.prior),
        np.full(len(recording.markers), options.prior.noise),
        options.huber_distance,
        evidence,
        () if feet is None else (feet,),
    )
    camera = camera_noise(recording.positions, [one.body for one in markers.model.markers])
    estimate, levels = estimate_with_noise(problem, prior, options.prior, camera, q, phi, progress)
    assert estimate.information is not None
    posterior = np.linalg.inv(estimate.information)
    if options.prior.follow < options.prior.axis and not options.uniform:
        open_factors = _undetermined_logarithms(prior, posterior)
        follower = prior.with_followers(open_factors, options.prior)
        problem = with_artifacts(
            weight_problem(problem, follower, options.prior, levels), estimate.q
        )
        refined = adjust_bundle(problem, estimate.q, estimate.phi)
        change = refined.phi - estimate.phi
        change[unknowns.logarithms :] = 0.0
        # The evidence that was set aside is part of the uncertainty.
        posterior = posterior + np.diag(change**2)
        estimate = replace(refined, iterations=estimate.iterations + refined.iterations)
    fitted = markers.positions(estimate.q, unknowns.person(estimate.phi))
    errors = np.linalg.norm(fitted - measured, axis=-1)
    return _Calibration(prior, estimate, levels, generic_errors, posterior, errors)


def _undetermined_logarithms(prior: ParameterPrior, posterior: np.ndarray) -> np.ndarray:
    """(logarithms,): which of the unknown scale factors the markers leave open."""
    count = prior.unknowns.logarithms
    before = np.sqrt(np.diag(prior.size_covariance)[:count])
    undetermined: np.ndarray = np.sqrt(np.diag(posterior)[:count]) >= MAX_POSTERIOR_RATIO * before
    return undetermined


def _as_list(trials: Trial | Sequence[Trial]) -> list[Trial]:
    return [trials] if isinstance(trials, Trial) else list(trials)


def _functional_note(model: Model, fit: JointFit) -> str:
    what = "center" if fit.ball else "axis"
    return (
        f"functional {what} of {model.joints[fit.joint].name} from {fit.trial!r}, residual "
        f"{1e3 * fit.residual:.1f} mm"
    )


def _status(warnings: list[str], estimate: CalibrationEstimate) -> tuple[ScalingStatus, list[str]]:
    """Status of a calibration, and the reasons to doubt it."""
    if not estimate.converged:
        iterations = count_of(estimate.iterations, "iteration")
        return ScalingStatus.STALLED, [*warnings, f"not converged after {iterations}"]
    return (ScalingStatus.DOUBTFUL if warnings else ScalingStatus.SCALED), warnings


def _bound_warnings(levels: NoiseLevels, prior: ScalingPrior) -> list[str]:
    """Estimated deviations of marker placement that are at their bounds."""
    bounds = (
        ("landmarks", levels.landmark, prior.max_landmark),
        ("tracking markers", levels.tracking, prior.max_tracking),
    )
    return [
        f"the estimated placement SD of {what} is at its bound of {1e3 * bound:.0f} mm: the marker "
        "set of the model may differ from that of the recording"
        for what, value, bound in bounds
        if prior.learn and value >= (1 - BOUND_TOLERANCE) * bound
    ]


def _method_text(
    options: CalibrationOptions, used: int, available: int, levels: NoiseLevels
) -> str:
    return (
        f"Segment sizes ({'uniform' if options.uniform else 'x, y, z'}), marker offsets and poses "
        f"were estimated together from {used} of {count_of(available, 'frame')}. "
        f"{'Estimated' if options.prior.learn else 'Given'} noise: {1e3 * levels.noise:.2f} mm; "
        f"placement SD of landmarks: {1e3 * levels.landmark:.2f} mm, of tracking markers: "
        f"{1e3 * levels.tracking:.2f} mm."
    )


def _select_frames(recording: SharedMarkers, frames: int | Sequence[int]) -> np.ndarray:
    positions = recording.positions
    if isinstance(frames, int):
        chosen = diverse_frames(positions, frames, recording.trials)
    else:
        chosen = np.asarray(frames, dtype=int)
        if len(chosen) and (chosen.min() < 0 or chosen.max() >= len(positions)):
            raise CaptureError(
                f"frames: indices from 0 to {len(positions) - 1} are accepted, got "
                f"{chosen.min()} to {chosen.max()}"
            )
    if not len(chosen):
        raise CaptureError("no frame shows three markers of the model; nothing can be calibrated")
    return chosen


def _frame_warnings(markers: Sequence[str], measured: np.ndarray) -> list[str]:
    """Markers that the selected frames do not show, and too few frames."""
    found = []
    shown = np.isfinite(measured).all(-1).any(0)
    unseen = [name for name, some in zip(markers, shown, strict=True) if not some]
    if unseen:
        found.append(f"markers that none of the frames used shows: {list_text(unseen)}")
    if len(measured) < MIN_FRAMES:
        found.append(
            f"only {count_of(len(measured), 'frame')} used: fewer than {MIN_FRAMES} hardly "
            "determine joint centers and noise"
        )
    return found


def _body_rows(model: Model, scaled: Model, calibration: _Calibration) -> tuple[BodyScale, ...]:
    unknowns, person = calibration.prior.unknowns, calibration.person
    count = unknowns.logarithms

    def deviations(covariance: np.ndarray) -> np.ndarray:
        scales = unknowns.tie @ covariance[:count, :count] @ unknowns.tie.T
        return np.sqrt(np.diag(scales)).reshape(-1, 3)

    after = deviations(calibration.posterior)
    before = deviations(calibration.prior.size_covariance)
    measured = after < MAX_POSTERIOR_RATIO * before
    sources = {3: "markers", 0: "prior"}
    return tuple(
        BodyScale(
            body.name,
            person.scales[i],
            after[i] * person.scales[i],
            measured[i],
            sources.get(int(measured[i].sum()), "markers and prior"),
            float(scaled.bodies[i].mass),
            float(body.mass),
        )
        for i, body in enumerate(model.bodies)
    )


def _center_deviations(model: Model, calibration: _Calibration) -> np.ndarray:
    """Standard deviation (m) of each joint center in its parent, by linear propagation."""
    unknowns, scales = calibration.prior.unknowns, calibration.person.scales
    count = unknowns.logarithms
    deviations = np.zeros(len(model.joints))
    for j, (joint, parent) in enumerate(zip(model.joints, model.parents, strict=True)):
        if parent < 0:
            continue
        slope = np.zeros((3, unknowns.size))
        lever = joint.placement.r * scales[parent]
        slope[:, :count] = lever[:, None] * unknowns.tie[3 * parent : 3 * parent + 3]
        for k in range(3):
            slope[k, count + np.flatnonzero(unknowns.centers == 3 * j + k)] = 1.0
        deviations[j] = np.sqrt(np.trace(slope @ calibration.posterior @ slope.T))
    return deviations


def _marker_rows(markers: MarkerModel, calibration: _Calibration) -> tuple[MarkerShift, ...]:
    variance = np.diag(calibration.posterior)[calibration.prior.offsets].reshape(-1, 3)
    rms = []
    for error in (calibration.generic_errors, calibration.errors):
        count = np.isfinite(error).sum(0)
        square = np.nansum(error**2, 0) / count.clip(1)
        rms.append(np.where(count > 0, np.sqrt(square), np.nan))
    shifts = calibration.person.shifts
    return tuple(
        MarkerShift(
            marker.name,
            marker.body,
            shifts[k],
            float(np.sqrt(variance[k].sum())),
            float(rms[0][k]),
            float(rms[1][k]),
            calibration.prior.kinds[k],
        )
        for k, marker in enumerate(markers.model.markers)
    )
