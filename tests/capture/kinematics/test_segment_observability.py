"""Segments that markers show: decided by movements that leave all visible markers in place."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.kinematics.segment_observability import (
    UnseenSegments,
    require_seen,
    seen_segments,
)
from support import strolls

ARMS = ("CLAV", "C7", "RUPA", "RELB", "RWRA", "RWRB", "LUPA", "LELB", "LWRA", "LWRB")
HEAD = ("LBHD", "LFHD", "RBHD", "RFHD")


@pytest.fixture(scope="module")
def person():
    return hd.catalog.heiman(height=strolls.HEIGHT, mass=strolls.MASS)


def fitted(person, keep):
    """The motion fitted to a few frames of some markers of a walk."""
    whole = strolls.recording()
    columns = [k for k, name in enumerate(whole.markers) if keep(name)]
    trial = replace(
        whole,
        markers=tuple(whole.markers[k] for k in columns),
        positions=whole.positions[:60:4, columns],
        filled=whole.filled[:60:4, columns],
        rate=whole.rate / 4,
        plates=(),
        analog=hd.capture.Signals(),
        events=(),
    )
    return hd.capture.inverse_kinematics(person, trial)


def test_a_full_marker_set_shows_all_segments(person):
    found = seen_segments(fitted(person, lambda name: True))
    assert found.unseen_bodies == ()
    assert found.unseen_mass_share == 0.0
    assert found.hidden_coordinates == ()


def test_markers_of_the_arms_show_neither_pelvis_nor_legs(person):
    motion = fitted(person, lambda name: name in ARMS + HEAD)
    found = seen_segments(motion)
    legs = {f"{part}{side}" for part in ("Thigh", "Shank", "Foot") for side in ("Left", "Right")}
    assert set(found.unseen_bodies) == {"Pelvis", *legs}
    assert 0.4 < found.unseen_mass_share < 0.6
    for compute in (
        hd.gait.find_events,
        hd.gait.measures,
        hd.gait.elevation_angles,
        hd.capture.inverse_dynamics,
    ):
        with pytest.raises(UnseenSegments, match=r"no marker of the recording shows .*Pelvis"):
            compute(motion)
    # Arms alone are still a result.
    require_seen(motion, ("LowerArmRight", "UpperTrunk"), "elbow angles")


def test_feet_without_markers_are_unseen_although_the_ankles_are_not(person):
    markers = {m.name for m in person.markers if m.body in ("FootLeft", "FootRight")}
    found = seen_segments(fitted(person, lambda name: name not in markers))
    assert found.unseen_bodies == ("FootRight", "FootLeft")


def test_locked_coordinates_have_no_result_but_hide_no_segment(person):
    motion = fitted(person, lambda name: True)
    joints = tuple(
        replace(j, coordinates=tuple(replace(c, locked="Neck" in c.name) for c in j.coordinates))
        for j in person.joints
    )
    found = seen_segments(replace(motion, model=replace(person, joints=joints)))
    assert set(found.hidden_coordinates) == {"Neck_RX", "Neck_RY", "Neck_RZ"}
    assert found.unseen_bodies == ()


def test_motions_without_markers_show_everything(person):
    still = np.zeros((8, person.nv))
    q = np.tile(person.neutral(), (8, 1))
    motion = hd.motion.Motion(person, np.arange(8) / 100, q, still, still)
    assert seen_segments(motion).unseen_bodies == ()


def test_a_locked_joint_is_said_to_be_locked_and_nothing_else(person):
    joints = tuple(
        replace(j, coordinates=tuple(replace(c, locked="Ankle" in c.name) for c in j.coordinates))
        for j in person.joints
    )
    motion = fitted(replace(person, joints=joints), lambda name: name not in HEAD)
    (note,) = [n for n in motion.notes if "AnkleRight_RY" in n]
    assert note.startswith("locked by the model: ")
    assert {name.split("_")[0] for name in motion.unobserved} == {"Neck"}
