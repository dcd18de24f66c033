"""Muscles of recorded movements by optimal control."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
import homodyn.optimal as oc
from support import muscled_leg

SPAN = (0.1, 0.4)
RESERVE_NM = 1.0


@pytest.fixture(scope="module")
def recording():
    """A swing of the leg, its torques, and the options of both problems."""
    model = muscled_leg.build()
    motion = muscled_leg.swing(model)
    options = oc.MuscleProblemOptions(
        drive=oc.MuscleDrive(tendon="rigid"), span=SPAN, intervals=12, reserves=RESERVE_NM
    )
    return motion, muscled_leg.loads(motion), options


def without_activation_dynamics(model):
    muscles = [
        replace(one, settings={**one.settings, "ignore_activation_dynamics": True})
        for one in model.muscles
    ]
    return replace(model, muscles=tuple(muscles))


def test_without_activation_dynamics_the_inverse_problem_is_static_optimization(recording):
    motion, loads, options = recording
    motion = replace(motion, model=without_activation_dynamics(motion.model))
    loads = replace(loads, motion=motion)
    problem = oc.muscle_inverse_problem(motion, loads, options)
    bounds = {**problem.phases[0].bounds, "excitation": (0.01, 1.0)}
    problem = replace(problem, phases=[replace(problem.phases[0], bounds=bounds)])
    solution = problem.solve("collocation", defect_tolerance=None, tolerance=1e-9)
    assert solution.status.success
    phase = solution.phases[0]
    found = hd.muscle.static_optimization(motion, loads, reserves=RESERVE_NM, wrapping="geodesic")
    levels = phase.muscles.excitation
    at = SPAN[0] + phase.control_time
    for k, name in enumerate(found.muscles):
        expected = np.interp(at, motion.time, found.activations[:, k])
        np.testing.assert_allclose(levels[:, k], expected, atol=1e-3, err_msg=name)
    assert levels.max() > 0.035


def test_the_inverse_problem_keeps_the_movement_and_its_torques(recording):
    motion, loads, options = recording
    solution = oc.muscle_inverse_problem(motion, loads, options).solve("collocation")
    assert solution.status is oc.SolveStatus.SOLVED
    at = SPAN[0] + solution.motion.time
    for k in range(motion.model.nv):
        expected = np.interp(at, motion.time, loads.tau[:, k])
        # Controls are extrapolated to nodes, which are every fifth frame.
        inside = np.arange(len(at)) % 5 != 0
        found = solution.motion.tau[inside, k]
        np.testing.assert_allclose(found, expected[inside], atol=2e-3)
        known = np.interp(at, motion.time, motion.q[:, k])
        np.testing.assert_allclose(solution.motion.q[:, k], known, atol=2e-4)
    muscles = solution.phases[0].muscles
    np.testing.assert_allclose(muscles.activation[0], muscles.excitation[0], atol=0.05)
    assert solution.motion.activations.shape == (len(at), len(motion.model.muscles))


def test_tracking_gives_up_accuracy_for_effort(recording):
    motion, loads, options = recording
    spent, far = [], []
    for effort in (1e-4, 1e-1):
        chosen = replace(options, effort=effort)
        solution = oc.muscle_tracking_problem(motion, loads, chosen).solve()
        assert solution.status.success
        spent.append((solution.phases[0].muscles.excitation ** 2).mean())
        known = np.array(
            [np.interp(SPAN[0] + solution.motion.time, motion.time, x) for x in motion.q.T]
        )
        far.append(np.abs(solution.motion.q - known.T).max())
    assert far[0] < 0.01 < far[1]
    assert spent[1] < spent[0]


def test_compliant_tendons_have_forces_as_states(recording):
    motion, loads, options = recording
    chosen = replace(options, drive=oc.MuscleDrive(tendon="compliant"))
    solution = oc.muscle_inverse_problem(motion, loads, chosen).solve()
    assert solution.status is oc.SolveStatus.SOLVED, solution.sentence
    assert solution.phases[0].muscles.tendon_force.shape == (13, len(motion.model.muscles))
    again = oc.muscle_inverse_problem(motion, loads, chosen).solve(guess=solution)
    assert again.iterations <= solution.iterations
    assert again.objective == pytest.approx(solution.objective, rel=1e-4)


def test_faults_of_the_recording(recording):
    motion, loads, options = recording
    with pytest.raises(hd.HomodynError, match=r"span from 0\.1 to 9 s is not within the movement"):
        oc.muscle_inverse_problem(motion, loads, replace(options, span=(0.1, 9.0)))
    with pytest.raises(hd.HomodynError, match="no coordinate 'hop'"):
        oc.muscle_inverse_problem(motion, loads, replace(options, reserves={"hop": 1.0}))
    with pytest.raises(hd.HomodynError, match="it must be above zero"):
        oc.MuscleProblemOptions(reserves=0.0)
    tau = np.array(loads.tau)
    tau[20, 1] = np.nan
    with pytest.raises(hd.HomodynError, match=r"torque of knee is not known at 0\.200 s"):
        oc.muscle_inverse_problem(motion, replace(loads, tau=tau), options)
