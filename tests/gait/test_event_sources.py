import numpy as np
import pytest

from homodyn.gait.event_sources import SourceDifference, compare_sources, mixed_source_note
from homodyn.motion import Event


def events(source, *times):
    return [Event(t, "Foot Strike", "Left", description=f"{source}: test") for t in times]


def test_only_events_that_both_sources_show_are_compared():
    difference = compare_sources(
        [events("forces", 1.0, 2.0), events("forces", 1.5)],
        [events("kinematics", 0.96, 1.97, 3.0), events("kinematics", 2.5)],
    )
    assert difference.differences == pytest.approx([0.04, 0.03])
    assert difference.offset == pytest.approx(0.035)
    assert difference.systematic
    assert difference.headline() == "+35 ms (+30 to +40 ms) in 2 steps"


def test_one_step_or_scattered_steps_are_not_systematic():
    assert not SourceDifference(np.zeros(0)).systematic
    assert not SourceDifference(np.array([0.04])).systematic
    scattered = SourceDifference(np.array([0.0, 0.03, 0.06]))
    assert not scattered.systematic
    (event,) = scattered.shift(events("kinematics", 1.0))
    assert event.time == 1.0
    (event,) = SourceDifference(np.array([0.04, 0.04])).shift(events("kinematics", 1.0))
    assert event.time == pytest.approx(1.04)
    assert event.description == "kinematics: test, shifted by +40 ms"


def test_only_kinematic_events_beside_others_are_noted():
    known = SourceDifference(np.array([0.04, 0.04]))
    unknown = SourceDifference(np.zeros(0))
    of_forces, of_motion = events("forces", 1.0), events("kinematics", 2.0)
    assert mixed_source_note("Foot Strike", of_forces, known) == ""
    assert mixed_source_note("Foot Strike", of_motion, known) == ""
    assert "shifted" in mixed_source_note("Foot Strike", [*of_forces, *of_motion], known)
    assert "not corrected" in mixed_source_note("Foot Strike", [*of_forces, *of_motion], unknown)
    recorded = [*events("recorded", 1.0), *of_motion]
    assert "1 from the recording and 1 from kinematics" in mixed_source_note(
        "Foot Strike", recorded, unknown
    )
