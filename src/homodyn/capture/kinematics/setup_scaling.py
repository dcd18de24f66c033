"""Scaling by a setup file of OpenSim's ScaleTool, with OpenSim's rules.

First lengths: each measurement scales axes of bodies by the mean ratio of measured to model lengths
of its marker pairs, the model in its default pose; factors by hand replace them, or are replaced,
in the order of the file. Then the static pose: inverse kinematics of the mean positions of the
markers, with the weights of the file. In this pose every marker that is not flagged as fixed moves
in its body to its measured position.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from homodyn.capture.kinematics.inverse_kinematics import inverse_kinematics
from homodyn.capture.kinematics.opensim_tasks import read_tasks
from homodyn.capture.kinematics.scale_setup import (
    MEASUREMENTS,
    ScaleMeasurement,
    ScaleSetup,
    read_scale_setup,
)
from homodyn.capture.scaling.marker_kinds import marker_kinds
from homodyn.capture.scaling.marker_model import Person
from homodyn.capture.scaling.mass_scaling import scale_masses
from homodyn.capture.scaling.pelvis_checks import pelvis_warnings
from homodyn.capture.scaling.scaling_result import (
    BodyScale,
    MarkerShift,
    MassSource,
    ScalingResult,
    ScalingStatus,
    center_shifts,
    scaling_warnings,
)
from homodyn.capture.scaling.shared_markers import list_text, shared_markers
from homodyn.capture.trial import Trial
from homodyn.capture.world_frame import to_world_axes
from homodyn.dynamics import marker_positions, orientation, position
from homodyn.errors import CaptureError
from homodyn.foundation.text import count_of, unknown_name
from homodyn.model import Model
from homodyn.motion.motion import Motion

TIME_TOLERANCE_S = 1e-6
"""Time (s) by which a frame may lie outside of an interval."""


def scale_by_setup(
    model: Model, trial: Trial, setup: str | Path | ScaleSetup, *, mass: float | None = None
) -> ScalingResult:
    """Scale a model to a subject as OpenSim's ScaleTool does, with a setup file.

    Args:
        model: The generic model, with the markers that the setup names.
        trial: The static trial.
        setup: The setup file, or what was read from it.
        mass: Mass of the subject (kg); None takes that of the setup. Where neither gives one,
            densities are kept, or the mass of the model where the setup preserves its distribution.

    Returns:
        The scaled model and what changed; no uncertainty, as the method gives none.

    Raises:
        FormatError: The file is not a valid setup.
        CaptureError: The setup names a body that the model lacks, no frame lies in its interval,
            or its markers are neither in the model nor in the trial.
        NoSolution: The markers do not fit the model.
    """
    wanted = setup if isinstance(setup, ScaleSetup) else read_scale_setup(setup)
    recording = shared_markers(model, [trial])
    scales = _segment_scales(model, trial, wanted)
    names = tuple(marker.name for marker in model.markers)
    still = Person(scales.factors, np.zeros((len(names), 3)), np.zeros((len(model.bodies), 3)))
    total = mass if mass is not None else wanted.mass
    if total is None and wanted.keep_shares:
        total = model.mass
    sized, _ = scale_masses(model, still, names, total, wanted.keep_shares)
    pose = _static_pose(sized, trial, wanted)
    measured = _mean_markers(sized, pose.trial)
    errors = _marker_errors(sized, pose.motion, measured)
    shifts = _marker_shifts(sized, pose.motion, measured) if wanted.move_markers else {}
    moved = np.array([shifts.get(name, np.zeros(3)) for name in names])
    person = replace(still, shifts=moved)
    scaled, mass_warnings = scale_masses(model, person, names, total, wanted.keep_shares)
    after = _marker_errors(scaled, pose.motion, measured)
    before = _static_pose(model, trial, wanted)
    generic_errors = _marker_errors(model, before.motion, measured)
    bodies = _body_rows(model, scaled, scales)
    rows = _marker_rows(model, measured, moved, generic_errors, after)
    warnings = [
        *scaling_warnings(bodies, rows, _rms(errors, pose)),
        *pelvis_warnings(model, scaled, recording),
        *scales.warnings,
    ]
    return ScalingResult(
        model=scaled,
        generic=model,
        status=ScalingStatus.DOUBTFUL if warnings else ScalingStatus.SCALED,
        bodies=bodies,
        joints=center_shifts(model, scaled),
        marker_shifts=rows,
        rms_before=_rms(generic_errors, before),
        rms_after=_rms(after, pose),
        q=pose.motion.q,
        frames=pose.frames,
        iterations=1,
        warnings=(*warnings, *_unmoved_warning(model, measured, wanted), *mass_warnings),
        notes=(
            f"marker rms {1e3 * _rms(errors, pose):.1f} mm with scaled bodies, before the markers "
            "were moved",
            *_setup_notes(wanted),
        ),
        method=(
            f"Scaled by {Path(wanted.source).name} as OpenSim does: "
            f"{count_of(len(wanted.measurements), 'measurement')}, "
            f"{count_of(len(wanted.manual_scales), 'body', 'bodies')} by hand, "
            f"{count_of(len(shifts), 'marker')} moved to the static pose."
        ),
        mass_source=MassSource.DENSITY if total is None else MassSource.GIVEN,
    )


@dataclass(frozen=True, eq=False)
class _SegmentScales:
    """Scale factors by a setup, and where they come from."""

    factors: np.ndarray
    """(bodies, 3)."""
    sources: dict[tuple[int, int], str] = field(default_factory=dict)
    """By index of body and axis, the measurement."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class _StaticPose:
    """The pose of a subject who stands still."""

    motion: Motion
    trial: Trial
    """One frame: the mean positions of the markers."""
    frames: tuple[tuple[str, int], ...]
    weighted: frozenset[str]
    """Markers that determine the pose."""


def _segment_scales(model: Model, trial: Trial, setup: ScaleSetup) -> _SegmentScales:
    """Scale factors of all bodies, in the order of the setup."""
    factors = np.ones((len(model.bodies), 3))
    sources: dict[tuple[int, int], str] = {}
    warnings: list[str] = []
    still = trial.positions[_frames(trial, setup.measured_interval, setup, "ModelScaler")]
    places = dict(
        zip((m.name for m in model.markers), marker_positions(model, model.neutral()), strict=True)
    )
    for step in setup.order:
        if step == MEASUREMENTS:
            for measurement in setup.measurements:
                ratio, missing = _length_ratio(measurement, places, trial, still)
                if missing:
                    unused = "" if ratio is None else "in part "
                    warnings.append(
                        f"measurement {measurement.name!r} is {unused}not used: model or trial "
                        f"lack {list_text(missing)}"
                    )
                if ratio is not None:
                    _apply(model, setup, measurement, ratio, factors, sources)
            continue
        for body, values in setup.manual_scales.items():
            row = _body_index(model, setup, body)
            factors[row] = values
            sources.update({(row, axis): "by hand" for axis in range(3)})
    return _SegmentScales(factors, sources, tuple(warnings))


def _apply(
    model: Model,
    setup: ScaleSetup,
    measurement: ScaleMeasurement,
    ratio: float,
    factors: np.ndarray,
    sources: dict[tuple[int, int], str],
) -> None:
    for body, axes in measurement.axes.items():
        row = _body_index(model, setup, body)
        for axis in axes:
            factors[row, "xyz".index(axis)] = ratio
            sources[row, "xyz".index(axis)] = measurement.name


def _body_index(model: Model, setup: ScaleSetup, body: str) -> int:
    if body not in model.body_names:
        raise CaptureError(
            f"{setup.source}: the setup scales {unknown_name('body', body, model.body_names)} in "
            f"model {model.name!r}"
        )
    return model.body_names.index(body)


def _length_ratio(
    measurement: ScaleMeasurement,
    places: Mapping[str, np.ndarray],
    trial: Trial,
    positions: np.ndarray,
) -> tuple[float | None, list[str]]:
    """Mean ratio of measured to model lengths, None without any pair, and the missing markers."""
    ratios, missing = [], []
    for pair in measurement.pairs:
        absent = [name for name in pair if name not in places or name not in trial.markers]
        if not absent:
            one, two = (positions[:, trial.markers.index(name)] for name in pair)
            lengths = np.linalg.norm(one - two, axis=-1)
            if np.isfinite(lengths).any():
                model_length = np.linalg.norm(places[pair[0]] - places[pair[1]])
                ratios.append(float(np.nanmean(lengths) / model_length))
                continue
            absent = list(pair)
        missing += absent
    return (float(np.mean(ratios)) if ratios else None), sorted(set(missing))


def _frames(
    trial: Trial, interval: tuple[float, float] | None, setup: ScaleSetup, part: str
) -> np.ndarray:
    """Indices of the frames in an interval (s) of the trial."""
    if interval is None:
        return np.arange(trial.frames)
    low, high = interval
    chosen = np.flatnonzero(
        (trial.time >= low - TIME_TOLERANCE_S) & (trial.time <= high + TIME_TOLERANCE_S)
    )
    if not len(chosen):
        raise CaptureError(
            f"{setup.source}: the <{part}> uses the frames from {low:g} to {high:g} s, but the "
            f"static trial lasts from {trial.time[0]:g} to {trial.time[-1]:g} s"
        )
    return chosen


def _static_pose(model: Model, trial: Trial, setup: ScaleSetup) -> _StaticPose:
    """The pose that fits the mean positions of the markers, with the weights of the setup."""
    frames = _frames(trial, setup.pose_interval, setup, "MarkerPlacer")
    seen = trial.positions[frames]
    count = np.isfinite(seen).all(-1).sum(0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(
            count[:, None] > 0, np.nansum(seen, axis=0) / np.maximum(count, 1)[:, None], np.nan
        )
    average = Trial(trial.name, trial.markers, mean[None], rate=trial.rate)
    weights, track = read_tasks(setup.source, model)
    if not any(weights.get(name, 0.0) > 0 for name in trial.markers):
        raise CaptureError(
            f"{setup.source}: no marker of the trial has a weight above zero in its <IKTaskSet>"
        )
    motion = _best_fit(model, average, weights, track)
    weighted = frozenset(name for name, weight in weights.items() if weight > 0)
    return _StaticPose(motion, average, tuple((trial.name, int(k)) for k in frames), weighted)


def _best_fit(
    model: Model,
    average: Trial,
    weights: Mapping[str, float],
    track: Mapping[str, tuple[float, float]],
) -> Motion:
    """The better of two fits: from a search, and from the pose that all markers show.

    The few markers with large weights of a static pose can have several local minima, such as arms
    that are turned over.
    """
    found = inverse_kinematics(model, average, weights=weights, track=track or None)
    everything = inverse_kinematics(model, average)
    other = inverse_kinematics(
        model, average, weights=weights, track=track or None, start=everything.q
    )
    measured = _mean_markers(model, average)

    def cost(motion: Motion) -> float:
        errors = _marker_errors(model, motion, measured)
        return sum(weights[name] * error**2 for name, error in errors.items())

    return min(found, other, key=cost)


def _mean_markers(model: Model, average: Trial) -> dict[str, np.ndarray]:
    """Positions (3,) of the markers of the model in the mean static pose, in its world."""
    turned = to_world_axes(model, average)
    names = {marker.name for marker in model.markers}
    return {
        name: turned.positions[0, k]
        for k, name in enumerate(turned.markers)
        if name in names and np.isfinite(turned.positions[0, k]).all()
    }


def _marker_errors(
    model: Model, motion: Motion, measured: Mapping[str, np.ndarray]
) -> dict[str, float]:
    """Distance (m) of each measured marker from the model."""
    places = marker_positions(model, motion.q[0])
    return {
        marker.name: float(np.linalg.norm(places[k] - measured[marker.name]))
        for k, marker in enumerate(model.markers)
        if marker.name in measured
    }


def _marker_shifts(
    model: Model, motion: Motion, measured: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Shifts (3,), m, in its body, of each marker that is not fixed, to its measured position."""
    shifts = {}
    for marker in model.markers:
        if marker.fixed or marker.name not in measured:
            continue
        from_body = measured[marker.name] - position(model, motion.q[0], marker.body)
        place = from_body @ orientation(model, motion.q[0], marker.body)
        shifts[marker.name] = place - marker.position
    return shifts


def _rms(errors: Mapping[str, float], pose: _StaticPose) -> float:
    """Root mean square (m) over the markers that determine the pose."""
    squares = [error**2 for name, error in errors.items() if name in pose.weighted]
    return float(np.sqrt(np.mean(squares)))


def _body_rows(model: Model, scaled: Model, scales: _SegmentScales) -> tuple[BodyScale, ...]:
    rows = []
    for k, body in enumerate(model.bodies):
        known = [scales.sources.get((k, axis), "") for axis in range(3)]
        texts = [f"{'xyz'[axis]}: {source}" for axis, source in enumerate(known) if source]
        rows.append(
            BodyScale(
                body.name,
                scales.factors[k],
                np.full(3, np.nan),
                np.array([bool(source) for source in known]),
                "; ".join(texts) or "not scaled",
                float(scaled.bodies[k].mass),
                float(body.mass),
            )
        )
    return tuple(rows)


def _marker_rows(
    model: Model,
    measured: Mapping[str, np.ndarray],
    moved: np.ndarray,
    before: Mapping[str, float],
    after: Mapping[str, float],
) -> tuple[MarkerShift, ...]:
    kinds = marker_kinds(model)
    return tuple(
        MarkerShift(
            marker.name,
            marker.body,
            moved[k],
            np.nan,
            before[marker.name],
            after[marker.name],
            kinds[marker.name],
        )
        for k, marker in enumerate(model.markers)
        if marker.name in measured
    )


def _unmoved_warning(
    model: Model, measured: Mapping[str, np.ndarray], setup: ScaleSetup
) -> Sequence[str]:
    """A warning about markers that should move and were not recorded."""
    lost = [m.name for m in model.markers if not m.fixed and m.name not in measured]
    if not setup.move_markers or not lost:
        return ()
    return (f"markers that the static trial does not show keep their places: {list_text(lost)}",)


def _setup_notes(setup: ScaleSetup) -> Sequence[str]:
    notes = []
    if not setup.measurements and not setup.manual_scales:
        notes.append(
            f"{Path(setup.source).name} scales no body: its sizes are those of the model that it "
            "is applied to"
        )
    if setup.marker_set:
        notes.append(
            f"the setup names the marker set {Path(setup.marker_set).name}; the markers of the "
            "given model were used"
        )
    return notes
