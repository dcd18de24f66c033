"""Metabolic power against OpenSim, at its own states of fibers."""

import importlib.util
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.model.muscles import Muscle
from homodyn.muscle.metabolic_models import (
    PARTS,
    Bhargava2004,
    FiberWork,
    MetabolicModel,
    Umberger2010,
    maintenance_factor,
)
from support.muscle_kinds import random_motion

SCRIPT = Path(__file__).with_name("opensim_metabolics.py")
STATES = 12
SHARED = {
    "include_negative_mechanical_work": "include_negative_work",
    "forbid_negative_total_power": "forbid_negative_power",
    "enforce_minimum_heat_rate_per_muscle": "enforce_minimum_heat",
    "muscle_effort_scaling_factor": "effort_factor",
    "use_force_dependent_shortening_prop_constant": "force_dependent_shortening",
    "smoothing_type": "smoothing",
    "velocity_smoothing": "velocity_smoothing",
    "power_smoothing": "power_smoothing",
    "heat_rate_smoothing": "heat_smoothing",
    "aerobic_factor": "aerobic_factor",
    "use_Bhargava_recruitment_model": "recruit_by_excitation",
    "basal_coefficient": "basal_coefficient",
    "basal_exponent": "basal_exponent",
}
"""Our names of the options of OpenSim."""
SMOOTH = {"velocity_smoothing": 20.0, "power_smoothing": 5.0, "heat_rate_smoothing": 8.0}
BHARGAVA = (
    {},
    {"include_negative_mechanical_work": False, "muscle_effort_scaling_factor": 0.8},
    {"forbid_negative_total_power": False, "enforce_minimum_heat_rate_per_muscle": False},
    {"use_force_dependent_shortening_prop_constant": True, "basal_exponent": 0.9},
    {"use_smoothing": True, "smoothing_type": "tanh", **SMOOTH},
    {
        "use_smoothing": True,
        "smoothing_type": "huber",
        "include_negative_mechanical_work": False,
        **SMOOTH,
    },
    {
        "use_smoothing": True,
        "smoothing_type": "huber",
        "use_force_dependent_shortening_prop_constant": True,
        "basal_coefficient": 1.5,
    },
)
UMBERGER = (
    {},
    {"include_negative_mechanical_work": False, "aerobic_factor": 1.0},
    {"forbid_negative_total_power": False, "enforce_minimum_heat_rate_per_muscle": False},
    {"use_Bhargava_recruitment_model": False, "muscle_effort_scaling_factor": 0.7},
    {"shortening_rate_on": False},
    {"mechanical_work_rate_on": False, "basal_rate_on": False},
    {"activation_maintenance_rate_on": False, "forbid_negative_total_power": False},
)


def our_options(properties):
    """Our options for properties of OpenSim."""
    options = {SHARED[name]: value for name, value in properties.items() if name in SHARED}
    names = {"activation_maintenance": "activation", "mechanical_work": "work"}
    off = [n.removesuffix("_rate_on") for n in properties if n.endswith("_rate_on")]
    options["omit"] = tuple(names.get(name, name) for name in off)
    return {"slow_twitch_ratio": 0.4, **options}


@pytest.fixture(scope="module")
def asked(wraps_file, wraps_model, tmp_path_factory):
    """States and powers of OpenSim."""
    if importlib.util.find_spec("opensim") is None:
        pytest.skip("opensim is not installed")
    folder = tmp_path_factory.mktemp("metabolics")
    q, v, activations = random_motion(wraps_model, STATES)
    excitations = np.random.default_rng(8).uniform(0, 1, activations.shape)
    names = list(wraps_model.coordinate_names)
    values = {name: q[:, k] for k, name in enumerate(names)}
    rates = {name: v[:, k] for k, name in enumerate(names)}
    for one in wraps_model.couplers:
        values[one.coordinate] = one.function.value(values[one.of])
        rates[one.coordinate] = one.function.slope(values[one.of]) * rates[one.of]
    request = {
        "names": list(values),
        "values": np.array(list(values.values())).T.tolist(),
        "speeds": np.array([rates[name] for name in values]).T.tolist(),
        "activations": activations.tolist(),
        "excitations": excitations.tolist(),
        "bhargava": BHARGAVA,
        "umberger": UMBERGER,
    }
    (folder / "request.json").write_text(json.dumps(request))
    command = [sys.executable, "-I", str(SCRIPT), str(wraps_file.resolve())]
    subprocess.run([*command, "request.json", "answer.json"], cwd=folder, check=True)
    answer = json.loads((folder / "answer.json").read_text())
    assert answer["names"] == [muscle.name for muscle in wraps_model.muscles]
    return answer | {"q": q, "v": v, "activations": activations, "excitations": excitations}


def powers(cost, model, inputs):
    """(states, muscles, parts) of our formulas at the states of fibers of OpenSim."""
    found = np.zeros((*inputs.shape[:2], 5))
    for k, muscle in enumerate(model.muscles):
        x = ca.SX.sym("x", 7)
        activation, excitation, *rest = ca.vertsplit(x)
        rates = cost.rates(muscle, FiberWork(excitation, activation, *rest))
        evaluate = ca.Function("rates", [x], [ca.vertcat(*rates)])
        found[:, k] = np.asarray(evaluate.map(len(inputs))(inputs[:, k].T)).T
    return found


@pytest.mark.parametrize("case", range(len(BHARGAVA)))
def test_bhargava_agrees_with_opensim(asked, wraps_model, case):
    cost = Bhargava2004(specific_tension_pa=0.3e6, **our_options(BHARGAVA[case]))
    found = powers(cost, wraps_model, np.array(asked["inputs"]))
    expected = np.array(asked["bhargava"])[:, case]
    np.testing.assert_allclose(found[..., 1:], expected, rtol=1e-9, atol=1e-9)
    basal = float(cost.basal_power(asked["mass"]))
    total = np.array(asked["total"])[:, case]
    np.testing.assert_allclose(found[..., 0] + basal, total, rtol=1e-9, atol=1e-9)
    assert np.ptp(found[..., 0]) > 10


@pytest.mark.parametrize("case", range(len(UMBERGER)))
def test_umberger_agrees_with_opensim(asked, wraps_model, case):
    cost = Umberger2010(**our_options(UMBERGER[case]))
    found = powers(cost, wraps_model, np.array(asked["inputs"]))[..., 0]
    expected = np.array(asked["umberger"])[:, case]
    np.testing.assert_allclose(found, expected[:, 2:], rtol=1e-9, atol=1e-9)
    basal = float(cost.basal_power(asked["mass"]))
    np.testing.assert_allclose(basal, expected[:, 1], rtol=1e-9)
    np.testing.assert_allclose(found.sum(axis=1) + basal, expected[:, 0], rtol=1e-9)


def test_maintenance_falls_with_length():
    lengths = [0.2, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0]
    found = [float(maintenance_factor(x)) for x in lengths]
    np.testing.assert_allclose(found, [0.5, 0.5, 0.75, 1.0, 0.5, 0, 0])


def test_parts_and_masses(wraps_model):
    muscle = wraps_model.muscles[0]
    fiber = FiberWork(0.5, 0.4, 1.1, -0.2, 200.0, 10.0, 0.9)
    for cost in (Bhargava2004(), Umberger2010()):
        rates = cost.rates(muscle, fiber)
        assert float(rates.total) == pytest.approx(sum(float(x) for x in rates[1:]))
        assert float(rates.work) == pytest.approx(40.0)
        none = type(cost)(omit=PARTS).rates(muscle, fiber)
        assert [float(x) for x in none] == [0] * 5
        assert float(type(cost)(omit=("basal",)).basal_power(70.0)) == 0
        section = muscle.max_isometric_force / 0.25e6
        expected = section * 1059.7 * muscle.optimal_fiber_length
        assert cost.muscle_mass(muscle) == pytest.approx(expected)
    own = replace(muscle, settings={"muscle_mass": 0.3, "ratio_slow_twitch_fibers": 0.7})
    assert (cost.muscle_mass(own), cost.slow_ratio(own)) == (0.3, 0.7)


def test_smooth_power_has_finite_derivatives(wraps_model):
    x = ca.SX.sym("x", 7)
    rates = Bhargava2004(smoothing="tanh").rates(
        wraps_model.muscles[0], FiberWork(*ca.vertsplit(x))
    )
    gradient = ca.Function("gradient", [x], [ca.gradient(rates.total, x)])
    at = np.array([0.5, 0.4, 1.1, 0.0, 200.0, 10.0, 0.9])
    assert np.isfinite(np.asarray(gradient(at))).all()


def test_refusals():
    assert issubclass(Bhargava2004, MetabolicModel)
    with pytest.raises(hd.ModelError, match="no part of metabolic power 'heat'"):
        Umberger2010(omit=("heat",))
    with pytest.raises(hd.ModelError, match=r"slow_twitch_ratio is from 0 to 1, got 1\.5"):
        Bhargava2004(slow_twitch_ratio=1.5)
    with pytest.raises(hd.ModelError, match="density_kg_per_m3 must be above zero, got nan"):
        Bhargava2004(density_kg_per_m3=np.nan)
    with pytest.raises(hd.ModelError, match="no smoothing 'sine'; accepted: tanh, huber"):
        Bhargava2004(smoothing="sine")


def _umberger_rates(cost, states):
    muscle = Muscle("m", "Thelen2003Muscle", (), max_isometric_force=1500.0)
    x = ca.SX.sym("x", 7)
    total = cost.rates(muscle, FiberWork(*ca.vertsplit(x))).total
    evaluate = ca.Function("total", [x], [total, ca.gradient(total, x)]).map(states.shape[1])
    mass = cost.muscle_mass(muscle)
    return [np.asarray(one) / mass for one in evaluate(states)]


def test_smooth_powers_of_umberger_are_near_the_exact_ones_with_bounded_slopes():
    generator = np.random.default_rng(3)
    low = np.array([0.0, 0.0, 0.6, -0.8, 0.0, 0.0, 0.2])
    high = np.array([1.0, 1.0, 1.4, 0.8, 1500.0, 300.0, 1.0])
    states = generator.uniform(low, high, (2000, 7)).T
    states[6] = np.exp(-(((states[2] - 1) / 0.45) ** 2))
    states[4] = 1500.0 * states[1] * states[6]
    exact, _ = _umberger_rates(Umberger2010(), states)
    smooth, _ = _umberger_rates(Umberger2010(smoothing="tanh"), states)
    error = np.abs(smooth - exact)
    assert np.median(error) < 0.01 * np.median(np.abs(exact))
    assert error.max() < 0.1 * np.abs(exact).max()
    # At the corners of the exact model: no excitation, no speed, optimal length.
    at_rest = np.array([[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]]).T
    value, slope = _umberger_rates(Umberger2010(smoothing="tanh"), at_rest)
    assert np.isfinite(slope).all()
    assert value[0, 0] == pytest.approx(1.0, abs=0.6)
    _, exact_slope = _umberger_rates(Umberger2010(), at_rest)
    assert not np.isfinite(exact_slope).all()


def test_an_unknown_smoothing_is_refused():
    with pytest.raises(hd.ModelError, match="no smoothing 'huber'; accepted: tanh"):
        Umberger2010(smoothing="huber")
