"""Scenes: consistency of their parts, instants of their phases, and records."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import ModelError
from homodyn.model import Assembly, joints
from homodyn.model import box as model_box
from homodyn.motion import BoxObstacle, PlaneObstacle, Scene, SceneStep
from homodyn.motion.bspline import ComSpline
from homodyn.motion.scene import ComPlanRequest, HeightRamp
from homodyn.motion.supports import Grasp, sole_contact

FOOT = sole_contact("left", (0, 0, 0), (0.28, 0.1), friction=0.7)
HAND = Grasp("hand", (0.3, 0, 1), 50.0)


def test_the_default_scene_is_level_ground():
    scene = Scene()
    assert scene.ground.normal == pytest.approx([0, 0, 1])
    assert scene.all_obstacles == (scene.ground,)
    assert Scene(ground=None).all_obstacles == ()


def test_instants_come_from_the_path_or_from_durations():
    steps = (SceneStep("1", ("left",), 0.4), SceneStep("2", ("left", "hand"), 0.2))
    scene = Scene("two", supports={"left": FOOT, "hand": HAND}, steps=steps)
    assert scene.timed
    assert scene.instants == pytest.approx([0, 0.4, 0.6])
    path = ComSpline(3, [1.0, 2.0, 4.0], np.zeros((5, 3)))
    assert replace(scene, path=path).instants == pytest.approx([1, 2, 4])
    free = replace(scene, steps=(steps[0], replace(steps[1], duration=None)))
    assert not free.timed
    with pytest.raises(ModelError, match="scene 'two': phases 2 have no duration"):
        free.instants  # noqa: B018


def test_a_scene_prints_itself_briefly():
    scene = Scene("hall", obstacles=(BoxObstacle((1, 1, 1)),), supports={"left": FOOT})
    assert repr(scene).splitlines()[0] == "Scene 'hall': 1 obstacle, 1 support, 0 phases"
    assert len(repr(scene).splitlines()) <= 10
    with pytest.raises(ValueError, match="read-only"):
        scene.gravity[2] = 0.0


def test_height_ramps_fall_along_x():
    ramp = HeightRamp(0.91, 0.08, 10.0, 0.2)
    assert ramp.height(np.array([0.2])) == pytest.approx([0.91])
    assert ramp.height(np.array([-1e6, 1e6])) == pytest.approx([0.95, 0.87], abs=1e-6)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"mass": -1.0}, "mass is a number above 0 kg"),
        ({"limit": 0.0}, "limit is a force above 0 N"),
        ({"gravity": (0, 0)}, "gravity is 3 finite numbers"),
        ({"obstacles": ("wall",)}, "an obstacle is a record such as BoxObstacle, got 'wall'"),
        (
            {"obstacles": (BoxObstacle((1, 1, 1), name="a"), PlaneObstacle(name="a"))},
            "several obstacles of one name: a",
        ),
        ({"supports": {"right": FOOT}}, "support 'left' has the key 'right'"),
        ({"supports": {"wall": PlaneObstacle()}}, "a support is a ContactPatch or a Grasp"),
        ({"steps": (SceneStep("1", ("right",)),)}, "phase '1': no support 'right'"),
        ({"path": ComSpline(3, [0, 1, 2], np.zeros((5, 3)))}, "a path with 1 instants, got 3"),
    ],
)
def test_inconsistent_scenes_are_refused(fields, message):
    with pytest.raises(ModelError, match=message):
        Scene("hall", **fields)


def test_invalid_plan_requests_are_refused():
    with pytest.raises(ModelError, match="start of a plan is 3 finite numbers"):
        ComPlanRequest((0, 0), (1, 0, 1))
    with pytest.raises(ModelError, match="no margin 'moment'"):
        ComPlanRequest((0, 0, 1), (1, 0, 1), margin="moment")


def test_balance_and_simulation_use_the_same_box():
    """A block rests on a box of 0.4 m whose top, at 0.4 m, carries a support."""
    support = sole_contact("top", (1.0, 0.0, 0.4), (0.2, 0.2), friction=0.6)
    box = BoxObstacle((0.4, 0.4, 0.4), position=(1.0, 0.0, 0.2), name="box", friction=0.6)
    steps = (SceneStep("on the box", ("top",), 1.0),)
    scene = Scene("box", obstacles=(box,), supports={"top": support}, steps=steps, mass=10.0)
    assert box.corners[:, 2].max() == pytest.approx(support.middle[2])
    block = (
        Assembly("block")
        .add(model_box("block", 10.0, (0.2, 0.2, 0.1)), joints.free())
        .contact("sole", "block", "box", size=(0.2, 0.2, 0.1))
        .model()
    )
    q = block.neutral()
    q[:3] = [1.0, 0.0, 0.46]
    arguments = {"contact": "event_driven", "scene": scene}
    result = hd.simulate.run(block, q, None, 0.6, 0.05, **arguments)
    assert result.q[-1, 2] == pytest.approx(0.45, abs=1e-4)
    com, force = result.q[-1, :3], result.total_force[-1]
    assert force[2] == pytest.approx(98.1, rel=1e-3)
    (phase,) = hd.balance.scene_phases(scene)
    margins = hd.balance.wrench_margins(phase.wrenches, force, np.cross(com, force), com=com)
    # The largest horizontal force tips the block: m g 0.1 m / 0.05 m, or slides it: mu m g.
    assert margins.force == pytest.approx(0.6 * 98.1 / np.hypot(1, 0.6), rel=1e-2)
    # Beside the box, the same body falls to the ground and the support cannot carry it.
    q[0] = 1.5
    beside = hd.simulate.run(block, q, None, 0.6, 0.05, **arguments)
    assert beside.q[-1, 2] == pytest.approx(0.05, abs=1e-4)
    com = beside.q[-1, :3]
    assert not phase.wrenches.contains(force, np.cross(com, force))
