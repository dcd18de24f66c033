"""The pipeline from a recorded trial to angles, torques, events and gait measures.

`analyze` reads files and returns an `Analysis`, a record of arrays; it writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path

from homodyn import __version__, capture, gait
from homodyn.analysis.analysis_run import AnalysisRun, ProgressCallback
from homodyn.analysis.curves import CycleSegmentation
from homodyn.analysis.emg_channels import channel_side
from homodyn.analysis.emg_envelopes import compute_emg_envelopes
from homodyn.analysis.filter_choice import choose_cutoff, filter_losses
from homodyn.analysis.filter_padding import filter_with_padding
from homodyn.analysis.muscle_analysis import MuscleAnalysis, analyze_muscles
from homodyn.analysis.physics_method import MethodComparison, compare_methods, track_fitted
from homodyn.analysis.settings import Settings, file_digest
from homodyn.analysis.subject_model import read_subject_trials, scale_model, with_plate_mass
from homodyn.analysis.trial_input import (
    MIN_MATCHED_MARKERS,
    content_digest,
    crop_recording,
    match_markers,
    prepare_recording,
)
from homodyn.capture import HealthReport, ScalingResult, Signals, Trial
from homodyn.capture.kinematics.plausibility import INSPECTION_HINT
from homodyn.capture.kinetics import AccelerationLoss, ForceLoss, Work
from homodyn.capture.labeling import LabelMatching
from homodyn.capture.scaling import MassSource
from homodyn.errors import CaptureError, ModelError, NoSolution
from homodyn.foundation import Record, Severity, enumerate_names, record
from homodyn.gait import ElevationAngles, GaitMeasures
from homodyn.gait.plug_in_gait import (
    PlugInGaitAngles,
    plug_in_gait_angles,
    read_subject,
    with_static_foot,
)
from homodyn.model import Model
from homodyn.motion import Event, Loads, Motion
from homodyn.track import TrackingResult

MAX_FIT_ERROR_M = 0.1
"""Marker error (m, root mean square) above which markers and model do not belong together."""
FATAL_FINDINGS = ("units", "plate upside down", "axes")
"""Subjects of the health check whose errors make all results wrong."""

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
    "muscles",
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
    tracking: TrackingResult | None = None
    """Tracking by physics, where the settings ask for it; ``motion`` and ``loads`` are then its."""
    comparison: MethodComparison | None = None
    """Both methods beside each other, where the trial was tracked by physics."""
    muscles: MuscleAnalysis | None = None
    """Activations, joint reactions and agreement with EMG, where the settings ask for them."""
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
    run = AnalysisRun(progress or (lambda stage: None))
    source = (trial.source or trial.name) if isinstance(trial, Trial) else str(trial)
    with run.stage("reading"):
        digests = {"trial": content_digest(trial)}
        digests |= {name: file_digest(path) for name, path in settings.files().items()}
        generic = settings.build_model()
        if settings.muscles is not None and not generic.muscles:
            raise ModelError(
                f"model {generic.name!r} has no muscles, so --muscles has nothing to share torques "
                "among; muscles are read from .osim files: pass one with --model"
            )
        recording = prepare_recording(trial, source, settings)
        recorded = crop_recording(recording, source, settings)
        # The result can do without EMG channels of the recording, not without a file given for it.
        asked = compute_emg_envelopes(recorded, settings) if settings.emg or settings.mvc else None
    with run.stage("matching labels"):
        matching = match_markers(recorded, generic, settings)
        known = capture.labeling.identify_marker_set(recorded.markers)
        if known is not None:
            run.notes += (f"the labels are those of the marker set {known.name}.",)
        others = read_subject_trials(generic, settings, run)
        corrected = capture.quality.correct_exchanges(
            matching.trial, model=generic, others=others.all
        )
        matching = replace(matching, trial=corrected)
    with run.stage("checking health"):
        health = capture.check_health(matching.trial, model=generic, others=others.all)
        _refuse_fatal(health, source)
    with run.stage("filling gaps"):
        filled = capture.fill_gaps(matching.trial, model=generic)
    with run.stage("scaling"):
        scaling = scale_model(generic, filled, others, settings, run)
        model = generic if scaling is None else scaling.model
    with run.stage("fitting"):
        fitted = _fit(model, filled, settings, source, health)
        if scaling is not None and scaling.mass_source is MassSource.DENSITY:
            scaling = with_plate_mass(scaling, fitted, recording, others.static)
            model = scaling.model
            fitted = replace(fitted, model=model)
    with run.stage("forces and torques"):
        events = _find_events(fitted, filled, settings.belt, run)
        cutoff, reasons = choose_cutoff(fitted, events, settings.cutoff)
        run.notes += reasons
        loads = run.attempt(
            "kinetics", lambda: _loads(fitted, recording, matching, settings, cutoff)
        )
        losses = (None, None) if loads is None else filter_losses(fitted, recorded, cutoff)
        motion = fitted if loads is None else attach_marker_fit(loads.motion, fitted)
        tracked, comparison = None, None
        if settings.method == "physics":
            tracked = track_fitted(model, filled, fitted, cutoff)
            comparison = compare_methods(motion, loads, tracked)
            motion, loads, model = tracked.motion, tracked.loads, tracked.motion.model
            run.missing.pop("kinetics", None)
            run.notes += (f"tracking by physics: {tracked.message}.", *tracked.notes)
        work = None if loads is None else capture.kinetics.joint_work(loads)
    with run.stage("events and gait"):
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
            run.attempt("plug_in_gait", lambda: _plug_in_gait(recorded, others.static, settings))
            if settings.plug_in_gait is not None
            else None
        )
    with run.stage("EMG"):
        emg = asked or run.attempt("emg", lambda: compute_emg_envelopes(filled, settings))
    sides = tuple(channel_side(name) for name in emg.names) if emg else ()
    with run.stage("muscles"):
        muscles = _muscles(loads, (emg, sides), events, settings, run)
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
        emg_sides=sides,
        tracking=tracked,
        comparison=comparison,
        muscles=muscles,
        missing=run.missing,
        notes=_collect_notes(
            filled,
            model,
            scaling,
            fitted,
            loads,
            run.notes,
            (
                *(() if measures is None else measures.notes),
                *(() if muscles is None else muscles.notes),
            ),
        ),
        seconds=run.seconds,
        digests=digests,
    )


def _refuse_fatal(health: HealthReport, source: str) -> None:
    for finding in health.findings:
        if finding.subject in FATAL_FINDINGS and finding.severity is Severity.ERROR:
            where = f", plate {finding.plate}" if finding.plate else ""
            raise CaptureError(f"{source}{where}: {finding.sentence}")


def _plug_in_gait(recorded: Trial, static: Trial | None, settings: Settings) -> PlugInGaitAngles:
    """Angles of Plug-in Gait; foot offsets of the static trial where the file has none."""
    assert settings.plug_in_gait is not None
    subject = read_subject(settings.plug_in_gait)
    if static is not None and not (subject.left.plantar_flexion or subject.right.plantar_flexion):
        subject = with_static_foot(subject, static)
    return plug_in_gait_angles(recorded, subject)


def _fit(
    model: Model, trial: Trial, settings: Settings, source: str, health: HealthReport
) -> Motion:
    """The motion; markers that do not fit the model are refused, with what the checks found."""
    try:
        return capture.inverse_kinematics(
            model, trial, _fit_options(model, trial.markers, settings)
        )
    except NoSolution as error:
        static = " that --static is of the same subject and marker set," if settings.static else ""
        errors = health.with_severity(Severity.ERROR)
        likely = f" The recording itself has an error: {errors[0].text}." if errors else ""
        raise CaptureError(
            f"{source}: the markers do not fit the model: "
            f"{str(error).removesuffix(INSPECTION_HINT)}.{likely} Check{static} --height, "
            "--model and swapped labels (--map), or scale the model to the markers with --scale "
            "motion"
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
    weighted = [marker for marker in markers if weights.get(marker)]
    if len(weighted) < MIN_MATCHED_MARKERS:
        only = f"only {enumerate_names(weighted)}" if weighted else "none"
        raise CaptureError(
            f"{settings.tasks}: its tasks give a weight to {only} of the markers of the trial "
            f"({enumerate_names(markers, 12)}); {MIN_MATCHED_MARKERS} or more are needed. Marker "
            "tasks have the names of markers of the model: are they those of another marker set?"
        )
    return replace(options, weights=weights, track=track or None)


def _loads(
    fitted: Motion, recording: Trial, matching: LabelMatching, settings: Settings, cutoff: float
) -> Loads:
    """Loads of the filtered motion; frames and readings outside of the interval pad the filter."""
    options = _fit_options(fitted.model, fitted.markers, settings)
    filtered = filter_with_padding(fitted, recording, matching.matched, cutoff, options)
    return capture.inverse_dynamics(filtered, recording.plates, cutoff=None, force_cutoff=cutoff)


def _muscles(
    loads: Loads | None,
    emg: tuple[Signals | None, tuple[str | None, ...]],
    events: tuple[Event, ...],
    settings: Settings,
    run: AnalysisRun,
) -> MuscleAnalysis | None:
    """Activations and joint reactions, if the settings ask for them and torques are known."""
    asked = settings.muscles
    if asked is None:
        return None
    if loads is None or not loads.valid.any():
        run.missing["muscles"] = (
            "there are no activations of muscles: they require torques in frames whose ground "
            "forces are known"
        )
        return None
    return run.attempt("muscles", lambda: analyze_muscles(loads, asked, *emg, events=events))


def _find_events(
    motion: Motion, trial: Trial, belt: float | None, run: AnalysisRun
) -> tuple[Event, ...]:
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
