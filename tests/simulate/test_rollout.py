"""Rollouts: the same as single runs, whatever the batch, with their own numbers and ends."""

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
    SimulationOptions,
    SoftContact,
    StateEvent,
    TimeStepping,
    rollout,
    run,
)

LAWS = {
    "soft": SoftContact(bristle=True),
    "implicit": ImplicitSprings(iterations=1),
    "time_stepping": TimeStepping(sweeps=6),
}
each_law = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)

STEP, TIME, LANES = 1e-3, 0.1, 41
PATHS = ("mast.mass", "hinge.position.z", "hinge.stiffness", "front.position.x")
"""A mass, two lengths and a spring that differ between elements."""


def nodder():
    """A foot that slides and tips in a plane on two points, with a mast on a sprung hinge."""
    made = (
        Assembly("nodder")
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
        made = made.contact(name, "foot", "point", position=(x, 0.0, -0.05))
    return made.model()


def steered(t, q, v, batch):
    return ca.vertcat(ca.SX.zeros(3), -batch["gain"] * q[3] - 0.2 * v[3])


UPRIGHT = StateEvent("upright", lambda t, q, v, batch: q[3], action="end")


def nodding(kept=slice(None)):
    """Starts, bodies, gains and pushes of elements: masts at all angles, some near upright."""
    rng = np.random.default_rng(0)
    q = np.zeros((LANES, 4))
    q[:, 1], q[:, 3] = 0.05, rng.uniform(-0.3, 0.3, LANES)
    v = np.tile([0.2, 0.0, 0.0, 0.0], (LANES, 1))
    parameters = rng.uniform([0.5, 0.0, 10.0, 0.1], [3.0, 0.2, 80.0, 0.2], (LANES, 4))
    push = np.zeros((LANES, 2, 4))
    push[:, :, 3] = rng.uniform(-1, 1, (LANES, 1))
    return q[kept], v[kept], parameters[kept], rng.uniform(0, 50, LANES)[kept], push[kept]


def nodded(prepared_for, kept=slice(None), threads=None):
    q, v, parameters, gain, push = nodding(kept)
    prepared = prepared_for(push)
    return prepared(
        q, v, TIME, STEP, parameters=parameters, batch_parameters={"gain": gain}, threads=threads
    )


@pytest.fixture(scope="module", params=LAWS.values(), ids=LAWS)
def prepared_for(request):
    """Rollouts under one law with everything that elements can have of their own."""
    model = nodder().with_parameters(*PATHS)

    def made(push):
        return BatchSimulator(
            model,
            contact=request.param,
            actuation=(steered, SampledTorques([0.0, TIME], push)),
            options=SimulationOptions(
                events=[UPRIGHT],
                recorded_quantities=("q", "forces", "torques", "residual", "energy"),
                batch_parameters={"gain": 0.0},
            ),
        )

    made.law = request.param
    return made


def thrown(ball, elements, seed=0):
    rng = np.random.default_rng(seed)
    q = np.tile(ball.neutral(), (elements, 1))
    q[:, 2] = rng.uniform(0.12, 0.4, elements)
    return q, rng.normal(size=(elements, 6))


@each_law
def test_batch_elements_are_single_runs(ball, law):
    q, v = thrown(ball, 5)
    rolled = rollout(
        ball,
        q,
        v,
        0.5,
        contact=law,
        options=SimulationOptions(
            recorded_quantities=("q", "v", "forces", "energy"), record_interval=0.1
        ),
    )
    assert rolled.records["q"].shape == (5, 6, 7)
    for batch in range(5):
        alone = run(
            ball,
            q[batch],
            v[batch],
            0.5,
            contact=law,
            options=SimulationOptions(record_interval=0.1),
        )
        np.testing.assert_allclose(rolled.records["q"][batch], alone.q, atol=1e-9)
        np.testing.assert_allclose(rolled.records["v"][batch], alone.v, atol=1e-7)
        np.testing.assert_allclose(rolled.records["forces"][batch], alone.forces, atol=1e-4)
        np.testing.assert_allclose(
            rolled.records["energy"].error[batch], alone.energy.error, atol=1e-7
        )
    np.testing.assert_allclose(rolled.q, rolled.records["q"][:, -1], atol=0)


def test_bits_do_not_depend_on_batch_or_threads(prepared_for):
    one = nodded(prepared_for, threads=1)
    assert np.ptp(one.records["forces"][..., 2]) > 1.0
    again = [(slice(None), nodded(prepared_for, threads=threads)) for threads in (1, 2)]
    parts = (slice(0, 1), slice(7, 12), slice(33, 41), slice(40, 41))
    again += [(few, nodded(prepared_for, few)) for few in parts]
    for few, other in again:
        assert np.array_equal(other.q, one.q[few])
        assert np.array_equal(other.end_time, one.end_time[few])
        for name in ("q", "forces", "torques", "residual"):
            assert np.array_equal(other.records[name], one.records[name][few])


def test_batch_elements_have_their_own_bodies_controllers_and_ends(prepared_for):
    """An element is a run of a model built with its numbers: mass, spring, gain, push, end."""
    rolled = nodded(prepared_for)
    assert set(rolled.records) == {"q", "forces", "torques", "residual", "energy"}
    assert set(rolled.status) == {0, 1}
    books = rolled.records["energy"]
    q, v, parameters, gain, push = nodding()
    for batch in (int(np.argmax(rolled.status == 1)), *np.flatnonzero(rolled.status == 0)[:3]):
        alone = run(
            nodder().with_numbers(dict(zip(PATHS, parameters[batch], strict=True))),
            q[batch],
            v[batch],
            TIME,
            STEP,
            contact=prepared_for.law,
            actuation=(steered, SampledTorques([0.0, TIME], push[batch])),
            options=SimulationOptions(batch_parameters={"gain": gain[batch]}, events=[UPRIGHT]),
        )
        assert alone.status.value == rolled.status[batch]
        # A run lands on the event, a batch stops at the end of the step that met it.
        assert 0 <= rolled.end_time[batch] - alone.time[-1] < 1.01 * STEP
        same = len(alone.time) - 1
        np.testing.assert_allclose(rolled.records["q"][batch, :same], alone.q[:same], atol=1e-8)
        np.testing.assert_allclose(
            rolled.records["forces"][batch, :same], alone.forces[:same], atol=1e-3
        )
        np.testing.assert_allclose(
            rolled.records["torques"][batch, :same], alone.torques[:same], atol=1e-6
        )
        for ours, theirs in (
            (books.dissipated, alone.energy.dissipated),
            (books.error, alone.energy.error),
        ):
            np.testing.assert_allclose(ours[batch, :same], theirs[:same], atol=1e-6)
        rest = rolled.records["q"][batch, same + 1 :]
        assert rolled.status[batch] == 0 or np.array_equal(rest, np.tile(rest[0], (len(rest), 1)))


def test_lanes_have_their_own_masses_gains_and_torques():
    arm = (
        Assembly("arm").add(rod("arm", 1.0, (0, 0, 0), (0, 0, -1.0)), joints.revolute("y")).model()
    )
    model = arm.with_parameters("arm.mass")

    def control(t, q, v, batch):
        return -batch["gain"] * q - 0.1 * v

    mass, gain = np.array([1.0, 2.0, 3.0]), np.array([0.0, 5.0, 10.0])
    push = np.linspace(0, 1, 3)[:, None, None] * np.ones((3, 2, 1))
    rolled = rollout(
        model,
        [0.3],
        None,
        1.0,
        contact=None,
        actuation=(control, SampledTorques([0.0, 1.0], push)),
        options=SimulationOptions(parameters={"arm.mass": mass}, batch_parameters={"gain": gain}),
    )
    for batch in range(3):
        lone = run(
            model,
            [0.3],
            None,
            1.0,
            contact=None,
            actuation=(control, SampledTorques([0.0, 1.0], push[batch])),
            options=SimulationOptions(
                parameters={"arm.mass": mass[batch]}, batch_parameters={"gain": gain[batch]}
            ),
        )
        np.testing.assert_allclose(rolled.q[batch], lone.q[-1], atol=1e-10)
    assert len(np.unique(rolled.q)) == 3


def test_constants_of_laws_may_be_numbers_of_lanes(ball):
    q = ball.neutral()
    q[2] = 0.1
    k = np.array([1e3, 1e4, 5e4])
    rolled = rollout(
        ball,
        q,
        None,
        3.0,
        contact=SoftContact("k", 60.0),
        options=SimulationOptions(batch_parameters={"k": k}),
    )
    np.testing.assert_allclose(0.1 - rolled.q[:, 2], 9.81 / k, rtol=1e-3)


def test_lanes_end_on_their_own(ball):
    q, v = thrown(ball, 9)
    v[:] = 0
    fallen = StateEvent("fallen", lambda t, q, v, batch: q[2] - 0.1, "falling", action="end")
    rolled = rollout(
        ball,
        q,
        v,
        1.0,
        contact=None,
        options=SimulationOptions(events=[fallen], recorded_quantities=("q",), record_interval=0.1),
    )
    assert np.all(rolled.status == 1)
    expected = np.sqrt(2 * (q[:, 2] - 0.1) / 9.81)
    assert np.all(np.abs(rolled.end_time - expected) < 2e-3)
    np.testing.assert_allclose(rolled.records["q"][:, -1, 2], rolled.q[:, 2], atol=0)
    assert np.all(rolled.q[:, 2] > 0.09)
    assert "9 was ended by an event" in rolled.message


@each_law
def test_a_lane_that_breaks_leaves_the_others_alone(ball, law):
    q, v = thrown(ball, 8)
    wild = v.copy()
    wild[3, 4] = np.nan
    prepared = BatchSimulator(ball, contact=law)
    good = prepared(q, v, 0.2)
    mixed = prepared(q, wild, 0.2)
    assert mixed.status[3] == 2
    others = np.arange(8) != 3
    assert np.array_equal(mixed.q[others], good.q[others])
    assert np.all(mixed.status[others] == 0)


@each_law
def test_lanes_that_break_keep_what_was_known_and_no_lane_keeps_what_is_no_number(ball, law):
    q, v = thrown(ball, 5)
    push = np.zeros((5, 2, 6))
    push[2, 1, 0] = np.nan
    prepared = BatchSimulator(
        ball,
        contact=law,
        actuation=SampledTorques([0.0, 0.05], push, zero_order_hold=True),
        options=SimulationOptions(
            batch_parameters={"unused": 0.0},
            recorded_quantities=("q", "forces", "torques", "distances", "residual", "energy"),
        ),
    )
    rolled = prepared(q, v, 0.1, batch_parameters={"unused": np.array([0, 0, 0, np.nan, 0])})
    assert list(rolled.status) == [0, 0, 2, 2, 0]
    assert rolled.end_time[2] == pytest.approx(0.05, abs=2e-3)
    assert rolled.end_time[3] == 0
    assert "2 left the range of numbers" in rolled.message
    books = rolled.records.pop("energy")
    for array in (*rolled.records.values(), *vars(books).values()):
        assert np.isfinite(array).all()
    assert np.array_equal(rolled.records["q"][2, 51:], np.tile(rolled.q[2], (50, 1)))


def test_what_cannot_be_in_a_batch_is_refused(ball):
    q = ball.neutral()
    with pytest.raises(hd.ModelError, match="over symbols"):
        rollout(ball, q, actuation=Controller(lambda t, q, v: np.zeros(6), 0.1))
    with pytest.raises(hd.ModelError, match=r"at other times in each.*use 'time_stepping'"):
        rollout(ball, q, contact=EventDrivenContact())
    with pytest.raises(hd.ModelError, match="semi_implicit_euler"):
        rollout(ball, q, contact="time_stepping", options=SimulationOptions(integrator="rk4"))
    with pytest.raises(hd.ModelError, match="forces, distances"):
        rollout(ball, q, options=SimulationOptions(recorded_quantities=("sound",)))
    with pytest.raises(hd.ModelError, match="events end their simulation; log asks"):
        rollout(
            ball,
            q,
            options=SimulationOptions(events=[StateEvent("log", lambda t, q, v, batch: ca.SX(t))]),
        )
    with pytest.raises(hd.ModelError, match=r"\(batch, 7\)"):
        rollout(ball, np.zeros((3, 6)))
    with pytest.raises(hd.ModelError, match="length 0; it must be 1"):
        rollout(ball, np.zeros((3, 7)))


def test_a_biped_in_a_batch_is_the_biped_alone(on_the_ground):
    model = hd.catalog.coman()
    q = on_the_ground(model)
    elements = np.tile(q, (12, 1))
    elements[:, 1] += np.linspace(0, 0.02, 12)
    servo = PD(500.0, 20.0, stable=True, target=q)
    rolled = rollout(
        model,
        elements,
        None,
        0.3,
        contact="soft",
        actuation=servo,
        options=SimulationOptions(
            recorded_quantities=("forces", "torques", "energy", "distances"), record_interval=0.1
        ),
    )
    assert np.all(rolled.status == 0)
    for batch in (0, 11):
        alone = run(
            model,
            elements[batch],
            None,
            0.3,
            contact="soft",
            actuation=servo,
            options=SimulationOptions(record_interval=0.1),
        )
        np.testing.assert_allclose(rolled.records["forces"][batch], alone.forces, atol=1e-3)
        np.testing.assert_allclose(rolled.records["torques"][batch], alone.torques, atol=1e-3)
        np.testing.assert_allclose(rolled.records["distances"][batch], alone.distances, atol=1e-8)
        np.testing.assert_allclose(rolled.q[batch], alone.q[-1], atol=1e-8)
    assert np.abs(rolled.records["energy"].error).max() < 0.5
    kept = sum(rolled.records[name].nbytes for name in ("forces", "torques", "distances"))
    assert kept < rolled.nbytes < 2 * kept
