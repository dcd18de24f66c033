"""Contact points fitted to a recorded walk, and the reconstruction of that walk without plates."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.analysis import Settings, read_motion
from homodyn.analysis.step_quality import reconstruction_verdicts
from homodyn.dynamics import position
from homodyn.gait.contact_schedule import contact_phases
from homodyn.gait.foot_calibration import fit_foot_contacts
from homodyn.gait.treadmill import belt_velocity

STEP_PHASES = ["right flat", "right forefoot", "right forefoot and left heel"]


@pytest.fixture(scope="module")
def recorded(shared_data):
    """A person of 62.6 kg who walks over plates."""
    folder = shared_data / "real_subject4"
    settings = Settings(
        mass=62.6,
        static=str(folder / "static1.trc"),
        forces=str(folder / "walking1_grf.mot"),
    )
    return read_motion(folder / "walking1.trc", settings)


@pytest.fixture(scope="module")
def phases(recorded):
    return contact_phases(recorded.motion, events=recorded.events, span=recorded.measured_step)


@pytest.fixture(scope="module")
def fitted(recorded):
    return fit_foot_contacts(recorded.motion, recorded.events)


def test_a_recorded_foot_rolls_from_heel_to_toes(recorded, phases):
    assert not belt_velocity(recorded.motion).any()
    assert [phase.name for phase in phases][:3] == STEP_PHASES
    assert all(phase.confidence > 0.5 for phase in phases)


def test_fitted_contacts_touch_the_floor_in_stance(recorded, phases, fitted):
    motion = recorded.motion
    flat = (motion.time >= phases[0].begin) & (motion.time <= phases[0].end)
    for name in ("HeelRight", "HalluxRight", "Meta5Right"):
        contact = next(c for c in fitted.contacts if c.name == name)
        after = np.asarray(position(fitted, motion.q, name))[flat, 2] - float(contact.radius)
        assert np.sqrt((after**2).mean()) < 0.006  # m
    assert fitted.mass == pytest.approx(motion.model.mass)


def test_forces_of_a_recorded_step_are_found_without_plates(recorded, phases, fitted):
    motion = replace(recorded.motion, model=fitted)
    loads = replace(recorded.loads, motion=motion)
    result = hd.gait.reconstruct(
        motion, loads, phases=phases, step=0.04, preset="recorded", force=0.0
    )
    assert result.solution.status.success
    errors = {e.side: e.rms / result.weight for e in result.force_errors()}
    for side in ("Right", "Left"):
        forward, _, up = errors[side]
        assert up < 0.08
        assert forward < 0.05
    assert result.plate_mass == pytest.approx(62.6, rel=0.05)
    largest = {unit: rms for unit, (_, rms) in result.largest_errors.items()}
    assert largest["rad"] < 0.03
    assert largest["m"] < 0.015
    assert result.status == "solved"


def test_a_wrong_mass_is_far_from_the_recording(recorded, phases, fitted):
    heavy = replace(
        fitted, bodies=tuple(replace(body, mass=1.25 * body.mass) for body in fitted.bodies)
    )
    motion = replace(recorded.motion, model=heavy)
    loads = replace(recorded.loads, motion=motion)
    result = hd.gait.reconstruct(
        motion, loads, phases=phases, step=0.06, preset="recorded", force=0.0
    )
    assert result.status == "solved but far from the recording"
    assert "the plates carry 63" in result.sentence
    assert "vertical force is" in result.sentence
    poor = {v.subject: v.light for v in reconstruction_verdicts(result)}
    assert poor["mass"] == "poor"
