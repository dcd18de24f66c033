"""Rollouts: equal to single runs for every batch size, with parameters and ends of each element."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.model import Assembly, box, joints, rod
from homodyn.simulate import (
    PD,
    BatchSimulator,
    Controller,
    EventDrivenContact,
    ImplicitSprings,
    SampledTorques,
    SoftContact,
    StateEvent,
    TimeStepping,
    place_on_ground,
    rollout,
    run,
)

LAWS = {
    "soft": SoftContact(bristle=True),
    "implicit": ImplicitSprings(),
    "time_stepping": TimeStepping(sweeps=6),
}
each_law = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)

STEP_S, DURATION_S, BATCH_SIZE = 1e-3, 0.1, 41
PATHS = ("mast.mass", "hinge.position.z", "hinge.stiffness", "front.position.x")
"""Parameters that differ between elements: a mass, two lengths and a stiffness."""


def foot_with_mast():
    """A foot on two points that slides and tips in a plane, and a mast on an elastic hinge."""
    assembly = (
        Assembly("foot with mast")
        .add(box("rail", 0.1, (0.1, 0.1, 0.1)), joints.prismatic("x"))
        .add(box("lift", 0.1, (0.1, 0.1, 0.1)), joints.prismatic("z"), "rail")
        .add(box("foot", 2.0, (0.3, 0.2, 0.1)), joints.revolute("y"), "lift")
        .add(
            rod("mast", 1.0, (0, 0, 0), (0, 0, 0.4)),
            joints.revolute("y", stiffness=40.0, damping=0.5, lower=-0.5, upper=0.5),
            "foot",
            at=(0.0, 0.0, 0.05),
            joint_name="hinge",
        )
    )
    for name, x in (("back", -0.1), ("front", 0.15)):
        assembly = assembly.contact(name, "foot", "point", position=(x, 0.0, -0.05))
    return assembly.model()


def mast_torque(t, q, v, batch):
    return ca.vertcat(ca.SX.zeros(3), -batch["gain"] * q[3] - 0.2 * v[3])


UPRIGHT = StateEvent("upright", lambda t, q, v, batch: q[3], action="end")


def batch_inputs(selected=slice(None)):
    """Initial states, parameters, gains and torques of elements; some masts are near upright."""
    rng = np.random.default_rng(0)
    q = np.zeros((BATCH_SIZE, 4))
    q[:, 1], q[:, 3] = 0.05, rng.uniform(-0.3, 0.3, BATCH_SIZE)
    v = np.tile([0.2, 0.0, 0.0, 0.0], (BATCH_SIZE, 1))
    parameters = rng.uniform([0.5, 0.0, 10.0, 0.1], [3.0, 0.2, 80.0, 0.2], (BATCH_SIZE, 4))
    torque = np.zeros((BATCH_SIZE, 2, 4))
    torque[:, :, 3] = rng.uniform(-1, 1, (BATCH_SIZE, 1))
    gain = rng.uniform(0, 50, BATCH_SIZE)
    return tuple(array[selected] for array in (q, v, parameters, gain, torque))


def simulate_batch(simulator_for, selected=slice(None), threads=None):
    q, v, parameters, gain, torque = batch_inputs(selected)
    return simulator_for(torque)(
        q,
        v,
        DURATION_S,
        STEP_S,
        parameters=parameters,
        batch_parameters={"gain": gain},
        threads=threads,
    )


@pytest.fixture(scope="module", params=LAWS.values(), ids=LAWS)
def simulator_for(request):
    """Simulators under one law, with everything that can differ between elements."""
    model = foot_with_mast().with_parameters(*PATHS)

    def build(torque):
        return BatchSimulator(
            model,
            contact=request.param,
            actuation=(mast_torque, SampledTorques([0.0, DURATION_S], torque)),
            events=[UPRIGHT],
            recorded_quantities=("q", "forces", "torques", "residual", "energy"),
            batch_parameters={"gain": 0.0},
        )

    build.law = request.param
    return build


def thrown_balls(ball, elements, seed=0):
    rng = np.random.default_rng(seed)
    q = np.tile(ball.neutral(), (elements, 1))
    q[:, 2] = rng.uniform(0.12, 0.4, elements)
    return q, rng.normal(size=(elements, 6))


@each_law
def test_batch_elements_equal_single_runs(ball, law):
    q, v = thrown_balls(ball, 5)
    result = rollout(
        ball,
        q,
        v,
        0.5,
        contact=law,
        recorded_quantities=("q", "v", "forces", "energy"),
        record_interval=0.1,
    )
    assert result.records["q"].shape == (5, 6, 7)
    for element in range(5):
        single = run(ball, q[element], v[element], 0.5, contact=law, record_interval=0.1)
        np.testing.assert_allclose(result.records["q"][element], single.q, atol=1e-9)
        np.testing.assert_allclose(result.records["v"][element], single.v, atol=1e-7)
        np.testing.assert_allclose(result.records["forces"][element], single.forces, atol=1e-4)
        np.testing.assert_allclose(
            result.records["energy"].error[element], single.energy.error, atol=1e-7
        )
    np.testing.assert_allclose(result.q, result.records["q"][:, -1], atol=0)


def test_bits_do_not_depend_on_batch_or_threads(simulator_for):
    one = simulate_batch(simulator_for, threads=1)
    assert np.ptp(one.records["forces"][..., 2]) > 1.0
    others = [(slice(None), simulate_batch(simulator_for, threads=threads)) for threads in (1, 2)]
    parts = (slice(0, 1), slice(7, 12), slice(33, 41), slice(40, 41))
    others += [(few, simulate_batch(simulator_for, few)) for few in parts]
    for few, other in others:
        assert np.array_equal(other.q, one.q[few])
        assert np.array_equal(other.end_time, one.end_time[few])
        for name in ("q", "forces", "torques", "residual"):
            assert np.array_equal(other.records[name], one.records[name][few])


def test_batch_elements_have_their_own_parameters_controllers_and_ends(simulator_for):
    """An element equals a run of a model with its mass, stiffness, gain, torque and end."""
    result = simulate_batch(simulator_for)
    assert set(result.records) == {"q", "forces", "torques", "residual", "energy"}
    assert set(result.status) == {0, 1}
    energy = result.records["energy"]
    q, v, parameters, gain, torque = batch_inputs()
    for element in (int(np.argmax(result.status == 1)), *np.flatnonzero(result.status == 0)[:3]):
        single = run(
            foot_with_mast().with_numbers(dict(zip(PATHS, parameters[element], strict=True))),
            q[element],
            v[element],
            DURATION_S,
            STEP_S,
            contact=simulator_for.law,
            actuation=(mast_torque, SampledTorques([0.0, DURATION_S], torque[element])),
            batch_parameters={"gain": gain[element]},
            events=[UPRIGHT],
        )
        assert single.status.value == result.status[element]
        # A run ends at the event, a batch element at the end of the step of the event.
        assert 0 <= result.end_time[element] - single.time[-1] < 1.01 * STEP_S
        same = len(single.time) - 1
        np.testing.assert_allclose(result.records["q"][element, :same], single.q[:same], atol=1e-8)
        np.testing.assert_allclose(
            result.records["forces"][element, :same], single.forces[:same], atol=1e-3
        )
        np.testing.assert_allclose(
            result.records["torques"][element, :same], single.torques[:same], atol=1e-6
        )
        for ours, theirs in (
            (energy.dissipated, single.energy.dissipated),
            (energy.error, single.energy.error),
        ):
            np.testing.assert_allclose(ours[element, :same], theirs[:same], atol=1e-6)
        rest = result.records["q"][element, same + 1 :]
        assert result.status[element] == 0 or np.array_equal(rest, np.tile(rest[0], (len(rest), 1)))


def test_batch_elements_have_their_own_masses_gains_and_torques():
    arm = (
        Assembly("arm").add(rod("arm", 1.0, (0, 0, 0), (0, 0, -1.0)), joints.revolute("y")).model()
    )
    model = arm.with_parameters("arm.mass")

    def control(t, q, v, batch):
        return -batch["gain"] * q - 0.1 * v

    mass, gain = np.array([1.0, 2.0, 3.0]), np.array([0.0, 5.0, 10.0])
    torques = np.linspace(0, 1, 3)[:, None, None] * np.ones((3, 2, 1))
    result = rollout(
        model,
        [0.3],
        None,
        1.0,
        contact=None,
        actuation=(control, SampledTorques([0.0, 1.0], torques)),
        parameters={"arm.mass": mass},
        batch_parameters={"gain": gain},
    )
    for element in range(3):
        single = run(
            model,
            [0.3],
            None,
            1.0,
            contact=None,
            actuation=(control, SampledTorques([0.0, 1.0], torques[element])),
            parameters={"arm.mass": mass[element]},
            batch_parameters={"gain": gain[element]},
        )
        np.testing.assert_allclose(result.q[element], single.q[-1], atol=1e-10)
    assert len(np.unique(result.q)) == 3


def test_batch_elements_end_at_their_own_events(ball):
    q, v = thrown_balls(ball, 9)
    v[:] = 0
    fallen = StateEvent("fallen", lambda t, q, v, batch: q[2] - 0.1, "falling", action="end")
    result = rollout(
        ball,
        q,
        v,
        1.0,
        contact=None,
        events=[fallen],
        recorded_quantities=("q",),
        record_interval=0.1,
    )
    assert np.all(result.status == 1)
    expected = np.sqrt(2 * (q[:, 2] - 0.1) / 9.81)
    assert np.all(np.abs(result.end_time - expected) < 2e-3)
    np.testing.assert_allclose(result.records["q"][:, -1, 2], result.q[:, 2], atol=0)
    assert np.all(result.q[:, 2] > 0.09)
    assert "of 9 simulations 9 ended at an event" in result.message


@each_law
def test_a_failed_batch_element_does_not_change_the_others(ball, law):
    q, v = thrown_balls(ball, 8)
    invalid = v.copy()
    invalid[3, 4] = np.nan
    simulator = BatchSimulator(ball, contact=law)
    good = simulator(q, v, 0.2)
    mixed = simulator(q, invalid, 0.2)
    assert mixed.status[3] == 2
    others = np.arange(8) != 3
    assert np.array_equal(mixed.q[others], good.q[others])
    assert np.all(mixed.status[others] == 0)


@each_law
def test_failed_batch_elements_keep_their_last_finite_state(ball, law):
    q, v = thrown_balls(ball, 5)
    torque = np.zeros((5, 2, 6))
    torque[2, 1, 0] = np.nan
    simulator = BatchSimulator(
        ball,
        contact=law,
        actuation=SampledTorques([0.0, 0.05], torque, zero_order_hold=True),
        batch_parameters={"unused": 0.0},
        recorded_quantities=("q", "forces", "torques", "distances", "residual", "energy"),
    )
    result = simulator(q, v, 0.1, batch_parameters={"unused": np.array([0, 0, 0, np.nan, 0])})
    assert list(result.status) == [0, 0, 2, 2, 0]
    assert result.end_time[2] == pytest.approx(0.05, abs=2e-3)
    assert result.end_time[3] == 0
    assert "2 reached a state that is not finite" in result.message
    energy = result.records.pop("energy")
    for array in (*result.records.values(), *vars(energy).values()):
        assert np.isfinite(array).all()
    assert np.array_equal(result.records["q"][2, 51:], np.tile(result.q[2], (50, 1)))


def test_unsupported_rollouts_are_refused(ball):
    q = ball.neutral()
    with pytest.raises(hd.ModelError, match="over symbols"):
        rollout(ball, q, actuation=Controller(lambda t, q, v: np.zeros(6), 0.1))
    with pytest.raises(hd.ModelError, match=r"at different times in each.*use 'time_stepping'"):
        rollout(ball, q, contact=EventDrivenContact())
    with pytest.raises(hd.ModelError, match="semi_implicit_euler"):
        rollout(ball, q, contact="time_stepping", integrator="rk4")
    with pytest.raises(hd.ModelError, match="forces, distances"):
        rollout(ball, q, recorded_quantities=("sound",))
    with pytest.raises(
        hd.ModelError, match="in a rollout an event ends the simulation or changes its state"
    ):
        rollout(ball, q, events=[StateEvent("log", lambda t, q, v, batch: ca.SX(t))])
    with pytest.raises(hd.ModelError, match=r"\(batch, 7\)"):
        rollout(ball, np.zeros((3, 6)))
    with pytest.raises(hd.ModelError, match="length 0; it must be 1"):
        rollout(ball, np.zeros((3, 7)))


def test_a_biped_in_a_batch_equals_a_single_run():
    model = hd.catalog.coman()
    q = place_on_ground(model, model.neutral())
    elements = np.tile(q, (12, 1))
    elements[:, 1] += np.linspace(0, 0.02, 12)
    servo = PD(500.0, 20.0, stable=True, target=q)
    result = rollout(
        model,
        elements,
        None,
        0.3,
        contact="soft",
        actuation=servo,
        recorded_quantities=("forces", "torques", "energy", "distances"),
        record_interval=0.1,
    )
    assert np.all(result.status == 0)
    for element in (0, 11):
        single = run(
            model,
            elements[element],
            None,
            0.3,
            contact="soft",
            actuation=servo,
            record_interval=0.1,
        )
        np.testing.assert_allclose(result.records["forces"][element], single.forces, atol=1e-3)
        np.testing.assert_allclose(result.records["torques"][element], single.torques, atol=1e-3)
        np.testing.assert_allclose(
            result.records["distances"][element], single.distances, atol=1e-8
        )
        np.testing.assert_allclose(result.q[element], single.q[-1], atol=1e-8)
    assert np.abs(result.records["energy"].error).max() < 0.5
    recorded = sum(result.records[name].nbytes for name in ("forces", "torques", "distances"))
    assert recorded < result.nbytes < 2 * recorded
