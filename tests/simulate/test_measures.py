"""Measures against the same numbers from recorded simulations."""

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.model import Assembly, joints, rod
from homodyn.simulate import (
    PD,
    BatchSimulator,
    Count,
    FirstTime,
    Integral,
    Maximum,
    Mean,
    Measure,
    Minimum,
    SimulationOptions,
    SimulationStatus,
    StandardDeviation,
    StateEvent,
    rollout,
    run,
)

STEP_S = 2e-3
DURATION_S = 1.0


@pytest.fixture(scope="module")
def arm():
    return (
        Assembly("arm")
        .add(rod("upper", 2, (0, 0, 0), (0, 0, -0.4)), joints.revolute("y"))
        .add(
            rod("lower", 1, (0, 0, 0), (0, 0, -0.4)), joints.revolute("y"), "upper", at=(0, 0, -0.4)
        )
        .model()
    )


SERVO = PD(kp=40.0, kd=2.0, target=[0.5, -0.8], stable=True)
MEASURES = {
    "work": Integral(lambda step: ca.sum1(step.power)),
    "effort": Integral(lambda step: step.torque**2, start=0.3, end=0.8),
    "low": Minimum(lambda step: step.q),
    "high late": Maximum(lambda step: step.v[0], start="settled"),
    "speed": Mean(lambda step: step.v, start=0.5),
    "steadiness": StandardDeviation(lambda step: step.v, start=0.5),
    "raised": Integral(lambda step: step.q[0] > 0.5),
    "swings": Count(lambda step: step.v[0] > 0),
    "first": FirstTime(lambda step: step.q[0] > 0.3),
    "never": FirstTime(lambda step: step.q[0] > 100),
    "upper power": Integral(lambda step: step.power[0], during=lambda step: step.power[0] > 0),
    "weight": Maximum(lambda step: step.batch["load"] * step.t),
}


@pytest.fixture(scope="module")
def recorded(arm):
    """A run, and what its measures are from the records."""
    result = run(
        arm,
        [0.0, 0.0],
        duration=DURATION_S,
        dt=STEP_S,
        contact=None,
        actuation=SERVO,
        measures=MEASURES,
        signals={"load": lambda t, q, v, batch: 3.0 + q[1]},
        batch_parameters={"settled": 0.4},
        compiled=True,
    )
    t, q, v = result.time[:-1], result.q[:-1], result.v[:-1]
    tau = result.torques[:-1]
    power = tau * (v + result.v[1:]) / 2
    h, middle = STEP_S, t + STEP_S / 2
    window = (middle > 0.3) & (middle < 0.8)
    late = middle > 0.5
    rising = lambda c: np.count_nonzero(c[1:] & ~c[:-1])  # noqa: E731
    return result, {
        "work": h * power.sum(),
        "effort": h * (tau[window] ** 2).sum(axis=0),
        "low": q.min(axis=0),
        "high late": v[middle > 0.4, 0].max(),
        "speed": v[late].mean(axis=0),
        "steadiness": v[late].std(axis=0),
        "raised": h * np.count_nonzero(q[:, 0] > 0.5),
        "swings": rising(v[:, 0] > 0),
        "first": t[np.flatnonzero(q[:, 0] > 0.3)[0]],
        "never": np.inf,
        "upper power": h * power[power[:, 0] > 0, 0].sum(),
        "weight": (t * (3.0 + q[:, 1])).max(),
    }


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_is_that_of_the_records(recorded, name):
    result, expected = recorded
    assert np.shape(result.measures[name]) == np.shape(expected[name])
    assert np.allclose(result.measures[name], expected[name], rtol=1e-10, atol=1e-12)


def test_the_integral_of_power_is_the_work_in_the_energy_balance(recorded):
    result, _ = recorded
    assert result.measures["work"] == pytest.approx(result.energy.actuators[-1], rel=1e-12)


def test_measures_of_a_batch_are_those_of_single_runs_for_any_size(arm, recorded):
    result, _ = recorded
    options = SimulationOptions(
        measures=MEASURES,
        signals={"load": lambda t, q, v, batch: 3.0 + q[1]},
        batch_parameters={"settled": 0.4},
    )
    simulator = BatchSimulator(arm, contact=None, actuation=SERVO, options=options)
    q = np.column_stack([np.linspace(0, 1, 21), np.zeros(21)])
    whole = simulator(q, None, DURATION_S, STEP_S, threads=2)
    part = simulator(q[:5], None, DURATION_S, STEP_S, threads=1)
    single = simulator(q[7], None, DURATION_S, STEP_S)
    for name in MEASURES:
        # The kernel of a run has more outputs, and rounds sums of products differently.
        assert np.allclose(whole.measures[name][0], result.measures[name], rtol=1e-13)
        assert np.array_equal(whole.measures[name][:5], part.measures[name])
        assert np.array_equal(whole.measures[name][7], single.measures[name][0])
    changed = simulator(q, None, DURATION_S, STEP_S, batch_parameters={"settled": np.full(21, 0.9)})
    assert np.any(changed.measures["high late"] < whole.measures["high late"])


def test_measures_stop_where_a_simulation_ends_or_fails(arm):
    fallen = StateEvent("raised", lambda t, q, v, batch: q[0] - 0.3, "rising", action="end")
    torque = lambda t, q, v, batch: ca.vertcat(ca.if_else(t > 0.5, batch["push"], 0.0), 0)  # noqa: E731
    result = rollout(
        arm,
        [0.0, 0.0],
        duration=1.0,
        dt=STEP_S,
        contact=None,
        actuation=torque,
        events=[fallen],
        measures={"time": Integral(lambda step: 1.0), "high": Maximum(lambda step: step.q[0])},
        batch_parameters={"push": [0.0, 20.0, 1e9]},
    )
    finished, ended, failed = result.status
    assert finished == SimulationStatus.FINISHED.value
    assert ended == SimulationStatus.ENDED.value
    assert failed != SimulationStatus.FINISHED.value
    assert np.allclose(result.measures["time"], result.end_time)
    assert result.measures["time"][0] == pytest.approx(1.0)
    assert result.measures["time"][1] < 0.9
    assert result.measures["high"][1] < 0.3


def test_measures_see_contacts():
    model = hd.catalog.coman()
    q = hd.simulate.place_on_ground(model, model.neutral())
    shape = model.contacts[0].name
    body = model.contacts[0].body
    result = run(
        model,
        q,
        duration=0.05,
        dt=1e-3,
        measures={
            "total": Integral(lambda step: step.total_force),
            "foot": Integral(lambda step: step.force(shape)),
            "body": Integral(lambda step: step.force(body)),
            "depth": Minimum(lambda step: step.distance(shape)),
        },
    )
    own = [k for k, name in enumerate(result.contact_names) if name.split(" on ")[0] == shape]
    bodies = {c.name: c.body for c in model.contacts}
    same = [k for k, n in enumerate(result.contact_names) if bodies[n.split(" on ")[0]] == body]
    forces = result.forces[:-1]
    assert np.allclose(result.measures["total"], 1e-3 * forces.sum(axis=(0, 1)))
    assert np.allclose(result.measures["foot"], 1e-3 * forces[:, own].sum(axis=(0, 1)))
    assert np.allclose(result.measures["body"], 1e-3 * forces[:, same].sum(axis=(0, 1)))
    assert result.measures["depth"] == pytest.approx(result.distances[:-1, own].min())


def test_runs_with_located_events_have_measures_too(arm):
    log = StateEvent("raised", lambda t, q, v, batch: q[0] - 0.3)
    result = run(
        arm,
        [0.0, 0.0],
        duration=DURATION_S,
        dt=STEP_S,
        contact=None,
        actuation=SERVO,
        events=[log],
        measures={"time": Integral(lambda step: 1.0), "work": MEASURES["work"]},
    )
    assert result.events
    assert result.measures["time"] == pytest.approx(DURATION_S)
    assert result.measures["work"] == pytest.approx(result.energy.actuators[-1], rel=1e-9)


def test_own_measures_derive_from_measure(arm):
    @dataclass(frozen=True)
    class Last(Measure):
        def initial(self, step):
            return ca.SX.zeros(1)

        def accumulate(self, step, memory):
            return step.next_q[0]

    result = rollout(arm, [0.2, 0.0], duration=0.1, contact=None, measures={"last": Last()})
    assert result.measures["last"][0] == result.q[0, 0]


def test_what_is_no_measure_is_refused(arm):
    with pytest.raises(hd.ModelError, match="measure 'work' is no Measure such as Integral"):
        run(arm, [0.0, 0.0], measures={"work": lambda step: step.power})
    with pytest.raises(hd.ModelError, match="no steps of fixed length"):
        run(
            arm,
            [0.0, 0.0],
            contact=None,
            integrator="dormand_prince",
            measures={"time": Integral(lambda step: 1.0)},
        )
    with pytest.raises(hd.ModelError, match="no steps of fixed length and takes no measures"):
        run(
            arm,
            [0.0, 0.0],
            contact="event_driven",
            measures={"time": Integral(lambda step: 1.0)},
        )


def test_a_maximum_with_a_window_keeps_the_records(arm):
    """The memory of a maximum is infinite before its window; the records are complete."""
    result = run(
        arm,
        [0.0, 0.0],
        duration=0.1,
        dt=STEP_S,
        contact=None,
        actuation=SERVO,
        measures={"high": Maximum(lambda step: step.q[0], start=0.05)},
        signals={"load": lambda t, q, v, batch: q[1]},
    )
    assert len(result.time) == round(0.1 / STEP_S) + 1
    assert result.measures["high"] == pytest.approx(result.q[:-1, 0].max())
