"""Contacts detected in recordings: markers, motions, force plates and treadmills."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.balance import detect_contacts, evaluate
from homodyn.balance.wrenches import RequiredWrench
from homodyn.capture import (
    Trial,
    filter_motion,
    motion_from_table,
    read,
    read_plates,
    read_table,
)
from homodyn.capture.world_frame import world_axes
from homodyn.errors import CaptureError

SIDES = ("left", "right")


@pytest.fixture(scope="module")
def walk(shared_data):
    folder = shared_data / "gait10dof"
    table = replace(read_table(folder / "ref_ik.mot"), degrees=True)
    motion = filter_motion(motion_from_table(hd.load(folder / "subject01.osim"), table), cutoff=6.0)
    return motion, read_plates(folder / "walk_grf.mot")


def test_stances_from_markers_and_hands():
    rate, frames = 100.0, 300
    time = np.arange(frames) / rate
    lift = np.where((time > 1) & (time < 1.6), 0.15 * np.sin(np.pi * (time - 1) / 0.6), 0.0)
    forward = np.where(time < 1, 0.0, np.where(time > 1.6, 0.5, 0.5 * (time - 1) / 0.6))
    corners = np.array([[0.2, 0.05, 0], [0.2, -0.05, 0], [-0.08, 0.03, 0], [-0.08, -0.03, 0]])
    left = corners + np.stack([forward, np.full(frames, 0.1), lift], -1)[:, None]
    right = np.tile(corners + np.array([0, -0.1, 0]), (frames, 1, 1))
    hand = np.c_[np.where(time < 2, 0.3 * time, 0.6), np.full((frames, 2), [0.4, 1.0])]
    names = [f"{side}{k}" for side in "LR" for k in range(4)]
    positions = np.concatenate([left, right, hand[:, None]], axis=1)
    trial = Trial("step", (*names, "HAND"), positions, rate)
    phases = detect_contacts(
        trial,
        feet={"left": names[:4], "right": names[4:]},
        hands={"HAND": 100.0},
        limit=1500.0,
    )
    found = [(p.supports, round(p.start, 2)) for p in phases]
    assert [t[0] for t in found] == [
        ("left", "right"),
        ("right",),
        ("left", "right"),
        ("left", "right", "HAND"),
    ]
    assert found[1][1] == pytest.approx(1.0, abs=0.02)
    assert found[2][1] == pytest.approx(1.6, abs=0.02)
    assert found[3][1] == pytest.approx(2.0, abs=0.02)
    outline = phases[2].stance.support("left").corners
    assert outline[:, 0].max() == pytest.approx(0.7, abs=1e-6)
    assert phases[3].stance.support("HAND").force == pytest.approx(100)
    with pytest.raises(CaptureError, match="give feet="):
        detect_contacts(trial)
    with pytest.raises(CaptureError, match="no marker 'LX'"):
        detect_contacts(trial, feet={"left": ["LX"]})


def test_a_floor_that_is_not_level_in_the_recording_makes_no_flight(shared_data):
    """The floor of this recording rises by 4 cm over the 2.6 m that are walked."""
    trial = read(shared_data / "hdm" / "walk.c3d")
    ends = {name.split(":")[-1]: name for name in trial.markers}
    feet = {side: [ends[side[0].upper() + m] for m in ("HEE", "TOE", "MT5")] for side in SIDES}
    order = [phase.supports for phase in detect_contacts(trial, feet=feet)]
    both = ("left", "right")
    assert order == [("right",), *[both, ("left",), both, ("right",)] * 2, both, ("left",), both]


def test_a_run_on_a_belt_is_single_support_and_flight():
    """Feet that go with the belt at 3 m/s for 0.2 s each, with 0.1 s in the air between."""
    rate, belt = 200.0, -3.0
    time = np.arange(0, 1.4, 1 / rate)
    corners = np.array([[0.2, 0.05, 0], [0.2, -0.05, 0], [-0.08, 0.03, 0], [-0.08, -0.03, 0]])
    feet = {}
    for side, first, y in (("left", 0.1, 0.1), ("right", 0.4, -0.1)):
        since = (time - first) % 0.6
        share = np.clip((since - 0.2) / 0.4, 0, 1)
        # Back to where the next stance begins, high in between, and not at rest at either end.
        swing = 0.6 * share - 0.3 * np.sin(2 * np.pi * share) / (2 * np.pi)
        x = np.where(since < 0.2, belt * since, -0.6 + swing)
        lift = np.where(since < 0.2, 0.0, 0.2 * np.sin(np.pi * share))
        feet[side] = corners + np.stack([x, np.full(len(time), y), lift], -1)[:, None]
    names = [f"{side}{k}" for side in ("L", "R") for k in range(4)]
    trial = Trial("run", tuple(names), np.concatenate(list(feet.values()), axis=1), rate)
    phases = detect_contacts(
        trial, feet={"left": names[:4], "right": names[4:]}, friction=1.0, limit=3000.0
    )
    found = [p.supports for p in phases if p.start > 0.05][:7]
    assert found == [("left",), (), ("right",), (), ("left",), (), ("right",)]
    stances = [p for p in phases if p.stance is not None]
    for phase in stances[:3]:
        assert phase.belt_velocity == pytest.approx([belt, 0, 0], abs=0.05)
        assert phase.end - phase.start == pytest.approx(0.2, abs=0.025)
    # A force through the middle of a foot that goes with the belt is given all through its stance.
    count = len(time)
    since = (time - 0.1) % 0.3
    left = (time - 0.1) % 0.6 < 0.3
    place = np.c_[belt * since + 0.05, np.where(left, 0.1, -0.1), np.zeros(count)]
    force = np.tile([0.0, 0.0, 1500.0], (count, 1))
    com = place + np.array([0, 0, 1.0])
    down = np.array([0, 0, -9.81])
    need = RequiredWrench(time, com, np.zeros_like(com), force, np.cross(place, force), 70.0, down)
    evaluation = evaluate(need, phases)
    inner = evaluation.evaluated & (since > 0.03) & (since < 0.17)
    assert inner.sum() > 80
    assert (evaluation.wrench[inner] > 20).all()
    assert np.isnan(evaluation.wrench[~evaluation.evaluated]).all()


def test_up_is_read_off_the_model(walk):
    motion, _ = walk
    assert world_axes(motion.model)[2] == pytest.approx([0, 1, 0])
    for phase in detect_contacts(motion)[:2]:
        assert phase.stance.patches[0].normal == pytest.approx([0, 1, 0])


def test_a_walk_alternates_single_and_double_support(walk):
    motion, plates = walk
    by_feet, by_plates = detect_contacts(motion), detect_contacts(motion, plates=plates)
    order = [set(phase.supports) for phase in by_plates]
    both = {"left", "right"}
    assert order == [both, {"left"}, both, {"right"}, both, {"left"}, both, {"right"}, both]
    assert [set(p.supports) for p in by_feet] == order
    starts = [abs(a.start - b.start) for a, b in zip(by_feet, by_plates, strict=True)]
    assert max(starts) < 0.04
    assert by_plates[1].belt_velocity == pytest.approx([-1.13, 0, 0], abs=0.05)
    evaluation = evaluate(
        motion, detect_contacts(motion, plates=plates, friction=1.0, sole_margin=0.03)
    )
    double = np.isin(evaluation.phase, [0, 2, 4, 6, 8])
    # A planar model cannot shift its weight sideways over one foot: only double support holds.
    assert (evaluation.wrench[double] > 0).all()
    assert evaluation.wrench[double].mean() > evaluation.wrench[~double].mean() + 20
    assert np.abs(evaluation.difference).max() < 25
