"""Rows of users: markers, points, coordinates, loops and the residual joint, under every law."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.dynamics import Pin
from homodyn.errors import ModelError
from homodyn.model import Assembly, joints, rod, sphere
from homodyn.simulate import (
    PD,
    EventDrivenContact,
    ResidualJoint,
    SimulationStatus,
    SpringLaw,
    rollout,
    run,
)
from homodyn.simulate.rows import (
    JointSpring,
    LoopSpring,
    MarkerSprings,
    PointSpring,
    spring_damper_from_erp_cfm,
)

pytestmark = pytest.mark.usefixtures("interpreted")

H = 1 / 60
LAWS = ("implicit", "time_stepping", "soft", "none")
SOFT_ROW = SpringLaw(erp=0.2, cfm=1e-4)
WIDE_BOUNDS = SpringLaw(erp=0.2, cfm=1e-4, max_force=1e6)


@pytest.fixture(scope="module")
def ball():
    """A ball of 5 kg with a marker at its center, without gravity."""
    assembly = Assembly("ball").add(sphere("ball", 5.0, 0.1), joints.free())
    assembly = assembly.marker("mark", "ball", (0, 0, 0))
    return assembly.contact("skin", "ball", "sphere", radius=0.1).model(gravity=(0.0, 0.0, 0.0))


def high(model):
    q = model.neutral()
    q[2] = 2.0
    return q


def tracks(place, samples=320):
    t = np.arange(samples) * H
    positions = np.zeros((samples, 1, 3))
    positions[:, 0, 0], positions[:, 0, 2] = place(t), 2.0
    return t, positions


@pytest.mark.parametrize("contact", LAWS)
@pytest.mark.parametrize("spring", [SOFT_ROW, WIDE_BOUNDS], ids=["inertia", "bounded"])
def test_a_marker_that_moves_is_followed_with_the_published_lag(ball, contact, spring):
    """v h / ERP = 83.3 mm without its velocity, none with it, m a / kp = 0.125 mm at 3 m/s2."""
    kp, _ = spring_damper_from_erp_cfm(0.2, 1e-4, H)

    def follow(rows):
        return run(ball, high(ball), None, 300 * H, H, contact=contact, rows=rows)

    blind = follow([PointSpring("mark", spring, lambda t, batch: ca.vertcat(t, 0, 2))])
    assert blind.time[-1] - blind.q[-1, 0] == pytest.approx(H / 0.2, abs=1e-6)
    seen = follow([MarkerSprings(["mark"], *tracks(lambda t: t), spring)])
    assert seen.time[-1] - seen.q[-1, 0] == pytest.approx(0.0, abs=1e-9)
    faster = follow([MarkerSprings(["mark"], *tracks(lambda t: 1.5 * t**2), spring)])
    lag = 1.5 * faster.time[-1] ** 2 - faster.q[-1, 0]
    assert lag == pytest.approx(5.0 * 3.0 / kp, rel=1e-6)
    assert faster.constraint_names == ("mark x", "mark y", "mark z")
    np.testing.assert_allclose(faster.constraint_forces[-2], [15.0, 0, 0], atol=1e-6)


@pytest.mark.parametrize("contact", LAWS)
def test_a_missing_marker_has_no_force(ball, contact):
    t, positions = tracks(lambda t: 1.0 * t)
    positions[100:160] = np.nan
    rows = [MarkerSprings(["mark"], t, positions, SOFT_ROW)]
    result = run(ball, high(ball), [1.0, 0, 0, 0, 0, 0], 4.0, H, contact=contact, rows=rows)
    assert result.status is SimulationStatus.FINISHED
    gap = slice(100, 160)
    np.testing.assert_array_equal(result.constraint_forces[gap], 0.0)
    np.testing.assert_allclose(np.diff(result.q[gap, 0]), H, rtol=1e-6)
    assert np.abs(result.time - result.q[:, 0]).max() < 1e-6


@pytest.mark.parametrize("contact", LAWS)
def test_bounds_and_dead_zones(contact):
    cart = Assembly("cart").add(sphere("cart", 2.0, 0.1), joints.prismatic("x"), at=(0, 0, 3))
    model = cart.contact("skin", "cart", "sphere", radius=0.1).model()
    name = model.coordinate_names[0]
    # Beyond its bound the row pulls with 6 N: 3 m/s2.
    pulled = run(
        model, [0.0], None, 0.5, 1e-2, contact=contact,
        rows=[JointSpring(name, SpringLaw(kp=1e5, kd=1e3, max_force=6.0), target=5.0)],
    )  # fmt: skip
    np.testing.assert_allclose(pulled.v[:, 0], 3.0 * pulled.time, rtol=1e-9, atol=1e-12)
    # No force within 0.1 m; then spring and damper stop the cart.
    zone = SpringLaw(kp=2e4, kd=4e2, dead_zone=0.1)
    free = run(model, [0.0], [1.0], 1.0, 1e-3, contact=contact, rows=[JointSpring(name, zone)])
    inside = np.abs(free.q[:, 0]) < 0.0985
    coasting = inside[:-1] & inside[1:]
    assert coasting.sum() > 50
    np.testing.assert_allclose(free.constraint_forces[:-1][coasting], 0.0, atol=1e-9)
    np.testing.assert_allclose(np.diff(free.v[:, 0])[coasting], 0.0, atol=1e-9)
    assert 0.1 < free.q[:, 0].max() < 0.12
    assert free.v[-1, 0] < 0


@pytest.mark.parametrize("contact", LAWS)
def test_a_spring_in_pieces_is_stiffer_beyond_its_breaks(contact):
    """Static deflection under 300 N: 0.1 m at 1000 N/m, then 0.02 m at 10 000 N/m."""
    hook = Assembly("hook").add(sphere("hook", 2.0, 0.1), joints.prismatic("x"), at=(0, 0, 3))
    model = hook.contact("skin", "hook", "sphere", radius=0.1).model()
    spring = SpringLaw(kp=1e3, kd=300.0, breaks=(0.1,), slopes=(1e4,))
    rows = [JointSpring(model.coordinate_names[0], spring)]
    for side in (1.0, -1.0):
        force = np.array([300.0 * side])
        result = run(model, [0.0], None, 3.0, 1e-2, contact=contact, actuation=force, rows=rows)
        assert result.q[-1, 0] == pytest.approx(0.12 * side, rel=1e-6)


@pytest.mark.parametrize("contact", LAWS)
def test_a_loop_with_its_own_stiffness_sags_by_its_load(contact):
    pendulum = Assembly("pendulum").add(
        rod("rod", 2, (0, 0, 0), (1, 0, 0)), joints.revolute("y"), at=(0, 0, 3)
    )
    model = pendulum.contact("skin", "rod", position=(0, 0, 0)).model()
    pin = Pin("rod", point=(1, 0, 0), anchor=(1, 0, 3))
    rows = [LoopSpring(pin, SpringLaw(kp=1e4, kd=1e3))]
    result = run(model, model.neutral(), None, 6.0, 1e-2, contact=contact, rows=rows)
    height = result.model.difference(model.neutral(), result.q[-1])[0]
    assert np.sin(height) * 1e4 == pytest.approx(9.81 * np.cos(height), rel=1e-3)
    assert np.linalg.norm(result.constraint_forces[-1][[0, 2]]) > 9.0


def test_rows_are_the_same_in_rollouts_and_runs(ball):
    rows = [MarkerSprings(["mark"], *tracks(np.sin), SOFT_ROW)]
    single = run(ball, high(ball), None, 0.5, H, contact="implicit", rows=rows)
    many = rollout(
        ball, np.tile(high(ball), (3, 1)), None, 0.5, H, contact="implicit", rows=rows,
        recorded_quantities=("q", "constraint_forces"),
    )  # fmt: skip
    for element in range(3):
        np.testing.assert_array_equal(many.records["q"][element], many.records["q"][0])
    np.testing.assert_allclose(many.records["q"][0], single.q, atol=1e-12)
    np.testing.assert_allclose(
        many.records["constraint_forces"][0], single.constraint_forces, atol=1e-8
    )


def test_a_marker_is_not_moved_by_its_load_and_momentum_comes_from_it(ball):
    rows = [MarkerSprings(["mark"], *tracks(lambda t: 0.5 + 0 * t), SpringLaw(kp=200.0, kd=30.0))]
    result = run(ball, high(ball), None, 1.0, H, contact="none", rows=rows)
    impulse = np.cumsum(result.constraint_forces[:-1, 0]) * H
    np.testing.assert_allclose(5.0 * result.v[1:, 0], impulse, atol=1e-10)
    np.testing.assert_allclose(
        result.constraint_forces[:-1, 0],
        -200.0 * (result.q[1:, 0] - 0.5) - 30.0 * result.v[1:, 0],
        atol=1e-9,
    )


@pytest.mark.parametrize("contact", LAWS)
def test_a_marker_carries_a_hanging_mass_upwards(contact):
    """Document 001, check 8: the force is +m g; the sag is m g / kp (check 5)."""
    hook = Assembly("hook").add(sphere("ball", 5.0, 0.1), joints.free())
    hook = hook.marker("mark", "ball", (0, 0, 0))
    model = hook.contact("skin", "ball", "sphere", radius=0.1).model()
    kp, _ = spring_damper_from_erp_cfm(0.2, 1e-4, H)
    rows = [MarkerSprings(["mark"], *tracks(lambda t: 0 * t), SOFT_ROW)]
    result = run(model, high(model), None, 3.0, H, contact=contact, rows=rows)
    np.testing.assert_allclose(result.constraint_forces[-1], [0, 0, 5.0 * 9.81], atol=1e-6)
    assert 2.0 - result.q[-1, 2] == pytest.approx(5.0 * 9.81 / kp, rel=1e-6)


@pytest.fixture(scope="module")
def hdm():
    return hd.catalog.hdm()


def test_what_cannot_be_a_row_is_refused(ball, hdm):
    law = SpringLaw(kp=1.0)
    with pytest.raises(ModelError, match="root_rx"):
        run(hdm, hdm.neutral(), actuation=PD({"root_rx": 20000.0}, 10.0))
    with pytest.raises(ModelError, match="ResidualJoint"):
        run(hdm, hdm.neutral(), actuation=PD(np.full(hdm.nv, 20.0), 10.0))
    with pytest.raises(ModelError, match="no coordinate of the root"):
        run(hdm, hdm.neutral(), rows=[ResidualJoint({"right_knee_pitch": 3.0}, law)])
    with pytest.raises(ModelError, match="semi_implicit_euler"):
        run(
            ball,
            high(ball),
            contact=None,
            integrator="rk4",
            rows=[PointSpring("mark", law, [0, 0, 0])],
        )
    with pytest.raises(ModelError, match="fixed length"):
        run(
            ball,
            high(ball),
            contact=EventDrivenContact(),
            rows=[PointSpring("mark", law, [0, 0, 0])],
        )
    with pytest.raises(ModelError, match="JointSpring"):
        run(ball, high(ball), rows=[law])
    with pytest.raises(ModelError, match="no anchor"):
        run(ball, high(ball), rows=[LoopSpring(Pin("ball"), law)])
    with pytest.raises(ModelError, match="3 numbers"):
        run(ball, high(ball), rows=[PointSpring("mark", law, [0, 0])])
    with pytest.raises(ModelError, match="positions"):
        MarkerSprings(["mark"], [0.0], np.zeros((2, 1, 3)))
    point = PointSpring("mark", law, [0, 0, 0])
    with pytest.raises(ModelError, match="must differ"):
        run(ball, high(ball), rows=[point, point])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "kp"),
        ({"kp": 1.0, "erp": 0.2, "cfm": 1.0}, "kp"),
        ({"erp": 0.2}, "cfm"),
        ({"erp": 1.2, "cfm": 1.0}, "0 to 1"),
        ({"erp": 0.2, "cfm": 0.0}, "positive"),
        ({"kp": 1.0, "breaks": (0.1,)}, "slope"),
        ({"kp": 5.0, "breaks": (0.1,), "slopes": (2.0,)}, "increase"),
        ({"kp": 1.0, "breaks": (0.1,), "slopes": (2.0,), "max_force": 3.0}, "largest force"),
    ],
)
def test_invalid_spring_laws_are_refused(arguments, message):
    with pytest.raises(ModelError, match=message):
        SpringLaw(**arguments)
