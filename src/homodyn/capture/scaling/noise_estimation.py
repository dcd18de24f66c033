"""Estimation of measurement noise and marker placement from the recording itself.

The standard deviations are those under which the recording is most probable (evidence
maximization, MacKay 1992, eq. 4.9 and 4.10, there for weights and noise): a variance is the sum of
squares that it explains, divided by the number of parameters that the data determine. Where the
markers agree with the model, its marker positions get a small deviation; for a real person it is a
centimeter or two.

Residuals are of two kinds. Camera noise is independent in every frame. Soft-tissue artifacts and
model errors repeat with the pose, so that more frames of one movement add no information about
them. Camera noise is estimated from the marker trajectories; the rest is weighted as if it were
observed in ``INDEPENDENT_FRAMES`` frames only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from homodyn.capture.scaling.bundle_adjustment import (
    CalibrationEstimate,
    CalibrationProblem,
    adjust_bundle,
)
from homodyn.capture.scaling.initial_poses import retry_poor_poses
from homodyn.capture.scaling.marker_kinds import MarkerKind
from homodyn.capture.scaling.parameter_prior import ParameterPrior
from homodyn.capture.scaling.scaling_prior import ScalingPrior
from homodyn.capture.scaling.soft_tissue import artifact_features

INDEPENDENT_FRAMES = 3
"""Number of independent observations of errors that repeat with the pose."""
MAX_NOISE_UPDATES = 30
"""Largest number of updates of the noise levels."""
STEPS_PER_UPDATE = 8
"""Iterations of the bundle adjustment between two updates."""
MAX_CHANGE_FACTOR = 3.0
"""Factor by which a noise level may change in one update."""
NOISE_TOLERANCE = 0.02
"""Relative change at which the noise levels have converged."""
PRIOR_OBSERVATIONS = 9.0
"""Observations that the common noise level counts as in the noise of one marker."""
MAX_NOISE_FACTOR = 10.0
"""Largest noise of one marker relative to the common level."""
MAX_ARTIFACT_RATIO = 10.0
"""Largest soft-tissue artifact at one radian relative to the part of the noise that repeats with
the pose: where cameras explain all residuals, there are none."""
MIN_ARTIFACT = 1e-6
"""Smallest soft-tissue artifact (m/rad)."""
MAX_NOISE_M = 0.1
"""Largest estimate of the noise (m)."""


@dataclass(frozen=True, eq=False)
class NoiseLevels:
    """Standard deviations of a recording along each axis (m)."""

    landmark: float
    """Of the offsets of landmarks."""
    tracking: float
    """Of the offsets of tracking markers."""
    noise: float
    """Of the residuals."""
    camera: float
    """Of the part of the residuals that is independent in every frame."""
    factors: np.ndarray
    """(markers,): residuals of each marker relative to ``noise``, at least 1."""
    artifact: float = 0.0
    """Of the soft-tissue artifacts of tracking markers per angle (m/rad)."""

    def effective_noise(self, frames: np.ndarray) -> np.ndarray:
        """Standard deviation (m) that weights the measurements of each marker.

        Args:
            frames: (markers,): number of frames that show each marker.

        Returns:
            (markers,).
        """
        total = (self.noise * self.factors) ** 2
        camera = min(self.camera, self.noise) ** 2
        repeated = np.maximum(frames / INDEPENDENT_FRAMES, 1.0)
        result: np.ndarray = np.sqrt(camera + (total - camera) * repeated)
        return result


def camera_noise(positions: np.ndarray, bodies: Sequence[str] = ()) -> float:
    """Standard deviation of the camera noise, from third differences of the trajectories.

    White noise has 1 + 9 + 9 + 1 = 20 times its variance there; a smooth movement has almost none.
    The median excludes gaps and jumps. Where frames are far apart, movement looks like noise; the
    distances of markers on one body then change by noise and soft tissue only. A distance has twice
    the variance of a coordinate. The smaller of both estimates counts.

    Args:
        positions: (frames, markers, 3), m; NaN where not seen.
        bodies: Name of the body of each marker; without them, only positions are used.

    Returns:
        The standard deviation along each axis (m); infinite when there are too few frames.
    """
    of_positions = _white_noise(positions)
    pairs = [
        (i, k)
        for k, body in enumerate(bodies)
        for i, other in enumerate(bodies[:k])
        if other == body
    ]
    if not pairs:
        return of_positions
    one, two = np.array(pairs).T
    distances = np.linalg.norm(positions[:, one] - positions[:, two], axis=-1)
    return min(of_positions, _white_noise(distances) / np.sqrt(2))


def _white_noise(signals: np.ndarray) -> float:
    """Standard deviation of the white noise in signals (frames, ...)."""
    third = np.diff(signals, 3, axis=0)
    third = third[np.isfinite(third)]
    return float(np.median(np.abs(third)) / 0.6745 / np.sqrt(20)) if len(third) else np.inf


def estimate_with_noise(
    problem: CalibrationProblem,
    prior: ParameterPrior,
    spread: ScalingPrior,
    camera: float,
    q: np.ndarray,
    phi: np.ndarray,
    progress: Callable[[float], None] | None = None,
) -> tuple[CalibrationEstimate, NoiseLevels]:
    """The most probable poses and parameters, and the noise levels of the recording.

    Args:
        problem: Measured markers and prior.
        prior: Prior over the parameters.
        spread: Initial noise levels and their ranges.
        camera: Standard deviation of the camera noise (m).
        q: (frames, nq): initial poses.
        phi: (unknowns,): initial parameters.
        progress: Called with the share of the work that is done.
    """
    levels = NoiseLevels(
        spread.landmark,
        spread.tracking,
        spread.noise,
        camera if spread.learn else spread.noise,
        np.ones(problem.measured.shape[1]),
        spread.artifact,
    )
    steps = 0
    if spread.learn:
        for update in range(MAX_NOISE_UPDATES):
            if progress is not None:
                progress(update / MAX_NOISE_UPDATES)
            if update == 1:
                # With nearly correct sizes, poses in a wrong local minimum have larger residuals.
                person = problem.unknowns.person(phi)
                q = retry_poor_poses(problem.markers, person, problem.measured, q)
            problem = weight_problem(problem, prior, spread, levels)
            problem = with_artifacts(problem, q)
            estimate = adjust_bundle(problem, q, phi, iterations=STEPS_PER_UPDATE, tolerance=0.1)
            q, phi, steps = estimate.q, estimate.phi, steps + estimate.iterations
            new = _update_noise(problem, prior, spread, estimate, levels)
            change = _relative_change(new, levels)
            levels = new
            if change < NOISE_TOLERANCE:
                break
    problem = with_artifacts(weight_problem(problem, prior, spread, levels), q)
    estimate = adjust_bundle(problem, q, phi, iterations=100)
    return replace(estimate, iterations=steps + estimate.iterations), levels


def weight_problem(
    problem: CalibrationProblem, prior: ParameterPrior, spread: ScalingPrior, levels: NoiseLevels
) -> CalibrationProblem:
    """The problem with the prior and the weights of the markers for some noise levels."""
    learnt = replace(
        spread,
        landmark=levels.landmark,
        tracking=levels.tracking,
        artifact=levels.artifact,
    )
    return replace(
        problem,
        precision=prior.precision(learnt),
        noise=levels.effective_noise(problem.seen.sum(0)),
    )


def with_artifacts(problem: CalibrationProblem, q: np.ndarray) -> CalibrationProblem:
    """The problem with the features of some poses (frames, nq)."""
    if not problem.unknowns.features:
        return replace(problem, features=np.zeros((len(q), problem.unknowns.markers, 0)))
    return replace(problem, features=artifact_features(problem.markers.model, q))


def _relative_change(new: NoiseLevels, old: NoiseLevels) -> float:
    pairs = (
        (new.landmark, old.landmark),
        (new.tracking, old.tracking),
        (new.noise, old.noise),
    )
    return max(abs(one / two - 1) for one, two in pairs)


def _update_noise(
    problem: CalibrationProblem,
    prior: ParameterPrior,
    spread: ScalingPrior,
    estimate: CalibrationEstimate,
    levels: NoiseLevels,
) -> NoiseLevels:
    """The most probable noise levels for the present estimate."""
    assert estimate.information is not None
    posterior = np.linalg.inv(estimate.information)
    landmark = _offset_deviation(prior, MarkerKind.LANDMARK, estimate, posterior, levels.landmark)
    tracking = _offset_deviation(prior, MarkerKind.TRACKING, estimate, posterior, levels.tracking)
    determined = len(prior.mean) - float((posterior * problem.precision).sum())
    measured = 3 * int(problem.seen.sum())
    redundancy = max(measured - estimate.determined_poses - determined, 0.05 * measured)
    square = np.nansum(_huber_square(problem, estimate), axis=0)
    noise = float(np.sqrt((square / levels.factors**2).sum() / redundancy))
    noise = _limit_change(noise, levels.noise)
    share = redundancy / measured
    return NoiseLevels(
        float(np.clip(landmark, spread.min_marker, spread.max_landmark)),
        float(np.clip(tracking, spread.min_marker, spread.max_tracking)),
        float(np.clip(noise, spread.min_noise, MAX_NOISE_M)),
        levels.camera,
        _noise_factors(square / share, problem.seen.sum(0), noise),
        artifact_level(spread, noise, levels.camera),
    )


def artifact_level(spread: ScalingPrior, noise: float, camera: float) -> float:
    """Standard deviation (m/rad) of the soft-tissue artifacts: none without repeated residuals.

    Residuals below the smallest noise, such as those of rounded files, are no artifacts.
    """
    independent = max(min(camera, noise), spread.min_noise)
    repeated = np.sqrt(max(noise**2 - independent**2, 0.0))
    return min(spread.artifact, max(MAX_ARTIFACT_RATIO * float(repeated), MIN_ARTIFACT))


def _offset_deviation(
    prior: ParameterPrior,
    kind: MarkerKind,
    estimate: CalibrationEstimate,
    posterior: np.ndarray,
    old: float,
) -> float:
    """Standard deviation (m) of the offsets of one kind of markers under which they are likely."""
    chosen = np.repeat(prior.of_kind(kind), 3)
    if not chosen.any():
        return old
    shift, variance = estimate.phi[prior.offsets][chosen], np.diag(posterior)[prior.offsets][chosen]
    determined = max(len(shift) - float(variance.sum()) / old**2, 1.0)
    return _limit_change(float(np.sqrt((shift**2).sum() / determined)), old)


def _noise_factors(square: np.ndarray, frames: np.ndarray, noise: float) -> np.ndarray:
    """(markers,): noise of each marker relative to the common level, at least 1.

    Errors of a marker repeat with the pose, so its variance is known from few observations; it is
    the posterior mean for a prior of as many observations at the common level.
    """
    observations = 3.0 * np.minimum(frames, INDEPENDENT_FRAMES)
    ratio = square / np.maximum(3 * frames, 1) / noise**2
    variance = (PRIOR_OBSERVATIONS + observations * ratio) / (PRIOR_OBSERVATIONS + observations)
    return np.sqrt(np.clip(variance, 1.0, MAX_NOISE_FACTOR**2))


def _huber_square(problem: CalibrationProblem, estimate: CalibrationEstimate) -> np.ndarray:
    """(frames, markers): squared residuals (m^2), reduced for outliers."""
    square = np.asarray(estimate.residual**2)
    if problem.huber_distance is None:
        return square
    limit = problem.huber_distance
    return np.where(square > limit**2, 2 * limit * np.sqrt(square) - limit**2, square)


def _limit_change(new: float, old: float) -> float:
    return float(np.clip(new, old / MAX_CHANGE_FACTOR, old * MAX_CHANGE_FACTOR))
