"""The examples of optimal control are solved and have the stated properties."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import homodyn.optimal as oc
from homodyn.dynamics import center_of_mass, center_of_mass_velocity, position
from homodyn.muscle import Bhargava2004, Umberger2010
from homodyn.simulate import MuscleActuation, SampledExcitations, run

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "optimal"


@pytest.fixture(autouse=True)
def examples(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def problem(name, *args):
    return importlib.import_module(name).problem(*args)


def test_examples_are_short():
    for path in FOLDER.glob("*.py"):
        if path.name != "small_bodies.py":
            assert len(path.read_text().splitlines()) < 60, path.name


def test_the_guide_shows_the_examples_as_they_are():
    page = (FOLDER.parents[1] / "docs" / "movements.md").read_text("utf-8")
    for path in FOLDER.glob("*.py"):
        shown = (
            f"`examples/optimal/{path.name}`:\n\n```text\n{path.read_text('utf-8').rstrip()}\n```"
        )
        assert shown in page, path.name


def test_a_double_step_repeats_at_its_speed():
    solution = problem("double_step").solve()
    assert solution.status is oc.SolveStatus.SOLVED
    right, left = solution.phases
    duration = right.duration + left.duration
    assert left.q[-1, 0] - right.q[0, 0] == pytest.approx(1.1 * duration, abs=1e-6)
    np.testing.assert_allclose(left.q[-1, 1:], right.q[0, 1:], atol=1e-6)
    assert min(phase.force[:, 1].min() for phase in solution.phases) > -1e-3


def test_a_splint_makes_steps_asymmetric_and_increases_effort():
    symmetric, asymmetric = importlib.import_module("asymmetric_gait").main()
    assert symmetric.status.success
    assert asymmetric.status.success
    knee = symmetric.transcribed.model.coordinate_index("KneeLeft")
    assert max(phase.q[:, knee].max() for phase in asymmetric.phases) < 0.25 + 1e-6
    assert asymmetric.objective > 1.01 * symmetric.objective
    lengths = importlib.import_module("asymmetric_gait").step_lengths
    assert np.ptp(lengths(symmetric)) < 1e-3
    assert np.ptp(lengths(asymmetric)) > 0.02


def test_running_has_a_flight():
    solution = problem("running").solve()
    assert solution.status is oc.SolveStatus.SOLVED
    model = solution.transcribed.model
    flight = solution.phase("flight")
    feet = [position(model, flight.q[1:-1], f"Foot{side}")[:, 2] for side in ("Right", "Left")]
    assert np.min(feet) > -1e-3
    fall = (
        np.diff(np.asarray(center_of_mass(model, flight.q))[:, 2], 2) / np.diff(flight.time)[0] ** 2
    )
    np.testing.assert_allclose(fall, -9.81, atol=0.5)


def test_a_jump_leaves_the_ground():
    solution = problem("jump").solve()
    assert solution.status is oc.SolveStatus.SOLVED
    model, fly = solution.transcribed.model, solution.phase("fly")
    standing = np.asarray(center_of_mass(model, solution.phase("toes").q[-1]))[2]
    assert np.asarray(center_of_mass(model, fly.q[-1]))[2] > standing + 0.1
    assert np.asarray(position(model, fly.q[-1], "Toe"))[2] > 0.05
    height = np.asarray(center_of_mass(model, fly.q))[:, 2]
    lift_off = float(np.asarray(center_of_mass_velocity(model, fly.q[0], fly.v[0]))[2])
    ballistic = lift_off * fly.duration - 9.81 * fly.duration**2 / 2
    assert height[-1] - height[0] == pytest.approx(ballistic, rel=0.005)


def test_a_squat_ends_standing_still():
    solution = problem("squat_to_stand").solve()
    assert solution.status is oc.SolveStatus.SOLVED
    rise = solution.phase("rise")
    np.testing.assert_allclose(rise.v[-1], 0, atol=1e-6)
    assert rise.q[-1, 1] > rise.q[0, 1] + 0.2


def test_a_whole_body_rises_too():
    solution = problem("squat_whole_body", 8).solve(defect_tolerance=None)
    assert solution.status.success, solution.explain()
    model, rise = solution.transcribed.model, solution.phase("rise")
    up = model.coordinate_index("Pelvis_TZ")
    assert rise.q[-1, up] > rise.q[0, up] + 0.1
    heels = position(model, rise.q, "HeelRight")
    np.testing.assert_allclose(heels, heels[:1].repeat(len(heels), axis=0), atol=0.01)


def test_walking_on_ice_ends_soon_and_names_friction():
    stated = problem("double_step", 6)
    phases = [
        oc.Phase(
            **{
                **vars(phase),
                "constraints": [*phase.constraints, oc.friction_cone(0.01, f"Foot{side}")],
            }
        )
        for phase, side in zip(stated.phases, ("Right", "Left"), strict=True)
    ]
    # Legs that whip at 8 rad/s could replace friction; at 4 rad/s they cannot.
    angles = {**phases[0].bounds["q"], "Trunk_ry": (-0.05, 0.05)}
    limits = {**phases[0].bounds, "q": angles, "v": (-4.0, 4.0)}
    phases = [oc.Phase(**{**vars(phase), "bounds": limits}) for phase in phases]
    length = oc.step_length("FootRight", "FootLeft", 0.5)
    phases[0] = oc.Phase(**{**vars(phases[0]), "constraints": [*phases[0].constraints, length]})
    icy = oc.Problem(stated.model, phases, boundary_constraints=stated.boundary_constraints)
    solution = icy.solve(max_iterations=150)
    assert not solution.status.success
    assert "oc.conflicting_constraints(problem)" in solution.explain()
    tried = oc.conflicting_constraints(icy, max_iterations=100)
    solved = [trial.removed for trial in tried if trial.solution.status is oc.SolveStatus.SOLVED]
    assert solved == ["friction cone"]
    assert tried[0].removed == "friction cone"
    assert str(tried[0]) == "without friction cone it can be solved"
    assert [t.conflicting for t in tried] == sorted((t.conflicting for t in tried), reverse=True)


def test_muscles_reach_as_in_a_simulation_with_their_excitations():
    reach = problem("reaching")
    solution = reach.solve("multiple_shooting", guess=reach.solve())
    assert solution.status is oc.SolveStatus.SOLVED
    phase, model = solution.phases[0], solution.model
    hand = np.asarray(position(model, phase.q, "Hand"))
    np.testing.assert_allclose(hand[-1, [0, 2]], importlib.import_module("reaching").TARGET)
    assert phase.muscles.excitation.max() > 0.05
    actuation = MuscleActuation(
        SampledExcitations(phase.control_time, phase.muscles.excitation),
        activation=phase.muscles.activation[0],
        tendon="rigid",
    )
    options = {"contact": None, "joint_limits": None, "integrator": "dormand_prince"}
    result = run(model, phase.q[0], duration=0.6, actuation=actuation, dt=0.02, **options)
    np.testing.assert_allclose(result.q[-1], phase.q[-1], atol=2e-5)
    np.testing.assert_allclose(result.v[-1], phase.v[-1], atol=2e-4)


@pytest.mark.parametrize(
    ("exact", "smooth"),
    [
        (Bhargava2004(), Bhargava2004(smoothing="tanh")),
        (Umberger2010(), Umberger2010(smoothing="tanh", smoothing_steepness=3.0)),
    ],
)
def test_muscles_stand_up_with_less_energy_where_energy_is_the_objective(exact, smooth):
    example = importlib.import_module("stand_up_with_muscles")
    effort = example.problem().solve()
    # A little effort makes the excitations unique.
    terms = [oc.metabolic_power(smooth), 0.5 * oc.excitation()]
    # The number of iterations depends on rounding, and differs between processors.
    options = {"initial_barrier": 1e-2, "max_iterations": 1000}
    economic = example.problem(terms).solve(guess=effort, **options)
    for solution in (effort, economic):
        assert solution.status is oc.SolveStatus.SOLVED, solution.sentence
        assert (solution.phases[0].force[:, 2:] > -1.0).all()
    energies = [example.metabolic_energy(one, exact) for one in (effort, economic)]
    assert energies[1] < 0.98 * energies[0]
    # The integral of the term is the energy, but for smoothing and the rule of the integral.
    assert economic.terms["rise: metabolic power"] == pytest.approx(energies[1], rel=0.1)
    # Standing up by 0.26 m takes 2.6 J/kg of work.
    lifted = 9.81 * np.ptp(center_of_mass(economic.model, economic.motion.q)[:, 2])
    assert lifted < energies[1] < 5 * lifted
