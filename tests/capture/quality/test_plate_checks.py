"""Offset, drift, sign and use of force plates."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn.capture import Trial, check_health
from homodyn.foundation.findings import Severity
from homodyn.motion import ForcePlate
from support.planted_problems import FIRST, by_subject
from support.walking import walk


def plate(
    offset: float = 0.0, drift: float = 0.0, sign: float = 1.0, load: float = 700.0, noise=0.5
) -> ForcePlate:
    """Two steps on a plate at 1000 Hz."""
    time = np.arange(3001) / 1000
    step = np.zeros(3001)
    for start in (0.6, 1.8):
        inside = (time > start) & (time < start + 0.65)
        step[inside] += np.sin(np.pi * (time[inside] - start) / 0.65) ** 0.5
    force = np.zeros((3001, 3))
    force[:, 2] = sign * load * step + offset + drift * time / 3
    force[:, 0] = 0.1 * load * step
    force += noise * np.random.default_rng(1).normal(size=force.shape)
    return ForcePlate("1", 1000.0, force, np.zeros((3001, 3)), np.zeros((3001, 3)))


def with_plate(which: ForcePlate) -> Trial:
    return replace(walk(3.0, first=FIRST), plates=(which,))


@pytest.mark.parametrize("noise", [0.0, 0.5, 2.0])
def test_a_good_plate_gives_no_findings(noise):
    assert by_subject(with_plate(plate(noise=noise))) == {}


@pytest.mark.parametrize(
    ("bad", "subject", "severity"),
    [
        (plate(offset=12), "plate offset", Severity.WARNING),
        (plate(offset=-35), "plate offset", Severity.ERROR),
        (plate(sign=-1), "plate upside down", Severity.ERROR),
        (plate(load=0), "plate unloaded", Severity.INFO),
    ],
)
def test_problems_of_plates_are_found(bad, subject, severity):
    (finding,) = check_health(with_plate(bad)).findings
    assert (finding.subject, finding.severity, finding.plate) == (subject, severity, "1")


def test_a_plate_whose_range_ends_below_the_load_is_found():
    whole = plate()
    force = np.array(whole.force)
    force[:, 2] = np.minimum(force[:, 2], 500.0)
    (finding,) = check_health(with_plate(replace(whole, force=force))).findings
    assert (finding.subject, finding.severity) == ("plate saturated", Severity.ERROR)
    assert "stays at exactly 500 N" in finding.sentence
    assert len(finding.frames) == 2


def test_a_computed_force_that_is_constant_is_not_saturated():
    force = np.tile([0.0, 0.0, 700.0], (3001, 1))
    still = ForcePlate("1", 1000.0, force, np.zeros((3001, 3)), np.zeros((3001, 3)))
    assert not check_health(with_plate(still)).about("plate saturated")


def test_a_drifting_plate_is_found_with_its_drift():
    found = {f.subject: f for f in check_health(with_plate(plate(drift=18, offset=-9))).findings}
    assert set(found) == {"plate drift"}
    assert "drifts by +17.8 N along z" in found["plate drift"].sentence


def test_frames_of_a_plate_are_frames_of_the_recording():
    (finding,) = check_health(with_plate(plate(sign=-1, noise=0.0))).findings
    for (first, last), start in zip(finding.frames, (0.6, 1.8), strict=True):
        assert first == pytest.approx(FIRST + 100 * start, abs=1)
        assert last == pytest.approx(FIRST + 100 * (start + 0.65), abs=1)


def test_a_person_who_stands_on_a_plate_throughout_is_no_offset():
    force = np.tile([5.0, 3.0, 720.0], (3001, 1))
    still = ForcePlate("1", 1000.0, force, np.zeros_like(force), np.zeros_like(force))
    assert by_subject(with_plate(still)) == {}
    sinking = replace(still, force=-force)
    assert set(by_subject(with_plate(sinking))) == {"plate upside down"}
