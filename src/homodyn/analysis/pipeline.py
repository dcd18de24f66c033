"""The pipeline from a recorded trial to angles, torques, events and gait measures.

`analyze` reads files and returns an `Analysis`, a record of arrays; it writes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, fields, replace
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from homodyn import __version__, capture, gait
from homodyn.analysis.curves import CycleSegmentation
from homodyn.analysis.emg_channels import channel_side
from homodyn.analysis.emg_envelopes import compute_emg_envelopes
from homodyn.analysis.filter_padding import filter_with_padding
from homodyn.analysis.settings import Settings, file_digest
from homodyn.capture import HealthReport, ScalingResult, Signals, Trial
from homodyn.capture.formats.column_map import read_column_map
from homodyn.capture.formats.force_columns import plates_from_table
from homodyn.capture.kinetics import AccelerationLoss, ForceLoss, Work
from homodyn.capture.labeling import LabelMatching
from homodyn.capture.scaling import MassSource
from homodyn.errors import CaptureError, HomodynError, NoSolution
from homodyn.foundation import Record, Severity, count_of, enumerate_names, record
from homodyn.gait import ElevationAngles, GaitMeasures
from homodyn.gait.plug_in_gait import (
    PlugInGaitAngles,
    PlugInGaitSubject,
    plug_in_gait_angles,
    read_subject,
    with_static_foot,
)
from homodyn.model import Model
from homodyn.motion import Event, Loads, Motion

MAX_FIT_ERROR_M = 0.1
"""Marker error (m, root mean square) above which markers and model do not belong together."""
MIN_MATCHED_MARKERS = 3
"""Markers that a model and a trial must share."""
FATAL_FINDINGS = ("units", "plate upside down", "axes")
"""Subjects of the health check whose errors make all results wrong."""
MAX_FITTING_RMS_M = 0.02
"""Marker error (m, rms) below which a model of the subject needs no scaling."""
MIN_REMAINING_ERROR = 0.7
"""Marker error after scaling over that before, above which sizes do not explain the error."""
MAX_WEIGHING_TIME_S = 4.0
"""Time (s) in the middle of a static trial that weighs the subject."""
CALIBRATION_FRAMES = 60
"""Frames of a trial that calibration selects from, spread evenly."""

ProgressCallback = Callable[[str], None]
"""Called with the name of each stage when it begins."""
Result = TypeVar("Result")
STAGES = (
    "reading",
    "matching labels",
    "checking health",
    "filling gaps",
    "scaling",
    "fitting",
    "forces and torques",
    "events and gait",
    "EMG",
)
"""The stages of `analyze`, in order."""


@record
class Analysis(Record):
    """Everything that was computed from one trial."""

    name: str
    """Name of the trial, from its file."""
    source: str
    """The file of the trial, as given."""
    settings: Settings
    trial: Trial
    """The recording with the marker names of the model and filled gaps, Z up."""
    model: Model
    """The model of the subject."""
    motion: Motion
    matching: LabelMatching | None = None
    """Labels of the trial and markers of the model."""
    health: HealthReport | None = None
    scaling: ScalingResult | None = None
    loads: Loads | None = None
    work: Work | None = None
    cutoff: float | None = None
    """Cutoff (Hz) of the low-pass filter of motion and forces, as given or chosen."""
    force_loss: ForceLoss | None = None
    """What the filter takes off the peak of the measured forces."""
    acceleration_loss: AccelerationLoss | None = None
    """What the filter takes off the peak acceleration of the markers."""
    events: tuple[Event, ...] = ()
    gait: GaitMeasures | None = None
    elevation: ElevationAngles | None = None
    plug_in_gait: PlugInGaitAngles | None = None
    """Joint angles by the conventions of Plug-in Gait, where measurements were given."""
    emg: Signals | None = None
    """Envelopes of the EMG channels."""
    emg_sides: tuple[str | None, ...] = ()
    """The side of each channel of ``emg``, None where its name does not say."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """By name of a missing part, the reason in one sentence."""
    notes: tuple[str, ...] = ()
    """Decisions and doubts of all stages, one sentence each."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Duration of each stage (s)."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of every file that was read."""
    version: str = __version__
    """Version of Homodyn."""

    def headline(self) -> str:
        """Trial, model and duration."""
        return f"Analysis of {self.name!r}: model {self.model.name}, {self.motion.duration:.2f} s"

    @cached_property
    def cycles(self) -> CycleSegmentation:
        """The gait cycles."""
        return CycleSegmentation(self.motion.time, self.events)


def analyze(
    trial: str | Path | Trial,
    settings: Settings | None = None,
    *,
    progress: ProgressCallback | None = None,
) -> Analysis:
    """Analyze one recorded trial, from its file to joint angles, torques and gait measures.

    The stages are those of `STAGES`. A part that the rest can do without (kinetics, gait, elevation
    angles, EMG) may fail: it is then ``None``, and ``missing`` of the result gives the reason. EMG
    files that the settings name may not fail.

    Args:
        trial: The recording: a ``.c3d``, ``.trc`` or ``.csv`` file, or any registered format; or a
            trial that was read or built in code.
        settings: Model, subject, further files and options; the defaults of `Settings` if left out.
            A model of the catalog needs at least ``mass``.
        progress: Called with the name of each stage when the stage begins.

    Returns:
        The motion with all that was computed from it, in SI units. Nothing is written to disk.

    Raises:
        FormatError: A file does not exist or cannot be read.
        ModelError: The model file does not describe a valid model.
        CaptureError: The trial cannot be used: there are no markers, too few of them match the
            model, units or plates are wrong, the mass of the subject is missing, or the markers do
            not fit the model, or an EMG file cannot be used. The message names the
            remedy.
    """
    settings = settings or Settings()
    run = _Run(progress or (lambda stage: None))
    source = (trial.source or trial.name) if isinstance(trial, Trial) else str(trial)
    with run.stage("reading"):
        digests = {"trial": _digest(trial)}
        digests |= {name: file_digest(path) for name, path in settings.files().items()}
        generic = settings.build_model()
        recording = _prepare(trial, source, settings)
        recorded = _crop(recording, source, settings)
        # The result can do without EMG channels of the recording, not without a file given for it.
        asked = compute_emg_envelopes(recorded, settings) if settings.emg or settings.mvc else None
    with run.stage("matching labels"):
        matching = _match(recorded, generic, settings)
        known = capture.labeling.identify_marker_set(recorded.markers)
        if known is not None:
            run.notes += (f"the labels are those of the marker set {known.name}.",)
        static = _read_static(generic, settings, run)
        others = () if static is None else (static,)
        corrected = capture.quality.correct_exchanges(matching.trial, model=generic, others=others)
        matching = replace(matching, trial=corrected)
    with run.stage("checking health"):
        health = capture.check_health(matching.trial, model=generic, others=others)
        _refuse_fatal(health, source)
    with run.stage("filling gaps"):
        filled = capture.fill_gaps(matching.trial)
    with run.stage("scaling"):
        scaling = _scale(generic, filled, static, settings, run)
        model = generic if scaling is None else scaling.model
    with run.stage("fitting"):
        fitted = _fit(model, filled, settings, source)
        if scaling is not None and scaling.mass_source is MassSource.DENSITY:
            scaling = _with_plate_mass(scaling, fitted, recording, static)
            model = scaling.model
            fitted = replace(fitted, model=model)
    with run.stage("forces and torques"):
        cutoff = _cutoff(fitted, settings, run)
        loads = run.attempt(
            "kinetics", lambda: _loads(fitted, recording, matching, settings, cutoff)
        )
        work = None if loads is None else capture.kinetics.joint_work(loads)
        losses = (None, None) if loads is None else _losses(fitted, recorded, cutoff)
    motion = fitted if loads is None else attach_marker_fit(loads.motion, fitted)
    with run.stage("events and gait"):
        events = _find_events(fitted, filled, settings.belt, run)
        belt = settings.belt
        measures = None
        if events:
            measures = run.attempt(
                "gait", lambda: gait.measures(motion, events, loads=loads, belt_speed=belt)
            )
        elevation = run.attempt(
            "elevation",
            lambda: gait.elevation_angles(motion, events=events or None, belt_speed=settings.belt),
        )
        conventional = (
            run.attempt("plug_in_gait", lambda: _plug_in_gait(recorded, static, settings))
            if settings.plug_in_gait is not None
            else None
        )
    with run.stage("EMG"):
        emg = asked or run.attempt("emg", lambda: compute_emg_envelopes(filled, settings))
    return Analysis(
        name=Path(source).stem,
        source=source,
        settings=settings,
        trial=filled,
        model=model,
        motion=motion,
        matching=matching,
        health=health,
        scaling=scaling,
        loads=loads,
        work=work,
        cutoff=cutoff,
        force_loss=losses[0],
        acceleration_loss=losses[1],
        events=events,
        gait=measures if measures is not None and measures.rows else None,
        elevation=elevation,
        plug_in_gait=conventional,
        emg=emg,
        emg_sides=tuple(channel_side(name) for name in emg.names) if emg else (),
        missing=run.missing,
        notes=_collect_notes(
            filled,
            model,
            scaling,
            fitted,
            loads,
            run.notes,
            () if measures is None else measures.notes,
        ),
        seconds=run.seconds,
        digests=digests,
    )


class _Run:
    """Durations, notes and missing parts of a run."""

    def __init__(self, progress: ProgressCallback) -> None:
        self.progress = progress
        self.seconds: dict[str, float] = {}
        self.notes: tuple[str, ...] = ()
        self.missing: dict[str, str] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Report the start of a stage and measure its duration."""
        self.progress(name)
        started = perf_counter()
        yield
        self.seconds[name] = perf_counter() - started

    def attempt(self, part: str, compute: Callable[[], Result]) -> Result | None:
        """Compute an optional part of the result; None and a reason if that fails."""
        try:
            return compute()
        except HomodynError as error:
            self.missing[part] = str(error)
            return None


def _digest(trial: str | Path | Trial) -> str:
    """SHA-256 of a file, or of the positions and forces of a trial."""
    if not isinstance(trial, Trial):
        return file_digest(trial)
    content = hashlib.sha256(repr((trial.markers, trial.rate)).encode())
    for array in (trial.positions, *(p.force for p in trial.plates)):
        content.update(np.ascontiguousarray(array).tobytes())
    return content.hexdigest()


def _read(source: str, settings: Settings, standing: bool = False) -> Trial:
    trial = capture.read(
        source, up=settings.up, columns=_column_map(source, settings), partial=settings.lenient
    )
    return _prepare(trial, source, settings, standing)


def _prepare(
    trial: str | Path | Trial, source: str, settings: Settings, standing: bool = False
) -> Trial:
    """The recording with its forces and with Z up."""
    if not isinstance(trial, Trial):
        return _read(source, settings)
    if not trial.markers or not trial.frames:
        raise CaptureError(
            f"{source}: the file has no markers; export the labeled marker trajectories into it"
        )
    if not trial.seen.any():
        raise CaptureError(
            f"{source}: no marker is visible in any frame; reconstruct and label the trial, then "
            "export it again"
        )
    if settings.forces is not None:
        up = settings.up or "y"
        table = capture.read_table(settings.forces, partial=settings.lenient)
        plates = plates_from_table(table, settings.forces, setup=settings.external_loads, up=up)
        trial = replace(trial, plates=tuple(plates), notes=(*trial.notes, *table.notes))
    return capture.quality.correct_orientation(trial, standing=standing)


def _crop(trial: Trial, source: str, settings: Settings) -> Trial:
    """The frames of the analyzed interval."""
    if settings.first is not None or settings.last is not None:
        first = trial.start if settings.first is None else settings.first
        last = trial.start + trial.duration if settings.last is None else settings.last
        cropped = trial.crop(first, last)
        if cropped.frames < 2:
            raise CaptureError(
                f"{source}: no frames between {first:g} and {last:g} s; the trial lasts from "
                f"{trial.start:g} to {trial.start + trial.duration:g} s"
            )
        trial = cropped
    return trial


def _column_map(source: str, settings: Settings) -> dict[str, Any] | None:
    """The column map of a .csv recording, with the rate of the settings."""
    if settings.columns is None and settings.rate is None:
        return None
    if Path(source).suffix.lower() != ".csv":
        raise CaptureError(
            f"{source}: --columns and --rate describe .csv recordings; {Path(source).suffix} files "
            "state their columns and their rate"
        )
    columns = read_column_map(settings.columns)
    rate = columns.rate if settings.rate is None else settings.rate
    return {**{entry.name: getattr(columns, entry.name) for entry in fields(columns)}, "rate": rate}


def _match(trial: Trial, model: Model, settings: Settings) -> LabelMatching:
    matching = capture.match_labels(model, trial, names=settings.map)
    if len(matching.matched) < MIN_MATCHED_MARKERS:
        similar = "; ".join(
            f"{marker} may be {' or '.join(labels)}"
            for marker, labels in list(matching.suggestions.items())[:5]
            if labels
        )
        raise CaptureError(
            f"{trial.source or trial.name}: only {len(matching.matched)} of "
            f"{count_of(len(model.markers), 'marker')} of model {model.name!r} are among its "
            f"labels ({enumerate_names(trial.markers, 12)}); write a map of labels and pass it "
            f"with --map, or use a model with these markers{': ' + similar if similar else ''}"
        )
    return matching


def _refuse_fatal(health: HealthReport, source: str) -> None:
    for finding in health.findings:
        if finding.subject in FATAL_FINDINGS and finding.severity is Severity.ERROR:
            where = f", plate {finding.plate}" if finding.plate else ""
            raise CaptureError(f"{source}{where}: {finding.sentence}")


def _scale(
    generic: Model, trial: Trial, static: Trial | None, settings: Settings, run: _Run
) -> ScalingResult | None:
    """The model scaled to the subject, from the static trial or together with the movement."""
    method = settings.scale_method
    if settings.functional and method != "motion":
        run.notes += (f"--functional has no effect with --scale {method}; --scale motion uses it.",)
    if method == "none":
        if settings.mass is not None and not settings.from_catalog:
            run.notes += (
                f"--mass has no effect without scaling: the model keeps its {generic.mass:.2f} kg.",
            )
        return None
    mass, height = settings.mass, settings.height
    legs = _leg_measurements(settings)
    # Markers measure lengths, not girths: mass shares of tables are better than those of volumes.
    if method == "static":
        assert static is not None
        return capture.scale(
            generic, static, mass=mass, height=height, keep_shares=True, plug_in_gait=legs
        )
    if settings.scale_setup is not None:
        assert static is not None
        return capture.kinematics.scale_by_setup(generic, static, settings.scale_setup, mass=mass)
    trials = [subsample(trial)] if static is None else [subsample(static), subsample(trial)]
    functional = [
        subsample(_read_other_trial(source, generic, settings, run))
        for source in settings.functional
    ]
    try:
        scaled = capture.calibrate(
            generic,
            trials,
            functional=functional,
            mass=mass,
            height=height,
            keep_shares=True,
            plug_in_gait=legs,
        )
    except CaptureError as error:
        if not settings.keeps_fitting_model:
            raise
        run.notes += (f"the model was not scaled: {error}.",)
        return None
    if not settings.keeps_fitting_model:
        return scaled
    errors = f"{1e3 * scaled.rms_before:.0f} mm rms, {1e3 * scaled.rms_after:.0f} mm when scaled"
    if already_fits(scaled):
        unused = "" if mass is None else f"; --mass is not used, it keeps {generic.mass:.2f} kg"
        run.notes += (
            f"the model already fits the markers ({errors}) and was not scaled{unused}; use "
            "--scale motion to scale it all the same.",
        )
        return None
    run.notes += (
        f"the model did not fit the markers ({errors}): it was scaled from the movement; use "
        "--scale none to keep it.",
    )
    return scaled


def _leg_measurements(settings: Settings) -> PlugInGaitSubject | None:
    """Measured widths of knees and ankles; None where the file has none, as the results say."""
    if settings.plug_in_gait is None:
        return None
    try:
        return read_subject(settings.plug_in_gait)
    except HomodynError:
        return None


def _with_plate_mass(
    scaling: ScalingResult, fitted: Motion, recording: Trial, static: Trial | None
) -> ScalingResult:
    """The scaling with the mass on the plates of the static trial, else on those of the trial."""
    for trial in (static, recording):
        if trial is None or not trial.plates:
            continue
        try:
            motion = fitted if trial is recording else _fit_standing(scaling.model, trial)
            measured = capture.kinetics.measure_mass(motion, trial.plates)
        except HomodynError:
            continue  # Plates that do not fit the motion are no measurement; loads say why.
        if measured is not None:
            note = (
                f"mass not given: the plates of {trial.name!r} carry {measured.mass:.2f} kg (SD "
                f"{measured.spread:.2f} kg over {measured.duration:.2f} s), which the model has "
                f"now; its densities give {scaling.model.mass:.2f} kg"
            )
            return capture.scaling.with_measured_mass(scaling, measured.mass, note)
    return scaling


def _plug_in_gait(recorded: Trial, static: Trial | None, settings: Settings) -> PlugInGaitAngles:
    """Angles of Plug-in Gait; foot offsets of the static trial where the file has none."""
    assert settings.plug_in_gait is not None
    subject = read_subject(settings.plug_in_gait)
    if static is not None and not (subject.left.plantar_flexion or subject.right.plantar_flexion):
        subject = with_static_foot(subject, static)
    return plug_in_gait_angles(recorded, subject)


def _fit_standing(model: Model, static: Trial) -> Motion:
    """The motion of the middle of a static trial, long enough to weigh the subject."""
    middle = static.start + static.duration / 2
    span = MAX_WEIGHING_TIME_S / 2
    return capture.inverse_kinematics(model, static.crop(middle - span, middle + span))


def already_fits(scaled: ScalingResult) -> bool:
    """Whether the model was that of the subject before it was scaled.

    Args:
        scaled: The result of scaling it.

    Returns:
        True if the marker error was small, or if scaling hardly reduces it: then it has other
        causes than the size of the subject.
    """
    before, after = scaled.rms_before, scaled.rms_after
    return before <= MAX_FITTING_RMS_M or after > MIN_REMAINING_ERROR * before


def _read_static(generic: Model, settings: Settings, run: _Run) -> Trial | None:
    """The static trial with the marker names of the model and filled gaps, if it is used."""
    if settings.static is None or settings.scale_method == "none":
        return None
    return _read_other_trial(settings.static, generic, settings, run, settings.static_forces)


def _read_other_trial(
    source: str, generic: Model, settings: Settings, run: _Run, forces: str | None = None
) -> Trial:
    """Another trial of the subject, with the marker names of the model and filled gaps."""
    settings = replace(settings, forces=forces, external_loads=None)
    if Path(source).suffix.lower() != ".csv":
        settings = replace(settings, columns=None, rate=None)
    standing = source == settings.static
    matched = _match(_read(source, settings, standing), generic, settings).trial
    corrected = capture.quality.correct_exchanges(matched, model=generic)
    notes = corrected.notes[len(matched.notes) :]
    run.notes += tuple(f"Trial {matched.name}: {note}." for note in notes)
    return capture.fill_gaps(corrected)


def subsample(trial: Trial) -> Trial:
    """Frames spread evenly over a trial: neighboring poses add nothing to a calibration.

    Args:
        trial: The recording.

    Returns:
        A trial of about `CALIBRATION_FRAMES` frames, without plates and analog channels.
    """
    step = max(trial.frames // CALIBRATION_FRAMES, 1)
    return replace(
        trial,
        positions=trial.positions[::step],
        filled=trial.filled[::step],
        rate=trial.rate / step,
        plates=(),
        analog=Signals(),
    )


def _fit(model: Model, trial: Trial, settings: Settings, source: str) -> Motion:
    """The motion; markers that do not fit the model are refused."""
    try:
        return capture.inverse_kinematics(
            model, trial, _fit_options(model, trial.markers, settings)
        )
    except NoSolution as error:
        static = " that --static is of the same subject and marker set," if settings.static else ""
        raise CaptureError(
            f"{source}: the markers do not fit the model: {error}. Check{static} --height, --model "
            "and swapped labels (--map), or scale the model to the markers with --scale motion"
        ) from error


def _fit_options(
    model: Model, markers: tuple[str, ...], settings: Settings
) -> capture.InverseKinematicsOptions:
    """Options of inverse kinematics, with the weights of the task file if one is given."""
    options = capture.InverseKinematicsOptions(
        robust="huber" if settings.robust else None, max_rms=MAX_FIT_ERROR_M
    )
    if settings.tasks is None:
        return options
    weights, track = capture.kinematics.read_tasks(settings.tasks, model)
    if not any(weights.get(marker) for marker in markers):
        raise CaptureError(
            f"{settings.tasks}: no task gives a weight to a marker of the trial "
            f"({enumerate_names(markers, 12)}); marker tasks have the names of markers of the model"
        )
    return replace(options, weights=weights, track=track or None)


def _cutoff(fitted: Motion, settings: Settings, run: _Run) -> float:
    """The cutoff (Hz) as given, or chosen by residual analysis."""
    if not isinstance(settings.cutoff, str):
        return settings.cutoff
    chosen = capture.kinetics.motion_cutoff(fitted)
    run.notes += (chosen.sentence,)
    return chosen.cutoff


def _loads(
    fitted: Motion, recording: Trial, matching: LabelMatching, settings: Settings, cutoff: float
) -> Loads:
    """Loads of the filtered motion; frames and readings outside of the interval pad the filter."""
    options = _fit_options(fitted.model, fitted.markers, settings)
    filtered = filter_with_padding(fitted, recording, matching.matched, cutoff, options)
    return capture.inverse_dynamics(filtered, recording.plates, cutoff=None, force_cutoff=cutoff)


def _losses(
    fitted: Motion, recorded: Trial, cutoff: float
) -> tuple[ForceLoss | None, AccelerationLoss | None]:
    return (
        capture.kinetics.force_loss(fitted, recorded.plates, cutoff),
        capture.kinetics.acceleration_loss(fitted, cutoff),
    )


def _find_events(motion: Motion, trial: Trial, belt: float | None, run: _Run) -> tuple[Event, ...]:
    # Unfiltered plates: a filter spreads a foot strike over tens of milliseconds.
    found = run.attempt(
        "gait",
        lambda: gait.find_events(motion, trial.plates, recorded=trial.events, belt_speed=belt),
    )
    if found is None:
        return ()
    run.notes += tuple(found.notes)
    return tuple(found)


def attach_marker_fit(filtered: Motion, fitted: Motion) -> Motion:
    """The filtered motion that torques were computed from, with the marker fit of the original.

    Args:
        filtered: The motion of the loads.
        fitted: The result of inverse kinematics.

    Returns:
        ``filtered`` with markers, residuals, status and limits of ``fitted``.
    """
    return replace(
        filtered,
        markers=fitted.markers,
        measured=fitted.measured,
        residual=fitted.residual,
        weights=fitted.weights,
        status=fitted.status,
        iterations=fitted.iterations,
        unobserved=fitted.unobserved,
        at_limit=fitted.at_limit,
    )


def _collect_notes(
    trial: Trial,
    model: Model,
    scaling: ScalingResult | None,
    motion: Motion,
    loads: Loads | None,
    run_notes: tuple[str, ...],
    gait_notes: tuple[str, ...],
) -> tuple[str, ...]:
    """The notes of all stages in their order, each once."""
    notes = [*trial.notes, *model.notes]
    if scaling is not None:
        notes += [*scaling.warnings, *scaling.notes]
    notes += motion.notes
    if loads is not None:
        notes += loads.notes
    return tuple(dict.fromkeys([*notes, *run_notes, *gait_notes]))
