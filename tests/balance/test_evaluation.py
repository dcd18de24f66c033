"""Motions judged: recordings with force plates, whole bodies against point masses."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.balance import (
    FailureMode,
    Grasp,
    RequiredWrench,
    Stance,
    SupportPhase,
    classical_criteria,
    detect_contacts,
    evaluate,
    foot_inertia,
    limiting_contacts,
    measured_wrench,
    point_mass_wrench,
    sole_contact,
    whole_body_wrench,
    wrench_margins,
    wrench_set,
)
from homodyn.capture import (
    Trial,
    filter_motion,
    motion_from_table,
    read,
    read_plates,
    read_table,
)
from homodyn.capture.world_frame import world_axes
from homodyn.errors import CaptureError, ModelError
from homodyn.motion import Motion

SIDES = ("left", "right")
FOOT = {"length": 0.28, "width": 0.12, "friction": 0.7}


def swaying(frames: int = 41, amplitude: float = 0.15) -> Motion:
    """A standing human that bends its joints to and fro, feet on the ground or not."""
    model = hd.catalog.heiman(height=1.75, mass=70)
    time = np.linspace(0, 1, frames)
    rng = np.random.default_rng(4)
    size = rng.uniform(-amplitude, amplitude, model.nv)
    phase = 2 * np.pi * time[:, None] + rng.uniform(0, 6, model.nv)
    q = np.array([model.integrate(model.neutral(), step) for step in size * np.sin(phase)])
    v = size * 2 * np.pi * np.cos(phase)
    a = -size * 4 * np.pi**2 * np.sin(phase)
    return Motion(model, time, q, v, a)


def test_the_whole_body_differs_from_the_point_mass_by_angular_momentum():
    """dL/dt about the centre of mass, by differences of the momentum of ``dynamics``."""
    motion = swaying()
    needed = whole_body_wrench(motion)
    dt = 1e-4
    for k in (5, 20, 33):
        ends = []
        for s in (-dt, dt):
            dq = s * motion.v[k] + 0.5 * s * s * motion.a[k]
            q = motion.model.integrate(motion.q[k], dq)
            ends.append(hd.dynamics.momentum(motion.model, q, motion.v[k] + s * motion.a[k]))
        rate = (np.asarray(ends[1]) - np.asarray(ends[0])) / (2 * dt)
        assert needed.angular_momentum_rate[k] == pytest.approx(
            rate[:3], abs=1e-3 * np.abs(rate).max()
        )
        weight = motion.model.mass * np.asarray(motion.model.gravity)
        assert needed.force[k] == pytest.approx(rate[3:] - weight, abs=1e-3 * np.abs(rate).max())
    single = needed.point_mass
    assert np.cross(single.com, single.force) == pytest.approx(single.moment)


def test_angular_momentum_is_that_of_the_point_mass_and_that_about_the_centre_of_mass():
    """Qiu (2012), section 4.3: L_w = L_s + L_pos, with L_w summed over bodies by hand."""
    motion = swaying(5)
    model = motion.model
    for q, v in zip(motion.q, motion.v, strict=True):
        whole = np.zeros(3)
        for body in model.bodies:
            if not body.mass:
                continue
            turned = np.asarray(hd.dynamics.orientation(model, q, body.name))
            spin = np.asarray(hd.dynamics.angular_velocity(model, q, v, body.name))
            at = np.asarray(hd.dynamics.position(model, q, body.name, body.com))
            moving = np.asarray(hd.dynamics.velocity(model, q, v, body.name, body.com))
            inertia = turned @ np.asarray(body.inertia) @ turned.T
            whole += np.cross(at, body.mass * moving) + inertia @ spin
        com = np.asarray(hd.dynamics.center_of_mass(model, q))
        speed = np.asarray(hd.dynamics.center_of_mass_velocity(model, q, v))
        single = np.cross(com, model.mass * speed)
        about = np.asarray(hd.dynamics.momentum(model, q, v))[:3]
        assert whole - single == pytest.approx(about, abs=1e-8)
        assert np.abs(about).max() > 1e-3


def test_the_inertia_of_all_bodies_is_the_needed_wrench():
    motion = swaying(7)
    force, moment = foot_inertia(motion, motion.model.body_names)
    needed = whole_body_wrench(motion)
    weight = motion.model.mass * np.asarray(motion.model.gravity)
    assert force - weight == pytest.approx(needed.force, abs=1e-6)
    assert moment - np.cross(needed.com, weight) == pytest.approx(needed.moment, abs=1e-6)


@pytest.fixture(scope="module")
def walk(shared_data):
    folder = shared_data / "gait10dof"
    table = replace(read_table(folder / "ref_ik.mot"), degrees=True)
    motion = filter_motion(motion_from_table(hd.load(folder / "subject01.osim"), table), cutoff=6.0)
    return motion, read_plates(folder / "walk_grf.mot")


def test_measured_ground_forces_are_admissible_on_generous_soles(walk):
    motion, plates = walk
    needed = measured_wrench(motion, plates)
    shares = {}
    for grow in (0.0, 0.03):
        phases = detect_contacts(motion, plates=plates, friction=1.0, grow=grow)
        shares[grow] = evaluate(needed, phases).balanced_share
        told = evaluate(needed, phases).shares
        assert set(told) == {1, 2}
        assert min(told.values()) > 0.97
    assert shares[0.0] > 0.98
    assert shares[0.03] == 1.0
    slippery = detect_contacts(motion, plates=plates, friction=0.05, grow=0.03)
    assert evaluate(needed, slippery).balanced_share < 0.6


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
    judged = evaluate(motion, detect_contacts(motion, plates=plates, friction=1.0, grow=0.03))
    double = np.isin(judged.phase, [0, 2, 4, 6, 8])
    # A planar model cannot shift its weight sideways over one foot: only double support holds.
    assert (judged.wrench[double] > 0).all()
    assert judged.wrench[double].mean() > judged.wrench[~double].mean() + 20
    assert np.abs(judged.difference).max() < 25


def test_a_body_that_moves_in_three_dimensions_shows_the_same(shared_data):
    folder = shared_data / "opensim_id"
    table = replace(read_table(folder / "subject01_walk1_ik.mot"), degrees=True)
    motion = filter_motion(motion_from_table(hd.load(folder / "subject01.osim"), table), cutoff=6.0)
    plates = read_plates(folder / "subject01_walk1_grf.mot")
    phases = detect_contacts(motion, plates=plates, friction=1.0, grow=0.03)
    told = evaluate(measured_wrench(motion, plates), phases)
    assert told.balanced_share > 0.97
    judged = evaluate(motion, phases)
    assert judged.balanced_share > 0.8
    # The thesis: point mass and whole body differ by more than 25 N m in few frames only.
    assert (np.abs(judged.difference) > 25).mean() < 0.1


def test_a_walk_over_ground_is_inside_in_double_and_single_support(shared_data):
    folder = shared_data / "arnold2013" / "subject01"
    table = read_table(folder / "coordinates.sto")
    motion = filter_motion(
        motion_from_table(hd.load(folder / "subject01.osim"), table), cutoff=12.0
    )
    plates = read_plates(folder / "grf.mot")
    phases = detect_contacts(motion, plates=plates, friction=1.0)
    told = evaluate(measured_wrench(motion, plates), phases)
    assert told.balanced_share == 1.0
    judged = evaluate(motion, phases)
    assert judged.balanced_share > 0.97
    both = np.isin(judged.phase, [k for k, p in enumerate(phases) if len(p.supports) == 2])
    assert 0.2 < both.mean() < 0.5
    assert (judged.wrench[both] > 0).all()
    assert judged.wrench[both].mean() > judged.wrench[~both].mean()


def test_supports_that_tip_slip_lift_and_are_overloaded_are_told_apart():
    foot = sole_contact("foot", (0, 0, 0), limit=1000.0, **FOOT)
    found = wrench_set(Stance((foot,)))
    com = np.array([0.0, 0.0, 0.9])

    def nearest(force, moment=(0, 0, 0)) -> set[FailureMode]:
        told = wrench_margins(
            found, np.array(force), np.array(moment) + np.cross(com, force), com=com
        )
        return set(limiting_contacts(found, int(told.side))[0].modes)

    assert nearest([0, 0, 600.0], [0, 70.0, 0]) == {FailureMode.TIP}
    assert nearest([0, 0, 999.0]) == {FailureMode.FORCE}
    low = np.array([0.0, 0.0, 0.0])
    told = wrench_margins(found, np.array([400.0, 0, 600]), np.zeros(3), com=low)
    assert set(limiting_contacts(found, int(told.side))[0].modes) == {FailureMode.SLIP}
    both = Stance((foot, sole_contact("other", (0, 0.4, 0), **FOOT)), 1200)
    wide = wrench_set(both)
    force = np.array([0, 0, 600.0])
    at = np.array([0, 0.44, 0.9])
    edge = wrench_margins(wide, force, np.cross(at, force), com=at)
    limits = {limit.support: set(limit.modes) for limit in limiting_contacts(wide, int(edge.side))}
    assert limits == {"foot": {FailureMode.LIFT}, "other": {FailureMode.TIP}}
    held = wrench_set(Stance((foot, Grasp("hand", (0.3, 0, 1), 50.0))))
    told = wrench_margins(
        held,
        np.array([60.0, 0, 600]),
        np.array([0, 80.0, 0]) + np.cross(com, [60, 0, 600]),
        com=com,
    )
    assert (
        FailureMode.FORCE
        in {x.support: x.modes for x in limiting_contacts(held, int(told.side))}["hand"]
    )


def test_the_sentence_names_instant_support_and_failure():
    time = np.linspace(0, 1, 11)
    com = np.c_[np.zeros(11), np.linspace(0, 0.2, 11), np.full(11, 0.9)]
    needed = point_mass_wrench(time, com, np.zeros((11, 3)), mass=60)
    stance = Stance((sole_contact("left", (0, 0, 0), **FOOT),), 1000)
    judged = evaluate(needed, stance)
    assert judged.worst == 10
    assert judged.balanced_share == pytest.approx(4 / 11)
    assert judged.sentence.startswith("Out of balance at 1.000 s, on left: the supports fall short")
    assert "left tips" in judged.sentence
    held = evaluate(replace(needed, com=needed.com * [1, 0, 1], moment=needed.moment * 0), stance)
    assert held.sentence.startswith("Weakest at 0.000 s, on left:")
    assert len(held.rows()) == 1
    assert held.rows()[0]["limit"] == "left tips"


def test_flight_and_missing_phases_are_not_judged():
    time = np.linspace(0, 1, 11)
    needed = point_mass_wrench(time, np.tile([0, 0, 0.9], (11, 1)), np.zeros((11, 3)), mass=60)
    stance = Stance((sole_contact("left", (0, 0, 0), **FOOT),), 1000)
    judged = evaluate(
        needed, [SupportPhase(stance, 0, 0.35), SupportPhase(None, 0.35, 0.65, "flight")]
    )
    assert judged.evaluated.tolist() == [True] * 4 + [False] * 7
    with pytest.raises(ModelError, match="no stance holds between 0 and 1 s"):
        evaluate(needed, [SupportPhase(stance, 5, 6)])
    with pytest.raises(ModelError, match="before phase"):
        evaluate(needed, [SupportPhase(stance, 0, 0.5, "a"), SupportPhase(stance, 0.4, 1, "b")])
    with pytest.raises(ModelError, match="not after"):
        SupportPhase(stance, 1, 1)


def test_the_classical_criteria_agree_where_they_should():
    """At rest on level ground CoM, ZMP, CMP, FRI and XCoM are one point, and all say the same."""
    stance = Stance(
        (sole_contact("left", (0, 0.1, 0), **FOOT), sole_contact("right", (0, -0.1, 0), **FOOT))
    )
    rng = np.random.default_rng(0)
    com = rng.uniform(-0.25, 0.25, (60, 3)) + np.array([0, 0, 0.9])
    still = point_mass_wrench(
        np.arange(60.0), com, np.zeros((60, 3)), mass=60, velocity=np.zeros((60, 3))
    )
    told = classical_criteria(still, stance)
    for name in ("zmp", "cmp", "fri", "xcom"):
        assert getattr(told, name) == pytest.approx(told.com_projection, abs=1e-9)
    assert ((told.cwc >= 0) == (told.com_projection >= 0)).all()
    assert 5 < (told.cwc >= 0).sum() < 55


def test_each_criterion_misses_what_it_does_not_know():
    stance = Stance((sole_contact("foot", (0, 0, 0), length=0.28, width=0.12, friction=0.2),), 700)
    com, time = np.array([[0.0, 0.0, 0.3]]), np.zeros(1)
    slipping = point_mass_wrench(
        time, com, np.array([[3.0, 0, 0]]), mass=60, velocity=np.zeros((1, 3))
    )
    told = classical_criteria(slipping, stance)
    # The ZMP does not know friction; the wrench cone does.
    assert told.zmp[0] > 0
    assert told.cwc[0] < 0
    heavy = point_mass_wrench(
        time, com, np.array([[0, 0, 3.0]]), mass=60, velocity=np.zeros((1, 3))
    )
    told = classical_criteria(heavy, stance)
    # The cone does not know that the support gives 700 N at most.
    assert told.cwc[0] > 0
    assert evaluate(heavy, [SupportPhase(stance, 0, 1)]).wrench[0] < 0
    moving = point_mass_wrench(
        time, com, np.zeros((1, 3)), mass=60, velocity=np.array([[1.5, 0, 0]])
    )
    told = classical_criteria(moving, stance)
    assert told.zmp[0] > 0 > told.xcom[0]
    turning = replace(moving, moment=moving.moment + np.array([0, 20.0, 0]), kind="whole body")
    told = classical_criteria(turning, stance)
    # The moment pivot stays under the centre of mass, the ZMP moves by moment over weight.
    assert told.cmp_position[0] == pytest.approx([0, 0])
    assert told.zmp_position[0] == pytest.approx([-20 / (60 * 9.81), 0])
    foot = (np.array([[10.0, 0, 0]]), np.zeros((1, 3)))
    assert classical_criteria(turning, stance, foot=foot).fri[0] == pytest.approx(told.zmp[0])


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
    told = [(p.supports, round(p.start, 2)) for p in phases]
    assert [t[0] for t in told] == [
        ("left", "right"),
        ("right",),
        ("left", "right"),
        ("left", "right", "HAND"),
    ]
    assert told[1][1] == pytest.approx(1.0, abs=0.02)
    assert told[2][1] == pytest.approx(1.6, abs=0.02)
    assert told[3][1] == pytest.approx(2.0, abs=0.02)
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
    told = [p.supports for p in phases if p.start > 0.05][:7]
    assert told == [("left",), (), ("right",), (), ("left",), (), ("right",)]
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
    judged = evaluate(need, phases)
    inner = judged.evaluated & (since > 0.03) & (since < 0.17)
    assert inner.sum() > 80
    assert (judged.wrench[inner] > 20).all()
    assert np.isnan(judged.wrench[~judged.evaluated]).all()


def test_up_is_read_off_the_model(walk):
    motion, _ = walk
    assert world_axes(motion.model)[2] == pytest.approx([0, 1, 0])
    for phase in detect_contacts(motion)[:2]:
        assert phase.stance.patches[0].normal == pytest.approx([0, 1, 0])
