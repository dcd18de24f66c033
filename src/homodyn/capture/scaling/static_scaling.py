"""From a person standing still to the model of that person: sizes by marker pairs.

Lengths between markers are compared with those of the model in the same pose; then each marker is
moved in its body to where it was seen (Felis 2015, eq. 4.8). One pose tells no joint centers: where
the recording moves, `calibrate` does better.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from homodyn.capture.scaling.bundle_adjustment import PersonParameters, fit_poses
from homodyn.capture.scaling.initial_poses import initial_poses, initial_size
from homodyn.capture.scaling.marker_model import MarkerModel, Person, marker_model
from homodyn.capture.scaling.marker_pairs import LengthRatio, informative_pairs, named_pairs
from homodyn.capture.scaling.mass_scaling import scale_masses
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

MAX_STANDING_SWAY_M = 0.01
"""Sway of a marker (m, standard deviation) that still counts as standing."""
MAX_ROUNDS = 4
"""Times that pose and sizes are found in turn."""


def scale(
    model: Model,
    trial: Trial,
    *,
    mass: float | None = None,
    height: float | None = None,
    symmetric: bool = False,
    pairs: Mapping[str, Any] | None = None,
    together: Sequence[Collection[str]] = (),
    fixed: Collection[str] = (),
    move_markers: bool = True,
    prior: ScalingPrior | None = None,
    keep_shares: bool = False,
) -> ScalingResult:
    """Scale a model to a subject who stands in a static trial.

    By default the most informative marker pairs for each body are found automatically. Sizes that
    no pair determines follow the other axes of the body and the overall size of the subject.

    Args:
        model: The generic model.
        trial: The static trial.
        mass: Mass of the subject, kg; densities are kept when left out.
        height: Height of the subject, m; narrows the prior of the overall size.
        symmetric: Whether left and right have the same sizes.
        pairs: Marker pairs by body, instead of the automatic ones, for all axes or by axis:
            ``{"shank": [("KNE", "ANK")], "foot": {"x": [("HEE", "TOE")], "yz": [("MT1",
            "MT5")]}}``. Each axis takes the mean ratio of its pairs.
        together: Groups of bodies that share their scale factors.
        fixed: Markers that keep their position on the model.
        move_markers: Whether markers move to their measured positions.
        prior: Standard deviations of sizes and marker placement.
        keep_shares: Whether each segment keeps its share of the total mass; otherwise masses follow
            volumes.

    Returns:
        The scaled model, what changed, and how certain it is.

    Raises:
        CaptureError: Too few markers match, or an argument is invalid.
    """
    prior = prior or ScalingPrior()
    recording = shared_markers(model, [trial])
    unknown = [name for name in fixed if name not in recording.markers]
    if unknown:
        raise CaptureError(
            f"fixed: no such marker recorded: {list_text(unknown)}; recorded are "
            f"{list_text(recording.markers)}"
        )
    measured = np.nanmedian(recording.positions, axis=0)
    markers = marker_model(model, recording.markers)
    size, notes = expected_size(model, height)
    belief = parameter_prior(
        model,
        recording.markers,
        prior,
        size=size or 1.0,
        stature_known=size is not None,
        symmetric=symmetric,
        together=together,
    )
    initial_size(markers, measured[None])
    q = initial_poses(markers, markers.generic, measured[None])
    before = np.linalg.norm(markers.positions(q, markers.generic)[0] - measured, axis=-1)
    phi, posterior, lengths, q = _fit_sizes(markers, belief, pairs, q, measured)
    person = belief.unknowns.person(phi)
    scaled_rms = _rms(markers.positions(q, person)[0] - measured)
    if move_markers:
        person = _marker_shifts(markers, person, q, measured, fixed)
    made, mass_warnings = scale_masses(model, person, recording.markers, mass, keep_shares)

    swaying = fit_poses(
        markers, person, recording.positions, np.repeat(q, len(recording.positions), axis=0)
    )
    after = np.linalg.norm(markers.positions(swaying, person) - recording.positions, axis=-1)
    bodies = _body_rows(model, made, belief, person, posterior, lengths)
    moved = _marker_rows(markers, person, before, after)
    doubtful = scaling_warnings(bodies, moved, scaled_rms) + _sway_warning(recording.positions)
    notes.append(
        f"marker rms {1e3 * _rms(before):.1f} mm with the generic model, {1e3 * scaled_rms:.1f} mm "
        f"with its bodies scaled{', then the markers were moved' if move_markers else ''}"
    )
    return ScalingResult(
        model=made,
        generic=model,
        status=ScalingStatus.DOUBTFUL if doubtful else ScalingStatus.SCALED,
        bodies=bodies,
        joints=center_shifts(model, made),
        marker_shifts=moved,
        rms_before=_rms(before),
        rms_after=_rms(after),
        q=swaying,
        frames=recording.frames,
        iterations=MAX_ROUNDS,
        warnings=(*doubtful, *recording.warnings, *_unmeasured_note(bodies), *mass_warnings),
        notes=tuple(notes),
        method=f"sizes from {len(lengths)} lengths between markers of {len(recording.frames)} "
        "frames standing, attachments by the fitted pose",
    )


def _fit_sizes(
    markers: MarkerModel,
    belief: ParameterPrior,
    pairs: Mapping[str, Any] | None,
    q: np.ndarray,
    measured: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, list[LengthRatio], np.ndarray]:
    """Sizes and pose in turn: the unknowns, covariance of log scales, lengths used, the pose."""
    unknowns = belief.unknowns
    count = unknowns.logarithms
    phi = belief.mean.copy()
    for _ in range(MAX_ROUNDS):
        q = fit_poses(markers, unknowns.person(phi), measured[None], q)
        if pairs is None:
            lengths = informative_pairs(markers, unknowns, phi, q[0], measured)
        else:
            lengths = named_pairs(markers, unknowns, phi, q[0], measured, pairs)
        if not lengths:
            raise CaptureError(
                f"no pair of the {len(markers.markers)} recorded markers tells the length of a "
                "body, so nothing would be scaled; name pairs, or record more markers"
            )
        shares = np.array([length.shares for length in lengths])
        weight = np.array([length.sd**-2 for length in lengths])
        target = np.array([length.ratio for length in lengths]) + shares @ phi[:count]
        before = np.linalg.inv(belief.fixed[:count, :count])
        information = before + shares.T @ (weight[:, None] * shares)
        right = before @ belief.mean[:count] + shares.T @ (weight * target)
        phi[:count] = np.linalg.solve(information, right)
        if pairs is not None:
            # Named ratios are of the model as it is; a second look would scale the scaled.
            break
    q = fit_poses(markers, unknowns.person(phi), measured[None], q)
    return phi, np.linalg.inv(information), lengths, q


def _marker_shifts(
    markers: MarkerModel,
    person: Person,
    q: np.ndarray,
    measured: np.ndarray,
    fixed: Collection[str],
) -> Person:
    """Shifts that put each marker, in its body, where it was seen (Felis eq. 4.8)."""
    count = len(markers.markers)
    J = markers.jacobian(q, person)[0][:, -3 * count :].reshape(count, 3, count, 3)
    turns = J[np.arange(count), :, np.arange(count), :]
    off = measured - markers.positions(q, person)[0]
    shifts = np.nan_to_num((off[:, None] @ turns)[:, 0])
    shifts[[name in fixed for name in markers.markers]] = 0.0
    return Person(person.scales, shifts, person.centers)


def _rms(errors: np.ndarray) -> float:
    distance = (
        np.linalg.norm(errors, axis=-1) if errors.ndim > 1 and errors.shape[-1] == 3 else errors
    )
    return float(np.sqrt(np.nanmean(distance**2)))


def _body_rows(
    model: Model,
    made: Model,
    belief: ParameterPrior,
    person: Person,
    posterior: np.ndarray,
    lengths: Sequence[LengthRatio],
) -> tuple[BodyScale, ...]:
    unknowns: PersonParameters = belief.unknowns
    sd = np.sqrt(np.diag(unknowns.tie @ posterior @ unknowns.tie.T)).reshape(-1, 3)
    owner = np.argmax(unknowns.tie, axis=1)
    rows = []
    for i, body in enumerate(model.bodies):
        about: dict[int, list[str]] = {0: [], 1: [], 2: []}
        for length in lengths:
            told = {int(owner[3 * b + axis]) for b, axis in length.about}
            for axis in range(3):
                if int(owner[3 * i + axis]) in told:
                    about[axis].append(length.label)
        words = "; ".join(f"{'xyz'[k]} by {', '.join(v)}" for k, v in about.items() if v)
        rows.append(
            BodyScale(
                body.name,
                person.scales[i],
                sd[i] * person.scales[i],
                np.array([bool(about[k]) for k in range(3)]),
                words or "the size of the others",
                float(made.bodies[i].mass),
                float(body.mass),
            )
        )
    return tuple(rows)


def _unmeasured_note(bodies: Sequence[BodyScale]) -> list[str]:
    names = [row.body for row in bodies if not row.measured.any()]
    if not names:
        return []
    return [
        f"no pair of markers tells the size of {list_text(names)}: the size of the others is used"
    ]


def _sway_warning(positions: np.ndarray) -> list[str]:
    """The doubt whether the person stands at all."""
    sway = float(np.nanmedian(np.nanstd(positions, axis=0).max(-1)))
    if sway <= MAX_STANDING_SWAY_M:
        return []
    return [
        f"the person moves (markers sway by {1e3 * sway:.0f} mm): cut out a part where it stands, "
        "or use calibrate"
    ]


def _marker_rows(
    markers: MarkerModel, person: Person, before: np.ndarray, after: np.ndarray
) -> tuple[MarkerShift, ...]:
    with np.errstate(invalid="ignore"):
        after = np.sqrt(np.nanmean(after**2, axis=0))
    return tuple(
        MarkerShift(
            marker.name, marker.body, person.shifts[k], np.nan, float(before[k]), float(after[k])
        )
        for k, marker in enumerate(markers.model.markers)
    )
