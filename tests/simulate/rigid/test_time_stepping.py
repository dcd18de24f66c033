"""Time-stepping rigid contacts against what pencil and paper give, at the step they are taken."""

import numpy as np
import pytest

from homodyn.dynamics import kinetic_energy, momentum, potential_energy
from homodyn.errors import ModelError
from homodyn.model import Assembly, Body, joints
from homodyn.simulate import (
    ContactGeometry,
    ImplicitSprings,
    PlaneObstacle,
    SimulationOptions,
    rollout,
)
from homodyn.simulate import run as run_one
from homodyn.simulate.rigid import TimeStepping
from support.things import ball, box, coin, resting_on, stack_of_boxes, stepped, tilted

G = 9.81
DT = 1e-3


@pytest.mark.parametrize(("beyond", "slides"), [(-1e-3, False), (1e-3, True)])
def test_a_block_begins_to_slide_at_the_angle_of_friction(beyond, slides):
    model, mu = box(), 0.5
    angle = np.arctan(mu) + beyond
    scene = ContactGeometry(model, ground=(PlaneObstacle(tilted(angle)),))
    law = TimeStepping(friction=mu, sweeps=30)
    run = stepped(scene, law, resting_on(angle, 0.1), np.zeros(6), dt=DT, steps=500)
    expected = G * (np.sin(angle) - mu * np.cos(angle)) * 0.5 if slides else 0.0
    assert np.linalg.norm(run["v"][-1]) == pytest.approx(expected, abs=1e-4)
    assert run["residual"][50:].max() < 1e-4


def test_a_sliding_ball_comes_to_roll():
    model, mu, v0 = ball(), 0.2, 1.0
    q, v = model.neutral(), np.zeros(6)
    q[2], v[0] = 0.1, v0
    run = stepped(ContactGeometry(model), TimeStepping(friction=mu), q, v, dt=DT, steps=300)
    assert run["v"][-1, 4] == pytest.approx(5 / 7 * v0 / 0.1, rel=1e-3)
    rolling = np.abs(run["forces"][:, 0, 0]) < 1e-3
    assert np.argmax(rolling) * DT == pytest.approx(2 * v0 / (7 * mu * G), abs=2 * DT)


def test_a_ball_rolls_down_a_slope():
    model, angle = ball(), 0.3
    scene = ContactGeometry(model, ground=(PlaneObstacle(tilted(angle)),))
    run = stepped(scene, TimeStepping(), resting_on(angle, 0.1), np.zeros(6), dt=DT, steps=500)
    way = 5 / 7 * G * np.sin(angle) * 0.5**2 / 2
    assert np.linalg.norm(run["q"][-1, :3] - 0.1 * tilted(angle)) == pytest.approx(way, rel=5e-3)


def test_a_spinning_coin_slows_and_stops():
    model, mu, spin, radius = coin(), 0.3, 20.0, 0.1
    v = np.zeros(6)
    v[5] = spin
    stop = spin * radius / (2 * mu * G)
    run = stepped(
        ContactGeometry(model),
        TimeStepping(friction=mu, sweeps=20),
        model.neutral(),
        v,
        dt=DT,
        steps=400,
    )
    time = DT * np.arange(1, 401)
    expected = np.maximum(spin - 2 * mu * G / radius * time, 0.0)
    np.testing.assert_allclose(run["v"][:, 5], expected, atol=0.08)
    assert abs(run["v"][time > stop + 0.01, 5]).max() < 1e-6


@pytest.mark.parametrize(("slope", "tips"), [(0.24, False), (0.26, True)])
def test_a_slender_box_tips_where_its_weight_passes_the_edge(slope, tips):
    model = box(half=(0.05, 0.1, 0.2))
    angle = np.arctan(slope)
    scene = ContactGeometry(model, ground=(PlaneObstacle(tilted(angle)),))
    run = stepped(
        scene, TimeStepping(sweeps=40), resting_on(angle, 0.2), np.zeros(6), dt=DT, steps=200
    )
    assert (abs(run["v"][-1, 4]) > 0.01) == tips


def test_bounces_lose_what_restitution_says():
    model, e = ball(), 0.5
    q = model.neutral()
    q[2] = 0.1 + 0.5
    dt = 2e-4
    law = TimeStepping(restitution=e, rest_speed=0.02)
    run = stepped(ContactGeometry(model), law, q, np.zeros(6), dt=dt, steps=6000)
    speed = run["v"][:, 2]
    up = [k for k in range(1, 6000) if speed[k] > 0.02 and speed[k - 1] < -0.02]
    first = np.sqrt(2 * G * 0.5)
    np.testing.assert_allclose(speed[up[:4]], first * e ** np.arange(1, 5), rtol=0.02)
    assert abs(speed[-1]) < 1e-6


def test_stacked_boxes_stand():
    model = stack_of_boxes()
    q = model.neutral()
    q[2], q[7 + 2] = 0.1, 0.3
    scene = ContactGeometry(model, contacts=("low_skin",), pairs=(("high_skin", "low_skin"),))
    run = stepped(scene, TimeStepping(sweeps=15), q, np.zeros(12), dt=DT, steps=200)
    on_ground = np.array([" on " not in name for name in scene.names])
    total = run["forces"][-1]
    assert total[on_ground, 2].sum() == pytest.approx(4 * G, rel=1e-3)
    assert np.abs(run["q"][-1, [2, 9]] - [0.1, 0.3]).max() < 1e-4
    assert np.abs(run["v"][-1]).max() < 1e-3


def test_linear_momentum_is_kept_in_flight():
    model = box()
    q, v = model.neutral(), np.random.default_rng(0).normal(size=6)
    q[2] = 3.0
    run = stepped(ContactGeometry(model), TimeStepping(), q, v, dt=DT, steps=100)
    held = momentum(model, run["q"], run["v"])[:, 3:]
    time = DT * np.arange(1, 101)
    start = momentum(model, q, v)[3:]
    np.testing.assert_allclose(held, start + np.outer(time, [0, 0, -3 * G]), atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_contacts_never_make_energy(seed):
    model = box()
    rng = np.random.default_rng(seed)
    q, v = model.neutral(), 2 * rng.normal(size=6)
    v[3:] = 0.0
    q[2] = 0.4
    q[3:7] = rng.normal(size=4)
    q[3:7] /= np.linalg.norm(q[3:7])
    run = stepped(
        ContactGeometry(model),
        TimeStepping(friction=0.4, sweeps=40),
        q,
        v,
        dt=DT,
        steps=800,
        record=("forces", "residual", "work", "distances"),
    )
    work = run["work"][:, 1]
    assert np.diff(work).max() < 1e-3
    held = kinetic_energy(model, run["q"], run["v"]) + potential_energy(model, run["q"])
    assert held.max() < held[0] * 1.02
    assert run["distances"].min() > -2e-3
    assert held[-1] < held[0]


def rod(**numbers):
    made = Assembly("rod").add(
        Body("rod", 1.0, [0, 0, -0.5], [0.1, 0.1, 0.01]), joints.revolute("y", **numbers)
    )
    return made.model()


@pytest.mark.parametrize("way", ["tangent", "exact"])
def test_limits_springs_and_dry_friction_act(way):
    law = TimeStepping(joints=way, sweeps=20)
    limited = rod(lower=-1.0, upper=0.3)
    run = stepped(ContactGeometry(limited), law, [0.0], [1.5], dt=DT, steps=1000)
    assert run["q"].max() < 0.33
    rubbing = rod(friction=1.0)
    held = np.arcsin(1.0 / (0.5 * G))
    run = stepped(ContactGeometry(rubbing), law, [0.6], [0.0], dt=DT, steps=3000)
    assert abs(run["q"][-1, 0]) < held + 1e-3
    assert abs(run["v"][-1, 0]) < 2e-3
    sprung = rod(stiffness=1e6, damping=10.0, rest=0.2)
    run = stepped(ContactGeometry(sprung), law, [0.0], [0.0], dt=0.01, steps=500)
    assert run["q"][-1, 0] == pytest.approx(0.2, abs=1e-3)


def test_a_start_inside_the_ground_is_pushed_out_slowly():
    model = box()
    q = model.neutral()
    q[2] = 0.05
    run = stepped(
        ContactGeometry(model),
        TimeStepping(),
        q,
        np.zeros(6),
        dt=DT,
        steps=400,
        record=("distances",),
    )
    # The top corners meet nothing; the others come out no faster than the push speed.
    assert np.abs(run["v"]).max() < 1.05
    assert run["q"][-1, 2] == pytest.approx(0.1, abs=0.06)


def test_a_step_far_too_large_stays_finite():
    model = box()
    q, v = model.neutral(), np.zeros(6)
    q[2], v[2], v[3] = 0.3, -5.0, 20.0
    run = stepped(ContactGeometry(model), TimeStepping(sweeps=40), q, v, dt=0.2, steps=100)
    assert np.isfinite(run["q"]).all()
    assert run["q"][-1, 2] > -0.5


def test_too_few_sweeps_show_in_the_residual():
    model = box()
    q, v = model.neutral(), np.zeros(6)
    q[2], v[2], v[4] = 0.1, -1.0, 3.0
    few, many = (
        stepped(ContactGeometry(model), TimeStepping(sweeps=n), q, v, dt=DT, steps=1)["residual"][0]
        for n in (1, 80)
    )
    assert few > 1e-3 > 1e-6 > many


@pytest.mark.parametrize("law", [TimeStepping, ImplicitSprings])
def test_steps_that_were_solved_badly_are_counted_and_told(law):
    few, enough = ({"sweeps": 1}, {"sweeps": 80}) if law is TimeStepping else (
        {"iterations": 1}, {"iterations": 12}
    )  # fmt: skip
    model = box()
    q, v = model.neutral(), np.zeros(6)
    q[2], v[2], v[4] = 0.12, -1.0, 5.0
    rough, fine = (run_one(model, q, v, 0.1, DT, contact=law(**n)) for n in (few, enough))
    scale = 1.0 if law is TimeStepping else 3.0
    (note,) = rough.notes
    assert rough.residual > 0.01 * scale
    assert note.startswith("contacts were solved to 0.01 m/s in all but ")
    assert f"worst {rough.residual / scale:.2g} m/s at" in note
    assert fine.residual < 0.01 * scale
    assert fine.notes == ()


def test_rank_deficient_contacts_converge_in_lanes_and_every_step_says_how_far():
    """Eight rows more than freedoms: forces are not unique, their sum and the motion are."""
    model = box()
    elements = 12
    rng = np.random.default_rng(3)
    q = np.tile(model.neutral(), (elements, 1))
    q[:, 2] = 0.1 + rng.uniform(0, 0.02, elements)
    v = np.zeros((elements, 6))
    v[:, :2] = rng.normal(size=(elements, 2))
    law = TimeStepping(friction=0.5, sweeps=20)
    rolled = rollout(
        model,
        q,
        v,
        0.6,
        DT,
        contact=law,
        options=SimulationOptions(recorded_quantities=("forces", "distances", "v", "residual")),
    )
    residual, force = rolled.records["residual"], rolled.records["forces"]
    assert residual.shape == (elements, 601)
    settled = slice(550, None)
    assert residual[:, settled].max() < 1e-8
    np.testing.assert_allclose(force[:, settled].sum(axis=2)[..., 2], 3 * G, rtol=1e-8)
    assert np.abs(rolled.v).max() < 1e-9
    assert rolled.records["distances"][:, settled].min() > -1e-5
    # Round cones: whatever the direction of sliding, friction opposes it with mu times the load.
    total = force.sum(axis=2)
    across, load = np.linalg.norm(total[..., :2], axis=-1), total[..., 2]
    assert np.all(across <= 0.5 * load + 1e-6)
    speed = rolled.records["v"][..., :2]
    sliding = (np.linalg.norm(speed, axis=-1) > 0.2) & (load > 1) & (residual < 1e-9)
    assert np.count_nonzero(sliding) > 100
    np.testing.assert_allclose(across[sliding], 0.5 * load[sliding], rtol=1e-6)
    alone = run_one(model, q[0], v[0], 0.6, DT, contact=law)
    assert alone.residuals.shape == alone.time.shape
    assert alone.residual == alone.residuals.max() > 0


@pytest.mark.parametrize(
    "wrong", [{"joints": "soft"}, {"sweeps": 0}, {"correction": 2.0}, {"restitution": 1.1}]
)
def test_what_is_no_law_is_refused(wrong):
    with pytest.raises(ModelError):
        TimeStepping(**wrong)
