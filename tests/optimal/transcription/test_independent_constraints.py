"""Redundant constraint rows of a pose are left out."""

import numpy as np

from homodyn.optimal.transcription.independent_constraints import (
    independent_rows,
    new_independent_rows,
)
from homodyn.optimal.transcription.shared_dynamics import DynamicsBlock
from support.optimal import hopper, jump


def dynamics_of(transcribed):
    return [block for block in transcribed.blocks if isinstance(block, DynamicsBlock)]


def test_redundant_contact_rows_of_a_foot_are_left_out():
    from homodyn.bench import squat

    problem = squat.problem(2)
    contacts = problem.phases[0].contacts
    assert len(contacts.rows) == 24
    pose = squat.poses(problem.model, np.array([0.3]))[0]
    chosen = independent_rows(problem.model, pose, contacts)
    assert len(chosen) == len(new_independent_rows(problem.model, pose, None, contacts)) == 12
    (block,) = dynamics_of(problem.transcribe())
    assert sum(name.startswith("contact") for name in block.row_names) == 12
    assert sum("force of" in name for name in problem.transcribe().names) == 2 * 24


def test_independent_rows_are_all_used():
    model = hopper()
    contacts = jump(2).phases[0].contacts
    assert independent_rows(model, model.neutral() + 0.1, contacts) == [0, 1]
