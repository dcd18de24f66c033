"""Phases with different contacts share one function for their equations of motion."""

import numpy as np
import pytest

import homodyn.optimal as oc
from homodyn.optimal.nlp.nlp_callbacks import NlpCallbacks
from homodyn.optimal.transcription.shared_dynamics import DynamicsBlock
from homodyn.symbolic.compiler import find_compiler
from support.optimal import jump, swing_up


def dynamics_of(transcribed):
    return [block for block in transcribed.blocks if isinstance(block, DynamicsBlock)]


@pytest.mark.parametrize("transcription", ["midpoint", "collocation"])
def test_stance_and_flight_share_one_function(transcription):
    push, fly = dynamics_of(jump(3).transcribe(transcription))
    assert push.whole is fly.whole
    assert push.z.shape[0] > fly.z.shape[0]
    contact = [name for name in push.row_names if name.startswith("contact")]
    assert contact
    assert not [name for name in fly.row_names if name.startswith("contact")]


def test_the_shared_block_agrees_with_that_of_the_phase_alone():
    """The flight of a jump, once with the push that it shares its equations with, once without."""
    problem = jump(3)
    fly = problem.phases[1]
    alone = oc.Problem(problem.model, [fly]).transcribe()
    (own,), shared = dynamics_of(alone), dynamics_of(problem.transcribe())[1]
    assert own.row_names == shared.row_names
    rng = np.random.default_rng(2)
    z = rng.normal(size=own.index.shape)
    lam = rng.normal(size=(own.count, own.rows.shape[0]))
    one, two = np.full((own.count, 1), 1.0), own.values
    np.testing.assert_allclose(own.value(z, two)[1], shared.value(z, two)[1], atol=1e-12)
    for kind, given in (("jacobian", ()), ("hessian", (one, lam))):
        # Where an entry that is zero here might be none, the shared function has one more.
        mine, theirs = (np.zeros((own.count, *2 * (own.z.shape[0],))) for _ in range(2))
        for kernel, full in ((getattr(own, kind), mine), (getattr(shared, kind), theirs)):
            full[:, *kernel.entries] = kernel(z, two, *given)[-1]
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)
        assert np.abs(mine).max() > 0.1


def test_durations_and_meshes_share_compiled_functions():
    texts = set()
    for intervals, duration in ((5, 2.0), (8, 1.5)):
        problem = swing_up(intervals)
        phase = oc.Phase(**{**vars(problem.phases[0]), "duration": duration})
        transcribed = oc.Problem(problem.model, [phase]).transcribe()
        texts.add(tuple(kernel.identity for kernel in transcribed.program.kernels))
    assert len(texts) == 1


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
def test_native_code_agrees_with_the_virtual_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("HOMODYN_CACHE", str(tmp_path))
    monkeypatch.delenv("HOMODYN_TIER", raising=False)
    slow = swing_up(10).transcribe()
    x = slow.guess + 0.1
    lam = np.linspace(-1, 1, slow.program.rows)
    interpreted = NlpCallbacks(slow.program)
    before = (
        *interpreted.objective_and_rows(x),
        *interpreted.gradient_and_jacobian(x),
        interpreted.hessian(x, 1.0, lam),
    )
    swing_up(10).transcribe().compile()
    fast = swing_up(10).transcribe()
    assert fast.compiled
    native = NlpCallbacks(fast.program)
    after = (
        *native.objective_and_rows(x),
        *native.gradient_and_jacobian(x),
        native.hessian(x, 1.0, lam),
    )
    for one, two in zip(before, after, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-12)
    assert swing_up(10).solve().objective == pytest.approx(9.1816, abs=0.05)
