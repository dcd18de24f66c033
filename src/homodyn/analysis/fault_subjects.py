"""The persons of a fault study: recordings with what is needed to analyze them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from homodyn import __version__, capture, catalog
from homodyn.analysis.settings import Settings, file_digest
from homodyn.analysis.validation_cases import ValidationCase
from homodyn.capture import Trial
from homodyn.capture.formats.force_columns import plates_from_table
from homodyn.capture.labeling.landmarks import is_unlabeled
from homodyn.errors import CaptureError
from homodyn.foundation import Record, count_of, record
from homodyn.model import Model
from homodyn.synthetic import walking_trial

STANDARD_GRAVITY_M_S2 = 9.80665
MIN_WEIGHT_N, MAX_SWAY_SHARE = 100.0, 0.05
"""Smallest weight on plates (N), and the largest share by which it varies while a person stands."""
MAX_DURATION_S = 2.5
"""Longest interval (s) of a recording that is studied."""
MIN_STUDY_FRAMES = 3
"""Frames that a recording needs, to be studied."""
MIN_STUDY_RATE_HZ = 100.0
"""Frame rate (Hz) that a recording keeps; of faster ones, every second, third, ... frame counts."""
ASSUMED_MASS_KG = 70.0
"""Mass (kg) of the body of the catalog where there is no model."""
SYNTHETIC_HEIGHTS_M = (1.25, 1.95)
"""Range of statures of synthetic persons."""
SYNTHETIC_BODY_MASS_INDICES = (18.0, 28.0)
"""Range of their body mass indices (kg/m^2)."""
SYNTHETIC_FROUDE_ROOTS = (0.32, 0.48)
"""Range of their speeds, relative to the root of gravity times half the stature."""


@record
class StudySubject(Record):
    """A recording with what is needed to analyze it."""

    name: str
    trial: Trial
    model: Model
    settings: Settings
    statics: tuple[Trial, ...] = ()


@record(eq=True)
class SubjectSource(Record):
    """Where a subject comes from: the files of a recording, or a random synthetic person."""

    name: str
    """The path of the recording from the data folder, or the number of the person."""
    case: ValidationCase | None = None
    """The files; None for a synthetic person."""
    person: int = 0
    """Number of the synthetic person, from 1."""
    seed: int = 0
    """Random seed of the synthetic person."""

    def fingerprint(self) -> str:
        """A text that changes with the program, the files and the seed."""
        files = (
            ()
            if self.case is None
            else tuple(
                file_digest(path)
                for path in (
                    *(self.case.recording, self.case.expert, self.case.static),
                    *(self.case.forces, self.case.external_loads),
                )
                if path
            )
        )
        return repr((__version__, self.name, self.person, self.seed, files))


def find_sources(
    cases: Sequence[ValidationCase], root: str | Path, persons: int, seed: int
) -> tuple[SubjectSource, ...]:
    """The recordings of cases, then synthetic persons.

    Args:
        cases: The recordings.
        root: The data folder, from which the names of recordings start.
        persons: Number of synthetic persons.
        seed: Their random seed.

    Returns:
        The sources.
    """
    recorded = [
        SubjectSource(Path(case.recording).relative_to(root).as_posix(), case) for case in cases
    ]
    made = [
        SubjectSource(f"synthetic person {k}", person=k, seed=seed) for k in range(1, persons + 1)
    ]
    return (*recorded, *made)


def load_subject(source: SubjectSource) -> StudySubject:
    """Read the files of a recording, or synthesize the walk of a person.

    Args:
        source: The source.

    Returns:
        The subject; recordings are cut to `MAX_DURATION_S` and `MIN_STUDY_RATE_HZ`.

    Raises:
        HomodynError: A file cannot be read, or has no markers or a single frame.
    """
    return _synthetic_subject(source) if source.case is None else _recorded_subject(source)


def _recorded_subject(source: SubjectSource) -> StudySubject:
    case = source.case
    assert case is not None
    trial = capture.read(case.recording, up=case.up)
    labeled = sum(not is_unlabeled(name) for name in trial.markers)
    if not labeled or trial.frames < MIN_STUDY_FRAMES:
        raise CaptureError(
            f"it has {count_of(labeled, 'labeled marker')} and {count_of(trial.frames, 'frame')}"
        )
    if case.forces is not None:
        table = capture.read_table(case.forces)
        plates = plates_from_table(table, case.forces, setup=case.external_loads, up=case.up or "y")
        trial = replace(trial, plates=tuple(plates))
    mass = case.mass or _mass_on_plates(trial) or ASSUMED_MASS_KG
    settings = Settings(mass=mass, height=case.height)
    if case.expert is not None:
        settings = Settings(model=str(case.expert), scale="none")
    model = settings.build_model()
    statics = () if case.static is None else (capture.read(case.static, up=case.up),)
    matched = tuple(capture.match_labels(model, one).trial for one in statics)
    return StudySubject(source.name, _shorten(trial), model, settings, matched)


def _mass_on_plates(trial: Trial) -> float | None:
    """The mass (kg) that the plates carry while a person stands on them; None otherwise."""
    total = np.zeros(trial.frames)
    for plate in trial.plates:
        total += np.interp(trial.time, plate.time, np.nan_to_num(plate.force[:, 2]))
    middle = float(np.median(total))
    if middle < MIN_WEIGHT_N or np.ptp(np.percentile(total, [5, 95])) > MAX_SWAY_SHARE * middle:
        return None
    return middle / STANDARD_GRAVITY_M_S2


def _shorten(trial: Trial) -> Trial:
    """At most `MAX_DURATION_S` of a recording, from where the person is seen, at a lower rate."""
    seen = np.flatnonzero(capture.quality.occupied_frames(trial))
    start = trial.start + (int(seen[0]) / trial.rate if len(seen) else 0.0)
    short = trial.crop(start, start + MAX_DURATION_S)
    step = max(int(short.rate / MIN_STUDY_RATE_HZ), 1)
    return replace(
        short,
        positions=short.positions[::step],
        filled=short.filled[::step],
        rate=short.rate / step,
        model_outputs={},
    )


def _synthetic_subject(source: SubjectSource) -> StudySubject:
    rng = np.random.default_rng([source.seed, source.person])
    height = float(rng.uniform(*SYNTHETIC_HEIGHTS_M))
    mass = float(rng.uniform(*SYNTHETIC_BODY_MASS_INDICES)) * height**2
    sex = ("male", "female")[source.person % 2]
    speed = float(rng.uniform(*SYNTHETIC_FROUDE_ROOTS)) * float(np.sqrt(9.81 * 0.5 * height))
    made = walking_trial(
        height=height,
        mass=mass,
        sex=sex,
        speed=speed,
        strides=2,
        seed=source.seed + source.person,
    )
    model = catalog.heiman(height=height, mass=mass, sex=sex)
    return StudySubject(source.name, made.trial, model, Settings(mass=mass, height=height, sex=sex))
