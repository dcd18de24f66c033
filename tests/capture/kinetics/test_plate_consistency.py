"""Plates that cannot belong to the motion are doubted aloud."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn.capture import inverse_dynamics
from homodyn.capture.kinetics.plate_consistency import find_delay
from support.walks import walk


def shifted(plate, seconds):
    return replace(plate, start=plate.start + seconds)


def heavier(plate, factor):
    return replace(plate, force=factor * plate.force, torque=factor * plate.torque)


@pytest.mark.parametrize("name", ["gait10dof", "arnold2013", "gait23"])
def test_good_recordings_are_not_doubted(shared_data, name):
    found = walk(shared_data, name)
    notes = inverse_dynamics(found.motion, found.plates).notes
    assert not any("mass of the model" in note or "seem to be" in note for note in notes)


@pytest.mark.parametrize("factor", [1.3, 0.7])
def test_a_wrong_mass_gives_a_note_with_both_masses(shared_data, factor):
    found = walk(shared_data, "gait10dof")
    answer = inverse_dynamics(found.motion, [heavier(plate, factor) for plate in found.plates])
    (note,) = (note for note in answer.notes if "mass of the model" in note)
    assert "72.6 kg" in note
    carried = float(note.split("carry ")[1].split()[0])
    assert carried == pytest.approx(72.6 * factor, rel=0.05)


@pytest.mark.parametrize("factor", [1.3, 0.7, 0.6])
def test_a_wrong_mass_leaves_measured_frames_measured(shared_data, factor):
    found = walk(shared_data, "gait10dof")
    right = inverse_dynamics(found.motion, found.plates).covered
    plates = [heavier(plate, factor) for plate in found.plates]
    wrong = inverse_dynamics(found.motion, plates).covered
    assert right.mean() > 0.5
    assert np.mean(wrong == right) > 0.95


@pytest.mark.parametrize("seconds", [0.1, -0.15])
def test_late_and_early_plates_are_noted(shared_data, seconds):
    found = walk(shared_data, "gait10dof")
    plates = [shifted(plate, seconds) for plate in found.plates]
    notes = inverse_dynamics(found.motion, plates).notes
    (note,) = (note for note in notes if "seem to be" in note)
    assert ("late" if seconds > 0 else "early") in note
    amount = float(note.split("seem to be ")[1].split()[0])
    assert amount == pytest.approx(abs(seconds), abs=0.04)
    remedy = float(note.split("start by ")[1].split()[0])
    assert np.sign(remedy) == -np.sign(seconds)


def test_a_shift_by_one_step_is_no_delay():
    """Steps repeat: another shift leaves out the end of the recording, where the fit is worse."""
    time = np.arange(200) / 100.0
    force = 700.0 + 500.0 * np.sin(2 * np.pi * time / 0.33)
    required = force + 20.0 * np.cos(40.0 * time)
    required[:30] += 400.0
    known = np.ones(len(time), dtype=bool)
    assert find_delay(time, required, force, known, 700.0) == 0.0
    late = np.roll(force, 12)
    assert find_delay(time, force, late, known, 700.0) == pytest.approx(0.12)
