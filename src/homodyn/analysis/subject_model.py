"""The model of the subject: generic model, static and functional trials, scaling, mass."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from homodyn import capture
from homodyn.analysis.analysis_run import AnalysisRun
from homodyn.analysis.muscle_settings import MuscleSettings
from homodyn.analysis.settings import Settings
from homodyn.analysis.trial_input import match_markers, read_recording
from homodyn.capture import ScalingResult, Signals, Trial
from homodyn.capture.plug_in_gait_centers import PlugInGaitSubject
from homodyn.capture.scaling import HipRegression
from homodyn.errors import CaptureError, HomodynError
from homodyn.gait.plug_in_gait import read_subject
from homodyn.model import Model
from homodyn.motion import Motion

MAX_FITTING_RMS_M = 0.02
"""Marker error (m, rms) below which a model of the subject needs no scaling."""
MIN_REMAINING_ERROR = 0.7
"""Marker error after scaling over that before, above which sizes do not explain the error."""
MAX_WEIGHING_TIME_S = 4.0
"""Time (s) in the middle of a static trial that weighs the subject."""
CALIBRATION_FRAMES = 60
"""Frames of a trial that calibration selects from, spread evenly."""


@dataclass(frozen=True, eq=False)
class SubjectTrials:
    """Further trials of the subject, with the marker names of the model and filled gaps."""

    static: Trial | None = None
    """The trial in which the subject stands still."""
    calibration: tuple[Trial, ...] = ()
    """Trials that calibrate the model instead of the analyzed one."""

    @property
    def all(self) -> tuple[Trial, ...]:
        """These trials, the static one first."""
        return (() if self.static is None else (self.static,)) + self.calibration


def scale_model(
    generic: Model, trial: Trial, others: SubjectTrials, settings: Settings, run: AnalysisRun
) -> ScalingResult | None:
    """The model scaled to the subject, from the static trial or together with the movement."""
    method, static = settings.scale_method, others.static
    if settings.functional and method != "motion":
        run.notes += (f"--functional has no effect with --scale {method}; --scale motion uses it.",)
    if settings.hip_regression != HipRegression.HARRINGTON and method != "motion":
        run.notes += (
            f"--hip-regression has no effect with --scale {method}; --scale motion uses it.",
        )
    if method == "none":
        if settings.mass is not None and not settings.from_catalog:
            run.notes += (
                f"--mass has no effect without scaling: the model keeps its {generic.mass:.2f} kg.",
            )
        return None
    mass, height = settings.mass, settings.height
    legs = _leg_measurements(settings)
    strength = (settings.muscles or MuscleSettings()).strength
    # Markers measure lengths, not girths: mass shares of tables are better than those of volumes.
    if method == "static":
        assert static is not None
        return capture.scale(
            generic,
            static,
            mass=mass,
            height=height,
            symmetric=settings.symmetric,
            keep_shares=True,
            plug_in_gait=legs,
            strength=strength,
        )
    if settings.scale_setup is not None:
        assert static is not None
        return capture.kinematics.scale_by_setup(generic, static, settings.scale_setup, mass=mass)
    moving = others.calibration or (trial,)
    trials = [subsample(one) for one in (*(() if static is None else (static,)), *moving)]
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
            symmetric=settings.symmetric,
            keep_shares=True,
            plug_in_gait=legs,
            hip_regression=HipRegression(settings.hip_regression),
            strength=strength,
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


def with_plate_mass(
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


def read_subject_trials(generic: Model, settings: Settings, run: AnalysisRun) -> SubjectTrials:
    """The static trial and the trials of the calibration, as far as they are used."""
    if settings.scale_method == "none":
        return SubjectTrials()
    static = None
    if settings.static is not None:
        static = _read_other_trial(settings.static, generic, settings, run, settings.static_forces)
    calibration = tuple(
        _read_other_trial(source, generic, settings, run) for source in settings.calibrate_from
    )
    return SubjectTrials(static, calibration)


def _read_other_trial(
    source: str, generic: Model, settings: Settings, run: AnalysisRun, forces: str | None = None
) -> Trial:
    """Another trial of the subject, with the marker names of the model and filled gaps."""
    settings = replace(settings, forces=forces, external_loads=None)
    if Path(source).suffix.lower() != ".csv":
        settings = replace(settings, columns=None, rate=None)
    standing = source == settings.static
    matched = match_markers(read_recording(source, settings, standing), generic, settings).trial
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
