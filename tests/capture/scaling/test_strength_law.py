"""Strengths of muscles of models that are scaled to a subject."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.scaling import with_measured_mass
from homodyn.capture.scaling.strength_law import StrengthLaw
from homodyn.model.muscles import Muscle, PathPoint
from support import muscled_leg
from support.subjects import subject

MASS_KG = 91.0


@pytest.fixture(scope="module")
def generic():
    """A human with two muscles."""
    human = hd.catalog.heiman()
    muscles = [
        Muscle(
            name,
            "Millard2012EquilibriumMuscle",
            (
                PathPoint("origin", thigh, (0.04, 0.0, -0.1)),
                PathPoint("insertion", shank, (0.04, 0.0, -0.05)),
            ),
            max_isometric_force=force,
        )
        for name, thigh, shank, force in (
            ("vastus_r", "ThighRight", "ShankRight", 2000.0),
            ("vastus_l", "ThighLeft", "ShankLeft", 2100.0),
        )
    ]
    return replace(human, muscles=tuple(muscles))


@pytest.fixture(scope="module")
def trial(generic):
    return subject(generic, 5, frames=3).trial


def forces(model):
    return np.array([muscle.max_isometric_force for muscle in model.muscles])


def test_forces_follow_the_mass_of_the_subject_unless_they_are_kept(generic, trial):
    found = hd.capture.scale(generic, trial, mass=MASS_KG)
    ratio = (MASS_KG / generic.mass) ** (2 / 3)
    np.testing.assert_allclose(forces(found.model), ratio * forces(generic))
    stated = f"maximal isometric forces times {ratio:.3f}, as the body mass to the power 2/3"
    assert stated in found.notes
    kept = hd.capture.scale(generic, trial, mass=MASS_KG, strength="keep")
    np.testing.assert_array_equal(forces(kept.model), forces(generic))
    assert not any("isometric" in note for note in kept.notes)


def test_calibration_states_the_same_law(generic):
    moving = subject(generic, 6, frames=12).trial
    found = hd.capture.calibrate(generic, moving, mass=MASS_KG, frames=8)
    ratio = (MASS_KG / generic.mass) ** (2 / 3)
    np.testing.assert_allclose(forces(found.model), ratio * forces(generic))


def test_plates_change_mass_and_forces(generic, trial):
    unknown = hd.capture.scale(generic, trial)
    measured = with_measured_mass(unknown, MASS_KG, "the plates carry 91 kg")
    ratio = (MASS_KG / generic.mass) ** (2 / 3)
    np.testing.assert_allclose(forces(measured.model), ratio * forces(generic))
    assert sum("isometric" in note for note in measured.notes) == 1


def test_volume_needs_the_stature_of_the_subject(generic, trial):
    found = hd.capture.scale(generic, trial, mass=MASS_KG, height=1.9, strength="volume")
    statures = hd.capture.scaling.stature.stature(generic), 1.9
    volumes = [
        47.05e-6 * mass * height + 1289.6e-6
        for mass, height in zip((generic.mass, MASS_KG), statures, strict=True)
    ]
    longer = [
        after.optimal_fiber_length / before.optimal_fiber_length
        for before, after in zip(generic.muscles, found.model.muscles, strict=True)
    ]
    expected = forces(generic) * volumes[1] / volumes[0] / longer
    np.testing.assert_allclose(forces(found.model), expected)


def test_refusals(generic, trial):
    with pytest.raises(hd.CaptureError, match="no law 'age'; accepted: mass, volume, keep"):
        hd.capture.scale(generic, trial, strength="age")
    leg = replace(muscled_leg.build(), gravity=(0.0, 0.0, 0.0))
    with pytest.raises(hd.CaptureError, match="the stature of model 'muscled leg' cannot be"):
        StrengthLaw("volume", 1.8).apply(leg, leg)
