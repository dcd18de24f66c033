"""How well markers are measured and attached, learnt from the recording they are used on.

The spreads are those under which the recording is most probable (MacKay 1992, eq. 4.9 and 4.10,
there for weights and noise): a spread squared is the sum of squares it explains, divided by how
many of them were decided by data. A recording whose markers sit where the model has them thereby
trusts the model's attachments, and one of a real person trusts them to a centimetre or two.

What is left between markers and model is of two kinds. Cameras err anew in every frame; skin that
slides, and joints that are no hinges, err alike whenever the pose is alike, so that more frames of
one movement tell nothing new about them. The first kind is read off the paths of the markers
themselves; the rest counts as if it were seen in ``INDEPENDENT`` frames only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from homodyn.capture.scaling.adjustment import Estimate, Problem, adjusted
from homodyn.capture.scaling.first_pose import second_chances
from homodyn.capture.scaling.prior import Belief, Prior

INDEPENDENT = 3
"""Frames that tell of errors which repeat with the pose, as if they were independent."""
ROUNDS = 30
"""Times the spreads are learnt anew, at most."""
STEPS = 8
"""Steps a round, while the spreads still change."""
BOLDEST = 3.0
"""Factor by which a spread may change in a round."""
SETTLED = 0.02
"""Relative change below which spreads are taken as learnt."""
LARGEST = 0.1
"""Metres; noise is never learnt to be larger."""


@dataclass(frozen=True)
class Spreads:
    """Standard deviations of a recording along each axis (m)."""

    marker: float
    """Of attachments about those of the generic model."""
    noise: float
    """Of all that is left between marker and model."""
    camera: float
    """Of the part of it that is new in every frame."""

    def weighing(self, frames: int) -> float:
        """The deviation by which measurements are weighed when so many frames are used."""
        camera = min(self.camera, self.noise)
        repeated = self.noise**2 - camera**2
        return float(np.sqrt(camera**2 + repeated * max(frames / INDEPENDENT, 1.0)))


def camera_noise(positions: np.ndarray) -> float:
    """Deviation (m) of what is new in every frame, from third differences along the paths.

    Of white noise those have 1 + 9 + 9 + 1 = 20 times the variance; a movement that is smooth from
    frame to frame has almost none. The median keeps gaps and jumps out. Infinite when there are too
    few frames to tell.
    """
    third = np.diff(positions, 3, axis=0)
    third = third[np.isfinite(third)]
    return float(np.median(np.abs(third)) / 0.6745 / np.sqrt(20)) if len(third) else np.inf


def learnt(
    problem: Problem,
    belief: Belief,
    prior: Prior,
    camera: float,
    q: np.ndarray,
    phi: np.ndarray,
    tell: Callable[[float], None] | None = None,
) -> tuple[Estimate, Spreads]:
    """The most probable poses and person, and the spreads of the recording."""
    frames = len(problem.measured)
    spreads = Spreads(prior.marker, prior.noise, camera if prior.learn else prior.noise)
    steps = 0
    if prior.learn:
        for turn in range(ROUNDS):
            if tell is not None:
                tell(turn / ROUNDS)
            if turn == 1:
                # With the person nearly right, poses that were caught elsewhere stand out.
                person = problem.unknowns.person(phi)
                q = second_chances(problem.markers, person, problem.measured, q)
            problem = _weighed(problem, belief, spreads, frames)
            estimate = adjusted(problem, q, phi, iterations=STEPS, tolerance=0.1)
            q, phi, steps = estimate.q, estimate.phi, steps + estimate.iterations
            new = _relearnt(problem, belief, prior, estimate, spreads)
            change = max(abs(new.marker / spreads.marker - 1), abs(new.noise / spreads.noise - 1))
            spreads = new
            if change < SETTLED:
                break
    problem = _weighed(problem, belief, spreads, frames)
    estimate = adjusted(problem, q, phi, iterations=100)
    return replace(estimate, iterations=steps + estimate.iterations), spreads


def _weighed(problem: Problem, belief: Belief, spreads: Spreads, frames: int) -> Problem:
    return replace(
        problem,
        precision=belief.precision(spreads.marker),
        noise=spreads.weighing(frames),
    )


def _relearnt(
    problem: Problem, belief: Belief, prior: Prior, estimate: Estimate, spreads: Spreads
) -> Spreads:
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
    left = max(measured - estimate.posed - all_decided, 0.05 * measured)
    noise = float(np.sqrt(2 * estimate.data_cost * problem.noise**2 / left))
    marker, noise = _bounded(marker, spreads.marker), _bounded(noise, spreads.noise)
    return Spreads(
        float(np.clip(marker, prior.least_marker, prior.most_marker)),
        float(np.clip(noise, prior.least_noise, LARGEST)),
        spreads.camera,
    )


def _bounded(new: float, old: float) -> float:
    return float(np.clip(new, old / BOLDEST, old * BOLDEST))
