"""Contact phases of a recorded step."""

from dataclasses import replace

import pytest

import homodyn as hd
from homodyn.gait import contact_schedule

MASS = 70.0


@pytest.fixture(scope="module")
def walk():
    return hd.synthetic.walking_trial(
        noise=0.0, gaps=0.0, strides=2, plates=2, variation=0.0, mass=MASS, plate_noise=0.0
    )


def test_phases_are_those_of_a_step(walk):
    found = contact_schedule.contact_phases(walk.truth.motion, events=walk.truth.events)
    assert [contact_phase.name for contact_phase in found] == [
        "right flat",
        "right forefoot",
        "right forefoot and left heel",
        "right forefoot and left flat",
    ]
    assert [len(contact_phase.contacts.rows) for contact_phase in found] == [6, 5, 8, 11]
    offs = [e.time for e in walk.truth.events if e.label == "Foot Off"]
    strike = next(
        e.time for e in walk.truth.events if e.label == "Foot Strike" and e.time > offs[0]
    )
    assert found[0].begin == pytest.approx(offs[0])
    assert found[-1].end == pytest.approx(offs[1])
    assert found[2].begin == pytest.approx(strike)


def test_a_model_without_such_feet_is_refused_by_name(walk):
    motion = replace(walk.truth.motion, model=replace(walk.model, contacts=()))
    with pytest.raises(hd.ModelError, match=r"HeelRight.*heel and two toes"):
        contact_schedule.contact_phases(motion)
