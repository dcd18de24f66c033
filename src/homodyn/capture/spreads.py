"""How well markers are measured and attached, learnt from the recording they are used on.

The spreads are those under which the recording is most probable (MacKay 1992, eq. 4.9 and 4.10,
there for weights and noise): a spread squared is the sum of squares it explains, divided by how
many of them were decided by data. A recording whose markers sit where the model has them thereby
trusts the model's attachments, and one of a real person trusts them to a centimetre or two.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from homodyn.capture.adjustment import Estimate, Problem, adjusted
from homodyn.capture.first_pose import second_chances
from homodyn.capture.prior import Belief, Prior

ROUNDS = 30
"""Times the spreads are learnt anew, at most."""
STEPS = 8
"""Steps a round, while the spreads still change."""
BOLDEST = 3.0
"""Factor by which a spread may change in a round."""
SETTLED = 0.02
"""Relative change below which spreads are taken as learnt."""
LARGEST = 0.1
"""Metres; spreads are never learnt to be larger."""


def learnt(
    problem: Problem, belief: Belief, prior: Prior, q: np.ndarray, phi: np.ndarray
) -> tuple[Estimate, Problem, float]:
    """The most probable poses and person, the problem at its last spreads, and that of markers."""
    marker = prior.marker
    steps = 0
    if prior.learn:
        for turn in range(ROUNDS):
            if turn == 1:
                # With the person nearly right, poses that were caught elsewhere stand out.
                person = problem.unknowns.person(phi)
                q = second_chances(problem.markers, person, problem.measured, q)
            problem = replace(problem, precision=belief.precision(marker))
            estimate = adjusted(problem, q, phi, iterations=STEPS, tolerance=0.1)
            q, phi, steps = estimate.q, estimate.phi, steps + estimate.iterations
            new_marker, new_noise = _relearnt(problem, belief, prior, estimate, marker)
            change = max(abs(new_marker / marker - 1), abs(new_noise / problem.noise - 1))
            marker, problem = new_marker, replace(problem, noise=new_noise)
            if change < SETTLED:
                break
    problem = replace(problem, precision=belief.precision(marker))
    estimate = adjusted(problem, q, phi, iterations=100)
    return replace(estimate, iterations=steps + estimate.iterations), problem, marker


def _relearnt(
    problem: Problem, belief: Belief, prior: Prior, estimate: Estimate, marker: float
) -> tuple[float, float]:
    """Spread of markers and of the noise at the present estimate."""
    assert estimate.information is not None
    posterior = np.linalg.inv(estimate.information)
    place = belief.ratios > 0
    ratio = belief.ratios[place]
    shift, variance = estimate.phi[place] / ratio, np.diag(posterior)[place] / ratio**2
    decided = max(len(shift) - float(variance.sum()) / marker**2, 1.0)
    new_marker = float(np.sqrt((shift**2).sum() / decided))
    all_decided = len(belief.mean) - float((posterior * problem.precision).sum())
    measured = 3 * int(problem.seen.sum())
    left = max(measured - estimate.posed - all_decided, 0.05 * measured)
    new_noise = float(np.sqrt(2 * estimate.data_cost * problem.noise**2 / left))
    return (
        float(np.clip(_bounded(new_marker, marker), prior.least_marker, LARGEST)),
        float(np.clip(_bounded(new_noise, problem.noise), prior.least_noise, LARGEST)),
    )


def _bounded(new: float, old: float) -> float:
    return float(np.clip(new, old / BOLDEST, old * BOLDEST))
