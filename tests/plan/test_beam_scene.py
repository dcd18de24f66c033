"""Passing under a beam: order of supports, bounds, and postures that have room under it."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.plan.beam_scene import (
    BEAM_HEIGHTS_M,
    COM_HEIGHTS_M,
    RECORDED_COM_HEIGHTS_M,
    STEP_M,
    beam_scene,
)


@pytest.mark.parametrize("name", BEAM_HEIGHTS_M)
def test_supports_are_in_the_order_of_table_3_2(name):
    scene = beam_scene(name)
    feet = ["".join(sorted(each[0].upper() for each in step.supports)) for step in scene.steps]
    assert feet == ["LR", "R", "LR", "L", "LR", "R", "LR"]
    beam = scene.obstacles[0]
    assert beam.position[2] - beam.size[2] / 2 == pytest.approx(BEAM_HEIGHTS_M[name])


@pytest.mark.parametrize("name", BEAM_HEIGHTS_M)
def test_bounds_of_the_height_are_within_5_cm_of_the_recorded_lowest_one(name):
    plan = beam_scene(name).plan
    middle = np.array([STEP_M])
    low, high = plan.lower.height(middle)[0], plan.upper.height(middle)[0]
    recorded = RECORDED_COM_HEIGHTS_M[name]
    assert low < high
    assert abs((low + high) / 2 - recorded) < 0.05
    assert (
        plan.lower.height(np.array([0.0]))[0]
        < plan.start[2]
        < plan.upper.height(np.array([0.0]))[0]
    )


@pytest.mark.parametrize("name", ["beam-h1", "beam-h2"])
def test_a_comfortable_posture_under_the_beam_has_the_height_of_the_bounds(name):
    scene = beam_scene(name)
    model = hd.catalog.manikin(1.75, scene.mass)
    found = hd.plan.posture(
        model, [scene.supports["left 2"]], scene=scene, com=(STEP_M, 0.08, np.nan)
    )
    assert found.solved
    com = hd.dynamics.center_of_mass(model, found.q)
    np.testing.assert_allclose(com[:2], [STEP_M, 0.08], atol=1e-3)
    assert com[2] == pytest.approx(COM_HEIGHTS_M[name], abs=0.02)
    assert com[2] == pytest.approx(RECORDED_COM_HEIGHTS_M[name], abs=0.05)
