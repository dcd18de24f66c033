"""Simulations step by step have the bits of runs and rollouts, and take new inputs."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.model import Assembly, box, joints, rod, sphere
from homodyn.motion import PlaneObstacle
from homodyn.simulate import (
    PD,
    BodyForce,
    Controller,
    Integral,
    SampledTorques,
    SimulationOptions,
    SimulationStatus,
    StateEvent,
    rollout,
    run,
    start,
)
from homodyn.simulate.rows import MarkerSprings
from homodyn.simulate.signals import LowPass, PhaseVariable

STEPS = 120


@pytest.fixture(scope="module")
def robot():
    """A foot on two points in a plane, with a mast on a motor."""
    assembly = (
        Assembly("foot with mast")
        .add(box("rail", 0.1, (0.1, 0.1, 0.1)), joints.prismatic("x"))
        .add(box("lift", 0.1, (0.1, 0.1, 0.1)), joints.prismatic("z"), "rail")
        .add(box("foot", 2.0, (0.3, 0.2, 0.1)), joints.revolute("y"), "lift")
        .add(rod("mast", 1.0, (0, 0, 0), (0, 0, 0.4)), joints.revolute("y"), "foot")
        .contact("back", "foot", "point", position=(-0.1, 0.0, -0.05))
        .contact("front", "foot", "point", position=(0.15, 0.0, -0.05))
    )
    return assembly.model(), np.array([0.0, 0.06, 0.02, 0.1])


def simulation_options(model):
    return {
        "actuation": PD(kp="stiffness", kd=3.0, stable=True),
        "options": SimulationOptions(
            signals={
                "phase": PhaseVariable(2.0),
                "stiffness": lambda t, q, v, batch: 150 + 50 * batch["phase"] * batch["gain"],
                "slow": LowPass(lambda t, q, v, batch: q[2], 0.05),
            },
            batch_parameters={"gain": 1.0},
            measures={"work": Integral(lambda step: ca.sum1(step.power))},
            external_forces=[
                BodyForce(model.body_names[0], ("gain", 0, 0), start=0.03, duration=0.02)
            ],
        ),
    }


@pytest.mark.parametrize("law", ["soft", "implicit", "time_stepping"])
def test_steps_have_the_bits_of_a_run(robot, law):
    model, q = robot
    given = simulation_options(model)
    dt = 1.1e-3
    whole = run(model, q, duration=STEPS * dt, dt=dt, contact=law, compiled=True, **given)
    simulation = start(model, q, dt=dt, contact=law, **given)
    for k in range(STEPS):
        assert np.array_equal(simulation.q, whole.q[k])
        simulation.step()
        assert np.array_equal(simulation.quantities["forces"], whole.forces[k])
        assert np.array_equal(simulation.quantities["torques"], whole.torques[k])
    assert np.array_equal(simulation.q, whole.q[-1])
    assert np.array_equal(simulation.v, whole.v[-1])
    assert simulation.measures["work"] == whole.measures["work"]
    assert simulation.status is SimulationStatus.FINISHED


def test_a_batch_has_the_bits_of_a_rollout(robot):
    model, q = robot
    given = simulation_options(model)
    elements = np.tile(q, (11, 1))
    elements[:, 1] += np.linspace(0, 0.02, 11)
    whole = rollout(model, elements, duration=0.1, dt=1e-3, **given)
    for threads in (1, 2):
        simulation = start(model, elements, dt=1e-3, threads=threads, **given)
        for steps in (1, 1, 8, 90):
            simulation.step(steps=steps)
        assert np.array_equal(simulation.q, whole.q)
        assert np.array_equal(simulation.measures["work"], whole.measures["work"])
        assert simulation.batch_size == 11
        assert simulation.running.all()


def test_torques_and_batch_parameters_change_between_steps():
    arm = Assembly("arm").add(rod("rod", 1, (0, 0, 0), (0, 0, -1)), joints.revolute("y")).model()
    rng = np.random.default_rng(0)
    torques = rng.normal(size=(50, 1))
    whole = run(
        arm,
        [0.2],
        duration=0.05,
        contact=None,
        actuation=SampledTorques(1e-3 * np.arange(50), torques, zero_order_hold=True),
        compiled=True,
    )
    simulation = start(arm, [0.2], contact=None)
    for torque in torques:
        simulation.step(torque)
    assert np.array_equal(simulation.q, whole.q[-1])
    servo = start(
        arm,
        [0.0],
        contact=None,
        actuation=PD(kp=200.0, kd=20.0, target={"rod": "aim"}, stable=True),
        batch_parameters={"aim": 0.0},
        options=SimulationOptions(joint_limits=None),
    )
    for aim in (0.3, -0.2):
        servo.step(steps=3000, aim=aim)
        assert servo.q[0] == pytest.approx(aim, abs=0.02)
    assert float(servo.time) == pytest.approx(6.0)


def test_a_saved_state_continues_to_the_bit(robot):
    model, q = robot
    simulation = start(model, q, **simulation_options(model))
    simulation.step(steps=20)
    state = simulation.save()
    simulation.step(steps=30, gain=2.0)
    first = simulation.q.copy()
    simulation.restore(state)
    simulation.step(steps=30, gain=2.0)
    assert np.array_equal(simulation.q, first)


def test_elements_start_again(robot):
    model, q = robot
    given = simulation_options(model)
    simulation = start(model, np.tile(q, (5, 1)), **given)
    simulation.step(steps=40)
    simulation.reset(q, elements=[1, 3], gain=0.5)
    assert np.array_equal(simulation.time == 0, [False, True, False, True, False])
    simulation.step(steps=40)
    fresh = start(model, np.tile(q, (2, 1)), **given)
    fresh.step(steps=40, gain=0.5)
    assert np.array_equal(simulation.q[[1, 3]], fresh.q)
    assert np.array_equal(simulation.measures["work"][[1, 3]], fresh.measures["work"])
    assert not np.array_equal(simulation.q[0], simulation.q[1])
    simulation.reset_measures()
    assert not simulation.measures["work"].any()


def test_elements_that_end_or_fail_stay_as_they_are():
    arm = Assembly("arm").add(rod("rod", 1, (0, 0, 0), (0, 0, -1)), joints.revolute("y")).model()
    low = StateEvent("low", lambda t, q, v, batch: q[0] - 0.5, "falling", action="end")
    simulation = start(arm, [[1.0], [0.2], [0.2]], contact=None, events=[low])
    simulation.step([[0.0], [0.0], [np.nan]], steps=500)
    assert list(simulation.statuses) == [1, 0, 2]
    assert list(simulation.running) == [False, True, False]
    before = simulation.q.copy()
    simulation.step(np.zeros(1))
    assert np.array_equal(simulation.q == before, [[True], [False], [True]])
    simulation.reset([0.1], elements=simulation.statuses > 0)
    assert simulation.running.all()
    with pytest.raises(hd.ModelError, match="statuses"):
        _ = simulation.status


def test_wrong_inputs_are_refused(robot):
    model, q = robot
    simulation = start(model, q, **simulation_options(model))
    with pytest.raises(hd.ModelError, match="no batch parameter 'gian'"):
        simulation.step(gian=1.0)
    with pytest.raises(hd.ModelError, match="numbers are needed"):
        simulation.step([1.0, 2.0])
    with pytest.raises(hd.ModelError, match="numbers are needed, got shape"):
        simulation.reset(q[:-1])
    with pytest.raises(hd.ModelError, match="finite"):
        simulation.reset(q * np.nan)
    with pytest.raises(hd.ModelError, match="pass torques to step"):
        start(model, q, actuation=SampledTorques([0.0], np.zeros((1, model.nv))))
    with pytest.raises(hd.ModelError, match="Python controller"):
        start(model, q, actuation=Controller(lambda t, q, v: np.zeros(model.nv), 0.1))
    with pytest.raises(hd.ModelError, match="dt must be a positive number"):
        start(model, q, dt=0.0)
    with pytest.raises(hd.ModelError, match="a single q0 starts one simulation"):
        start(model, q, batch_parameters={"gain": [1.0, 2.0]})


# -- sampled targets of rows


def marker_tracks(times):
    """A marker of the ball that moves along x and is missing for a while."""
    positions = np.zeros((len(times), 1, 3))
    positions[:, 0, 0], positions[:, 0, 2] = 0.3 * np.sin(2 * times), 0.3
    positions[20:26] = np.nan
    return positions


@pytest.fixture(scope="module")
def ball():
    """A ball with a marker, near the ground, and its rows with all kinds of further inputs."""
    assembly = Assembly("ball").add(sphere("ball", 5.0, 0.1), joints.free())
    assembly = assembly.marker("mark", "ball", (0.02, 0, 0))
    model = assembly.contact("skin", "ball", "sphere", radius=0.1).model()
    q = model.neutral()
    q[2] = 0.1
    times = 1e-2 * np.arange(60)
    springs = MarkerSprings(["mark"], times, marker_tracks(times))
    options = {
        "scene": PlaneObstacle(surface_velocity=(0.1, 0.0, 0.0)),
        "rows": [springs],
        "signals": {"slow": LowPass(lambda t, q, v, batch: v[0], 0.05)},
        "batch_parameters": {"gain": 1.0},
        "measures": {"work": Integral(lambda step: ca.sum1(step.power))},
        "external_forces": [BodyForce("ball", ("gain", 0, 0), start=0.03, duration=0.02)],
    }
    return model, q, springs, options


@pytest.mark.parametrize("law", ["soft", "implicit", "time_stepping"])
def test_steps_with_marker_springs_have_the_bits_of_a_run(ball, law):
    model, q, springs, options = ball
    whole = run(model, q, duration=0.5, dt=1e-2, contact=law, compiled=True, **options)
    simulation = start(model, q, dt=1e-2, contact=law, **options)
    given = start(model, q, dt=1e-2, contact=law, **options)
    for k in range(50):
        simulation.step()
        given.step(targets=springs.sample(np.array([k, k + 1]) * 1e-2)[0])
        assert np.array_equal(simulation.q, whole.q[k + 1])
        assert np.array_equal(given.q, simulation.q)
    assert np.array_equal(given.v, simulation.v)
    assert np.abs(whole.constraint_forces).max() > 1.0
    assert simulation.status is whole.status is SimulationStatus.FINISHED


def test_targets_of_a_batch_differ_by_element_and_replace_the_sampled_ones(ball):
    model, q, _, options = ball
    simulation = start(model, np.tile(q, (2, 1)), dt=1e-2, **options)
    here, there = np.zeros((2, 7))
    here[[0, 2, 6]] = 0.02, 0.1, 1.0
    there[[0, 2, 6]] = 0.22, 0.1, 1.0
    simulation.step(steps=100, targets=np.stack([here, there]))
    assert simulation.q[1, 0] - simulation.q[0, 0] > 0.1
    alone = start(model, np.tile(q, (2, 1)), dt=1e-2, **options)
    alone.step(steps=100, targets=there)
    assert np.array_equal(alone.q[0], alone.q[1])
    assert np.array_equal(alone.q[1], simulation.q[1])


def test_wrong_targets_are_refused(ball, robot):
    model, q, _, options = ball
    simulation = start(model, np.tile(q, (2, 1)), dt=1e-2, **options)
    for shape in ((6,), (3, 7), (2, 1, 7)):
        with pytest.raises(hd.ModelError, match=r"\(7,\) or \(2, 7\) numbers are needed"):
            simulation.step(targets=np.zeros(shape))
    assert not simulation.time.any()
    model, q = robot
    with pytest.raises(hd.ModelError, match="no row of this simulation has sampled targets"):
        start(model, q).step(targets=np.zeros(7))
