"""Stimulated muscles in simulations: V27, an event-driven simulation as oracle, energy."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.muscle.stimulation import CommandSignal, ImpulseTrain
from homodyn.simulate import (
    EventDrivenContact,
    StimulatedMuscles,
    rollout,
    run,
    stimulation_record,
)
from homodyn.simulate.muscle_actuation import ENERGY_STATES
from homodyn.simulate.signals import ImpulseSchedule, StimulationControl
from support import stimulated_knee

PERIOD_S = 0.03
OPTIONS = {"contact": None, "joint_limits": None, "compiled": False}
EXACT = {**OPTIONS, "integrator": "dormand_prince", "dt": 0.002}
INERTIA = 4.0 * (0.1**2 + 0.4**2) / 12 + 4.0 * 0.2**2


@pytest.fixture(scope="module")
def knee():
    return stimulated_knee.build()


def pd_law(t, q, speed):
    """Charges of a controller that lifts the lower leg to 0.4 rad."""
    drive = 0.9 * (q - 0.4) + 0.1 * speed
    return [min(max(drive, 0.0), 1.0), min(max(-drive, 0.0), 1.0)]


def traced_law(t, q, v, batch):
    drive = 0.9 * (q[0] - 0.4) + 0.1 * v[0]
    return hd.spatial.stack(drive, -drive)


def test_open_loop_agrees_with_an_event_driven_simulation(knee):
    train = ImpulseTrain.periodic([0.7, 0.2], PERIOD_S, 0.3)
    for ramp in (True, False):
        command = CommandSignal(profile="ramp" if ramp else "step")
        actuation = StimulatedMuscles(train, command)
        result = run(knee, [1.4], duration=0.3, actuation=actuation, tolerance=1e-12, **EXACT)
        slow = stimulated_knee.EventDrivenKnee(
            lambda t, q, v: [0.7, 0.2], PERIOD_S, ramp, inertia=INERTIA
        ).run(1.4, 0.3)
        assert result.q[-1, 0] == pytest.approx(slow[0], abs=1e-5)
        states = result.actuator_states
        for k, name in enumerate(("quadriceps", "hamstrings")):
            for j, state in enumerate(("stiffness", "force")):
                value = states[f"knee_{name} contractile {state}"][-1]
                assert value == pytest.approx(slow[2 + 2 * j + k], rel=1e-4, abs=5e-3)
    assert abs(result.q[-1, 0] - 1.4) > 0.2


def test_a_stimulated_knee_reaches_its_stop_from_event_to_event():
    """The time of the touch is where the slow simulation reaches the stop."""
    knee = stimulated_knee.build(limited=True)
    actuation = StimulatedMuscles(ImpulseTrain.periodic([1.0, 0.0], PERIOD_S, 0.6))
    law = EventDrivenContact(tolerance=1e-12)
    result = run(knee, [1.4], duration=0.5, dt=0.05, actuation=actuation, contact=law)
    touches = [event for event in result.events if event.name == "knee limit touch"]
    slow = stimulated_knee.EventDrivenKnee(lambda t, q, v: [1.0, 0.0], PERIOD_S, inertia=INERTIA)
    state = slow.run(1.4, touches[0].time)
    assert state[0] == pytest.approx(0.0, abs=1e-7)
    assert state[1] == pytest.approx(touches[0].v[0], abs=1e-6)
    assert touches[0].value == pytest.approx(-INERTIA * state[1], rel=1e-5)
    assert np.abs(result.q[result.time > touches[0].time]).max() < 1e-6
    assert np.abs(result.energy.error).max() < 1e-6


def test_a_controller_with_a_queue_agrees_with_an_event_driven_simulation(knee):
    slow = stimulated_knee.EventDrivenKnee(pd_law, PERIOD_S, inertia=INERTIA).run(1.4, 0.39)
    signals = {"stimulator": StimulationControl(traced_law, PERIOD_S)}
    actuation = StimulatedMuscles("stimulator")
    options = {**OPTIONS, "duration": 0.39, "actuation": actuation, "signals": signals}
    exact = run(knee, [1.4], dt=1e-3, integrator="rk4", **options)
    assert exact.q[-1, 0] == pytest.approx(slow[0], abs=1e-7)
    errors = [abs(run(knee, [1.4], dt=dt, **options).q[-1, 0] - slow[0]) for dt in (1e-3, 2.5e-4)]
    assert errors[1] < 0.3 * errors[0] < 0.01


def test_scheduled_impulses_are_exact_with_stages(knee):
    train = ImpulseTrain.periodic([0.7, 0.2], PERIOD_S, 0.3)
    slow = stimulated_knee.EventDrivenKnee(lambda t, q, v: [0.7, 0.2], PERIOD_S, inertia=INERTIA)
    result = run(
        knee, [1.4], duration=0.3, dt=1e-3, integrator="rk4",
        actuation=StimulatedMuscles("train"), signals={"train": ImpulseSchedule(train)}, **OPTIONS,
    )  # fmt: skip
    assert result.q[-1, 0] == pytest.approx(slow.run(1.4, 0.3)[0], abs=1e-7)


def test_a_rollout_takes_the_same_steps(knee):
    def law(t, q, v, batch):
        return hd.spatial.stack(batch["gain"] * q[0], 0.0)

    signals = {"stimulator": StimulationControl(law, PERIOD_S)}
    gains = np.array([0.2, 0.6])
    options = {"duration": 0.2, "dt": 1e-3, "contact": None, "signals": signals}
    actuation = StimulatedMuscles("stimulator")
    many = rollout(
        knee, [[1.4], [1.4]], actuation=actuation, batch_parameters={"gain": gains}, **options
    )
    for k, gain in enumerate(gains):
        one = run(knee, [1.4], actuation=actuation, batch_parameters={"gain": gain}, **options)
        np.testing.assert_allclose(many.q[k], one.q[-1], atol=1e-9)
    assert abs(many.q[0] - many.q[1]).max() > 1e-3


def test_v27_uniqueness_holds_along_a_run_and_energy_balances():
    spring = {"parallel_stiffness": 20.0, "parallel_exponent": 3.0}
    knee = stimulated_knee.build()
    muscles = [replace(m, settings={**m.settings, **spring}) for m in knee.muscles]
    knee = replace(knee, muscles=tuple(muscles))
    actuation = StimulatedMuscles(ImpulseTrain.periodic([1.0, 0.5], 0.025, 0.3))
    result = run(knee, [1.4], duration=0.3, actuation=actuation, **EXACT)
    history = stimulation_record(result, actuation)
    assert history.uniqueness_margins.min() > 0
    assert history.forces.max() > 100
    active, damping, parallel, series = (result.actuator_states[name] for name in ENERGY_STATES)
    work = result.energy.actuators
    assert np.abs(work).max() > 0.3
    np.testing.assert_allclose(active - damping - parallel - series, work, atol=1e-6)
    assert np.abs(result.energy.error).max() < 1e-6
    # The springs store what their formulas say.
    law = hd.muscle.stimulation.CalciumMuscle()
    lengths = hd.muscle.lengths(knee, result.q, "geodesic")
    for stored, energy in (
        (series, lambda m, k: law.series_energy(m, history.contractile_forces[:, k])),
        (parallel, lambda m, k: law.parallel_energy(m, law.strain(m, lengths[:, k]))),
    ):
        total = sum(np.asarray(energy(m, k)).ravel() for k, m in enumerate(knee.muscles))
        np.testing.assert_allclose(stored, total - total[0], atol=1e-5)


def test_records_show_phases_and_recruitment(knee):
    actuation = StimulatedMuscles(ImpulseTrain([0.01], [[1.0, 0.0]]))
    result = run(knee, [0.5], duration=0.12, dt=1e-3, actuation=actuation, **OPTIONS)
    history = stimulation_record(result, actuation)
    phases = history.phases[:, 0]
    changes = result.time[1:][np.diff(phases) != 0]
    np.testing.assert_allclose(changes, [0.06, 0.08, 0.09], atol=1e-9)
    assert set(phases) == {0, 1, 2}
    assert history.recruitment[:, 0].max() == pytest.approx(1)
    assert not history.phases[:, 1].any()
    assert np.abs(history.forces[:, 1]).max() < 1e-9
    assert "2 muscles" in history.headline()


def test_refusals(knee):
    with pytest.raises(hd.ModelError, match="charges for 1 muscles; model 'knee' has 2: knee_quad"):
        run(knee, [0.5], actuation=StimulatedMuscles(ImpulseTrain([0.0], [[1.0]])), **OPTIONS)
    train = ImpulseTrain([0.0], [[1.0, 0.0]])
    hill = replace(knee, muscles=(replace(knee.muscles[0], kind="Thelen2003Muscle"),))
    with pytest.raises(hd.ModelError, match="'knee_quadriceps' cannot be stimulated; muscles of"):
        run(hill, [0.5], actuation=StimulatedMuscles(train), **OPTIONS)
    with pytest.raises(hd.ModelError, match="has no muscles"):
        run(replace(knee, muscles=()), [0.5], actuation=StimulatedMuscles(train), **OPTIONS)
    with pytest.raises(hd.ModelError, match="no signal 'stimulator'"):
        run(knee, [0.5], actuation=StimulatedMuscles("stimulator"), **OPTIONS)
    still = run(knee, [0.5], duration=0.01, **OPTIONS)
    with pytest.raises(hd.ModelError, match="had no stimulated muscles"):
        stimulation_record(still, StimulatedMuscles(train))
