"""Postures on the supports of a board and a platform, checked by forward kinematics."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import ModelError
from homodyn.plan import PostureSearch, posture
from homodyn.plan.collision_pairs import named_obstacles, obstacle_distances

SCENE = hd.motion.load_scene("complex")
MODEL = hd.catalog.manikin(1.75, 79.0)


def sole_corners(q: np.ndarray, side: str) -> np.ndarray:
    names = [f"{side}_{part}_{edge}" for part in ("heel", "toe") for edge in ("outer", "inner")]
    return np.array([hd.dynamics.position(MODEL, q, name) for name in names])


@pytest.mark.parametrize(
    ("names", "com"),
    [
        (("left 0", "right 0"), (0.0, 0.0, 0.92)),
        (("left 1", "right 0"), (0.15, 0.15, 0.90)),
        (("left 1", "right 1"), (0.42, 0.55, 0.88)),
        (("left 2", "right 1"), (0.6, 0.65, 0.86)),
    ],
)
def test_postures_reach_soles_and_center_of_mass_clear_of_obstacles(names, com):
    supports = [SCENE.supports[name] for name in names]
    found = posture(MODEL, supports, scene=SCENE, com=com)
    assert found.solved, found.sentence
    assert (found.q >= MODEL.lower - 1e-9).all()
    assert (found.q <= MODEL.upper + 1e-9).all()
    gap = np.linalg.norm(hd.dynamics.center_of_mass(MODEL, found.q) - com)
    assert gap < 1e-3
    for support in supports:
        corners = sole_corners(found.q, support.body.split("_")[0])
        assert np.linalg.norm(corners.mean(axis=0) - support.middle) < 2e-3
        assert np.abs(corners[:, 2] - support.middle[2]).max() < 4e-3
    scene = named_obstacles(SCENE)
    distance = obstacle_distances(MODEL, found.q[None], scene)[0]
    roof = [each.name for each in scene.obstacles].index("roof")
    assert distance[:, roof].min() > 0.009


def test_center_of_mass_out_of_reach_is_refused_with_its_size():
    supports = [SCENE.supports[name] for name in ("left 0", "right 0")]
    found = posture(
        MODEL, supports, scene=SCENE, com=(0.0, 0.0, 1.4), search=PostureSearch(starts=4)
    )
    assert not found.solved
    assert "misses its target by" in found.sentence
    assert "mm" in found.sentence


def test_obstacle_that_leaves_no_room_is_named():
    ceiling = hd.motion.BoxObstacle((4.0, 4.0, 0.1), position=(0, 0, 0.75), name="low ceiling")
    room = hd.motion.Scene("low room", obstacles=(ceiling,))
    supports = [SCENE.supports[name] for name in ("left 0", "right 0")]
    search = PostureSearch(starts=4)
    found = posture(MODEL, supports, scene=room, com=(0.0, 0.0, 0.92), search=search)
    assert not found.solved
    assert "low ceiling" in found.sentence


def test_support_without_a_body_is_refused():
    support = hd.motion.supports.sole_contact("anywhere", (0, 0, 0), (0.28, 0.1), friction=0.7)
    with pytest.raises(ModelError, match="give the body of the model"):
        posture(MODEL, [support])
    with pytest.raises(ModelError, match="com is 3 finite numbers"):
        posture(MODEL, [SCENE.supports["left 0"]], com=(0.0, np.nan, 1.0))
