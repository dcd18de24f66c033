"""The calcium muscle of HuMAnS: V26 to V28, and misprints of the document as misprints."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import homodyn as hd
from homodyn.muscle.stimulation import CalciumMuscle, CalciumState, CommandSignal, Stimulus
from support import stimulated_knee

LAW = CalciumMuscle()
QUADRICEPS, HAMSTRINGS = stimulated_knee.build().muscles
REST_M = 0.492


def isometric(muscle, command, duration, recruitment=1.0):
    """k_c and F_c over time at rest length."""

    def rate(t, x):
        stimulus = Stimulus(float(command(t)), recruitment)
        found = LAW.rates(muscle, CalciumState(*x), stimulus, REST_M, 0.0)
        return [float(found.stiffness), float(found.force)]

    limits = {"rtol": 1e-10, "atol": 1e-9, "max_step": 1e-3}
    return solve_ivp(rate, (0, duration), [0.0, 0.0], dense_output=True, **limits).sol


def always(level):
    return lambda t: level


def random_states(count=200):
    generator = np.random.default_rng(3)
    return [
        (
            CalciumState(generator.uniform(0, 1e4), generator.uniform(0, 500)),
            Stimulus(generator.uniform(-5, 5), generator.uniform(0, 1)),
            generator.uniform(0.4, 0.6),
            generator.normal() * 0.3,
        )
        for _ in range(count)
    ]


def test_v26_isometric_quadriceps():
    found = isometric(QUADRICEPS, always(5.0), 4.0)
    assert found(0.02)[0] == pytest.approx(927.67, abs=0.01)
    assert found(0.02)[1] == pytest.approx(44.453, abs=1e-3)
    assert found(0.2)[1] == pytest.approx(245.840, abs=1e-3)
    np.testing.assert_allclose(found(4.0), [1e4, 500], rtol=4e-4)
    assert isometric(HAMSTRINGS, always(5.0), 0.02)(0.02)[1] == pytest.approx(44.694, abs=1e-3)


def test_v26_half_recruitment_reaches_half_the_force():
    assert isometric(QUADRICEPS, always(5.0), 4.0, 0.5)(4.0)[1] == pytest.approx(250, rel=1e-4)


@pytest.mark.parametrize(
    ("profile", "peak", "moment"), [("step", 44.453, 0.02), ("ramp", 49.356, 0.025)]
)
def test_v26_peak_of_a_single_impulse(profile, peak, moment):
    found = isometric(QUADRICEPS, CommandSignal(profile=profile).level, 0.1)
    times = np.linspace(0, 0.1, 4001)
    force = found(times)[1]
    assert force.max() == pytest.approx(peak, abs=2e-3)
    assert times[force.argmax()] == pytest.approx(moment, abs=1e-4)


def test_isometric_relaxation_stretches_the_contractile_element():
    found = isometric(QUADRICEPS, CommandSignal().level, 0.5)
    for t in (0.05, 0.2, 0.45):
        k_c, f_c = found(t)
        slope = (found(t + 1e-4)[1] - found(t - 1e-4)[1]) / 2e-4
        # The series spring shortens, so the force falls more slowly than at 5/s while k_c is large.
        rate = 5 * 1e4 * 0.082 / (1e4 * 0.082 + k_c * 0.082 - f_c)
        assert slope == pytest.approx(-rate * f_c, rel=1e-4)
        assert 0 < rate < 5


def test_v28_both_equations_of_the_force_agree():
    for state, stimulus, length, speed in random_states():
        found = LAW.rates(QUADRICEPS, state, stimulus, length, speed)
        own, high = float(found.strain), max(stimulus.level, 0.0)
        strain = LAW.strain(QUADRICEPS, length)
        isometric_force = 500 * max(1 - (strain / 0.4) ** 2, 0)
        other = -(abs(stimulus.level) + abs(own)) * state.force
        other += stimulus.recruitment * isometric_force * high + state.stiffness * 0.082 * own
        assert float(found.force) == pytest.approx(other, abs=1e-9)
        switch = float(LAW.switching_function(QUADRICEPS, state, stimulus, length, speed))
        assert np.sign(own) == np.sign(switch)


def test_rates_are_continuous_where_the_sign_switches():
    state, stimulus = CalciumState(5e3, 200.0), Stimulus(-5.0, 0.0)
    balance = -200.0 * 5 / 1e4
    rates = [LAW.rates(QUADRICEPS, state, stimulus, REST_M, balance + d) for d in (-1e-9, 1e-9)]
    np.testing.assert_allclose(*np.array(rates, dtype=float), rtol=1e-6, atol=1e-6)


def test_rates_without_a_unique_solution_are_not_finite():
    state = CalciumState(0.0, 900.0)
    assert float(LAW.uniqueness_margin(QUADRICEPS, state)) < 0
    found = LAW.rates(QUADRICEPS, state, Stimulus(ca.SX(5.0), 1.0), ca.SX(REST_M), ca.SX(0.1))
    assert not np.isfinite(float(found.force))


def test_energy_of_the_parallel_spring_is_its_work():
    muscle = replace(
        QUADRICEPS,
        settings={**QUADRICEPS.settings, "parallel_stiffness": 30.0, "parallel_exponent": 4.0},
    )
    step = 1e-6
    for strain in (-0.1, 0.05, 0.3):
        ends = [float(LAW.parallel_energy(muscle, strain + d)) for d in (-step, step)]
        force = float(LAW.parallel_force(muscle, strain))
        assert np.diff(ends)[0] / (2 * step * REST_M) == pytest.approx(force, rel=1e-6)
    bad = replace(muscle, settings={**muscle.settings, "parallel_exponent": 0.0})
    with pytest.raises(hd.ModelError, match="parallel_exponent must be positive, got 0"):
        LAW.parallel_force(bad, 0.1)


def test_forces_of_a_model_are_those_after_long_stimulation():
    knee = stimulated_knee.build()
    force = hd.muscle.forces(knee, [0.5], [0.0], [1.0, 0.5])
    strain = stimulated_knee.lengths(0.5) / REST_M - 1
    np.testing.assert_allclose(force, 500 * np.array([1, 0.5]) * (1 - (strain / 0.4) ** 2))


def test_misprint_of_the_positive_relaxation_level_never_relaxes():
    printed = isometric(QUADRICEPS, always(+5.0), 1.0)
    assert printed(1.0)[1] > printed(0.5)[1]


def test_misprint_of_the_range_of_strains_leaves_no_force():
    printed_range = (1.6, 2.4)
    strains = np.linspace(-0.4, 0.4, 9)
    assert not ((strains >= printed_range[0]) & (strains <= printed_range[1])).any()
    assert all(float(LAW.length_factor(s)) > 0 for s in strains[1:-1])
    assert float(LAW.length_factor(0.41)) == 0 == float(LAW.length_factor(2.0))


def test_misprint_of_the_contractile_length_in_the_event_function_has_other_signs():
    wrong = 0
    for state, stimulus, length, speed in random_states():
        right = float(LAW.switching_function(QUADRICEPS, state, stimulus, length, speed))
        printed = right + 1e4 * (0.082 / REST_M - 1) * speed  # L_c0 in the place of L_0
        wrong += right * printed < 0
    assert wrong > 20
