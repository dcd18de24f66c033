"""The search for a step: from the nearest stored one to a speed and an objective."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import HomodynError, NoSolution
from homodyn.gait import synthesis
from homodyn.gait.synthesis.problem import INTERVALS
from homodyn.gait.synthesis.step_synthesis import first_mesh


def test_a_step_is_found_at_a_speed_that_is_not_stored(model):
    reports = []
    motion = hd.gait.synthesize(model, speed=1.45, objective="time", progress=reports.append)
    found = motion.result
    assert isinstance(found, hd.gait.Synthesis)
    assert found.solution.status.success, found.solution.explain()
    assert found.step.speed == pytest.approx(1.45, abs=1e-6)
    assert found.step.parameters["length"] == pytest.approx(1.45 * found.step.duration, abs=3e-4)
    assert min(synthesis.min_normal_forces(model, found.step).values()) > -0.04 * model.mass * 9.81
    assert [stage.status is None for stage in reports] == [True, False] * len(found.stages)
    assert "time at 1.45 m/s" in reports[0].name
    assert "1.450 m/s" in found.sentence


def test_the_first_mesh_is_the_one_that_the_initial_step_needs(model, steps):
    step = steps["time free"]
    own = step.intervals
    assert first_mesh(model, step, 0.02) == own
    mesh = first_mesh(model, step, 1e-5)
    assert all(n >= m for n, m in zip(mesh, own, strict=True))
    assert sum(mesh) > sum(own)
    # A walk that was reconstructed says nothing about the step that is nearest to it.
    assert first_mesh(model, hd.gait.stored_steps()["walk"], 0.02) == INTERVALS


def test_a_speed_that_the_bounds_exclude_is_refused_at_once():
    with pytest.raises(NoSolution, match=r"no step at 6 m/s.*1.14 m long and last 0.2 to"):
        synthesis.synthesize_step(speed=6.0)
    with pytest.raises(HomodynError, match="positive number of m/s"):
        synthesis.synthesize_step(speed=float("nan"))


def test_an_initial_step_with_nan_is_refused_by_location(steps):
    step = steps["mixed free"]
    q = step.phases[1].q.copy()
    q[1, 9] = np.nan
    phases = list(step.phases)
    phases[1] = replace(phases[1], q=q)
    with pytest.raises(HomodynError, match=r"2 right forefoot', guess of q is nan for 'KneeRight"):
        synthesis.synthesize_step(start=replace(step, phases=tuple(phases)))
    with pytest.raises(HomodynError, match="no stored step 'jog'; accepted: walk"):
        synthesis.synthesize_step(start="jog")
