"""How many planted faults are found, and how many good recordings are falsely accused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

import numpy as np

from homodyn import capture, catalog
from homodyn.analysis.fault_injection import (
    PlantedFault,
    axis_faults,
    force_faults,
    harmless_changes,
    label_faults,
    marker_axis_faults,
    partial_bodies,
    plate_count,
    rate_faults,
    unit_faults,
)
from homodyn.analysis.pipeline import FATAL_FINDINGS, analyze
from homodyn.analysis.quality import QualityLight, overall_light, quality_verdicts
from homodyn.analysis.settings import Settings
from homodyn.analysis.validation_cases import ValidationCase
from homodyn.capture import Trial
from homodyn.capture.formats.force_columns import plates_from_table
from homodyn.capture.quality import TrialFinding
from homodyn.errors import HomodynError
from homodyn.foundation import Record, Severity, record
from homodyn.model import Model
from homodyn.synthetic import walking_trial

MAX_DURATION_S = 4.0
"""Longest interval (s) of a recording that is studied."""
ASSUMED_MASS_KG = 70.0
"""Mass (kg) of the body of the catalog where there is no model."""
MAX_UP_ERROR_DEG = 15.0
"""Deviation of a corrected vertical axis that counts as corrected."""
SYNTHETIC_HEIGHTS_M = (1.25, 1.95)
"""Range of statures of synthetic persons."""
SYNTHETIC_FROUDE_ROOTS = (0.32, 0.48)
"""Range of their speeds, relative to the root of gravity times half the stature."""


class FaultOutcome(StrEnum):
    """What happened to a planted fault, the best first."""

    CORRECTED = "corrected"
    """The fault was undone, with a note."""
    REFUSED = "refused"
    """No result: an error names the reason."""
    NAMED = "named"
    """A finding or a verdict that the good recording does not have names the reason; the light is
    not green."""
    MISSED = "missed"


@record(eq=True)
class FaultCase(Record):
    """One planted fault, or a harmless change with kind ``"good"``."""

    recording: str
    kind: str
    detail: str
    outcome: FaultOutcome
    reason: str
    """What was said; for missed faults and good recordings, empty."""


@record(eq=True)
class StudySize(Record):
    """How many faults are planted in each recording."""

    exchanges: int = 10
    """Exchanges of labels in all frames, and as many in parts."""
    random_frames: int = 6
    """Random rotations of the laboratory frame."""
    harmless: int = 3
    """Harmless changes that are checked."""
    persons: int = 10
    """Synthetic persons beside the recordings."""
    analyses: bool = True
    """Whether faults of forces, mass, rate and parts of the body are planted, which need whole
    analyses."""
    seed: int = 0


def study_faults(
    cases: Sequence[ValidationCase],
    root: str | Path,
    size: StudySize | None = None,
    *,
    progress: Callable[[str], None] | None = None,
) -> tuple[FaultCase, ...]:
    """Plant faults in good recordings, and count what becomes of them.

    Faults of axes, labels and units go through the checks of a recording that `analyze` makes; what
    these do not find, and faults of forces, mass, rate and visible body, through whole analyses.
    Recordings that have errors themselves are left out.

    Args:
        cases: The recordings, with models that fit them where there are any.
        root: The data folder, from which the names of recordings start.
        size: Number of faults.
        progress: Called with a line before each recording.

    Returns:
        One entry per fault and per harmless change.
    """
    size = size or StudySize()
    rows: list[FaultCase] = []
    subjects = [*_recorded_subjects(cases, root), *_synthetic_subjects(size)]
    for number, subject in enumerate(subjects, start=1):
        if progress is not None:
            progress(f"{number} of {len(subjects)}: {subject.name}")
        try:
            rows += _Study(subject, size).rows()
        except HomodynError as error:
            rows.append(FaultCase(subject.name, "left out", "", FaultOutcome.REFUSED, str(error)))
    return tuple(rows)


@record
class _Subject(Record):
    """A recording with what is needed to analyze it."""

    name: str
    trial: Trial
    model: Model
    settings: Settings
    statics: tuple[Trial, ...] = ()


def _recorded_subjects(cases: Sequence[ValidationCase], root: str | Path) -> Iterator[_Subject]:
    for case in cases:
        name = Path(case.recording).relative_to(root).as_posix()
        try:
            trial = capture.read(case.recording, up=case.up)
            if case.forces is not None:
                table = capture.read_table(case.forces)
                plates = plates_from_table(
                    table, case.forces, setup=case.external_loads, up=case.up or "y"
                )
                trial = replace(trial, plates=tuple(plates))
            settings = Settings(mass=case.mass or ASSUMED_MASS_KG, height=case.height)
            if case.expert is not None:
                settings = Settings(model=str(case.expert), scale="none")
            model = settings.build_model()
            statics = () if case.static is None else (capture.read(case.static, up=case.up),)
            matched = tuple(capture.match_labels(model, one).trial for one in statics)
        except HomodynError:
            continue  # A file that cannot be read is no good recording.
        if not trial.markers or trial.frames < 2:
            continue
        short = trial.crop(trial.start, trial.start + MAX_DURATION_S)
        yield _Subject(name, short, model, settings, matched)


def _synthetic_subjects(size: StudySize) -> Iterator[_Subject]:
    rng = np.random.default_rng(size.seed)
    for k in range(size.persons):
        height = float(rng.uniform(*SYNTHETIC_HEIGHTS_M))
        mass = float(rng.uniform(18.0, 28.0)) * height**2
        sex = ("male", "female")[k % 2]
        speed = float(rng.uniform(*SYNTHETIC_FROUDE_ROOTS)) * float(np.sqrt(9.81 * 0.5 * height))
        made = walking_trial(
            height=height, mass=mass, sex=sex, speed=speed, strides=2, seed=size.seed + k
        )
        model = catalog.heiman(height=height, mass=mass, sex=sex)
        settings = Settings(mass=mass, height=height, sex=sex)
        yield _Subject(f"synthetic person {k + 1}", made.trial, model, settings)


class _Study:
    """The faults of one recording."""

    def __init__(self, subject: _Subject, size: StudySize) -> None:
        self.subject, self.size = subject, size
        self.rng = np.random.default_rng([size.seed, *subject.name.encode()])
        self.findings = self._check(subject.trial)[2]
        self.known = {(finding.subject, finding.text) for finding in self.findings}
        self.full = False

    def rows(self) -> Iterator[FaultCase]:
        """All faults and harmless changes."""
        trial, size = self.subject.trial, self.size
        errors = [finding.text for finding in self.findings if finding.severity is Severity.ERROR]
        if errors:
            raise HomodynError(f"the recording itself has an error: {errors[0]}")
        yield from self._good_rows()
        faults = [
            *axis_faults(self.rng, size.random_frames),
            *label_faults(trial, self.rng, size.exchanges),
            *label_faults(trial, self.rng, size.exchanges, part=True),
            *unit_faults(),
        ]
        if plate_count(trial):
            faults += marker_axis_faults()
        if size.analyses:
            faults += [*rate_faults(), *partial_bodies()]
            if plate_count(trial):
                faults += [f for f in force_faults() if self._applies(f)]
        for fault in faults:
            outcome, reason = self._outcome(fault)
            yield FaultCase(self.subject.name, fault.kind, fault.detail, outcome, reason)

    def _applies(self, fault: PlantedFault) -> bool:
        return fault.kind != "plates exchanged" or plate_count(self.subject.trial) > 1

    def _good_rows(self) -> Iterator[FaultCase]:
        """The recording itself, analyzed, and harmless changes of it, checked."""
        versions = harmless_changes(self.subject.trial, self.rng, self.size.harmless)
        for text, version in versions:
            accused = self._accusation(version)
            outcome = FaultOutcome.NAMED if accused else FaultOutcome.MISSED
            yield FaultCase(self.subject.name, "good", text, outcome, accused)
        if self.size.analyses:
            said, light = self._analyze(self.subject.trial)
            poor = [sentence for _, sentence, grade in said if grade == QualityLight.POOR]
            accused = poor[0] if poor else ("" if light else said[0][1])
            outcome = FaultOutcome.NAMED if accused else FaultOutcome.MISSED
            yield FaultCase(self.subject.name, "good", "as recorded", outcome, accused)
            self.known |= {(subject, sentence) for subject, sentence, _ in said}
            self.full = True

    def _accusation(self, trial: Trial) -> str:
        """An error, a correction or a refusal of a good recording."""
        try:
            turned, named, findings = self._check(trial)
        except HomodynError as error:
            return str(error)
        notes = [*turned.notes[len(trial.notes) :]]
        notes += [n for n in named.notes if "were exchanged" in n]
        errors = [f.text for f in findings if f.severity is Severity.ERROR]
        return next(iter([*notes, *errors]), "")

    def _check(self, trial: Trial) -> tuple[Trial, Trial, tuple[TrialFinding, ...]]:
        """The checks of `analyze`: upright recording, recording with labels, and findings."""
        turned = capture.quality.correct_orientation(trial)
        matched = capture.match_labels(self.subject.model, turned).trial
        others = self.subject.statics
        named = capture.quality.correct_exchanges(matched, model=self.subject.model, others=others)
        health = capture.check_health(named, model=self.subject.model, others=others)
        return turned, named, health.findings

    def _outcome(self, fault: PlantedFault) -> tuple[FaultOutcome, str]:
        wrong = fault.apply(self.subject.trial)
        try:
            turned, named, findings = self._check(wrong)
        except HomodynError as error:
            return FaultOutcome.REFUSED, str(error)
        corrected = self._correction(fault, wrong, turned, named)
        if corrected:
            return FaultOutcome.CORRECTED, corrected
        for finding in findings:
            fatal = finding.severity is Severity.ERROR and finding.subject in FATAL_FINDINGS
            if fatal and finding.subject in (*fault.subjects, *FATAL_FINDINGS):
                return FaultOutcome.REFUSED, finding.text
        for finding in findings:
            new = (finding.subject, finding.text) not in self.known
            counts = finding.severity is not Severity.INFO and finding.subject in fault.subjects
            if new and counts:
                return FaultOutcome.NAMED, finding.text
        if not self.full:
            return FaultOutcome.MISSED, ""
        said, light = self._analyze(wrong)
        if light is None:
            return FaultOutcome.REFUSED, said[0][1]
        for subject, sentence, grade in said:
            counts = grade.rank >= QualityLight.FAIR.rank and subject in fault.subjects
            if counts and (subject, sentence) not in self.known:
                return FaultOutcome.NAMED, sentence
        return FaultOutcome.MISSED, ""

    def _correction(self, fault: PlantedFault, wrong: Trial, turned: Trial, named: Trial) -> str:
        """The note of a correction that restores the recording."""
        if fault.up is not None and len(turned.notes) > len(wrong.notes):
            up = turned.axes @ np.linalg.inv(wrong.axes) @ fault.up
            right = up[2] > np.cos(np.radians(MAX_UP_ERROR_DEG))
            return turned.notes[-1] if right else ""
        if fault.labels:
            before = capture.match_labels(self.subject.model, self.subject.trial).trial
            k = [self.subject.trial.markers.index(label) for label in fault.labels]
            same = np.array_equal(named.positions[:, k], before.positions[:, k], equal_nan=True)
            notes = [note for note in named.notes if "were exchanged" in note]
            return notes[0] if same and notes else ""
        return ""

    def _analyze(
        self, trial: Trial
    ) -> tuple[list[tuple[str, str, QualityLight]], QualityLight | None]:
        """Subject, sentence and light of all verdicts, and the overall light; None if refused."""
        try:
            found = analyze(trial, self.subject.settings)
        except HomodynError as error:
            return [("refused", str(error), QualityLight.POOR)], None
        verdicts = quality_verdicts(found)
        said = [(v.subject, v.sentence, v.light) for v in verdicts]
        return said, overall_light(verdicts)
