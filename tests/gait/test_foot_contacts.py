"""Contact intervals from signals and from the contact forces of a motion."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn.gait import find_events
from homodyn.gait.foot_contacts import threshold_intervals
from homodyn.motion import ContactForce, Side
from support.walker import Walker


def test_intervals_close_short_gaps_and_drop_short_intervals():
    time = np.arange(1000) / 1000
    signal = np.zeros(1000)
    signal[100:400] = 10
    signal[200:220] = 0
    signal[600:650] = 10
    (contact,) = threshold_intervals(time, signal, on=5, off=4)
    assert contact.start == pytest.approx(0.0995)
    assert contact.end == pytest.approx(0.3996, abs=2e-4)
    signal[900:] = 10
    assert threshold_intervals(time, signal, on=5, off=4)[-1].end is None


def with_forces(motion, scale=1.0, **fields):
    """The motion of a walker with forces of half a sine over each contact."""
    forces = []
    for plate in Walker().plates():
        rows = [np.interp(motion.time, plate.time, column) for column in scale * plate.force.T]
        force, side = np.column_stack(rows), Side(plate.name)
        point = np.zeros_like(force)
        forces.append(ContactForce(f"Foot{side.title}", side, force, point, point, **fields))
    return replace(motion, contact_forces=tuple(forces))


def test_the_contact_forces_of_a_motion_give_its_events():
    walker = Walker()
    found = find_events(with_forces(walker.motion()))
    assert all(event.description.startswith("forces: load of the") for event in found)
    assert len(found) == len(walker.events())
    for event, truth in zip(found, walker.events(), strict=True):
        assert (event.label, event.context) == (truth.label, truth.context)
        assert event.time == pytest.approx(truth.time, abs=0.006)


def test_predicted_forces_give_no_events():
    found = find_events(with_forces(Walker().motion(), predicted=True))
    assert not any(event.description.startswith("forces") for event in found)
    assert any("predicted from the motion" in note for note in found.notes)


def test_thresholds_follow_the_weight_of_the_model():
    """Forces of a light robot count as contact, although they stay below 20 N."""
    motion = with_forces(Walker().motion(), scale=0.02)
    assert max(np.abs(f.force).max() for f in motion.contact_forces) < 20.0
    assert not any(e.description.startswith("forces") for e in find_events(motion))
    light = motion.model.with_numbers(
        {f"{body.name}.mass": 0.02 * body.mass for body in motion.model.bodies}
    )
    found = find_events(replace(motion, model=light))
    assert all(event.description.startswith("forces") for event in found)
