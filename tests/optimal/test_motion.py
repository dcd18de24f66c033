"""Phases with different contacts share one function for their laws of motion."""

import numpy as np
import pytest

import homodyn.optimal as oc
from homodyn.optimal.calls import Calls
from homodyn.optimal.independent import independent_rows, resting_rows
from homodyn.optimal.motion import MotionBlock
from homodyn.symbolic.compiler import find_compiler
from support.optimal import hopper, jump, swing_up


def motion_of(built):
    return [block for block in built.blocks if isinstance(block, MotionBlock)]


@pytest.mark.parametrize("transcription", ["shooting", "collocation"])
def test_standing_and_flying_are_one_function(transcription):
    push, fly = motion_of(jump(3).build(transcription))
    assert push.whole is fly.whole
    assert push.z.shape[0] > fly.z.shape[0]
    contact = [name for name in push.row_names if name.startswith("contact")]
    assert contact
    assert not [name for name in fly.row_names if name.startswith("contact")]


def test_a_part_says_what_the_phase_alone_would():
    """The flight of a jump, once with the push that it shares its laws with, once without."""
    problem = jump(3)
    fly = problem.phases[1]
    alone = oc.Problem(problem.model, [fly]).build()
    (own,), shared = motion_of(alone), motion_of(problem.build())[1]
    assert own.row_names == shared.row_names
    rng = np.random.default_rng(2)
    z = rng.normal(size=own.index.shape)
    lam = rng.normal(size=(own.count, own.rows.shape[0]))
    one, two = np.full((own.count, 1), 1.0), own.values
    np.testing.assert_allclose(own.value(z, two)[1], shared.value(z, two)[1], atol=1e-12)
    for kind, given in (("slope", ()), ("curvature", (one, lam))):
        # Where an entry that is zero here might be none, the shared function has one more.
        mine, theirs = (np.zeros((own.count, *2 * (own.z.shape[0],))) for _ in range(2))
        for kernel, full in ((getattr(own, kind), mine), (getattr(shared, kind), theirs)):
            full[:, *kernel.places] = kernel(z, two, *given)[-1]
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)
        assert np.abs(mine).max() > 0.1


def test_durations_and_meshes_do_not_change_what_is_compiled():
    texts = set()
    for intervals, duration in ((5, 2.0), (8, 1.5)):
        problem = swing_up(intervals)
        phase = oc.Phase(**{**vars(problem.phases[0]), "duration": duration})
        built = oc.Problem(problem.model, [phase]).build()
        texts.add(tuple(kernel.identity for kernel in built.program.kernels))
    assert len(texts) == 1


def test_of_points_on_one_foot_only_as_many_rows_rest_as_hold_it():
    from homodyn.bench import squat

    problem = squat.problem(2)
    contacts = problem.phases[0].contacts
    assert len(contacts.rows) == 24
    pose = squat.poses(problem.model, np.array([0.3]))[0]
    chosen = resting_rows(problem.model, pose, contacts)
    assert len(chosen) == len(independent_rows(problem.model, pose, None, contacts)) == 12
    (block,) = motion_of(problem.build())
    assert sum(name.startswith("contact") for name in block.row_names) == 12
    assert sum("force of" in name for name in problem.build().names) == 2 * 24


def test_rows_that_are_independent_all_rest():
    model = hopper()
    contacts = jump(2).phases[0].contacts
    assert resting_rows(model, model.neutral() + 0.1, contacts) == [0, 1]


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
def test_native_code_finds_the_answer_of_the_virtual_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("HOMODYN_CACHE", str(tmp_path))
    monkeypatch.delenv("HOMODYN_TIER", raising=False)
    slow = swing_up(10).build()
    x = slow.guess + 0.1
    lam = np.linspace(-1, 1, slow.program.rows)
    interpreted = Calls(slow.program)
    before = (*interpreted.value(x), *interpreted.slope(x), interpreted.curvature(x, 1.0, lam))
    swing_up(10).build().compile()
    fast = swing_up(10).build()
    assert fast.compiled
    native = Calls(fast.program)
    after = (*native.value(x), *native.slope(x), native.curvature(x, 1.0, lam))
    for one, two in zip(before, after, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-12)
    assert swing_up(10).solve().objective == pytest.approx(9.1816, abs=0.05)
