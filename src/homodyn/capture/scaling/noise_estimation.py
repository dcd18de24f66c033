"""How well markers are measured and attached, learnt from the recording they are used on.

The spreads are those under which the recording is most probable (MacKay 1992, eq. 4.9 and 4.10,
there for weights and noise): a spread squared is the sum of squares it explains, divided by how
many of them were decided by data. A recording whose markers sit where the model has them thereby
trusts the model's attachments, and one of a real person trusts them to a centimetre or two.

What is left between markers and model is of two kinds. Cameras err anew in every frame; skin that
slides, and joints that are no hinges, err alike whenever the pose is alike, so that more frames of
one movement tell nothing new about them. The first kind is read off the paths of the markers
themselves; the rest counts as if it were seen in ``INDEPENDENT_FRAMES`` frames only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from homodyn.capture.scaling.bundle_adjustment import (
    CalibrationEstimate,
    CalibrationProblem,
    adjust_bundle,
)
from homodyn.capture.scaling.initial_poses import retry_poor_poses
from homodyn.capture.scaling.prior import ParameterPrior, ScalingPrior

INDEPENDENT_FRAMES = 3
"""Frames that tell of errors which repeat with the pose, as if they were independent."""
MAX_ROUNDS = 30
"""Times the spreads are learnt anew, at most."""
STEPS_PER_ROUND = 8
"""Steps a round, while the spreads still change."""
MAX_CHANGE_FACTOR = 3.0
"""Factor by which a spread may change in a round."""
NOISE_TOLERANCE = 0.02
"""Relative change below which spreads are taken as learnt."""
MAX_NOISE_M = 0.1
"""Metres; noise is never learnt to be larger."""


@dataclass(frozen=True)
class NoiseLevels:
    """Standard deviations of a recording along each axis (m)."""

    marker: float
    """Of attachments about those of the generic model."""
    noise: float
    """Of all that is left between marker and model."""
    camera: float
    """Of the part of it that is new in every frame."""

    def effective_noise(self, frames: int) -> float:
        """The deviation by which measurements are weighed when so many frames are used."""
        camera = min(self.camera, self.noise)
        repeated = self.noise**2 - camera**2
        return float(np.sqrt(camera**2 + repeated * max(frames / INDEPENDENT_FRAMES, 1.0)))


def camera_noise(positions: np.ndarray) -> float:
    """Deviation (m) of what is new in every frame, from third differences along the paths.

    Of white noise those have 1 + 9 + 9 + 1 = 20 times the variance; a movement that is smooth from
    frame to frame has almost none. The median keeps gaps and jumps out. Infinite when there are too
    few frames to tell.
    """
    third = np.diff(positions, 3, axis=0)
    third = third[np.isfinite(third)]
    return float(np.median(np.abs(third)) / 0.6745 / np.sqrt(20)) if len(third) else np.inf


def estimate_with_noise(
    problem: CalibrationProblem,
    belief: ParameterPrior,
    prior: ScalingPrior,
    camera: float,
    q: np.ndarray,
    phi: np.ndarray,
    progress: Callable[[float], None] | None = None,
) -> tuple[CalibrationEstimate, NoiseLevels]:
    """The most probable poses and person, and the spreads of the recording."""
    frames = len(problem.measured)
    spreads = NoiseLevels(prior.marker, prior.noise, camera if prior.learn else prior.noise)
    steps = 0
    if prior.learn:
        for turn in range(MAX_ROUNDS):
            if progress is not None:
                progress(turn / MAX_ROUNDS)
            if turn == 1:
                # With the person nearly right, poses that were caught elsewhere stand out.
                person = problem.unknowns.person(phi)
                q = retry_poor_poses(problem.markers, person, problem.measured, q)
            problem = _weight_problem(problem, belief, spreads, frames)
            estimate = adjust_bundle(problem, q, phi, iterations=STEPS_PER_ROUND, tolerance=0.1)
            q, phi, steps = estimate.q, estimate.phi, steps + estimate.iterations
            new = _update_noise(problem, belief, prior, estimate, spreads)
            change = max(abs(new.marker / spreads.marker - 1), abs(new.noise / spreads.noise - 1))
            spreads = new
            if change < NOISE_TOLERANCE:
                break
    problem = _weight_problem(problem, belief, spreads, frames)
    estimate = adjust_bundle(problem, q, phi, iterations=100)
    return replace(estimate, iterations=steps + estimate.iterations), spreads


def _weight_problem(
    problem: CalibrationProblem, belief: ParameterPrior, spreads: NoiseLevels, frames: int
) -> CalibrationProblem:
    return replace(
        problem,
        precision=belief.precision(spreads.marker),
        noise=spreads.effective_noise(frames),
    )


def _update_noise(
    problem: CalibrationProblem,
    belief: ParameterPrior,
    prior: ScalingPrior,
    estimate: CalibrationEstimate,
    spreads: NoiseLevels,
) -> NoiseLevels:
    """The spreads at the present estimate."""
    assert estimate.information is not None
    posterior = np.linalg.inv(estimate.information)
    place = belief.ratios > 0
    ratio = belief.ratios[place]
    shift, variance = estimate.phi[place] / ratio, np.diag(posterior)[place] / ratio**2
    decided = max(len(shift) - float(variance.sum()) / spreads.marker**2, 1.0)
    marker = float(np.sqrt((shift**2).sum() / decided))
    all_decided = len(belief.mean) - float((posterior * problem.precision).sum())
    measured = 3 * int(problem.seen.sum())
    left = max(measured - estimate.determined_poses - all_decided, 0.05 * measured)
    noise = float(np.sqrt(2 * estimate.data_cost * problem.noise**2 / left))
    marker, noise = _limit_change(marker, spreads.marker), _limit_change(noise, spreads.noise)
    return NoiseLevels(
        float(np.clip(marker, prior.min_marker, prior.max_marker)),
        float(np.clip(noise, prior.min_noise, MAX_NOISE_M)),
        spreads.camera,
    )


def _limit_change(new: float, old: float) -> float:
    return float(np.clip(new, old / MAX_CHANGE_FACTOR, old * MAX_CHANGE_FACTOR))
