"""What stored steps demand of the ground: compression, friction and impulses."""

import numpy as np
import pytest

from homodyn.gait import synthesis
from homodyn.gait.synthesis.ground_contact import impulse_tolerance
from homodyn.gait.synthesis.ground_loads import foot_force
from homodyn.gait.synthesis.problem import STEP_PHASES
from homodyn.motion import Side


def test_contact_forces_are_compressive_at_the_nodes_and_between_them(model, steps):
    weight = model.mass * 9.81
    for name, step in steps.items():
        for side in ("Right", "Left"):
            assert synthesis.ground_forces(step, side)[1][:, 2].min() > -1e-3 * weight
        assert min(synthesis.min_normal_forces(model, step).values()) > -0.04 * weight, name


def test_forces_of_stored_steps_are_within_the_friction_cone(model, steps):
    weight = model.mass * 9.81
    for name, step in steps.items():
        assert step.friction == synthesis.GROUND_FRICTION == 0.8, name
        assert step.status == "solved", name
        loads = synthesis.ground_loads(model, step)
        assert loads.required_friction < 0.85, name
        assert loads.cone_excess < 0.045, name
        for side in ("Right", "Left"):
            force = synthesis.ground_forces(step, side)[1]
            excess = np.hypot(force[:, 0], force[:, 1]) - 0.8 * force[:, 2]
            assert excess.max() < 1e-3 * weight, (name, side)


def test_impulses_of_stored_steps_are_compressive_and_within_the_cone(model, steps):
    tolerance = impulse_tolerance(model)
    assert tolerance == pytest.approx(0.75, abs=0.01)
    for name, step in steps.items():
        for each in synthesis.touchdown_impulses(step):
            lands = each.side is Side.LEFT
            accepted = 1e-3 if lands else tolerance + 1e-3
            assert each.tangential <= 0.8 * each.impulse[2] + accepted, (name, each)
        for phase, contacts in zip(step.phases, STEP_PHASES, strict=True):
            if phase.impulse.size:
                rows = contacts.contacts.rows
                normal = [p for r, p in zip(rows, phase.impulse, strict=True) if r.slide[2]]
                assert min(normal) > -tolerance - 1e-3, name


def test_forces_and_impulses_carry_the_weight_over_a_step(model, steps):
    """A periodic step ends with the upward momentum of its start."""
    weight = model.mass * 9.81
    for name, step in steps.items():
        carried = 0.0
        for phase, contacts in zip(step.phases, STEP_PHASES, strict=True):
            points, weights = synthesis.criteria._quadrature(step)
            width = np.tile(weights, phase.intervals) * phase.duration / phase.intervals
            forces = sum(foot_force(contacts.contacts, phase.force, side) for side in Side)
            carried += float(width @ forces[:, 2])
            assert len(points) == len(weights)
        share = synthesis.ground_loads(model, step).impulse_share
        assert carried / (weight * step.duration) + share == pytest.approx(1.0, abs=5e-3), name


def test_demands_are_reported_between_the_nodes_too(model, steps):
    loads = synthesis.ground_loads(model, steps["mixed free"])
    assert loads.friction == 0.8
    assert set(loads.friction_demand) == {"right", "left"}
    assert max(loads.friction_demand.values()) < 0.8
    assert 0.0 < loads.impulse_share < 0.15
    assert loads.impulse_demand <= 0.8 + 1e-3
    assert [each.side for each in loads.impulses] == [Side.LEFT, Side.RIGHT] * 2 or [
        each.side for each in loads.impulses
    ] == [Side.RIGHT, Side.LEFT] * 2
    assert f"required friction {loads.required_friction:.2f}" in loads.headline()
