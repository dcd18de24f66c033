"""Falls: bodies without contact shapes are reported, bodies with them lie on the ground."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.dynamics import position
from homodyn.model import Assembly, joints, rod, sphere
from homodyn.simulate import PD, place_on_ground, run


def tower(top_contact=False):
    """A rod on a ball, with capsules on both; only the ball can touch the ground."""
    assembly = (
        Assembly("tower")
        .add(sphere("base", mass=5.0, radius=0.1), joints.free())
        .add(rod("mast", 2.0, (0, 0, 0), (0, 0, 1)), joints.revolute("y"), "base")
        .contact("skin", "base", "sphere", radius=0.1)
        .capsule("base", "base", (0, 0, 0), (0, 0, 0), 0.1)
        .capsule("mast", "mast", (0, 0, 0), (0, 0, 1), 0.05)
    )
    model = assembly.model()
    return model.with_segment_contacts() if top_contact else model


def fall(model):
    q = place_on_ground(model, model.pose({"mast": 1.0}))
    return run(model, q, duration=1.0, dt=2e-3)


def test_a_body_that_falls_through_the_ground_is_reported():
    result = fall(tower())
    (note,) = [note for note in result.notes if "below the ground" in note]
    assert note.startswith("mast is ")
    assert "contact shapes on base only" in note
    depth, time = float(note.split()[2]), float(note.split()[8])
    sample = int(np.argmin(np.abs(result.time - time)))
    height = position(result.model, result.q[sample], "mast", point=(0, 0, 0.5))[2]
    assert height == pytest.approx(-depth, rel=0.1)
    for text in (repr(result), result.summary()):
        assert text.count(note) == 1
        assert f"note: {note}" in text
    assert len(repr(result).splitlines()) <= 10
    assert note in result.motion.notes


def test_a_body_with_segment_contacts_lies_on_the_ground():
    result = fall(tower(top_contact=True))
    assert not any("below the ground" in note for note in result.notes)
    tip = position(result.model, result.q[-1], "mast", point=(0, 0, 1))
    assert tip[2] == pytest.approx(0.05, abs=0.01)  # the radius of its capsule


def test_saturated_motors_are_in_the_printed_result():
    model = tower()
    weak = replace(model.joints[1].coordinates[0], max_force=1.0)
    model = replace(model, joints=(model.joints[0], replace(model.joints[1], coordinates=(weak,))))
    q = place_on_ground(model, model.neutral())
    servo = PD(kp=100.0, kd=1.0, target=model.pose({"mast": 0.5}), stable=True)
    result = run(model, q, duration=0.1, actuation=servo)
    assert "note: motors at their torque limit: mast" in repr(result)


def test_segment_contacts_of_the_catalog_body():
    person = hd.catalog.heiman(height=1.75, mass=70)
    full = person.with_segment_contacts()
    assert {contact.body for contact in full.contacts} == {body.name for body in full.bodies}
    assert full.contacts[: len(person.contacts)] == person.contacts
    shape = next(contact for contact in full.contacts if contact.name == "ThighRight capsule")
    (capsule,) = [c for c in person.capsules if c.name == "ThighRight"]
    ends = shape.position + np.array([[-1], [1]]) * shape.half_size[0] * shape.rotation[0]
    np.testing.assert_allclose(ends, [capsule.start, capsule.end], atol=1e-12)
    np.testing.assert_allclose(shape.rotation @ shape.rotation.T, np.eye(3), atol=1e-12)
    with pytest.raises(hd.HomodynError, match="no body 'Tail'"):
        person.with_segment_contacts(["Tail"])
