"""Muscles of a recorded walk by optimal control."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np

import homodyn.optimal as oc

SPEC = importlib.util.spec_from_file_location(
    "walk_with_muscles", Path(__file__).resolve().parents[2] / "examples" / "walk_with_muscles.py"
)
example = importlib.util.module_from_spec(SPEC)


def test_the_muscles_of_a_real_walk(shared_data):
    SPEC.loader.exec_module(example)
    motion, loads = example.read_walk(shared_data / "gait10dof")
    problem = oc.muscle_inverse_problem(motion, loads, example.options(intervals=40))
    solution = problem.solve(defect_tolerance=None)
    assert solution.status.success
    phase, names = solution.phases[0], motion.model.coordinate_names
    # Measured when it was written: 2.4 N m at the joints, 57 N and 27 N m at the pelvis.
    reserves = dict(zip(names, np.abs(phase.tau).max(axis=0), strict=True))
    joints = [name for name in names if name.startswith(("hip", "knee", "ankle"))]
    assert max(reserves[name] for name in joints) < 4.0
    assert reserves["pelvis_ty"] < 80.0
    # Equations of motion hold with the torques of inverse dynamics of the same movement.
    at = example.STRIDE[0] + phase.control_time
    knee = names.index("knee_angle_r")
    known = np.interp(at, motion.time, loads.tau[:, knee])
    total = solution.motion.tau[1::2, knee]
    assert np.sqrt(np.mean((total - known) ** 2)) < 0.05 * np.ptp(known)
    levels = phase.muscles.excitation
    assert levels.shape == (40, 18)
    assert 0.2 < levels.max() <= 1.0
    assert "soleus_r" in example.summary(solution)


def test_a_real_walk_is_tracked_and_its_resimulation_agrees(shared_data):
    SPEC.loader.exec_module(example)
    motion, loads = example.read_walk(shared_data / "gait10dof")
    options = replace(example.options(intervals=12), span=(0.5, 0.77))
    solution = oc.muscle_tracking_problem(motion, loads, options).solve("collocation")
    assert solution.status is oc.SolveStatus.SOLVED, solution.sentence
    at = options.span[0] + solution.motion.time
    known = np.column_stack([np.interp(at, motion.time, column) for column in motion.q.T])
    assert np.abs(solution.motion.q - known).max() < 0.05
    assert solution.phases[0].muscles.excitation.max() > 0.2
