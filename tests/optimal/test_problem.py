"""Problems with known answers, and the same problem through all transcriptions."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn.optimal as oc
from homodyn.dynamics import PointContact, impact, position
from homodyn.dynamics.constraint_rows import constraint_jacobian
from homodyn.errors import HomodynError
from support.optimal import block, block_move, crouched, hopper, jump, landing, swing_up

ALL = ("midpoint", "collocation", "multiple_shooting")


def force(t):
    """The cheapest force that moves one kilogram by a meter in a second (N)."""
    return 6 - 12 * t


@pytest.mark.parametrize(
    ("transcription", "error"), [("midpoint", 0.16), ("multiple_shooting", 0.16)]
)
def test_least_effort_comes_to_the_analytic_one_with_the_square_of_the_step(transcription, error):
    costs = [block_move(n).solve(transcription).objective for n in (10, 20)]
    coarse, fine = (abs(cost - 12) for cost in costs)
    assert coarse < 2 * error
    assert 3.5 < coarse / fine < 4.5


def test_collocation_finds_the_least_effort_to_rounding():
    solution = block_move(4).solve("collocation")
    phase = solution.phase("move")
    assert solution.status is oc.SolveStatus.SOLVED
    assert solution.objective == pytest.approx(12, abs=1e-9)
    np.testing.assert_allclose(phase.tau[:, 0], force(phase.control_time), atol=1e-8)
    np.testing.assert_allclose(phase.q[:, 0], 3 * phase.time**2 - 2 * phase.time**3, atol=1e-9)


def test_a_free_duration_weighs_effort_against_time():
    # 12 / T^3 + w T is least at T = (36 / w)^(1/4).
    problem = block_move(4, duration=(0.2, 5.0), terms=[2.0 * oc.time()])
    solution = problem.solve("collocation", tolerance=1e-9)
    assert solution.phase("move").duration == pytest.approx(18**0.25, rel=1e-6)
    assert solution.terms["move: time"] == pytest.approx(2 * 18**0.25, rel=1e-6)


def test_swing_up_agrees_between_transcriptions():
    reference = swing_up(40).solve("collocation").objective
    for transcription in ("midpoint", "multiple_shooting"):
        errors = [abs(swing_up(n).solve(transcription).objective - reference) for n in (20, 40)]
        assert errors[1] < 0.01 * reference
        assert 3 < errors[0] / errors[1] < 5


def test_a_jump_agrees_between_transcriptions():
    solutions = [jump().solve(transcription) for transcription in ALL]
    assert all(solution.status is oc.SolveStatus.SOLVED for solution in solutions)
    tops = [solution.phase("fly").q[-1, 1] for solution in solutions]
    assert max(tops) - min(tops) < 0.02
    assert tops[0] > 0.75  # higher than a straight leg reaches, less 5 cm
    for solution in solutions[:2]:
        assert solution.phase("push").force[:, 1].min() > -1e-3


def test_change_of_torque_is_what_smooths_it():
    rough = block_move(20).solve()
    smooth = block_move(20, terms=[10.0 * oc.torque_change()]).solve()
    step = 1 / 20
    rates = np.diff(smooth.phase("move").tau[:, 0]) / step
    assert smooth.terms["move: torque change"] == pytest.approx(10 * step * (rates**2).sum())
    before = np.diff(rough.phase("move").tau[:, 0]) / step
    assert (rates**2).sum() < 0.95 * (before**2).sum()


def test_building_twice_gives_the_same_problem():
    problem = jump(4)
    one, two = problem.transcribe(), problem.transcribe()
    assert one.names == two.names
    for field in ("lower", "upper", "guess", "scale"):
        np.testing.assert_array_equal(getattr(one, field), getattr(two, field))
    x = one.guess + 0.1
    np.testing.assert_array_equal(one.program.evaluate(x)[1], two.program.evaluate(x)[1])


def test_description_counts_unknowns_and_names_terms():
    text = jump(4).describe()
    # Each of 2 phases: 5 nodes of 10 states, 4 intervals of 5 a + 2 tau (+ 2 forces in the push).
    assert f"{2 * (5 * 10 + 4 * 7 + 1) + 4 * 2} variables" in text
    for words in ("Jacobian", "Hessian", "0.0001 x torque (path)", "friction cone (path)"):
        assert words in text


def test_a_solution_on_another_mesh_is_a_good_start():
    coarse = jump(8).solve()
    cold, warm = jump(16).solve(), jump(16).solve(guess=coarse)
    assert warm.status is oc.SolveStatus.SOLVED
    assert warm.objective == pytest.approx(cold.objective, abs=1e-4)
    start = jump(16).transcribe(guess=coarse)
    pose = start.guess[start.layouts[1].index["q"]][:, 1]
    fly = coarse.phase("fly")
    np.testing.assert_allclose(pose[::2], fly.q[:, 1], atol=1e-9)
    # Between its nodes the trunk moves under constant accelerations: along parabolas.
    middle = fly.q[:-1, 1] + fly.duration / 8 * (3 * fly.v[:-1, 1] + fly.v[1:, 1]) / 8
    np.testing.assert_allclose(pose[1::2], middle, atol=1e-6)


def test_an_impact_between_phases_is_the_law_of_impacts():
    problem = landing()
    model, toe = problem.model, problem.phases[1].contacts
    solution = problem.solve()
    assert solution.status.success
    before, after = solution.phase("fall"), solution.phase("stand")
    expected = impact(model, before.q[-1], before.v[-1], toe)
    np.testing.assert_allclose(after.v[0], expected.velocity, atol=1e-5)
    np.testing.assert_allclose(after.impulse, expected.impulse, atol=1e-4)
    assert np.abs(constraint_jacobian(model, after.q[0], toe) @ before.v[-1]).max() > 0.5


def test_the_impulse_of_an_impact_can_be_bounded():
    free = landing()
    impulse = free.solve().phase("stand").impulse
    ratio = abs(impulse[0]) / impulse[1]
    fall, stand = free.phases

    def solve(friction):
        cone = [oc.unilateral("toe"), oc.friction_cone(friction, "toe")]
        return replace(free, phases=[fall, replace(stand, impulse_constraints=cone)]).solve()

    rough = solve(1.1 * ratio)
    assert rough.status.success, rough.explain()
    np.testing.assert_allclose(rough.phase("stand").impulse, impulse, atol=1e-3)
    # The fall leaves no choice of the impulse: a smoother ground is refused, with the reason.
    smooth = solve(0.5 * ratio)
    assert smooth.status is oc.SolveStatus.INFEASIBLE
    assert "friction cone: toe" in smooth.explain()


def test_any_traced_function_can_be_a_term_or_a_condition():
    slow = oc.require("speed", lambda i: i.v[0], lower=-np.inf, upper=1.2, labels=["box"])
    solution = block_move(20, constraints=[slow]).solve()
    # Without the condition the block reaches 1.5 m/s.
    assert solution.phase("move").v.max() < 1.26
    assert solution.objective > 12.1


def test_parameters_are_unknowns_too():
    reach = oc.require("distance", lambda i: i.q[0] - i.parameter("distance")).at("end")
    gain = oc.ObjectiveTerm(
        "gain", lambda i: -24 * i.parameter("distance"), squared=False, when="end"
    )
    phase = oc.Phase(
        "move",
        1.0,
        terms=[oc.torque(), gain],
        constraints=[reach, oc.rest().at("end")],
        intervals=4,
        start={"q": {"box": 0.0}, "v": {"box": 0.0}},
    )
    problem = oc.Problem(block(), [phase], {"distance": oc.FreeParameter(0.0, 5.0, 0.3)})
    # 12 d^2 - 24 d is least at d = 1.
    assert problem.solve("collocation").parameters["distance"] == pytest.approx(1.0, abs=1e-6)


def test_an_unknown_transcription_is_refused_with_the_known_ones():
    with pytest.raises(HomodynError, match=r"no transcription 'shoting'.*multiple_shooting"):
        block_move().solve("shoting")


def test_a_branch_on_a_symbol_is_refused_with_the_name_of_its_term():
    term = oc.ObjectiveTerm("one-sided", lambda i: i.q[0] if i.q[0] > 0 else 0.0)
    with pytest.raises(HomodynError, match=r"'move': objective term 'one-sided'.*ca\.if_else"):
        block_move(intervals=2, terms=[term]).solve()
    with pytest.raises(HomodynError, match=r"objective term 'one-sided'"):
        block_move(intervals=2, terms=[term.at("change")]).solve()
    constraint = oc.PathConstraint("above", lambda i: max(i.q[0], 0.0), 0.0, 2.0)
    with pytest.raises(HomodynError, match=r"constraint 'above' branches.*ca\.fmax"):
        block_move(intervals=2, constraints=[constraint]).solve()


def test_compliant_contacts_need_contact_forces_as_variables():
    problem = jump()
    phases = [replace(phase, compliant=True) for phase in problem.phases]
    with pytest.raises(HomodynError, match=r"compliant contacts.*'midpoint' or 'collocation'"):
        oc.Problem(problem.model, phases).solve("multiple_shooting")


@pytest.mark.parametrize("compliant", [False, True])
def test_a_compliant_contact_carries_the_weight_and_may_move(compliant):
    """A hopper that is to sink by 1 cm in 0.5 s, toe and all: a rigid ground does not let it."""
    model = hopper()
    pose = np.array(list(crouched(model).values()))

    def sinking(fractions):
        return pose - np.outer(fractions, [0.0, 0.01, 0.0, 0.0, 0.0])

    phase = oc.Phase(
        "stand",
        0.5,
        PointContact("toe", directions="xz"),
        terms=[1e2 * oc.track_coordinates(sinking), 1e-6 * oc.torque(), oc.acceleration()],
        intervals=5,
        guess={"q": sinking},
        compliant=compliant,
    )
    solution = oc.Problem(model, [phase]).solve()
    assert solution.status.success
    force = solution.phases[0].force
    assert force[:, 1].mean() == pytest.approx(26 * 9.81, rel=0.02)
    depth = -float(position(model, solution.phases[0].q[-1], "toe")[2])
    assert depth == (pytest.approx(0.01, rel=0.3) if compliant else pytest.approx(0.0, abs=1e-6))
