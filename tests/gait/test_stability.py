from dataclasses import replace

import numpy as np
import pytest

from homodyn import CaptureError
from homodyn.dynamics import center_of_mass, center_of_mass_velocity, position
from homodyn.gait import find_events, margin_of_stability
from homodyn.gait.stability import stance_phases
from homodyn.motion import Motion
from support.walker import HIP, MODEL, TOE, Walker


def standing_still(frames=20, speed=0.0):
    q = np.tile(MODEL.neutral(), (frames, 1))
    v = np.zeros_like(q)
    v[:, 0] = speed
    return Motion(MODEL, np.arange(frames) / 100, q, v, 0 * q)


def test_standing_margins_are_the_distances_to_the_edges_of_the_feet():
    found = margin_of_stability(standing_still())
    com = center_of_mass(MODEL, MODEL.neutral())
    toes = position(MODEL, MODEL.neutral(), "HalluxLeft")
    outer = position(MODEL, MODEL.neutral(), "Meta5Left")
    heel = position(MODEL, MODEL.neutral(), "HeelLeft")
    assert found.xcom[0] == pytest.approx(com[:2])
    assert found.forward == pytest.approx(toes[0] - com[0])
    assert found.left == pytest.approx(outer[1] - com[1])
    assert found.right == pytest.approx(found.left)
    assert found.inside == pytest.approx(min(toes[0] - com[0], com[0] - heel[0]), abs=1e-6)
    assert found.inside[0] > 0


def test_speed_shifts_the_extrapolated_center_by_speed_over_omega():
    slow, quick = (margin_of_stability(standing_still(speed=s)) for s in (0.0, 0.3))
    omega = np.sqrt(9.81 / slow.pendulum_length)
    assert slow.omega0 == pytest.approx(omega)
    assert quick.forward == pytest.approx(slow.forward - 0.3 / omega)
    assert quick.left == pytest.approx(slow.left)
    ankle = position(MODEL, MODEL.neutral(), "FootLeft")
    com = center_of_mass(MODEL, MODEL.neutral())
    assert slow.pendulum_length == pytest.approx(np.linalg.norm(com - ankle))
    given = margin_of_stability(standing_still(speed=0.3), pendulum_length=1.0)
    assert given.omega0 == pytest.approx(np.sqrt(9.81))
    with pytest.raises(CaptureError, match="must be positive"):
        margin_of_stability(standing_still(), pendulum_length=0.0)


def test_margins_at_strike_are_those_of_the_striking_foot():
    walker = Walker()
    motion = walker.motion()
    found = margin_of_stability(motion, events=walker.events())
    time = walker.contact("right", 1)[0]
    frame = round((time - motion.time[0]) * walker.rate)
    q, v = motion.q[frame], motion.v[frame]
    xcom = center_of_mass(MODEL, q) + center_of_mass_velocity(MODEL, q, v) / found.omega0
    forward, sideways = found.at_strike("right", time)
    assert forward == pytest.approx(position(MODEL, q, "HalluxRight")[0] - xcom[0], abs=1e-6)
    assert sideways == pytest.approx(xcom[1] - position(MODEL, q, "Meta5Right")[1], abs=1e-6)
    assert sideways > -HIP[1] > 0


def test_the_base_is_one_foot_in_single_support_and_none_in_flight():
    walker = Walker()
    motion = walker.motion()
    found = margin_of_stability(motion, events=walker.events())
    strike, off = walker.contact("right", 1)
    swing = (motion.time > off + 0.02) & (motion.time < off + 0.3)
    # Only the left foot stands: its Hallux, the innermost point, is the border to the right.
    inner = position(MODEL, motion.q[swing], "HalluxLeft")[:, 1]
    flat = found.right[swing] < 0
    assert flat.any()
    assert found.right[swing][flat].max() < -inner.min() + 1e-6
    events = [e for e in walker.events() if e.time < strike]
    run = [replace(e, time=e.time - 0.4) if e.label == "Foot Off" else e for e in events]
    assert np.isnan(margin_of_stability(motion, events=run).forward).any()


def test_a_belt_counts_as_walking():
    walker = Walker()
    ground, belt = (
        margin_of_stability(w.motion(), events=walker.events())
        for w in (walker, walker.but(belt=True))
    )
    # The speed of the belt follows from the feet, to a few mm/s.
    assert belt.com_velocity[:, 0].mean() == pytest.approx(1.25, abs=0.01)
    assert belt.forward == pytest.approx(ground.forward, abs=0.01)


def test_feet_stand_from_strike_to_off():
    walker = Walker()
    time = walker.motion().time
    down = stance_phases(time, walker.events(), "right")
    phase = ((time - walker.first) / walker.period) % 1
    unsure = np.minimum(np.abs(phase - walker.stance), np.minimum(phase, 1 - phase)) < 1e-6
    assert (down == (phase < walker.stance))[~unsure].all()
    assert stance_phases(time, (), "left").all()
    assert TOE > 0
    assert find_events(walker.motion())
