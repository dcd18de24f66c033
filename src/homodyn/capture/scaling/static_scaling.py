"""Static scaling: segment sizes from marker pairs of a subject who stands still.

Distances between markers are compared with those of the model in the same pose; then each marker
moves in its body to its measured position (Felis 2015, eq. 4.8). One pose does not determine joint
centers: `calibrate` estimates them from movement.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np

from homodyn.capture.scaling.bundle_adjustment import fit_poses
from homodyn.capture.scaling.conventional_markers import conventional_markers
from homodyn.capture.scaling.foot_evidence import foot_evidence
from homodyn.capture.scaling.initial_poses import initial_poses, initial_size
from homodyn.capture.scaling.marker_kinds import marker_kinds, placeholder_markers
from homodyn.capture.scaling.marker_model import MarkerModel, Person, marker_model
from homodyn.capture.scaling.marker_pairs import LengthRatio, informative_pairs, named_pairs
from homodyn.capture.scaling.mass_scaling import scale_masses
from homodyn.capture.scaling.options import BodyPairs, ScalingKeywords, ScalingOptions
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
from homodyn.capture.scaling.shared_markers import (
    MIN_SHARED_MARKERS,
    SharedMarkers,
    list_text,
    shared_markers,
)
from homodyn.capture.scaling.stature import expected_size
from homodyn.capture.trial import Trial
from homodyn.errors import CaptureError
from homodyn.foundation.arguments import require_type
from homodyn.foundation.options import change_options
from homodyn.foundation.text import count_of
from homodyn.model import Model

MAX_STANDING_SWAY_M = 0.01
"""Sway of a marker (m, standard deviation) that still counts as standing."""
SIZE_ITERATIONS = 4
"""Times that pose and sizes are estimated in turn."""


def scale(
    model: Model,
    trial: Trial,
    options: ScalingOptions | None = None,
    **changes: Unpack[ScalingKeywords],
) -> ScalingResult:
    """Scale a model to a subject who stands in a static trial.

    By default the most informative marker pairs for each body are found automatically. Sizes that
    no pair determines follow the other axes of the body and the overall size of the subject.

    Args:
        model: The generic model.
        trial: The static trial.
        options: Subject, tied scale factors, marker pairs and prior; the defaults when left out.
        changes: Fields of `ScalingOptions` to change, such as ``mass=72, height=1.78``.

    Returns:
        The scaled model, what changed, and how certain it is.

    Raises:
        CaptureError: Too few markers match, or an option is invalid.
        HomodynError: ``model`` has another type.
    """
    require_type("model", model, Model)
    chosen = change_options("scale", options or ScalingOptions(), changes)
    conventional = conventional_markers(model, [trial], chosen.plug_in_gait)
    if conventional is None:
        return _scale(model, trial, chosen)
    return conventional.restore(model, _scale(conventional.model, conventional.trials[0], chosen))


def _scale(model: Model, trial: Trial, chosen: ScalingOptions) -> ScalingResult:
    """`scale` with the markers of ``model`` as they are."""
    recording = shared_markers(model, [trial])
    _check_fixed_markers(chosen.fixed_markers, recording)
    measured = np.nanmedian(recording.positions, axis=0)
    anchored = _without_placeholders(model, recording.markers, measured)
    markers = marker_model(model, recording.markers)
    size, notes = expected_size(model, chosen.height)
    prior = parameter_prior(model, recording.markers, chosen, size=size)
    initial_size(markers, anchored[None])
    q = initial_poses(markers, markers.generic, anchored[None])
    generic_errors = np.linalg.norm(markers.positions(q, markers.generic)[0] - measured, axis=-1)
    fit = _fit_sizes(markers, prior, chosen.pairs, q, anchored)
    person = fit.person
    fit = replace(fit, q=_static_pose(markers, prior, recording, fit, anchored, chosen.prior))
    scaled_rms = _rms(np.linalg.norm(markers.positions(fit.q, person)[0] - anchored, axis=-1))
    if chosen.move_markers:
        person = _with_marker_shifts(markers, person, fit.q, measured, chosen.fixed_markers)
    strength = chosen.strength_law
    scaled, mass_warnings = scale_masses(
        model,
        person,
        recording.markers,
        chosen.mass,
        chosen.keep_shares,
        strength,
    )
    poses = fit_poses(
        markers, person, recording.positions, np.repeat(fit.q, len(recording.positions), axis=0)
    )
    errors = np.linalg.norm(markers.positions(poses, person) - recording.positions, axis=-1)
    bodies = _body_rows(model, scaled, fit, person)
    shifts = _marker_rows(markers, person, generic_errors, errors)
    warnings = [
        *scaling_warnings(bodies, shifts, scaled_rms),
        *pelvis_warnings(model, scaled, recording),
        *_sway_warning(recording.positions),
    ]
    notes.append(_rms_note(_rms(generic_errors), scaled_rms, chosen.move_markers))
    return ScalingResult(
        model=scaled,
        generic=model,
        status=ScalingStatus.DOUBTFUL if warnings else ScalingStatus.SCALED,
        bodies=bodies,
        joints=center_shifts(model, scaled),
        marker_shifts=shifts,
        rms_before=_rms(generic_errors),
        rms_after=_rms(errors),
        q=poses,
        frames=recording.frames,
        iterations=SIZE_ITERATIONS,
        warnings=(*warnings, *recording.warnings, *_unmeasured_warning(bodies), *mass_warnings),
        notes=(*notes, *strength.notes(model, scaled)),
        method=(
            f"Segment sizes were estimated from {count_of(len(fit.lengths), 'marker distance')} in "
            f"{count_of(len(recording.frames), 'frame')} of standing, marker offsets from the "
            "fitted pose."
        ),
        mass_source=MassSource.DENSITY if chosen.mass is None else MassSource.GIVEN,
        strength=strength,
    )


@dataclass(frozen=True, eq=False)
class _SizeFit:
    """Sizes and pose of a subject who stands still."""

    prior: ParameterPrior
    phi: np.ndarray
    """(unknowns,)."""
    posterior: np.ndarray
    """(logarithms, logarithms): covariance of the log scales."""
    lengths: list[LengthRatio]
    """The length ratios that were used."""
    q: np.ndarray
    """(1, nq)."""

    @property
    def person(self) -> Person:
        """Geometry of the subject, markers as in the model."""
        return self.prior.unknowns.person(self.phi)


def _fit_sizes(
    markers: MarkerModel,
    prior: ParameterPrior,
    pairs: Mapping[str, BodyPairs] | None,
    q: np.ndarray,
    measured: np.ndarray,
) -> _SizeFit:
    """Estimate sizes and pose in turn."""
    unknowns = prior.unknowns
    count = unknowns.logarithms
    phi = prior.mean.copy()
    for _ in range(SIZE_ITERATIONS):
        q = fit_poses(markers, unknowns.person(phi), measured[None], q)
        if pairs is None:
            lengths = informative_pairs(markers, unknowns, phi, q[0], measured)
        else:
            lengths = named_pairs(markers, unknowns, phi, q[0], measured, pairs)
        if not lengths:
            raise CaptureError(
                f"no pair of the {count_of(len(markers.markers), 'recorded marker')} determines "
                "the length of a body, so nothing would be scaled; name pairs, or record more "
                "markers"
            )
        shares = np.array([length.shares for length in lengths])
        weight = np.array([length.sd**-2 for length in lengths])
        target = np.array([length.ratio for length in lengths]) + shares @ phi[:count]
        precision = np.linalg.inv(prior.size_covariance[:count, :count])
        information = precision + shares.T @ (weight[:, None] * shares)
        right = precision @ prior.mean[:count] + shares.T @ (weight * target)
        phi[:count] = np.linalg.solve(information, right)
        if pairs is not None:
            # Named ratios refer to the generic model; a second iteration would apply them twice.
            break
    q = fit_poses(markers, unknowns.person(phi), measured[None], q)
    return _SizeFit(prior, phi, np.linalg.inv(information), lengths, q)


def _static_pose(
    markers: MarkerModel,
    prior: ParameterPrior,
    recording: SharedMarkers,
    fit: _SizeFit,
    measured: np.ndarray,
    spread: ScalingPrior,
) -> np.ndarray:
    """The pose (1, nq) in which the markers move to their measured positions.

    Landmarks are nearer to their places on the model than tracking markers, and feet that are flat
    on the floor have the inclination of the neutral pose.
    """
    frames = np.arange(len(recording.positions))
    feet = foot_evidence(markers.model, recording, frames, spread.flat_foot)
    if feet is not None:
        feet = replace(feet, weights=np.sqrt((feet.weights**2).sum(0, keepdims=True)))
    deviations = np.array([spread.marker_deviation(kind) for kind in prior.kinds])
    return fit_poses(
        markers, fit.person, measured[None], fit.q, deviations=deviations, evidence=feet
    )


def _without_placeholders(model: Model, markers: Sequence[str], measured: np.ndarray) -> np.ndarray:
    """Measured positions (markers, 3) without markers that have no position on the model yet."""
    placeholders = placeholder_markers(model)
    anchored = measured.copy()
    anchored[[name in placeholders for name in markers]] = np.nan
    return anchored if np.isfinite(anchored).all(-1).sum() >= MIN_SHARED_MARKERS else measured


def _check_fixed_markers(fixed: Collection[str], recording: SharedMarkers) -> None:
    unknown = [name for name in fixed if name not in recording.markers]
    if unknown:
        raise CaptureError(
            f"fixed_markers: not recorded: {list_text(unknown)}; recorded are "
            f"{list_text(recording.markers)}"
        )


def _with_marker_shifts(
    markers: MarkerModel,
    person: Person,
    q: np.ndarray,
    measured: np.ndarray,
    fixed: Collection[str],
) -> Person:
    """The person with each marker moved, in its body, to its measured position (Felis eq. 4.8)."""
    count = len(markers.markers)
    J = markers.jacobian(q, person)[0][:, -3 * count :].reshape(count, 3, count, 3)
    rotations = J[np.arange(count), :, np.arange(count), :]
    errors = measured - markers.positions(q, person)[0]
    shifts = np.nan_to_num((errors[:, None] @ rotations)[:, 0])
    shifts[[name in fixed for name in markers.markers]] = 0.0
    return Person(person.scales, shifts, person.centers)


def _rms(errors: np.ndarray) -> float:
    """Root mean square of marker errors (m), over what was seen."""
    return float(np.sqrt(np.nanmean(errors**2)))


def _rms_note(generic: float, scaled: float, moved: bool) -> str:
    then = ", before the markers were moved" if moved else ""
    return (
        f"marker rms {1e3 * generic:.1f} mm with the generic model, {1e3 * scaled:.1f} mm with "
        f"scaled bodies{then}"
    )


def _body_rows(model: Model, scaled: Model, fit: _SizeFit, person: Person) -> tuple[BodyScale, ...]:
    tie = fit.prior.unknowns.tie
    sd = np.sqrt(np.diag(tie @ fit.posterior @ tie.T)).reshape(-1, 3)
    owner = np.argmax(tie, axis=1)
    rows = []
    for i, body in enumerate(model.bodies):
        sources: dict[int, list[str]] = {0: [], 1: [], 2: []}
        for length in fit.lengths:
            measured = {int(owner[3 * b + axis]) for b, axis in length.axes}
            for axis in range(3):
                if int(owner[3 * i + axis]) in measured:
                    sources[axis].append(length.label)
        text = "; ".join(f"{'xyz'[k]} by {', '.join(v)}" for k, v in sources.items() if v)
        rows.append(
            BodyScale(
                body.name,
                person.scales[i],
                sd[i] * person.scales[i],
                np.array([bool(sources[k]) for k in range(3)]),
                text or "overall size",
                float(scaled.bodies[i].mass),
                float(body.mass),
            )
        )
    return tuple(rows)


def _unmeasured_warning(bodies: Sequence[BodyScale]) -> list[str]:
    names = [row.body for row in bodies if not row.measured.any()]
    if not names:
        return []
    return [f"no marker pair measures the size of {list_text(names)}: the overall size is used"]


def _sway_warning(positions: np.ndarray) -> list[str]:
    """A warning if the subject does not stand still."""
    sway = float(np.nanmedian(np.nanstd(positions, axis=0).max(-1)))
    if sway <= MAX_STANDING_SWAY_M:
        return []
    return [
        f"the subject moves (markers sway by {1e3 * sway:.0f} mm): crop the trial to a part "
        "without movement, or use calibrate"
    ]


def _marker_rows(
    markers: MarkerModel, person: Person, generic_errors: np.ndarray, errors: np.ndarray
) -> tuple[MarkerShift, ...]:
    kinds = marker_kinds(markers.model)
    with np.errstate(invalid="ignore"):
        rms = np.sqrt(np.nanmean(errors**2, axis=0))
    return tuple(
        MarkerShift(
            marker.name,
            marker.body,
            person.shifts[k],
            np.nan,
            float(generic_errors[k]),
            float(rms[k]),
            kinds[marker.name],
        )
        for k, marker in enumerate(markers.model.markers)
    )
