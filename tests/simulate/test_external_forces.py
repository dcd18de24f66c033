"""Forces on bodies: momentum, work and schedules, under all integrators and laws."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.model import Assembly, joints, sphere
from homodyn.simulate import PD, BodyForce, rollout, run
from homodyn.simulate.signals import PhaseVariable, Pulse, RandomNumber


@pytest.fixture(scope="module")
def stone():
    model = Assembly("stone").add(sphere("stone", mass=2.0, radius=0.1), joints.free()).model()
    return model.with_gravity(0.0)


INTEGRATORS = ("semi_implicit_euler", "rk4", "dormand_prince", "implicit_midpoint")


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_constant_force_accelerates(stone, integrator):
    result = run(
        stone,
        stone.neutral(),
        duration=0.5,
        dt=1e-3,
        contact=None,
        integrator=integrator,
        external_forces=[BodyForce("stone", force=(3.0, 0.0, -1.0))],
    )
    assert np.allclose(result.v[-1, :3], [0.75, 0.0, -0.25])
    assert result.energy.external[-1] == pytest.approx(result.energy.kinetic[-1], rel=1e-9)
    assert np.abs(result.energy.error).max() < 1e-12


@pytest.mark.parametrize("step", [1e-3, 7e-3, 0.03])
def test_the_impulse_of_a_push_does_not_depend_on_the_step(stone, step):
    push = BodyForce("stone", force=("size", 0.0, 0.0), start=0.1234, duration="length")
    result = rollout(
        stone,
        stone.neutral(),
        duration=0.42,
        dt=step,
        contact=None,
        external_forces=[push],
        batch_parameters={"size": [80.0, 60.0], "length": [0.15, 0.01]},
    )
    momentum = 2.0 * np.abs(result.v).max(axis=1)
    assert np.allclose(momentum, [12.0, 0.6], rtol=1e-12)


def test_a_force_off_the_center_and_a_moment_turn_the_body(stone):
    off = BodyForce("stone", force=(0.0, 0.0, 5.0), point=(0.2, 0.0, 0.0), duration=0.01, start=0.0)
    turn = BodyForce("stone", moment=(0.0, -1.0, 0.0), duration=0.01, start=0.0)
    results = [
        run(stone, stone.neutral(), duration=0.01, contact=None, external_forces=[one])
        for one in (off, turn)
    ]
    spins = [hd.dynamics.angular_velocity(stone, r.q[-1], r.v[-1], "stone") for r in results]
    assert spins[0][1] < -0.1
    assert np.allclose(spins[0], spins[1], rtol=1e-3)


LAWS = ("soft", "implicit", "time_stepping")


@pytest.mark.parametrize("law", LAWS)
def test_energy_books_close_with_pushes_and_varying_impedance(law):
    model = hd.catalog.coman()
    q = hd.simulate.place_on_ground(model, model.neutral())
    knee = next(name for name in model.coordinate_names if "knee" in name.lower())

    def stiffness(t, q, v, batch):
        return ca.if_else(batch["phase"] < 0.5, 300.0, 40.0) * (1 + v[8] ** 2 / 10)

    def simulate(step):
        return run(
            model,
            q,
            duration=0.3,
            dt=step,
            contact=law,
            actuation=PD(kp={"*": 200.0, knee: "knee stiffness"}, kd=3.0, stable=True),
            signals={"phase": PhaseVariable(5.0), "knee stiffness": stiffness},
            external_forces=[
                BodyForce(model.body_names[0], force=(40.0, 0.0, 0.0), start=0.05, duration=0.1)
            ],
        )

    coarse, fine = simulate(1e-3), simulate(2.5e-4)
    for result in (coarse, fine):
        assert result.status is hd.simulate.SimulationStatus.FINISHED
        energy = result.energy
        change = energy.kinetic + energy.potential - energy.kinetic[0] - energy.potential[0]
        books = (
            energy.actuators + energy.contacts - energy.dissipated + energy.external + energy.error
        )
        assert np.abs(change - books).max() < 1e-9
        assert energy.external[-1] > 0.2
    # What remains is the error of the integration, of first order in the step.
    scale = np.abs(coarse.energy.external).max()
    assert np.abs(fine.energy.error).max() < 0.05 * scale
    assert np.abs(fine.energy.error).max() < 0.5 * np.abs(coarse.energy.error).max()


def test_random_pushes_by_seed_repeat_for_every_batch(stone):
    signals = {
        "phase": PhaseVariable(4.0),
        "size": RandomNumber(
            "normal", 80.0, 5.0, "seed", redraw=lambda t, q, v, b: b["phase"] > 0.5
        ),
        "onset": RandomNumber(
            "uniform", 0.0, 0.05, "seed", redraw=lambda t, q, v, b: b["phase"] > 0.5
        ),
        "push": Pulse(lambda t, q, v, b: b["phase"] > 0.5, duration=0.03, delay="onset"),
    }
    force = BodyForce("stone", lambda t, q, v, b: ca.vertcat(b["size"] * b["push"], 0, 0))

    def simulate(seeds, threads):
        return rollout(
            stone,
            stone.neutral(),
            duration=1.0,
            contact=None,
            signals=signals,
            external_forces=[force],
            batch_parameters={"seed": seeds},
            threads=threads,
        )

    seeds = np.arange(37)
    whole, part = simulate(seeds, 2), simulate(seeds[10:13], 1)
    assert np.array_equal(whole.v[10:13], part.v)
    momentum = 2.0 * np.abs(whole.v).max(axis=1)
    assert len(np.unique(momentum)) == 37
    assert momentum.mean() == pytest.approx(4 * 80.0 * 0.03, rel=0.03)


def test_wrong_forces_are_refused(stone):
    q = stone.neutral()
    with pytest.raises(hd.ModelError, match="three numbers are needed"):
        run(stone, q, external_forces=[BodyForce("stone", force=(1.0, 2.0))])
    with pytest.raises(hd.ModelError, match="no batch parameter or earlier signal 'size'"):
        run(stone, q, external_forces=[BodyForce("stone", force=("size", 0, 0))])
    with pytest.raises(hd.ModelError, match="nose"):
        run(stone, q, external_forces=[BodyForce("nose", force=(1.0, 0, 0))])
    with pytest.raises(hd.ModelError, match="sequence of BodyForce"):
        run(stone, q, external_forces=BodyForce("stone"))
    with pytest.raises(hd.ModelError, match="takes no external_forces"):
        run(stone, q, contact="event_driven", external_forces=[BodyForce("stone")])
