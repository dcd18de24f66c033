"""What a filter takes off peaks: nothing of slow movement, a lot of impacts."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import inverse_dynamics
from homodyn.capture.filters import lowpass
from homodyn.capture.kinetics import acceleration_loss, force_loss
from homodyn.motion import ForcePlate
from support.swaying import plates_for, sway


@pytest.fixture(scope="module")
def swaying():
    """A slow sway, with markers that have 1 mm of noise."""
    motion = sway(hd.catalog.heiman(height=1.75, mass=70))
    names = tuple(marker.name for marker in motion.model.markers)
    placed = hd.dynamics.marker_positions(motion.model, motion.q)
    noise = np.random.default_rng(2).normal(scale=1e-3, size=placed.shape)
    return replace(motion, markers=names, measured=placed + noise)


def impact_plate(motion, width):
    """A plate with one bell-shaped impact of 1500 N and a width (s)."""
    time = np.arange(0, motion.duration, 1e-3)
    force = np.zeros((len(time), 3))
    force[:, 2] = 1500 * np.exp(-0.5 * ((time - 1.0) / width) ** 2)
    return ForcePlate("plate", 1000.0, force, np.zeros_like(force), np.zeros_like(force))


def test_slow_forces_lose_nothing(swaying):
    found = force_loss(swaying, plates_for(swaying), 6.0)
    assert found.share < 0.01
    assert not found.notable
    assert not any("takes" in note for note in inverse_dynamics(swaying, plates_for(swaying)).notes)


@pytest.mark.parametrize("cutoff", [6.0, 60.0])
def test_the_loss_of_an_impact_is_that_of_the_filter(swaying, cutoff):
    plate = impact_plate(swaying, 0.015)
    found = force_loss(swaying, (plate,), cutoff)
    expected = 1 - lowpass(plate.force[:, 2], 1000.0, cutoff=cutoff).max() / 1500
    assert found.share == pytest.approx(expected, abs=0.01)
    assert found.notable is (cutoff == 6.0)
    assert f"{100 * found.share:.0f} %" in found.sentence


def test_inverse_dynamics_notes_the_loss(swaying):
    plates = (replace(impact_plate(swaying, 0.015), name="impact"), *plates_for(swaying))
    found = inverse_dynamics(swaying, plates, feet={"impact": None})
    assert any("off the peak vertical force of plate 'impact'" in note for note in found.notes)


def test_without_a_filter_or_a_load_there_is_no_loss(swaying):
    assert force_loss(swaying, plates_for(swaying), None) is None
    assert force_loss(swaying, (), 6.0) is None
    assert acceleration_loss(swaying, None) is None
    assert acceleration_loss(replace(swaying, measured=np.zeros((0, 0, 3))), 6.0) is None
    empty = np.zeros((10, 3))
    still = ForcePlate("still", 100.0, empty, empty, empty)
    assert force_loss(swaying, (still,), 6.0) is None


def test_fast_movement_loses_acceleration_below_the_suggested_cutoff(swaying):
    # The whole body shakes at 5 Hz: residual analysis keeps it, a cutoff of 3 Hz does not.
    shake = 0.01 * np.sin(2 * np.pi * 5 * swaying.time)
    measured = swaying.measured + shake[:, None, None] * np.ones(3)
    fast = replace(swaying, measured=measured)
    kept, lost = acceleration_loss(fast, 12.0), acceleration_loss(fast, 3.0)
    assert lost.suggested == kept.suggested > 5.0
    assert not kept.notable
    assert lost.share > 0.2
    assert "residual analysis" in lost.sentence
    assert acceleration_loss(swaying, 6.0).share < 0.05
