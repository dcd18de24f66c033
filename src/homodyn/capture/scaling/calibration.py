"""From markers in motion to the person: sizes, joint centers and attachments with the poses.

The full estimation problem of Felis (2015, eq. 4.3). Markers and sizes explain each other in part,
and the center of a hinge is free along its axis; what people are like (`ScalingPrior`) settles
that, and the result says which numbers the markers decided and how sure they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np

from homodyn.capture.scaling.bundle_adjustment import CalibrationProblem, fit_poses
from homodyn.capture.scaling.frame_selection import diverse_frames
from homodyn.capture.scaling.initial_poses import initial_poses, initial_size
from homodyn.capture.scaling.marker_model import MarkerModel, Person, marker_model
from homodyn.capture.scaling.mass_scaling import scale_masses
from homodyn.capture.scaling.noise_estimation import camera_noise, estimate_with_noise
from homodyn.capture.scaling.prior import (
    ParameterPrior,
    ScalingPrior,
    expected_size,
    parameter_prior,
)
from homodyn.capture.scaling.scaling_result import (
    BodyScale,
    MarkerShift,
    ScalingResult,
    ScalingStatus,
    center_shifts,
    scaling_warnings,
)
from homodyn.capture.scaling.shared_markers import list_text, shared_markers
from homodyn.capture.trial import Trial
from homodyn.errors import CaptureError
from homodyn.model import Model

MIN_FRAMES = 5
"""Frames below which motion tells little more than standing."""
MAX_POSTERIOR_RATIO = 0.5
"""Markers decided a number when its deviation is less than this part of the prior's."""


def calibrate(
    model: Model,
    trials: Trial | Sequence[Trial],
    *,
    mass: float | None = None,
    height: float | None = None,
    symmetric: bool = False,
    uniform: bool = False,
    together: Sequence[Collection[str]] = (),
    prior: ScalingPrior | None = None,
    frames: int | Sequence[int] = 30,
    robust: float | None = None,
    keep_shares: bool = False,
    progress: Callable[[float], None] | None = None,
) -> ScalingResult:
    """Estimate sizes, marker offsets and poses of a subject together, from moving trials.

    Args:
        model: The generic model.
        trials: One or several recordings.
        mass: Mass of the subject, kg; densities are kept when left out.
        height: Height of the subject, m; narrows the prior of the overall size.
        symmetric: Whether left and right have the same sizes.
        uniform: Whether each body has one factor for its three axes.
        together: Groups of bodies that share their scale factors.
        prior: Standard deviations of sizes, marker placement and noise.
        frames: Number of frames to use, selected for diversity, or their indices over all trials.
        robust: Distance, m, beyond which the influence of a marker is reduced (Huber).
        keep_shares: Whether each segment keeps its share of the total mass; otherwise masses follow
            volumes.
        progress: Called with the completed share of the work; an exception that it raises ends it.

    Returns:
        The scaled model, what changed, and how certain it is.

    Raises:
        CaptureError: Too few markers or frames match, or an argument is invalid.
    """
    prior = prior or ScalingPrior()
    recording = shared_markers(model, [trials] if isinstance(trials, Trial) else list(trials))
    chosen = _select_frames(recording.positions, frames)
    measured = recording.positions[chosen]
    markers = marker_model(model, recording.markers)
    expected, notes = expected_size(model, height)
    belief = parameter_prior(
        model,
        recording.markers,
        prior,
        size=expected or 1.0,
        stature_known=expected is not None,
        symmetric=symmetric,
        uniform=uniform,
        together=together,
    )
    unknowns = belief.unknowns

    size = initial_size(markers, measured)
    generic_q = initial_poses(markers, markers.generic, measured)
    before = np.linalg.norm(markers.positions(generic_q, markers.generic) - measured, axis=-1)
    phi = belief.mean.copy()
    phi[: unknowns.logarithms] = np.log(size)
    q = fit_poses(markers, unknowns.person(phi), measured, generic_q)
    start = CalibrationProblem(
        markers,
        unknowns,
        measured,
        belief.mean,
        belief.precision(prior.marker),
        prior.noise,
        robust,
    )
    estimate, spreads = estimate_with_noise(
        start, belief, prior, camera_noise(recording.positions), q, phi, progress
    )
    assert estimate.information is not None
    posterior = np.linalg.inv(estimate.information)
    person = unknowns.person(estimate.phi)

    made, mass_warnings = scale_masses(model, person, recording.markers, mass, keep_shares)
    bodies = _body_rows(model, made, person, posterior, belief)
    moved = _marker_rows(markers, person, posterior, belief, before, estimate.residual)
    doubtful = scaling_warnings(bodies, moved, estimate.rms)
    status = ScalingStatus.DOUBTFUL if doubtful else ScalingStatus.SCALED
    if not estimate.converged:
        status = ScalingStatus.STALLED
        doubtful.append(f"not converged after {estimate.iterations} iterations")
    return ScalingResult(
        model=made,
        generic=model,
        status=status,
        bodies=bodies,
        joints=center_shifts(model, made, _center_deviations(model, person, posterior, belief)),
        marker_shifts=moved,
        rms_before=float(np.sqrt(np.nanmean(before**2))),
        rms_after=estimate.rms,
        q=estimate.q,
        frames=tuple(recording.frames[k] for k in chosen),
        iterations=estimate.iterations,
        warnings=(
            *doubtful,
            *recording.warnings,
            *_frame_warnings(recording.markers, measured),
            *mass_warnings,
        ),
        notes=tuple(notes),
        method=(
            f"Segment sizes ({'uniform' if uniform else 'x, y, z'}), marker offsets and poses "
            f"were estimated together from {len(chosen)} of {len(recording.frames)} frames. "
            f"{'Estimated' if prior.learn else 'Given'} noise: {1e3 * spreads.noise:.2f} mm; "
            f"marker-placement SD: {1e3 * spreads.marker:.2f} mm."
        ),
        noise_levels={"noise": spreads.noise, "marker": spreads.marker},
    )


def _select_frames(positions: np.ndarray, frames: int | Sequence[int]) -> np.ndarray:
    if isinstance(frames, int):
        chosen = diverse_frames(positions, frames)
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
    """What the chosen frames leave open."""
    found = []
    shown = np.isfinite(measured).all(-1).any(0)
    unseen = [name for name, some in zip(markers, shown, strict=True) if not some]
    if unseen:
        found.append(f"markers that none of the frames used shows: {list_text(unseen)}")
    if len(measured) < MIN_FRAMES:
        found.append(
            f"only {len(measured)} frames used: joint centers and noise are hardly told by fewer "
            f"than {MIN_FRAMES}"
        )
    return found


def _body_rows(
    model: Model,
    made: Model,
    person: Person,
    posterior: np.ndarray,
    belief: ParameterPrior,
) -> tuple[BodyScale, ...]:
    tie, count = belief.unknowns.tie, belief.unknowns.logarithms
    after = np.sqrt(np.diag(tie @ posterior[:count, :count] @ tie.T)).reshape(-1, 3)
    prior = np.sqrt(np.diag(tie @ belief.fixed[:count, :count] @ tie.T)).reshape(-1, 3)
    decided = after < MAX_POSTERIOR_RATIO * prior
    words = {3: "markers", 0: "prior"}
    return tuple(
        BodyScale(
            body.name,
            person.scales[i],
            after[i] * person.scales[i],
            decided[i],
            words.get(int(decided[i].sum()), "markers and prior"),
            float(made.bodies[i].mass),
            float(body.mass),
        )
        for i, body in enumerate(model.bodies)
    )


def _center_deviations(
    model: Model, person: Person, posterior: np.ndarray, belief: ParameterPrior
) -> np.ndarray:
    """Standard deviation (m) of each joint center in its parent, by linear propagation."""
    unknowns = belief.unknowns
    tie, count = unknowns.tie, unknowns.logarithms
    deviations = np.zeros(len(model.joints))
    for j, (joint, parent) in enumerate(zip(model.joints, model.parents, strict=True)):
        if parent < 0:
            continue
        slope = np.zeros((3, unknowns.size))
        lever = joint.placement.r * person.scales[parent]
        slope[:, :count] = lever[:, None] * tie[3 * parent : 3 * parent + 3]
        for k in range(3):
            slope[k, count + np.flatnonzero(unknowns.centers == 3 * j + k)] = 1.0
        deviations[j] = np.sqrt(np.trace(slope @ posterior @ slope.T))
    return deviations


def _marker_rows(
    markers: MarkerModel,
    person: Person,
    posterior: np.ndarray,
    belief: ParameterPrior,
    before: np.ndarray,
    after: np.ndarray,
) -> tuple[MarkerShift, ...]:
    variance = np.diag(posterior)[belief.ratios > 0].reshape(-1, 3)
    rms = []
    for distance in (before, after):
        count = np.isfinite(distance).sum(0)
        square = np.nansum(distance**2, 0) / count.clip(1)
        rms.append(np.where(count > 0, np.sqrt(square), np.nan))
    return tuple(
        MarkerShift(
            marker.name,
            marker.body,
            person.shifts[k],
            float(np.sqrt(variance[k].sum())),
            float(rms[0][k]),
            float(rms[1][k]),
        )
        for k, marker in enumerate(markers.model.markers)
    )
