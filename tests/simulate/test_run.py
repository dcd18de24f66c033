"""Runs: integrators, events, actuation, energy, faults."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.dynamics import Hinge
from homodyn.integrate import dense_output, dormand_prince_step
from homodyn.model import Assembly, box, joints, rod, sphere
from homodyn.simulate import (
    PD,
    ContactGeometry,
    Controller,
    EventDrivenContact,
    SampledTorques,
    SimulationOptions,
    SimulationStatus,
    SoftContact,
    StateEvent,
    TimeStepping,
    Torques,
    run,
)

ORDERS = {
    "explicit_euler": 1,
    "semi_implicit_euler": 1,
    "leapfrog": 2,
    "heun": 2,
    "rk4": 4,
    "implicit_midpoint": 2,
}


@pytest.mark.parametrize("integrator", ORDERS)
def test_integrators_have_their_order_with_quaternions_too(chain, integrator):
    rng = np.random.default_rng(0)
    q0 = chain.random(1)
    v0 = rng.normal(size=chain.nv)
    exact = run(
        chain,
        q0,
        v0,
        0.4,
        0.1,
        contact=None,
        options=SimulationOptions(joint_limits=None, integrator="dormand_prince", tolerance=1e-13),
    )
    errors = []
    for steps in (20, 40):
        end = run(
            chain,
            q0,
            v0,
            0.4,
            0.4 / steps,
            contact=None,
            options=SimulationOptions(joint_limits=None, integrator=integrator),
        )
        errors.append(np.linalg.norm(chain.difference(exact.q[-1], end.q[-1])))
        quaternions = [end.q[:, 3:7], end.q[:, 8:12]]
        for quaternion in quaternions:
            np.testing.assert_allclose(np.linalg.norm(quaternion, axis=1), 1, atol=1e-12)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(ORDERS[integrator], abs=0.3)


@pytest.mark.parametrize("tolerance", [1e-5, 1e-8, 1e-11])
def test_steps_that_adapt_keep_to_their_tolerance_within_them_too(tolerance):
    """A harmonic oscillator over one and a third of its periods, read where no step ends."""
    spring = joints.prismatic("x", stiffness=4 * np.pi**2)
    model = Assembly("oscillator").add(sphere("ball", 1.0, 0.1), spring).model()
    swung = run(
        model,
        [1.0],
        None,
        1.3,
        0.01,
        contact=None,
        options=SimulationOptions(integrator="dormand_prince", tolerance=tolerance),
    )
    off = np.abs(swung.q[:, 0] - np.cos(2 * np.pi * swung.time)).max()
    assert off < 5 * tolerance


def test_a_step_of_dormand_and_prince_has_order_five_and_four_within():
    """y' = y: errors of one step fall by 2^6, of what lies within by 2^5, as h is halved."""

    def errors(h):
        one = np.ones(1)
        step = dormand_prince_step(lambda t, y: y, 0.0, one, one, h)
        inside = dense_output(0.4, h, one, np.array(step.stages))
        return np.abs([step.y[0] - np.exp(h), inside[0] - np.exp(0.4 * h), step.error[0]])

    falls = np.log2(errors(0.2) / errors(0.1))
    np.testing.assert_allclose(falls, [6, 5, 5], atol=0.3)


def test_dense_output_lies_on_the_solution(pendulum):
    sparse = run(
        pendulum,
        [1.0],
        None,
        2.0,
        0.5,
        contact=None,
        options=SimulationOptions(integrator="dormand_prince", tolerance=1e-10),
    )
    fine = run(
        pendulum,
        [1.0],
        None,
        2.0,
        0.5,
        contact=None,
        options=SimulationOptions(integrator="dormand_prince", tolerance=1e-13),
    )
    np.testing.assert_allclose(sparse.q, fine.q, atol=1e-8)
    assert abs(sparse.energy.error[-1]) < 1e-7


def test_momentum_is_kept_in_flight(chain):
    q0, v0 = chain.random(3), np.random.default_rng(3).normal(size=chain.nv)
    flown = run(
        chain,
        q0,
        v0,
        0.5,
        0.05,
        contact=None,
        options=SimulationOptions(integrator="dormand_prince", tolerance=1e-14),
    )
    momentum = hd.dynamics.momentum(chain, flown.q, flown.v)
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-12)


def test_a_free_body_keeps_linear_momentum_in_every_step(ball):
    v0 = np.array([1.0, -2.0, 0.5, 3.0, -4.0, 9.0])
    still = ball.with_numbers({"gravity": np.zeros(3)})
    flown = run(still, still.neutral(), v0, 1.0, 1e-2, contact=None)
    momentum = hd.dynamics.momentum(still, flown.q, flown.v)
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-12)


def test_stiff_springs_stay_bounded_at_the_midpoint():
    model = (
        Assembly("stiff")
        .add(rod("rod", 1.0, (0, 0, 0), (0, 0, -1.0)), joints.revolute("y", stiffness=1e6))
        .model()
    )
    swung = run(
        model,
        [0.01],
        None,
        1.0,
        1e-2,
        contact=None,
        options=SimulationOptions(integrator="implicit_midpoint"),
    )
    assert swung.status is SimulationStatus.FINISHED
    assert np.abs(swung.q).max() < 0.0101
    assert np.abs(swung.energy.error).max() < 1e-3 * 1e6 * 0.01**2 / 2


def test_energy_is_accounted_for(block):
    """Work of actuators, contacts and dampers closes the books to what the method makes up."""
    q = block.neutral()
    q[2] = 0.15
    dropped = run(
        block,
        q,
        None,
        0.5,
        1e-4,
        contact=SoftContact(2e4, 100.0),
        options=SimulationOptions(integrator="rk4", record_interval=1e-2),
    )
    scale = 10 * 9.8 * 0.15
    assert np.abs(dropped.energy.error).max() < 1e-3 * scale
    assert dropped.energy.contacts[-1] < -0.2 * scale
    model = (
        Assembly("arm")
        .add(rod("upper", 1.0, (0, 0, 0), (0, 0, -0.5)), joints.revolute("y", damping=0.2))
        .add(
            rod("lower", 1.0, (0, 0, 0), (0, 0, -0.5)),
            joints.revolute("y", stiffness=3.0, rest=0.4),
            "upper",
            at=(0, 0, -0.5),
        )
        .model()
    )
    for integrator, bound in (("rk4", 1e-8), ("semi_implicit_euler", 5e-3)):
        driven = run(
            model,
            [0.3, 0.0],
            None,
            2.0,
            1e-3,
            contact=None,
            actuation=Torques({"lower": 0.5}),
            options=SimulationOptions(integrator=integrator),
        )
        books = driven.energy
        assert np.abs(books.error).max() < bound
        power = np.sum(driven.torques * driven.v, axis=1)
        worked = np.trapezoid(power, driven.time)
        assert books.actuators[-1] == pytest.approx(worked, abs=5e-3)
        lost = np.trapezoid(0.2 * driven.v[:, 0] ** 2, driven.time)
        # Springs at the end of the step lose a little themselves, which counts as dissipated.
        assert 0 <= books.dissipated[-1] - lost + 1e-6 < (1e-5 if integrator == "rk4" else 0.06)
        change = books.kinetic + books.potential
        closed = change[-1] - change[0] - books.actuators[-1] + books.dissipated[-1]
        assert closed == pytest.approx(books.error[-1], abs=1e-12)


# -- events


def test_a_bounce_train_follows_its_restitution(ball):
    e, drop = 0.8, 0.4

    def bounce(t, q, v, batch):
        return {"v": np.r_[v[:2], -e * v[2], v[3:]]}

    ground = StateEvent("ground", lambda t, q, v, batch: q[2] - 0.1, "falling", 1e-10, bounce)
    q = ball.neutral()
    q[2] = 0.1 + drop
    train = run(
        ball,
        q,
        None,
        2.2,
        1e-2,
        contact=None,
        options=SimulationOptions(events=[ground], integrator="rk4"),
    )
    first = np.sqrt(2 * drop / 9.81)
    expected = first * np.r_[1.0, 1 + 2 * np.cumsum(e ** np.arange(1, 8))]
    times = np.array([happening.time for happening in train.events])[:8]
    np.testing.assert_allclose(times, expected, atol=1e-8)
    assert all(abs(happening.value) <= 1e-10 for happening in train.events)
    assert abs(train.energy.error[-1]) < 1e-9


def test_two_crossings_within_one_step_are_seen(ball):
    """A ball thrown through a height and back within one step of 0.4 s."""
    q = ball.neutral()
    v = np.zeros(6)
    v[2] = 9.81 * 0.2
    top = 9.81 * 0.2**2 / 2
    events = [
        StateEvent("up", lambda t, q, v, batch: q[2] - (top - 1e-3), "rising", 1e-11),
        StateEvent("down", lambda t, q, v, batch: q[2] - (top - 1e-3), "falling", 1e-11),
    ]
    thrown = run(
        ball,
        q,
        v,
        0.4,
        0.4,
        contact=None,
        options=SimulationOptions(events=events, integrator="rk4"),
    )
    early = 0.2 - np.sqrt(2e-3 / 9.81)
    assert [happening.name for happening in thrown.events] == ["up", "down"]
    assert thrown.events[0].time == pytest.approx(early, abs=1e-9)
    assert thrown.events[1].time == pytest.approx(0.4 - early, abs=1e-9)


def test_a_touch_that_does_not_cross_is_no_event(ball):
    q = ball.neutral()
    v = np.zeros(6)
    v[2] = 9.81 * 0.2
    top = 9.81 * 0.2**2 / 2
    above = StateEvent("above", lambda t, q, v, batch: q[2] - (top + 1e-6), "both", 1e-9)
    thrown = run(
        ball,
        q,
        v,
        0.4,
        0.1,
        contact=None,
        options=SimulationOptions(events=[above], integrator="rk4"),
    )
    assert thrown.events == ()


def test_events_change_modes(pendulum):
    """A torque that is switched on while the rod swings one way only."""

    def drive(t, q, v, batch):
        return ca.vertcat(0.5 * batch["on"])

    events = [
        StateEvent("out", lambda t, q, v, batch: q[0], "rising", 1e-9, lambda *_: {"on": 1.0}),
        StateEvent("back", lambda t, q, v, batch: q[0], "falling", 1e-9, lambda *_: {"on": 0.0}),
    ]
    swung = run(
        pendulum,
        [-0.2],
        None,
        4.0,
        1e-2,
        contact=None,
        actuation=drive,
        options=SimulationOptions(events=events, integrator="rk4", batch_parameters={"on": 0.0}),
    )
    assert {happening.name for happening in swung.events} == {"out", "back"}
    acting = swung.torques[:, 0] > 0
    clear = np.abs(swung.q[:, 0]) > 1e-6
    assert np.array_equal(acting[clear], swung.q[clear, 0] > 0)
    assert swung.energy.error[-1] == pytest.approx(0, abs=1e-6)


def test_events_without_end_are_called_a_stall(ball):
    endless = StateEvent(
        "endless", lambda t, q, v, batch: t - batch["next"], "rising", 1e-12,
        lambda t, q, v, batch: {"next": t + 1e-5},
    )  # fmt: skip
    hung = run(
        ball,
        ball.neutral(),
        None,
        0.02,
        1e-3,
        contact=None,
        options=SimulationOptions(events=[endless], batch_parameters={"next": 1e-5}),
    )
    assert hung.status is SimulationStatus.STALLED
    assert "endless" in hung.message


# -- actuation


def test_sampled_torques_follow_straight_lines(pendulum):
    time = np.array([0.0, 1.0, 2.0])
    torques = np.array([[0.0], [1.0], [0.0]])
    pushed = run(pendulum, [0.0], None, 2.0, contact=None, actuation=SampledTorques(time, torques))
    np.testing.assert_allclose(pushed.torques[:, 0], 1 - np.abs(1 - pushed.time), atol=1e-9)


def test_sampled_torques_are_followed_by_steps_that_adapt(pendulum):
    """Fifty samples in a second: long steps neither pass over them nor hold them."""
    time = np.linspace(0, 1, 51)
    torques = 2 * np.sin(7 * time)[:, None]

    def driven(t, q, v, batch):
        share = [ca.fmax(0.0, 1 - ca.fabs(t - at) * 50) for at in time]
        return ca.vertcat(sum(s * float(x) for s, x in zip(share, torques[:, 0], strict=True)))

    exact = run(
        pendulum,
        [0.3],
        None,
        1.0,
        2e-3,
        contact=None,
        actuation=driven,
        options=SimulationOptions(integrator="rk4"),
    )
    sampled = SampledTorques(time, torques)
    for off, options in (
        (
            1e-6,
            {
                "dt": 0.25,
                "contact": None,
                "options": SimulationOptions(integrator="dormand_prince"),
            },
        ),
        (1e-6, {"dt": 0.25, "contact": "event_driven"}),
        (
            2e-5,
            {
                "dt": 2e-3,
                "contact": None,
                "options": SimulationOptions(integrator="implicit_midpoint"),
            },
        ),
    ):
        swung = run(pendulum, [0.3], None, 1.0, actuation=sampled, **options)
        assert swung.q[-1, 0] == pytest.approx(exact.q[-1, 0], abs=off)


def test_python_controllers_act_after_their_delay(pendulum):
    seen = []

    def control(t, q, v):
        seen.append(t)
        return [len(seen)]

    moved = run(
        pendulum, [0.0], None, 0.5, 1e-2, contact=None,
        actuation=Controller(control, period=0.1, delay=0.03),
    )  # fmt: skip
    np.testing.assert_allclose(seen, [0, 0.1, 0.2, 0.3, 0.4, 0.5], atol=1e-9)
    at = dict(zip(np.round(moved.time, 3), moved.torques[:, 0], strict=True))
    assert (at[0.0], at[0.12], at[0.13], at[0.22], at[0.23]) == (1, 1, 2, 2, 3)


def test_motors_stay_within_torque_and_power():
    limits = {"max_force": 2.0, "max_velocity": 5.0}
    model = (
        Assembly("motor")
        .add(box("wheel", 1.0, (0.2, 0.2, 0.2)), joints.revolute("z", **limits))
        .model()
    )
    for actuation in (Torques([50.0]), PD(1e3, 1.0, target=[100.0], stable=True)):
        spun = run(model, [0.0], None, 2.0, contact=None, actuation=actuation)
        assert np.abs(spun.torques).max() <= 2.0 + 1e-9
        assert np.abs(spun.torques[:-1, 0] * spun.v[:-1, 0]).max() <= 10.0 * (1 + 1e-2)
        assert spun.v.max() > 20
        # It is told for how long: all the time, or until the servo has turned far enough.
        (note,) = spun.notes
        assert note.startswith("motors at their torque limit: wheel (")
    free = run(
        model,
        [0.0],
        None,
        0.1,
        contact=None,
        actuation=Torques([50.0]),
        options=SimulationOptions(torque_limits=False),
    )
    assert free.torques[0, 0] == 50.0
    assert free.notes == ()


def test_joints_beyond_their_limits_are_told():
    made = Assembly("door").add(
        rod("door", 2.0, (0, 0, 0), (1, 0, 0)), joints.revolute("z", upper=0.5)
    )
    swung = run(made.model(), [0.0], [2.0], 0.5, contact=None)
    (note,) = swung.notes
    assert note == f"joints beyond their limits, by rad or m: door ({swung.q.max() - 0.5:.2g})"
    assert run(made.model(), [0.0], [0.1], 0.5, contact=None).notes == ()


def test_stable_servos_hold_with_any_gain(pendulum):
    held = run(
        pendulum, [0.5], None, 1.0, 1e-2, contact=None,
        actuation=PD(1e8, 1e6, target=[0.3], stable=True),
    )  # fmt: skip
    assert held.q[-1, 0] == pytest.approx(0.3, abs=1e-6)
    loose = run(
        pendulum, [0.5], None, 1.0, 1e-2, contact=None, actuation=PD(1e8, 1e6, target=[0.3])
    )
    assert loose.status is SimulationStatus.NOT_FINITE


# -- loops


def test_a_closed_linkage_swings_at_its_period():
    """Three unit links closed to a parallelogram: 1.877749 s at 36 degrees, loop kept."""
    link = {"mass": 1.0, "com": (0, 0, -0.5)}
    inertia = np.diag([(0.05**2 + 1) / 12, (0.05**2 + 1) / 12, 2 * 0.05**2 / 12])
    end = (0.0, 0.0, -1.0)
    model = (
        Assembly("linkage")
        .add("p1", joints.revolute("y"), inertia=inertia, **link)
        .add("p2", joints.revolute("y"), "p1", at=end, inertia=inertia, **link)
        .add("p3", joints.revolute("y"), "p2", at=end, inertia=inertia, **link)
        .model()
    )
    offset = 0.2 * np.pi
    start = np.array([-offset, 0.5 * np.pi + offset, 0.5 * np.pi - offset])
    loop = Hinge("p3", axis="y", point=end, anchor=(-1.0, 0.0, 0.0))
    turn = StateEvent("turn", lambda t, q, v, batch: v[0], "rising", 1e-11)
    swung = run(
        model,
        start,
        None,
        2.0,
        2e-3,
        contact=None,
        options=SimulationOptions(
            integrator="rk4", constraints=loop, events=[turn], joint_limits=None
        ),
    )
    times = [happening.time for happening in swung.events if happening.time > 0.1]
    # It starts at rest at one end and comes to rest there again after a whole period.
    assert min(abs(t - 1.877749) for t in times) < 2e-6
    tip = hd.dynamics.position(model, swung.q, "p3", np.array(end))
    np.testing.assert_allclose(tip, np.broadcast_to([-1.0, 0, 0], tip.shape), atol=1e-8)
    np.testing.assert_allclose(swung.q[:, 0] + swung.q[:, 1], np.pi / 2, atol=1e-8)
    assert np.abs(swung.energy.error).max() < 1e-8


# -- faults


def test_torques_that_are_no_numbers_are_told_with_time_and_place(pendulum):
    torques = np.array([[0.0], [np.nan]])
    broken = run(
        pendulum, [0.1], None, 1.0, contact=None,
        actuation=SampledTorques([0.0, 0.5], torques, zero_order_hold=True),
    )  # fmt: skip
    assert broken.status is SimulationStatus.NOT_FINITE
    assert "0.5 s the torque of rod" in broken.message
    assert np.all(np.isfinite(broken.q))
    assert broken.time[-1] == pytest.approx(0.5, abs=2e-3)
    python = Controller(lambda t, q, v: [np.nan if t > 0.25 else 0.0], 0.1)
    broken = run(pendulum, [0.1], None, 1.0, contact=None, actuation=python)
    assert broken.status is SimulationStatus.NOT_FINITE
    assert "0.3 s the torque of rod" in broken.message


def test_a_step_far_too_long_ends_with_a_status(chain):
    v = 50 * np.random.default_rng(0).normal(size=chain.nv)
    for integrator in ("explicit_euler", "semi_implicit_euler", "rk4"):
        wild = run(
            chain,
            chain.random(0),
            v,
            200.0,
            1.0,
            contact=None,
            options=SimulationOptions(integrator=integrator),
        )
        assert np.all(np.isfinite(wild.q))
        assert wild.status in (SimulationStatus.FINISHED, SimulationStatus.NOT_FINITE)


def test_a_singular_mass_matrix_is_no_silent_success():
    model = (
        Assembly("ghost")
        .add(box("solid", 1.0, (0.1, 0.1, 0.1)), joints.revolute("y"))
        .add("ghost", joints.revolute("z"), "solid", mass=0.0)
        .model(as_measured=True)
    )
    lost = run(
        model, [0.1, 0.0], None, 0.1, contact=None, options=SimulationOptions(joint_limits=None)
    )
    assert lost.status is SimulationStatus.NOT_FINITE
    assert "nothing resists motion along ghost" in lost.message
    assert np.all(np.isfinite(lost.q))


def test_a_torque_that_is_no_number_is_not_taken_for_the_limit_of_its_motor():
    limited = joints.revolute("y", max_force=5.0)
    model = Assembly("motor").add(rod("rod", 1.0, (0, 0, 0), (0, 0, -1.0)), limited).model()

    def root(t):
        return ca.vertcat(ca.sqrt(0.055 - t))

    for actuation in (
        SampledTorques([0.0, 0.06], [[0.0], [np.nan]], zero_order_hold=True),
        lambda t, q, v, batch: root(t),
        PD(1.0, 1.0, target=lambda t, batch: root(t)),
        PD(1.0, 1.0, target=lambda t, batch: root(t), stable=True),
    ):
        broken = run(model, [0.1], None, 0.1, 1e-2, contact=None, actuation=actuation)
        assert broken.status is SimulationStatus.NOT_FINITE
        assert broken.message == "at 0.06 s the torque of rod is not a finite number"
        assert np.isfinite(broken.torques).all()


def test_contacts_that_make_energy_are_told_with_place_and_time(ball):
    """1e6 N/m at 10 ms throws a ball to the ceiling with all numbers finite."""
    q = ball.neutral()
    q[2] = 0.15
    thrown = run(ball, q, None, 1.0, 1e-2, contact=SoftContact(1e6, 100.0))
    assert thrown.status is SimulationStatus.UNSTABLE
    assert "by 0.11 s contacts have created" in thrown.message
    assert "most of it skin: steps of 0.01 s are too long" in thrown.message
    assert thrown.time[-1] == pytest.approx(0.11)
    fine = run(
        ball,
        q,
        None,
        1.0,
        1e-4,
        contact=SoftContact(1e6, 100.0),
        options=SimulationOptions(record_interval=1e-3),
    )
    assert fine.status is SimulationStatus.FINISHED
    # What springs held at the start they may give back.
    sunk = ball.neutral()
    sunk[2] = 0.08
    back = run(
        ball,
        sunk,
        None,
        0.5,
        1e-4,
        contact=SoftContact(1e5, 10.0),
        options=SimulationOptions(record_interval=1e-3),
    )
    assert back.status is SimulationStatus.FINISHED
    assert back.energy.contacts.max() > 15


def test_bad_arguments_are_refused_with_what_would_do(ball, pendulum):
    with pytest.raises(hd.ModelError, match="soft, implicit"):
        run(ball, ball.neutral(), contact="sticky")
    with pytest.raises(hd.ModelError, match="7 entries"):
        run(ball, np.zeros(6))
    with pytest.raises(hd.ModelError, match="rk4"):
        run(ball, ball.neutral(), options=SimulationOptions(integrator="euler"))
    with pytest.raises(hd.ModelError, match="positive numbers"):
        run(ball, ball.neutral(), dt=0.0)
    with pytest.raises(hd.ModelError, match="rising, falling, both"):
        StateEvent("x", lambda t, q, v, batch: t, "up")
    with pytest.raises(hd.ModelError, match="goes with semi_implicit_euler"):
        run(ball, ball.neutral(), contact="implicit", options=SimulationOptions(integrator="rk4"))
    with pytest.raises(hd.ModelError, match="accepted: skin"):
        ContactGeometry(ball, contacts=("heel",))
    with pytest.raises(hd.ModelError, match="takes steps of its own"):
        run(
            ball,
            ball.neutral(),
            contact="event_driven",
            options=SimulationOptions(integrator="rk4"),
        )
    with pytest.raises(hd.ModelError, match="heel, which is no contact; there are skin"):
        run(ball, ball.neutral(), contact=SoftContact(friction={"heel": 0.3, "*": 0.2}))
    with pytest.raises(hd.ModelError, match="length 2; it must be 1"):
        run(ball, [0, 0, 1, 2, 0, 0, 0])
    fixed = Assembly("fixed").add(box("box", 1.0, (0.1, 0.1, 0.1)), joints.fixed()).model()
    with pytest.raises(hd.ModelError, match="nothing can move in model 'fixed'"):
        run(fixed, [], contact=None)
    with pytest.raises(hd.ModelError, match="interval of records must be positive"):
        run(ball, ball.neutral(), options=SimulationOptions(record_interval=-1.0))
    with pytest.raises(hd.ModelError, match="1 x 1 values; 6 torques are needed"):
        run(ball, ball.neutral(), actuation=lambda t, q, v, batch: ca.SX(3.0))
    with pytest.raises(hd.ModelError, match="that of ball_tz is not"):
        run(ball, ball.neutral(), actuation={"ball_tz": np.nan})
    for law in (
        SoftContact(stiffness=np.inf),
        TimeStepping(friction=np.inf),
        EventDrivenContact(friction=-1.0),
    ):
        with pytest.raises(hd.ModelError, match="'skin' must be finite and not negative"):
            run(ball, ball.neutral(), contact=law)
    with pytest.raises(hd.ModelError, match="k is not"):
        run(
            ball,
            ball.neutral(),
            contact=SoftContact("k"),
            options=SimulationOptions(batch_parameters={"k": np.inf}),
        )
    with pytest.raises(hd.ModelError, match="target of PD: 1 finite numbers"):
        run(pendulum, [0.0], contact=None, actuation=PD(1.0, 1.0, target=[np.nan]))
