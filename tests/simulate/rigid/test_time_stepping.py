"""Time-stepping rigid contacts against closed solutions."""

import numpy as np
import pytest

from homodyn.dynamics import kinetic_energy, momentum, potential_energy
from homodyn.errors import ModelError
from homodyn.model import Assembly, Body, joints
from homodyn.simulate import ContactGeometry, ImplicitSprings, SimulationStatus, rollout, run
from homodyn.simulate.rigid import TimeStepping
from support.rigid_bodies import (
    ball,
    box,
    coin,
    pose_on_slope,
    run_steps,
    slope,
    slope_normal,
    stack_of_boxes,
)

G = 9.81
DT = 1e-3


@pytest.mark.parametrize(("excess", "slides"), [(-1e-3, False), (1e-3, True)])
def test_a_block_starts_to_slide_at_the_friction_angle(excess, slides):
    model, mu = box(), 0.5
    angle = np.arctan(mu) + excess
    geometry = ContactGeometry(model, ground=slope(angle))
    law = TimeStepping(friction=mu, sweeps=30)
    steps = run_steps(geometry, law, pose_on_slope(angle, 0.1), np.zeros(6), dt=DT, steps=500)
    expected = G * (np.sin(angle) - mu * np.cos(angle)) * 0.5 if slides else 0.0
    assert np.linalg.norm(steps["v"][-1]) == pytest.approx(expected, abs=1e-4)
    assert steps["residual"][50:].max() < 1e-4


def test_a_sliding_ball_starts_to_roll():
    model, mu, v0 = ball(), 0.2, 1.0
    q, v = model.neutral(), np.zeros(6)
    q[2], v[0] = 0.1, v0
    steps = run_steps(ContactGeometry(model), TimeStepping(friction=mu), q, v, dt=DT, steps=300)
    assert steps["v"][-1, 4] == pytest.approx(5 / 7 * v0 / 0.1, rel=1e-3)
    rolling = np.abs(steps["forces"][:, 0, 0]) < 1e-3
    assert np.argmax(rolling) * DT == pytest.approx(2 * v0 / (7 * mu * G), abs=2 * DT)


def test_a_ball_rolls_down_a_slope():
    model, angle = ball(), 0.3
    geometry = ContactGeometry(model, ground=slope(angle))
    steps = run_steps(
        geometry, TimeStepping(), pose_on_slope(angle, 0.1), np.zeros(6), dt=DT, steps=500
    )
    distance = 5 / 7 * G * np.sin(angle) * 0.5**2 / 2
    assert np.linalg.norm(steps["q"][-1, :3] - 0.1 * slope_normal(angle)) == pytest.approx(
        distance, rel=5e-3
    )


def test_friction_stops_a_spinning_coin():
    model, mu, spin, radius = coin(), 0.3, 20.0, 0.1
    v = np.zeros(6)
    v[5] = spin
    stop = spin * radius / (2 * mu * G)
    steps = run_steps(
        ContactGeometry(model),
        TimeStepping(friction=mu, sweeps=20),
        model.neutral(),
        v,
        dt=DT,
        steps=400,
    )
    time = DT * np.arange(1, 401)
    expected = np.maximum(spin - 2 * mu * G / radius * time, 0.0)
    np.testing.assert_allclose(steps["v"][:, 5], expected, atol=0.08)
    assert abs(steps["v"][time > stop + 0.01, 5]).max() < 1e-6


@pytest.mark.parametrize(("tangent", "tips"), [(0.24, False), (0.26, True)])
def test_a_slender_box_tips_when_its_center_of_mass_passes_the_edge(tangent, tips):
    model = box(half=(0.05, 0.1, 0.2))
    angle = np.arctan(tangent)
    geometry = ContactGeometry(model, ground=slope(angle))
    steps = run_steps(
        geometry, TimeStepping(sweeps=40), pose_on_slope(angle, 0.2), np.zeros(6), dt=DT, steps=200
    )
    assert (abs(steps["v"][-1, 4]) > 0.01) == tips


def test_bounces_follow_from_the_restitution():
    model, e = ball(), 0.5
    q = model.neutral()
    q[2] = 0.1 + 0.5
    dt = 2e-4
    law = TimeStepping(restitution=e, rest_speed=0.02)
    steps = run_steps(ContactGeometry(model), law, q, np.zeros(6), dt=dt, steps=6000)
    speed = steps["v"][:, 2]
    up = [k for k in range(1, 6000) if speed[k] > 0.02 and speed[k - 1] < -0.02]
    first = np.sqrt(2 * G * 0.5)
    np.testing.assert_allclose(speed[up[:4]], first * e ** np.arange(1, 5), rtol=0.02)
    assert abs(speed[-1]) < 1e-6


def test_stacked_boxes_stay_at_rest():
    model = stack_of_boxes()
    q = model.neutral()
    q[2], q[7 + 2] = 0.1, 0.3
    geometry = ContactGeometry(model, contacts=("low_skin",), pairs=(("high_skin", "low_skin"),))
    steps = run_steps(geometry, TimeStepping(sweeps=15), q, np.zeros(12), dt=DT, steps=200)
    on_ground = np.array([" on " not in name for name in geometry.names])
    total = steps["forces"][-1]
    assert total[on_ground, 2].sum() == pytest.approx(4 * G, rel=1e-3)
    assert np.abs(steps["q"][-1, [2, 9]] - [0.1, 0.3]).max() < 1e-4
    assert np.abs(steps["v"][-1]).max() < 1e-3


def test_linear_momentum_is_conserved_in_flight():
    model = box()
    q, v = model.neutral(), np.random.default_rng(0).normal(size=6)
    q[2] = 3.0
    steps = run_steps(ContactGeometry(model), TimeStepping(), q, v, dt=DT, steps=100)
    linear = momentum(model, steps["q"], steps["v"])[:, 3:]
    time = DT * np.arange(1, 101)
    start = momentum(model, q, v)[3:]
    np.testing.assert_allclose(linear, start + np.outer(time, [0, 0, -3 * G]), atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_contacts_never_create_energy(seed):
    model = box()
    rng = np.random.default_rng(seed)
    q, v = model.neutral(), 2 * rng.normal(size=6)
    v[3:] = 0.0
    q[2] = 0.4
    q[3:7] = rng.normal(size=4)
    q[3:7] /= np.linalg.norm(q[3:7])
    steps = run_steps(
        ContactGeometry(model),
        TimeStepping(friction=0.4, sweeps=40),
        q,
        v,
        dt=DT,
        steps=800,
        record=("forces", "residual", "work", "distances"),
    )
    work = steps["work"][:, 1]
    assert np.diff(work).max() < 1e-3
    energy = kinetic_energy(model, steps["q"], steps["v"]) + potential_energy(model, steps["q"])
    assert energy.max() < energy[0] * 1.02
    assert steps["distances"].min() > -2e-3
    assert energy[-1] < energy[0]


def hanging_rod(**numbers):
    """A rod on a hinge."""
    assembly = Assembly("rod").add(
        Body("rod", 1.0, [0, 0, -0.5], [0.1, 0.1, 0.01]), joints.revolute("y", **numbers)
    )
    return assembly.model()


@pytest.mark.parametrize("linearization", ["tangent", "exact"])
def test_limits_springs_and_dry_friction_act(linearization):
    law = TimeStepping(joints=linearization, sweeps=20)
    limited = hanging_rod(lower=-1.0, upper=0.3)
    steps = run_steps(ContactGeometry(limited), law, [0.0], [1.5], dt=DT, steps=1000)
    assert steps["q"].max() < 0.33
    frictional = hanging_rod(friction=1.0)
    friction_angle = np.arcsin(1.0 / (0.5 * G))
    steps = run_steps(ContactGeometry(frictional), law, [0.6], [0.0], dt=DT, steps=3000)
    assert abs(steps["q"][-1, 0]) < friction_angle + 1e-3
    assert abs(steps["v"][-1, 0]) < 2e-3
    elastic = hanging_rod(stiffness=1e6, damping=10.0, rest=0.2)
    steps = run_steps(ContactGeometry(elastic), law, [0.0], [0.0], dt=0.01, steps=500)
    assert steps["q"][-1, 0] == pytest.approx(0.2, abs=1e-3)


def test_penetration_at_the_start_is_corrected_slowly():
    model = box()
    q = model.neutral()
    q[2] = 0.05
    steps = run_steps(
        ContactGeometry(model),
        TimeStepping(),
        q,
        np.zeros(6),
        dt=DT,
        steps=400,
        record=("distances",),
    )
    # The lower corners separate no faster than the correction speed.
    assert np.abs(steps["v"]).max() < 1.05
    assert steps["q"][-1, 2] == pytest.approx(0.1, abs=0.06)


def test_steps_that_are_too_long_stay_finite():
    model = box()
    q, v = model.neutral(), np.zeros(6)
    q[2], v[2], v[3] = 0.3, -5.0, 20.0
    steps = run_steps(ContactGeometry(model), TimeStepping(sweeps=40), q, v, dt=0.2, steps=100)
    assert np.isfinite(steps["q"]).all()
    assert steps["q"][-1, 2] > -0.5


def test_the_residual_shows_too_few_sweeps():
    model = box()
    q, v = model.neutral(), np.zeros(6)
    q[2], v[2], v[4] = 0.1, -1.0, 3.0
    few, many = (
        run_steps(ContactGeometry(model), TimeStepping(sweeps=n), q, v, dt=DT, steps=1)["residual"][
            0
        ]
        for n in (1, 80)
    )
    assert few > 1e-3 > 1e-6 > many


@pytest.mark.parametrize("law", [TimeStepping, ImplicitSprings])
def test_steps_with_large_residuals_are_counted_in_a_note(law):
    few, enough = ({"sweeps": 1}, {"sweeps": 80}) if law is TimeStepping else (
        {"iterations": 1}, {"iterations": 12}
    )  # fmt: skip
    model = box()
    q, v = model.neutral(), np.zeros(6)
    q[2], v[2], v[4] = 0.12, -1.0, 5.0
    rough, fine = (run(model, q, v, 0.1, DT, contact=law(**n)) for n in (few, enough))
    scale = 1.0 if law is TimeStepping else 3.0
    (note,) = rough.notes
    assert rough.residual > 0.01 * scale
    assert note.startswith("contacts were solved to 0.01 m/s in all but ")
    assert f"worst {rough.residual / scale:.2g} m/s at" in note
    assert fine.residual < 0.01 * scale
    assert fine.notes == ()


def test_a_tolerance_makes_residuals_a_status():
    model = box()
    q, v = model.neutral(), np.zeros(6)
    q[2], v[2], v[4] = 0.12, -1.0, 5.0
    rough = run(model, q, v, 0.1, DT, contact=TimeStepping(sweeps=1, tolerance=1e-4))
    assert rough.status is SimulationStatus.NOT_CONVERGED
    assert "more sweeps or shorter steps" in rough.message
    assert 0.0 < rough.time[-1] < 0.1
    law = TimeStepping(sweeps=80, tolerance=1e-4)
    fine = run(model, q, v, 0.1, DT, contact=law)
    assert fine.status is SimulationStatus.FINISHED
    assert 0.0 < fine.residual < 1e-4
    free = np.array([0, 0, 1.0, 0, 0, 0, 0])
    batch = rollout(
        model,
        np.array([q, q + free]),
        v,
        0.1,
        DT,
        contact=TimeStepping(sweeps=1, tolerance=1e-4),
    )
    assert [SimulationStatus(s) for s in batch.status] == [
        SimulationStatus.NOT_CONVERGED,
        SimulationStatus.FINISHED,
    ]


def test_rank_deficient_contacts_converge_in_every_batch_element():
    """More rows than degrees of freedom: forces are not unique, their sum and the motion are."""
    model = box()
    elements = 12
    rng = np.random.default_rng(3)
    q = np.tile(model.neutral(), (elements, 1))
    q[:, 2] = 0.1 + rng.uniform(0, 0.02, elements)
    v = np.zeros((elements, 6))
    v[:, :2] = rng.normal(size=(elements, 2))
    law = TimeStepping(friction=0.5, sweeps=20)
    batch = rollout(
        model,
        q,
        v,
        0.6,
        DT,
        contact=law,
        recorded_quantities=("forces", "distances", "v", "residual"),
    )
    residual, force = batch.records["residual"], batch.records["forces"]
    assert residual.shape == (elements, 601)
    final = slice(550, None)
    assert residual[:, final].max() < 1e-8
    np.testing.assert_allclose(force[:, final].sum(axis=2)[..., 2], 3 * G, rtol=1e-8)
    assert np.abs(batch.v).max() < 1e-9
    assert batch.records["distances"][:, final].min() > -1e-5
    # Round cones: friction is mu times the load for every direction of sliding.
    total = force.sum(axis=2)
    across, load = np.linalg.norm(total[..., :2], axis=-1), total[..., 2]
    assert np.all(across <= 0.5 * load + 1e-6)
    speed = batch.records["v"][..., :2]
    sliding = (np.linalg.norm(speed, axis=-1) > 0.2) & (load > 1) & (residual < 1e-9)
    assert np.count_nonzero(sliding) > 100
    np.testing.assert_allclose(across[sliding], 0.5 * load[sliding], rtol=1e-6)
    alone = run(model, q[0], v[0], 0.6, DT, contact=law)
    assert alone.residuals.shape == alone.time.shape
    assert alone.residual == alone.residuals.max() > 0


@pytest.mark.parametrize(
    "settings",
    [
        {"joints": "soft"},
        {"sweeps": 0},
        {"tolerance": 0.0},
        {"correction": 2.0},
        {"restitution": 1.1},
    ],
)
def test_invalid_settings_are_refused(settings):
    with pytest.raises(ModelError):
        TimeStepping(**settings)
