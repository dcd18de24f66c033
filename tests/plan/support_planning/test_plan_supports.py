"""The support planner: sequences over obstacles, handles, and what has no sequence."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import ModelError, NoSolution
from homodyn.motion import BoxObstacle, Scene
from homodyn.motion.scene import ComPlanRequest
from homodyn.motion.supports import Grasp, sole_contact
from homodyn.plan import SupportSearchOptions, plan_supports

MODEL = hd.catalog.manikin(1.75, 79)


def corridor(distance: float = 0.8, *obstacles: BoxObstacle, **supports: Grasp) -> Scene:
    feet = {
        name: sole_contact(name, (0.0, y, 0.0), (0.28, 0.12), friction=0.7, body=f"{name}_foot")
        for name, y in (("left", 0.1), ("right", -0.1))
    }
    return Scene(
        "corridor",
        obstacles=obstacles,
        supports={**feet, **supports},
        mass=79.0,
        limit=1500.0,
        plan=ComPlanRequest(np.array([0.0, 0, 0.94]), np.array([distance, 0, 0.94]), reach=1.05),
    )


@pytest.fixture(scope="module")
def found():
    bar = BoxObstacle((0.05, 2.0, 0.15), position=(0.35, 0.0, 0.075), name="bar")
    rail = Grasp("rail", (0.75, -0.35, 1.0), force=100.0, body="right_hand")
    return plan_supports(corridor(0.8, bar, rail=rail), MODEL)


def test_steps_cross_an_obstacle_and_end_at_the_finish(found):
    steps = found.scene.steps
    assert [len([n for n in s.supports if n != "rail"]) for s in steps] == [2, 1] * (
        found.stances - 1
    ) + [2]
    assert set(steps[0].supports) == {"left", "right"}
    ends = [found.scene.supports[name] for name in steps[-1].supports if name != "rail"]
    middle = np.mean([patch.middle for patch in ends], axis=0)
    assert np.hypot(*(middle - [0.8, 0, 0])[:2]) <= SupportSearchOptions().goal_distance + 1e-9
    for patch in found.scene.supports.values():
        if patch.name != "rail":
            corners = np.asarray(patch.corners)
            assert corners[:, 0].max() < 0.325 or corners[:, 0].min() > 0.375, "not on the bar"
    assert all(key.solved for key in found.postures)
    assert found.generated > 0
    assert "chosen by the planner" in found.sentence


def test_one_foot_at_a_time_moves_and_never_crosses(found):
    double = found.scene.steps[::2]
    for before, after in itertools.pairwise(double):
        feet = [{n for n in s.supports if n != "rail"} for s in (before, after)]
        assert len(feet[0] & feet[1]) == 1
    for step in double:
        y = {found.scene.supports[n].body: found.scene.supports[n].middle[1] for n in step.supports}
        assert y["left_foot"] > y["right_foot"]


def test_a_handle_is_held_while_it_is_within_reach(found):
    assert "rail" not in found.scene.steps[0].supports
    assert "rail" in found.scene.steps[-1].supports


def test_a_wall_has_no_sequence_and_the_reason_is_said():
    wall = BoxObstacle((0.1, 20.0, 2.0), position=(0.5, 0.0, 1.0), name="wall")
    options = SupportSearchOptions(max_nodes=60, max_searches=1)
    with pytest.raises(NoSolution, match=r"closest stance is 0\.\d+ m from the finish|posture"):
        plan_supports(corridor(1.0, wall), MODEL, options=options)


def test_scenes_without_start_or_feet_are_refused():
    scene = corridor()
    with pytest.raises(ModelError, match="no start and finish"):
        plan_supports(replace(scene, plan=None), MODEL)
    with pytest.raises(ModelError, match="patches of two feet"):
        plan_supports(replace(scene, supports={"left": scene.supports["left"]}), MODEL)
    far = replace(scene, plan=replace(scene.plan, start=np.array([3.0, 0, 0.94])))
    with pytest.raises(ModelError, match=r"within 0\.5 m of the start"):
        plan_supports(far, MODEL)
