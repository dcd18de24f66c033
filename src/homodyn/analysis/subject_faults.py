"""The faults of one recording: planted, checked, and analyzed where the checks say nothing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from homodyn import capture
from homodyn.analysis.fault_injection import (
    PlantedFault,
    axis_faults,
    belt_faults,
    force_faults,
    gap_exchange_faults,
    harmless_changes,
    label_faults,
    marker_axis_faults,
    partial_bodies,
    rate_faults,
    sequence_faults,
    unit_faults,
)
from homodyn.analysis.fault_outcome import GOOD_KIND, FaultCase, FaultOutcome, StudySize
from homodyn.analysis.fault_subjects import StudySubject
from homodyn.analysis.pipeline import FATAL_FINDINGS, Analysis, analyze
from homodyn.analysis.quality import quality_verdicts
from homodyn.analysis.recording_changes import can_exchange_plates, plate_count
from homodyn.analysis.settings import Settings
from homodyn.analysis.verdict import QualityLight, overall_light
from homodyn.capture import Trial
from homodyn.capture.quality import TrialFinding
from homodyn.errors import HomodynError
from homodyn.foundation import Severity
from homodyn.model import save

MAX_UP_ERROR_DEG = 15.0
"""Deviation of a corrected vertical axis that counts as corrected."""
MAX_BELT_ERROR = 0.1
"""Relative deviation of a belt speed that counts as found."""
NUMBER_PATTERN = re.compile(r"(?<![\w.])[-+]?\d[\d.]*")
"""Numbers in sentences, but not those in names of markers."""

Statement = tuple[str, str, QualityLight]
"""Subject, sentence and light of a verdict."""


def study_subject(subject: StudySubject, size: StudySize) -> tuple[FaultCase, ...]:
    """Plant faults in one good recording, and say what becomes of them.

    Args:
        subject: The recording.
        size: Number of faults.

    Returns:
        One entry per fault and per harmless change.

    Raises:
        HomodynError: The recording has an error itself.
    """
    with TemporaryDirectory() as folder:
        return tuple(_SubjectStudy(subject, size, Path(folder)).rows())


class _SubjectStudy:
    """The faults of one recording."""

    def __init__(self, subject: StudySubject, size: StudySize, folder: Path) -> None:
        self.subject, self.size, self.folder = subject, size, folder
        self.rng = np.random.default_rng([size.seed, *subject.name.encode()])
        self.findings = self._check(subject.trial)[2]
        self.known = {(finding.subject, _wording(finding.text)) for finding in self.findings}
        self.ranks: dict[str, int] = defaultdict(int)
        self.analyses = False
        self.settings = subject.settings
        """Settings with the model that was scaled to the good recording."""

    def rows(self) -> Iterator[FaultCase]:
        """All faults and harmless changes."""
        trial, size = self.subject.trial, self.size
        errors = [finding.text for finding in self.findings if finding.severity is Severity.ERROR]
        if errors:
            raise HomodynError(f"the recording itself has an error: {errors[0]}")
        yield from self._harmless_rows()
        good = None
        if size.analyses:
            good, row = self._analyze_good()
            yield row
        faults = [
            *axis_faults(self.rng, size.random_frames),
            *label_faults(trial, self.rng, size.exchanges),
            *label_faults(trial, self.rng, size.exchanges, part=True),
            *gap_exchange_faults(trial, self.rng, size.exchanges),
            *unit_faults(),
            *sequence_faults(trial),
        ]
        if plate_count(trial):
            faults += marker_axis_faults()
        if size.analyses:
            faults += self._draw(self._analyzed_faults(good))
        for fault in faults:
            yield FaultCase(self.subject.name, fault.kind, fault.detail, *self._outcome(fault))

    def _analyzed_faults(self, good: Analysis | None) -> Iterator[PlantedFault]:
        """Faults that only a whole analysis can show."""
        trial = self.subject.trial
        yield from rate_faults()
        yield from partial_bodies(trial)
        if plate_count(trial):
            exchange = can_exchange_plates(trial)
            yield from (f for f in force_faults() if exchange or f.kind != "plates exchanged")
        if good is not None and good.gait is not None:
            yield from belt_faults(good.gait)

    def _draw(self, faults: Iterable[PlantedFault]) -> Iterator[PlantedFault]:
        """At most as many faults of each kind as the size of the study says."""
        kinds: dict[str, list[PlantedFault]] = defaultdict(list)
        for fault in faults:
            kinds[fault.kind].append(fault)
        for group in kinds.values():
            count = min(self.size.analyses, len(group))
            yield from (group[k] for k in sorted(self.rng.permutation(len(group))[:count]))

    def _harmless_rows(self) -> Iterator[FaultCase]:
        """Harmless changes of the recording, checked."""
        versions = harmless_changes(self.subject.trial, self.rng, self.size.harmless)
        for text, version in versions:
            yield self._good_row(text, self._accusation(version))

    def _analyze_good(self) -> tuple[Analysis | None, FaultCase]:
        """The analysis of the recording as it is, which is what faulty ones are compared with."""
        found, said, light = self._analyze(self.subject.trial, self.settings)
        poor = [sentence for _, sentence, grade in said if grade is QualityLight.POOR]
        accused = poor[0] if poor else ("" if light else said[0][1])
        self.known |= {(subject, _wording(sentence)) for subject, sentence, _ in said}
        for subject, _, grade in said:
            self.ranks[subject] = max(self.ranks[subject], grade.rank)
        self.analyses = True
        if found is not None and self.settings.from_catalog:
            file = self.folder / "subject.toml"
            save(found.model, file)
            self.settings = Settings(model=str(file), scale="none", mass=self.settings.mass)
        return found, self._good_row("as recorded", accused)

    def _good_row(self, text: str, accused: str) -> FaultCase:
        outcome = FaultOutcome.NAMED if accused else FaultOutcome.MISSED
        return FaultCase(self.subject.name, GOOD_KIND, text, outcome, accused)

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

    def _outcome(self, fault: PlantedFault) -> tuple[FaultOutcome, str, str]:
        """Outcome, reason, and the light of a missed fault."""
        wrong = fault.apply(self.subject.trial)
        try:
            turned = capture.quality.correct_orientation(wrong)
            corrected = self._corrected_axes(fault, wrong, turned)
            if corrected:
                # The harmless changes go through the other checks in any heading.
                return FaultOutcome.CORRECTED, corrected, ""
            turned, named, findings = self._check(wrong)
        except HomodynError as error:
            return FaultOutcome.REFUSED, str(error), ""
        corrected = self._corrected_labels(fault, turned, named)
        if corrected:
            return FaultOutcome.CORRECTED, corrected, ""
        for finding in findings:
            fatal = finding.severity is Severity.ERROR and finding.subject in FATAL_FINDINGS
            if fatal and finding.subject in (*fault.subjects, *FATAL_FINDINGS):
                return FaultOutcome.REFUSED, finding.text, ""
        for finding in findings:
            counts = finding.severity is not Severity.INFO and finding.subject in fault.subjects
            if counts and (finding.subject, _wording(finding.text)) not in self.known:
                return FaultOutcome.NAMED, finding.text, ""
        return self._analyzed_outcome(fault, wrong)

    def _analyzed_outcome(self, fault: PlantedFault, wrong: Trial) -> tuple[FaultOutcome, str, str]:
        """What a whole analysis says that it does not say about the good recording."""
        if not self.analyses:
            return FaultOutcome.MISSED, "", ""
        settings = replace(self.settings, belt=fault.given_belt)
        found, said, light = self._analyze(wrong, settings)
        if light is None:
            return FaultOutcome.REFUSED, said[0][1], ""
        if fault.belt is not None and found is not None and found.gait is not None:
            note = next((n for n in found.notes if "belt" in n), "")
            right = abs(found.gait.belt_speed / fault.belt - 1) <= MAX_BELT_ERROR
            if right and note:
                return FaultOutcome.CORRECTED, note, ""
        for subject, sentence, grade in said:
            counts = grade.rank >= QualityLight.FAIR.rank and subject in fault.subjects
            new = (subject, _wording(sentence)) not in self.known
            if counts and (new or grade.rank > self.ranks[subject]):
                return FaultOutcome.NAMED, sentence, ""
        return FaultOutcome.MISSED, "", str(light)

    def _corrected_axes(self, fault: PlantedFault, wrong: Trial, turned: Trial) -> str:
        """The note of a rotation that restores the vertical axis; empty if there is none."""
        if fault.up is None or len(turned.notes) == len(wrong.notes):
            return ""
        up = turned.axes @ np.linalg.inv(wrong.axes) @ fault.up
        return turned.notes[-1] if up[2] > np.cos(np.radians(MAX_UP_ERROR_DEG)) else ""

    def _corrected_labels(self, fault: PlantedFault, turned: Trial, named: Trial) -> str:
        """The note of an exchange of labels that restores them; empty if there is none."""
        notes = [note for note in named.notes if "were exchanged" in note]
        if not fault.labels or not notes:
            return ""
        good = capture.quality.correct_orientation(self.subject.trial)
        k = [good.markers.index(label) for label in fault.labels]
        # Wrong labels may tilt the vertical axis that the markers show by some degrees.
        same = turned.axes @ np.linalg.inv(good.axes)
        expected = good.positions[:, k] @ same.T
        restored = np.allclose(named.positions[:, k], expected, atol=1e-6, equal_nan=True)
        return notes[0] if restored else ""

    def _analyze(
        self, trial: Trial, settings: Settings
    ) -> tuple[Analysis | None, list[Statement], QualityLight | None]:
        """An analysis, its verdicts and its light; None and the reason if it is refused."""
        try:
            found = analyze(trial, settings)
        except HomodynError as error:
            return None, [("refused", str(error), QualityLight.POOR)], None
        verdicts = quality_verdicts(found)
        said = [(v.subject, v.sentence, v.light) for v in verdicts]
        return found, said, overall_light(verdicts)


def _wording(sentence: str) -> str:
    """A sentence without its numbers: a small change of a number is no new statement."""
    return NUMBER_PATTERN.sub("#", sentence)
