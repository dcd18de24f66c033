"""Events that change the state inside kernels, against runs whose events are located."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.model import Assembly, joints, sphere
from homodyn.simulate import Count, StateEvent, rollout, run


@pytest.fixture(scope="module")
def ball():
    return Assembly("ball").add(sphere("ball", mass=1.0, radius=0.1), joints.prismatic("z")).model()


def bounce(t, q, v, batch):
    return {"v": -0.8 * v, "bounces": batch["bounces"] + 1}


GROUND = StateEvent("ground", lambda t, q, v, batch: q[0] - 0.1, "falling", 1e-9, bounce)


def test_a_bounce_in_a_rollout_converges_to_the_located_one(ball):
    located = run(
        ball,
        [0.4],
        duration=0.75,
        contact=None,
        integrator="rk4",
        events=[GROUND],
        batch_parameters={"bounces": 0.0},
    )
    assert len(located.events) == 2
    errors = []
    for step in (1e-3, 1e-4):
        result = rollout(
            ball,
            [0.4],
            duration=0.75,
            dt=step,
            contact=None,
            events=[GROUND],
            batch_parameters={"bounces": 0.0},
            signals={"count": lambda t, q, v, batch: batch["bounces"]},
            recorded_quantities=("signals", "energy", "q"),
        )
        errors.append(abs(result.q[0, 0] - located.q[-1, 0]))
        count = result.records["signals"]["count"][0]
        assert count[0] == 0
        assert count[-1] == len(located.events)
        energy = result.records["energy"]
        change = (energy.kinetic + energy.potential)[0]
        books = change[0] + energy.events[0] + energy.error[0]
        assert np.allclose(change, books, atol=1e-9)
        assert energy.events[0, -1] == pytest.approx(located.energy.events[-1], rel=0.05)
        assert np.abs(energy.error).max() < 50 * step
    assert errors[1] < 0.3 * errors[0]
    assert errors[1] < 1e-3


def test_every_element_has_its_own_events(ball):
    heights = np.linspace(0.15, 1.0, 13)[:, None]
    measures = {"hits": Count(lambda step: step.batch["bounces"] > 0)}

    def simulate(q, threads):
        return rollout(
            ball,
            q,
            duration=0.3,
            contact=None,
            events=[GROUND],
            batch_parameters={"bounces": 0.0},
            measures=measures,
            threads=threads,
        )

    whole, part = simulate(heights, 2), simulate(heights[4:6], 1)
    assert np.array_equal(whole.q[4:6], part.q)
    reached = np.sqrt(2 * (heights[:, 0] - 0.1) / 9.81) < 0.299
    assert 0 < reached.sum() < 13
    assert np.array_equal(whole.measures["hits"] > 0, reached)


def test_ends_and_changes_work_together(ball):
    stop = StateEvent("top", lambda t, q, v, batch: v[0], "falling", action="end")
    result = rollout(
        ball,
        [0.4],
        [-0.01],
        duration=1.0,
        contact=None,
        events=[GROUND, stop],
        batch_parameters={"bounces": 0.0},
    )
    fall = np.sqrt(2 * 0.3 / 9.81)
    assert result.end_time[0] == pytest.approx(1.8 * fall, abs=0.01)


def test_actions_that_cannot_be_traced_are_refused(ball):
    def simulate(action):
        event = StateEvent("ground", lambda t, q, v, batch: q[0], action=action)
        rollout(ball, [0.4], contact=None, events=[event], batch_parameters={"gain": 0.0})

    with pytest.raises(hd.ModelError, match="cannot be traced"):
        simulate(lambda t, q, v, batch: {"v": [-float(v[0])]})
    with pytest.raises(hd.HomodynError, match="branches on the value"):
        simulate(lambda t, q, v, batch: {"v": -v if v[0] < 0 else v})
    with pytest.raises(hd.ModelError, match="changes 'mode'; it may change q, v and batch"):
        simulate(lambda t, q, v, batch: {"mode": 1.0})
    with pytest.raises(hd.ModelError, match="shape"):
        simulate(lambda t, q, v, batch: {"v": ca.vertcat(v, v)})
    with pytest.raises(hd.ModelError, match="Count occurrences by a measure"):
        simulate("log")
