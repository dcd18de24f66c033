"""Contact geometry of models in scenes."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.model import ContactShape
from homodyn.motion import BoxObstacle, PlaneObstacle, RingObstacle, Scene, SphereObstacle
from homodyn.simulate import ContactGeometry, gap_distances, place_on_ground
from homodyn.simulate.geometry import scene_geometry


def test_each_kind_of_shape_has_its_places(dumbbell):
    geometry = ContactGeometry(dumbbell, contacts=("tip", "ball", "edge", "bone", "block"))
    assert geometry.names[:6] == ("tip", "ball", "edge.start", "edge.end", "bone.start", "bone.end")
    assert len(geometry.names) == 6 + 8
    q = dumbbell.random(0)
    gaps = gap_distances(geometry)(q)
    turn = hd.dynamics.orientation(dumbbell, q, "left")
    np.testing.assert_allclose(gaps["distance"][0], (q[:3] + turn @ [0.1, 0, 0])[2], atol=1e-14)
    np.testing.assert_allclose(
        gaps["distance"][1], (q[:3] + turn @ [0, 0.1, 0])[2] - 0.05, atol=1e-14
    )
    np.testing.assert_allclose(gaps["point"][:, 2], gaps["distance"], atol=1e-14)


def test_invalid_contacts_and_pairs_are_refused(dumbbell):
    with pytest.raises(hd.ModelError, match="heel"):
        ContactGeometry(dumbbell, contacts=("heel",))
    with pytest.raises(hd.ModelError, match="one body"):
        ContactGeometry(dumbbell, pairs=(("tip", "ball"),))
    thin = tuple(ContactShape(f"{n} axis", n, "line", size=[2, 0, 0]) for n in ("left", "right"))
    with pytest.raises(hd.ModelError, match="no thickness"):
        ContactGeometry(replace(dumbbell, contacts=thin), pairs=(("left axis", "right axis"),))


STEP = BoxObstacle((0.4, 0.4, 0.4), position=(0, 0, 0.2), name="step")


def test_a_scene_gives_its_ground_and_its_obstacles(ball):
    geometry = scene_geometry(ball, Scene("stairs", obstacles=(STEP, SphereObstacle(0.1))))
    assert geometry.names == ("skin on ground", "skin on step", "skin on 2")
    q = ball.neutral()
    q[2] = 0.7
    np.testing.assert_allclose(gap_distances(geometry)(q)["distance"], [0.6, 0.2, 0.5])
    without_ground = scene_geometry(ball, Scene(ground=None, obstacles=(STEP,)))
    assert without_ground.names == ("skin",)
    assert gap_distances(without_ground)(q)["distance"] == pytest.approx([0.2])


@pytest.mark.parametrize(
    ("scene", "count"),
    [(None, 1), (PlaneObstacle(), 1), ((STEP, PlaneObstacle()), 2), ([STEP], 1), (Scene(), 1)],
)
def test_simulations_accept_scenes_and_obstacles(ball, scene, count):
    geometry = scene_geometry(ball, scene)
    assert len(geometry.names) == len(geometry.obstacles) == count
    assert scene_geometry(ball, geometry) is geometry


def test_a_scene_that_does_not_fit_is_refused(ball):
    tilted = Scene("moon base", gravity=(0.0, 0.3, -1.6))
    with pytest.raises(hd.ModelError, match=r"'ball' is \[.*\] m/s2, that of scene 'moon base'"):
        scene_geometry(ball, tilted)
    # Only the direction has to be equal: the magnitude is that of the model.
    scene_geometry(ball, Scene(gravity=(0.0, 0.0, -1.6)))
    with pytest.raises(hd.ModelError, match="simulations cannot use ring 'wheel'"):
        scene_geometry(ball, Scene(obstacles=(RingObstacle(0.2, 0.02, name="wheel"),)))


def test_a_geometry_has_a_short_representation(dumbbell):
    geometry = ContactGeometry(dumbbell, contacts=("tip",))
    assert repr(geometry).startswith("ContactGeometry of 'dumbbell': 1 contact, 1 obstacle")
    assert len(repr(geometry).splitlines()) <= 10


def test_poses_of_a_batch_are_placed_as_single_ones():
    model = hd.catalog.coman()
    poses = model.neutral() + 0.2 * np.random.default_rng(0).normal(size=(3, 4, model.nq))
    placed = place_on_ground(model, poses, 0.02)
    lowest = gap_distances(ContactGeometry(model))(placed)["distance"].min(axis=-1)
    assert np.allclose(lowest, 0.02, atol=1e-12)
    assert np.array_equal(placed[2, 1], place_on_ground(model, poses[2, 1], 0.02))
    changed = np.abs(placed - poses) > 1e-12
    assert np.array_equal(
        np.flatnonzero(changed.any(axis=(0, 1))), [model.joint_slots[0].q.start + 1]
    )


def test_a_pose_is_placed_on_the_ground_of_a_scene(ball):
    q = ball.neutral()
    assert place_on_ground(ball, q)[2] == pytest.approx(0.1)
    assert place_on_ground(ball, q, 0.05)[2] == pytest.approx(0.15)
    scene, raised = Scene(obstacles=(STEP,)), q + np.eye(7)[2]
    assert place_on_ground(ball, raised, scene=scene)[2] == pytest.approx(0.5)
    with pytest.raises(hd.ModelError, match="has no contacts to stand on"):
        place_on_ground(replace(ball, contacts=()), q)


def test_a_model_that_cannot_be_lifted_is_refused(pendulum):
    shape = ContactShape("tip", "rod", "point", [0, 0, -1.0])
    with pytest.raises(hd.ModelError, match="joint 'rod' cannot lift the whole body"):
        place_on_ground(replace(pendulum, contacts=(shape,)), np.zeros(1))
