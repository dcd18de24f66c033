"""Two steps of a person as one problem, beside the same steps one by one."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.gait.reconstruction import prepare_step, reconstruct_steps, share_body
from homodyn.gait.reconstruction.load_sharing import LOAD_TRANSFER

STEP_S = 0.05


@pytest.fixture(scope="module")
def steps():
    """The first is on plates, the second is not."""
    walks = [
        hd.synthetic.walking_trial(
            noise=0.0, gaps=0.0, strides=2, plates=2, variation=0.0, mass=70, speed=speed
        ).truth
        for speed in (1.1, 1.4)
    ]
    prepared = [
        prepare_step(walk.motion, walk.loads, events=walk.events, fit_contacts=False)
        for walk in walks
    ]
    return share_body(prepared)


@pytest.fixture(scope="module")
def pooled(steps):
    return reconstruct_steps(steps, preset="recorded", force=0.0, step=STEP_S)


def test_both_steps_are_found_at_once(pooled, steps):
    assert pooled.solution.status.success, pooled.solution.explain()
    assert len(pooled.steps) == 2
    for step, result in zip(steps, pooled.steps, strict=True):
        assert result.contact_phases == step.phases
        assert result.time[0] > step.phases[0].begin
        assert result.time[-1] < step.phases[-1].end
        assert result.motion.time[0] == pytest.approx(step.phases[0].begin)
        assert max(result.tracking_error.values()) < 0.02
        assert result.status == "solved"
        for error in result.force_errors():
            assert error.rms[2] / result.weight < 0.08
    assert pooled.status == "solved"
    assert abs(pooled.shared[LOAD_TRANSFER]) < 0.9
    assert "2 steps" in pooled.sentence


def test_without_shared_unknowns_each_step_is_as_alone(steps):
    settings = {"preset": "recorded", "force": 0.0, "step": STEP_S}
    both = reconstruct_steps(steps, load_transfer="fixed", **settings)
    for step, result in zip(steps, both.steps, strict=True):
        alone = hd.gait.reconstruct(step.motion, step.loads, phases=step.phases, **settings)
        np.testing.assert_allclose(result.tau, alone.tau, atol=0.05)
        for side in ("right", "left"):
            np.testing.assert_allclose(
                result.ground_force(side), alone.ground_force(side), atol=0.5
            )
        assert sum(result.solution.terms.values()) == pytest.approx(
            alone.solution.objective, rel=1e-3
        )
    objective = sum(sum(result.solution.terms.values()) for result in both.steps)
    assert both.solution.objective == pytest.approx(objective)
