"""Simulations that are driven by muscles."""

import importlib.util
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import homodyn as hd
from homodyn.simulate import (
    EventDrivenContact,
    LengthServo,
    MuscleActuation,
    SampledExcitations,
    rollout,
    run,
)
from homodyn.simulate.muscle_actuation import ENERGY_STATES, has_activation
from homodyn.simulate.signals import Delay
from support import muscled_leg
from support.muscle_kinds import SETTINGS, load_kind

WRAPS = Path(__file__).parents[1] / "muscle" / "wraps.osim"
SCRIPT = Path(__file__).with_name("opensim_forward.py")
SLACK_LENGTHS_M = {"straight": 0.38, "moving": 0.15}
NAMES = tuple(SLACK_LENGTHS_M)


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    """The file and the model of an arm with two muscles of Millard, by kind."""

    def load(kind, rigid=False):
        folder = tmp_path_factory.mktemp("arm")
        path, model = load_kind(WRAPS, folder, kind, rigid=rigid)
        muscles = {muscle.name: muscle for muscle in model.muscles}
        chosen = [
            replace(muscles[name], tendon_slack_length=length)
            for name, length in SLACK_LENGTHS_M.items()
        ]
        return path, replace(model, muscles=tuple(chosen), wraps=())

    return load


@pytest.fixture(scope="module")
def millard_arm(arm):
    return arm("Millard2012EquilibriumMuscle")[1]


def simulate(model, actuation, duration=0.05, **options):
    given = {"contact": None, "joint_limits": None, "integrator": "dormand_prince", "dt": 0.005}
    return run(
        model, model.neutral() + 0.1, duration=duration, actuation=actuation, **given | options
    )


def ask_opensim(path, model, folder, excitation, activation, duration):
    """Coordinates, fiber lengths and activations at the end of a movement."""
    request = {
        "muscles": SLACK_LENGTHS_M,
        "coordinates": dict(zip(model.coordinate_names, model.neutral() + 0.1, strict=True)),
        "excitation": excitation,
        "activation": activation,
        "duration": duration,
    }
    (folder / "request.json").write_text(json.dumps(request))
    command = [sys.executable, "-I", str(SCRIPT), str(path), "request.json", "answer.json"]
    subprocess.run(command, cwd=folder, check=True)
    return json.loads((folder / "answer.json").read_text())


@pytest.mark.skipif(importlib.util.find_spec("opensim") is None, reason="opensim is not installed")
@pytest.mark.parametrize("kind", ["Thelen2003Muscle", "Millard2012EquilibriumMuscle"])
def test_a_movement_by_muscles_agrees_with_opensim(arm, tmp_path, kind):
    path, model = arm(kind)
    result = simulate(model, MuscleActuation(0.6, activation=0.1), 0.1)
    expected = ask_opensim(path, model, tmp_path, 0.6, 0.1, 0.1)
    q = [expected["q"][name] for name in model.coordinate_names]
    np.testing.assert_allclose(result.q[-1], q, atol=2e-6)
    states = result.actuator_states
    fibers = [states[f"{name} fiber length"][-1] for name in NAMES]
    np.testing.assert_allclose(fibers, expected["fibers"], atol=2e-6)
    levels = [states[f"{name} activation"][-1] for name in NAMES]
    np.testing.assert_allclose(levels, expected["activation"], atol=1e-7)
    assert np.abs(result.q[-1] - result.q[0]).max() > 0.1


@pytest.mark.parametrize("rigid", [False, True])
@pytest.mark.parametrize("kind", SETTINGS)
def test_energy_balances(arm, kind, rigid):
    result = simulate(arm(kind, rigid)[1], MuscleActuation(0.5))
    states = result.actuator_states
    active, damping, fibers, tendons = (states[name] for name in ENERGY_STATES)
    work = result.energy.actuators
    assert np.abs(work).max() > 1e-3
    np.testing.assert_allclose(active - damping - fibers - tendons, work, atol=1e-6)
    assert np.abs(result.energy.error).max() < 1e-6
    assert (damping >= 0).all()
    assert (np.ptp(tendons) > 1e-4) == (not rigid)


def test_steps_of_fixed_length_converge_to_the_same_movement(millard_arm):
    actuation = MuscleActuation(0.5, activation=0.3)
    exact = simulate(millard_arm, actuation).q[-1]
    errors = [
        np.abs(
            simulate(millard_arm, actuation, integrator=method, dt=dt, compiled=False).q[-1] - exact
        ).max()
        for method, dt in (("semi_implicit_euler", 2e-3), ("semi_implicit_euler", 5e-4))
    ]
    assert errors[1] < 0.4 * errors[0]
    assert errors[1] < 0.03


def test_a_rollout_takes_the_same_steps(millard_arm):
    actuation = MuscleActuation("drive", activation=0.2)
    q0 = np.tile(millard_arm.neutral() + 0.1, (3, 1))
    options = {"contact": None, "joint_limits": None, "dt": 1e-3}
    drive = np.array([0.0, 0.5, 1.0])
    many = rollout(
        millard_arm,
        q0,
        duration=0.02,
        actuation=actuation,
        batch_parameters={"drive": drive},
        **options,
    )
    for k in (0, 2):
        one = run(
            millard_arm,
            q0[k],
            duration=0.02,
            actuation=actuation,
            batch_parameters={"drive": drive[k]},
            **options,
        )
        np.testing.assert_allclose(many.q[k], one.q[-1], atol=1e-9)
    assert np.abs(many.q[2] - many.q[0]).max() > 1e-5


def test_polynomials_replace_the_paths(millard_arm):
    q0 = millard_arm.neutral() + 0.1
    ranges = {
        name: (float(x) - 0.4, float(x) + 0.4)
        for name, x in zip(millard_arm.coordinate_names, q0, strict=True)
    }
    fitted = hd.muscle.fit_polynomials(millard_arm, ranges=ranges, wrapping="geodesic")
    exact = simulate(millard_arm, MuscleActuation(0.4), 0.04)
    quick = simulate(millard_arm, MuscleActuation(0.4, paths=fitted), 0.04)
    assert np.abs(exact.q[-1] - exact.q[0]).max() > 0.02
    np.testing.assert_allclose(quick.q[-1], exact.q[-1], atol=2e-3)
    assert np.abs(quick.energy.error).max() < 1e-6


def test_activation_follows_the_dynamics_of_the_model(millard_arm):
    result = simulate(millard_arm, MuscleActuation(1.0, activation=0.02), 0.03, dt=2e-4)
    level = result.actuator_states["straight activation"]
    rate = (1 - 0.02) / (0.01 * (0.5 + 1.5 * 0.02))
    assert level[0] == 0.02
    assert (level[1] - level[0]) / result.time[1] == pytest.approx(rate, rel=0.1)
    assert level[-1] > 0.75
    muscle = millard_arm.muscles[0]
    assert has_activation(muscle)
    settings = {**muscle.settings, "ignore_activation_dynamics": True}
    quick = replace(millard_arm, muscles=(replace(muscle, settings=settings),))
    assert not has_activation(quick.muscles[0])
    states = simulate(quick, MuscleActuation(0.4), 0.01).actuator_states
    assert list(states) == ["straight fiber length", *ENERGY_STATES]


def test_a_delayed_stretch_reflex_acts_after_its_delay(millard_arm):
    rest = hd.muscle.lengths(millard_arm, millard_arm.neutral() + 0.1, "geodesic")
    optimal = np.array([muscle.optimal_fiber_length for muscle in millard_arm.muscles])
    stretch = {
        "stretch": Delay(
            lambda t, q, v, batch: hd.muscle.lengths(millard_arm, q, "geodesic") - rest, 0.02, 30
        )
    }

    def reflex(t, q, v, batch):
        return 0.05 + 5 * batch["stretch"] / optimal

    options = {"integrator": "semi_implicit_euler", "dt": 1e-3, "compiled": False}
    free = simulate(millard_arm, MuscleActuation(0.05, activation=0.05), 0.06, **options)
    bound = simulate(
        millard_arm, MuscleActuation(reflex, activation=0.05), 0.06, signals=stretch, **options
    )
    early = free.time < 0.02
    levels = [one.actuator_states["straight activation"] for one in (free, bound)]
    np.testing.assert_allclose(levels[0][early], levels[1][early], atol=1e-12)
    assert np.abs(levels[0] - levels[1]).max() > 0.005


def test_servos_hold_the_lengths_of_muscles(millard_arm):
    q0 = millard_arm.neutral() + 0.1
    target = hd.muscle.lengths(millard_arm, q0, "geodesic")
    options = {"integrator": "semi_implicit_euler", "dt": 1e-3, "compiled": False}
    lengths = []
    for excitation in (0.0, LengthServo(target, 20.0, 5.0, 0.05)):
        v0 = [0.0, 0.0, -9.0]  # stretches both muscles
        result = simulate(millard_arm, MuscleActuation(excitation, 0.05), 0.1, v0=v0, **options)
        lengths.append(hd.muscle.lengths(millard_arm, result.q, "geodesic") - target)
    assert lengths[0].max() > 0.005
    assert lengths[1].max() < 0.8 * lengths[0].max()


def test_faults_name_the_muscle(millard_arm):
    q0 = millard_arm.neutral()
    with pytest.raises(
        hd.ModelError, match=r"excitation of muscle 'moving' is nan; numbers from 0"
    ):
        run(millard_arm, q0, actuation=MuscleActuation([0.1, np.nan]), contact=None)
    with pytest.raises(hd.ModelError, match=r"activation of muscle 'straight' is 1\.5; numbers"):
        run(millard_arm, q0, actuation=MuscleActuation(0.1, activation=1.5), contact=None)
    muscle = millard_arm.muscles[0]
    fixed = replace(muscle, points=tuple(replace(p, body="arm") for p in muscle.points))
    model = replace(millard_arm, muscles=(fixed,))
    with pytest.raises(
        hd.ModelError, match="'straight': no coordinate moves it; its points are in arm"
    ):
        run(model, q0, actuation=MuscleActuation(0.1), contact=None)


def test_an_excitation_that_becomes_nan_ends_the_run(millard_arm):
    def excitation(t, q, v, batch):
        return 0.1 + 0.1 * (0.01 - t) ** 0.5

    options = {"integrator": "semi_implicit_euler", "dt": 1e-3, "compiled": False}
    result = simulate(millard_arm, MuscleActuation(excitation), 0.02, **options)
    assert result.status.name == "NOT_FINITE"
    assert "straight activation, moving activation" in result.message
    assert result.time[-1] == pytest.approx(0.011, abs=0.0015)


@pytest.mark.parametrize(
    ("kind", "tendon"), [("Thelen2003Muscle", "compliant"), ("DeGrooteFregly2016Muscle", "rigid")]
)
def test_muscles_push_off_from_rigid_ground_from_event_to_event(kind, tendon):
    model = muscled_leg.build_hopper(kind)
    excitations = {"vastus": 1.0, "gluteus": 0.5, "rectus": 0.3, "iliopsoas": 0.05}
    excitations |= {"hamstring": 0.05, "biceps_short": 0.05}
    actuation = MuscleActuation(excitations, activation=0.6, tendon=tendon)
    q0 = np.array([0.8 * np.cos(0.25) + 0.04, -0.25, 0.5])
    options = {"duration": 0.25, "actuation": actuation, "joint_limits": None, "compiled": False}
    law = EventDrivenContact(tolerance=1e-8)
    exact = run(model, q0, dt=0.01, contact=law, **options)
    kinds = [event.name for event in exact.events]
    assert kinds[0] == "foot touch"
    assert kinds[-1] == "foot leave"
    assert exact.v[:, 0].max() > 0.3
    assert exact.total_force[:, 2].max() > 300
    states = exact.actuator_states
    active, damping, fibers, tendons = (states[name] for name in ENERGY_STATES)
    assert exact.energy.actuators[-1] > 10
    np.testing.assert_allclose(
        active - damping - fibers - tendons, exact.energy.actuators, atol=1e-9
    )
    assert np.abs(exact.energy.error).max() < 1e-6
    # Another law for the same contact, with steps of first order.
    errors = [
        np.abs(
            run(model, q0, dt=dt, contact="time_stepping", record_interval=0.05, **options).q
            - run(model, q0, dt=0.05, contact=law, **options).q
        ).max()
        for dt in (1e-3, 2.5e-4)
    ]
    assert errors[1] < 0.5 * errors[0]
    assert errors[1] < 0.1


@pytest.mark.parametrize("kind", SETTINGS)
def test_event_driven_runs_are_those_of_adaptive_steps_where_nothing_touches(arm, kind):
    model = arm(kind)[1]
    samples = SampledExcitations([0.0, 0.021, 0.033, 0.1], [[0.1] * 2, [0.1] * 2, [1] * 2, [0] * 2])
    for excitation in (0.6, samples):
        actuation = MuscleActuation(excitation, activation=0.1)
        exact = simulate(model, actuation, tolerance=1e-10)
        law = EventDrivenContact(tolerance=1e-9)
        result = run(
            model, model.neutral() + 0.1, duration=0.05, dt=0.005, contact=law,
            joint_limits=None, actuation=actuation,
        )  # fmt: skip
        np.testing.assert_allclose(result.q, exact.q, atol=5e-6)
        for name, values in exact.actuator_states.items():
            np.testing.assert_allclose(result.actuator_states[name], values, atol=1e-5)


def test_an_event_driven_run_names_the_muscle_that_is_not_finite(millard_arm):
    def excitation(t, q, v, batch):
        return 0.1 + 0.1 * (0.01 - t) ** 0.5

    result = run(
        millard_arm, millard_arm.neutral() + 0.1, duration=0.02, dt=1e-3, joint_limits=None,
        actuation=MuscleActuation({"moving": excitation}), contact="event_driven",
    )  # fmt: skip
    assert result.status.name == "NOT_FINITE"
    assert "states of an actuation are not finite" in result.message
    assert "moving activation" in result.message
    assert "straight" not in result.message
