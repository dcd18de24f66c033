"""From a recorded trial to everything a report tells: the whole way as one pure function.

`analyze` reads files and returns an `Analysis`, a record of arrays; it writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import TypeVar

from homodyn import __version__, capture, gait
from homodyn.analysis.curves import CycleSegmentation
from homodyn.analysis.emg_channels import channel_side, find_emg_channels
from homodyn.analysis.settings import Settings, file_digest
from homodyn.capture import (
    HealthReport,
    ScalingResult,
    Signals,
    Trial,
)
from homodyn.capture.kinetics import Work
from homodyn.capture.labeling import LabelMatching
from homodyn.errors import CaptureError, HomodynError, NoSolution
from homodyn.foundation import Record, record
from homodyn.gait import (
    ElevationAngles,
    GaitMeasures,
)
from homodyn.model import Model
from homodyn.motion import (
    Event,
    Loads,
    Motion,
)

MAX_FIT_ERROR_M = 0.1
"""Marker error (m, root mean square) from which on markers and model do not belong together."""
MIN_MATCHED_MARKERS = 3
"""Markers that a model and a trial must share."""
FATAL_FINDINGS = ("units", "plate upside down")
"""Findings of the health check with which no result can be right."""
CALIBRATION_FRAMES = 60
"""Frames of the trial that calibration looks at, spread evenly."""

ProgressCallback = Callable[[str], None]
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


@record
class Analysis(Record):
    """Everything that was found out about one trial."""

    name: str
    source: str
    """The file of the trial, as it was named."""
    settings: Settings
    trial: Trial
    """With the model's marker names and filled gaps, in our axes."""
    model: Model
    motion: Motion
    matching: LabelMatching | None = None
    health: HealthReport | None = None
    scaling: ScalingResult | None = None
    loads: Loads | None = None
    work: Work | None = None
    events: tuple[Event, ...] = ()
    gait: GaitMeasures | None = None
    elevation: ElevationAngles | None = None
    emg: Signals | None = None
    """Envelopes."""
    emg_sides: tuple[str | None, ...] = ()
    """The side each channel of ``emg`` is on, where its name tells."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Why a part is not there, one sentence by the name of the part."""
    notes: tuple[str, ...] = ()
    """What was decided or doubted on the way, one sentence each."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Time of each stage (s)."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of every file that was read."""
    version: str = __version__

    def headline(self) -> str:
        """Trial, model and duration."""
        return f"Analysis of {self.name!r}: model {self.model.name}, {self.motion.duration:.2f} s"

    @cached_property
    def cycles(self) -> CycleSegmentation:
        """The gait cycles."""
        return CycleSegmentation(self.motion.time, self.events)


def analyze(
    trial: str | Path, settings: Settings | None = None, *, progress: ProgressCallback | None = None
) -> Analysis:
    """Analyse one recorded trial, from its file to joint angles, torques and gait measures.

    The stages are those of `STAGES`. A part that the rest can do without (kinetics, gait, elevation
    angles, EMG) may fail: it is then ``None``, and ``missing`` of the result gives the reason.

    Args:
        trial: The recording: a ``.c3d``, ``.trc`` or ``.csv`` file, or any registered format.
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
            not fit the model. The message names the remedy.
    """
    settings = settings or Settings()
    run = _Run(progress or (lambda stage: None))
    source = str(trial)
    with run.stage("reading"):
        digests = {"trial": file_digest(trial)}
        digests |= {name: file_digest(path) for name, path in settings.files().items()}
        generic = settings.build_model()
        recorded = _read(source, settings)
    with run.stage("matching labels"):
        matching = _match(recorded, generic, settings)
    with run.stage("checking health"):
        health = capture.check_health(matching.trial, model=generic)
        _refuse_fatal(health, source)
    with run.stage("filling gaps"):
        filled = capture.fill_gaps(matching.trial)
    with run.stage("scaling"):
        scaled = _scale(generic, filled, settings, run)
        model = generic if scaled is None else scaled.model
    with run.stage("fitting"):
        motion = _fit(model, filled, settings, source)
    with run.stage("forces and torques"):
        loads = run.attempt("kinetics", lambda: _loads(motion, filled, settings))
        work = None if loads is None else capture.kinetics.joint_work(loads)
    with run.stage("events and gait"):
        moved = motion if loads is None else attach_marker_fit(loads.motion, motion)
        # Plates as they were measured: a filter spreads a strike over tens of milliseconds.
        found = run.attempt(
            "gait", lambda: gait.find_events(motion, filled.plates, recorded=filled.events)
        )
        events = tuple(found or ())
        run.notes += getattr(found, "notes", ())
        measures = (
            run.attempt("gait", lambda: gait.measures(moved, events, loads=loads))
            if events
            else None
        )
        elevation = run.attempt(
            "elevation", lambda: gait.elevation_angles(moved, events=events or None)
        )
    with run.stage("EMG"):
        emg = run.attempt("emg", lambda: _emg(filled, settings))
    return Analysis(
        name=Path(source).stem,
        source=source,
        settings=settings,
        trial=filled,
        model=model,
        motion=moved,
        matching=matching,
        health=health,
        scaling=scaled,
        loads=loads,
        work=work,
        events=events,
        gait=measures if measures is not None and measures.rows else None,
        elevation=elevation,
        emg=emg,
        emg_sides=tuple(channel_side(name) for name in emg.names) if emg else (),
        missing=run.missing,
        notes=_collect_notes(run, filled, motion, loads, scaled, measures, model),
        seconds=run.seconds,
        digests=digests,
    )


class _Run:
    """What happens on the way: times, remarks, and parts that could not be made."""

    def __init__(self, tell: ProgressCallback) -> None:
        self.tell = tell
        self.seconds: dict[str, float] = {}
        self.notes: tuple[str, ...] = ()
        self.missing: dict[str, str] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Announce a stage and take its time."""
        self.tell(name)
        started = perf_counter()
        yield
        self.seconds[name] = perf_counter() - started

    def attempt(self, part: str, make: Callable[[], Result]) -> Result | None:
        """A part of the result that the rest can do without, or the reason why it is missing."""
        try:
            return make()
        except HomodynError as error:
            self.missing[part] = str(error)
            return None


def _read(source: str, settings: Settings) -> Trial:
    trial = capture.read(source, up=settings.up)
    if not trial.markers or not trial.frames:
        raise CaptureError(
            f"{source}: there are no markers in it, so there is no motion to find; export the "
            "labelled marker trajectories into the file"
        )
    if not trial.seen.any():
        raise CaptureError(
            f"{source}: no marker is seen in any frame; reconstruct and label the trial, then "
            "export it again"
        )
    if settings.forces is not None:
        up = settings.up or "y"
        plates = capture.read_plates(settings.forces, setup=settings.setup, up=up)
        trial = replace(trial, plates=tuple(plates))
    if settings.first is not None or settings.last is not None:
        first = trial.start if settings.first is None else settings.first
        last = trial.start + trial.duration if settings.last is None else settings.last
        cut = trial.crop(first, last)
        if cut.frames < 2:
            raise CaptureError(
                f"{source}: no frames between {first:g} and {last:g} s; the trial lasts from "
                f"{trial.start:g} to {trial.start + trial.duration:g} s"
            )
        trial = cut
    return trial


def _match(trial: Trial, model: Model, settings: Settings) -> LabelMatching:
    matching = capture.match_labels(trial, model, names=settings.map)
    if len(matching.matched) < MIN_MATCHED_MARKERS:
        near = "; ".join(
            f"{marker} may be {' or '.join(labels)}"
            for marker, labels in list(matching.suggestions.items())[:5]
            if labels
        )
        labels = ", ".join(trial.markers[:12]) + (" ..." if len(trial.markers) > 12 else "")
        raise CaptureError(
            f"{trial.source or trial.name}: only {len(matching.matched)} of the "
            f"{len(model.markers)} markers of model {model.name!r} are among its labels "
            f"({labels}); write a map of labels and give it with --map, or take a model with these "
            f"markers{': ' + near if near else ''}"
        )
    return matching


def _refuse_fatal(health: HealthReport, source: str) -> None:
    for finding in health.findings:
        if finding.subject in FATAL_FINDINGS and str(finding.severity) == "error":
            where = f", plate {finding.plate}" if finding.plate else ""
            raise CaptureError(f"{source}{where}: {finding.sentence}")


def _scale(generic: Model, trial: Trial, settings: Settings, run: _Run) -> ScalingResult | None:
    """The model made to the subject: from the static trial, then with the poses of both."""
    how = settings.scale_method
    if how == "none":
        if settings.mass is not None and not settings.from_catalog:
            run.notes += (
                f"--mass has no effect without scaling: the model keeps its {generic.mass:.2f} kg.",
            )
        return None
    static = None
    if settings.static is not None:
        standing = _read_static(settings)
        static = capture.fill_gaps(_match(standing, generic, settings).trial)
    mass, height = settings.mass, settings.height
    if how == "static":
        assert static is not None
        return capture.scale(generic, static, mass=mass, height=height, keep_shares=True)
    trials = [subsample(trial)] if static is None else [subsample(static), subsample(trial)]
    # Markers tell lengths, hardly ever girths: shares of the mass are better known from tables.
    return capture.calibrate(generic, trials, mass=mass, height=height, keep_shares=True)


def _read_static(settings: Settings) -> Trial:
    assert settings.static is not None
    return _read(settings.static, replace(settings, forces=None, first=None, last=None))


def subsample(trial: Trial) -> Trial:
    """Frames spread evenly over a trial: poses of neighbours teach calibration nothing new."""
    every = max(trial.frames // CALIBRATION_FRAMES, 1)
    return replace(
        trial,
        positions=trial.positions[::every],
        filled=trial.filled[::every],
        rate=trial.rate / every,
        plates=(),
        analog=Signals(),
    )


def _fit(model: Model, trial: Trial, settings: Settings, source: str) -> Motion:
    """The motion; markers and model that do not belong together are refused."""
    robust = "huber" if settings.robust else None
    try:
        return capture.inverse_kinematics(model, trial, robust=robust, max_rms=MAX_FIT_ERROR_M)
    except NoSolution as error:
        static = " that --static is of the same subject and marker set," if settings.static else ""
        raise CaptureError(
            f"{source}: markers and model do not belong together: {error}. Check{static} --height, "
            "--model and swapped labels (--map), or let --scale motion fit the model to the markers"
        ) from error


def _loads(motion: Motion, trial: Trial, settings: Settings) -> Loads:
    return capture.inverse_dynamics(motion, trial.plates, cutoff=settings.cutoff)


def attach_marker_fit(smoothed: Motion, fitted: Motion) -> Motion:
    """The motion that torques were computed from, with what the fit found out about markers."""
    return replace(
        smoothed,
        markers=fitted.markers,
        measured=fitted.measured,
        residual=fitted.residual,
        weights=fitted.weights,
        status=fitted.status,
        iterations=fitted.iterations,
        unobserved=fitted.unobserved,
        at_limit=fitted.at_limit,
    )


def _emg(trial: Trial, settings: Settings) -> Signals | None:
    names = find_emg_channels(trial, settings.emg)
    if not names:
        return None
    columns = [trial.analog.names.index(name) for name in names]
    units = trial.analog.units
    chosen = replace(
        trial.analog,
        names=tuple(names),
        values=trial.analog.values[:, columns],
        units=tuple(units[k] for k in columns) if units else (),
    )
    return gait.emg_envelopes(chosen)


def _collect_notes(
    run: _Run,
    trial: Trial,
    motion: Motion,
    loads: Loads | None,
    scaled: ScalingResult | None,
    gait: GaitMeasures | None,
    model: Model,
) -> tuple[str, ...]:
    """Every sentence said on the way, once, in the order of the way."""
    said = [*trial.notes, *model.notes]
    if scaled is not None:
        said += [*scaled.warnings, *scaled.notes]
    said += motion.notes
    if loads is not None:
        said += loads.notes
    said += run.notes
    if gait is not None:
        said += gait.notes
    return tuple(dict.fromkeys(said))
