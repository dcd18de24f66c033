"""Postures: random solvable problems, targets out of reach, and what the result names."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.control import (
    CollisionLimit,
    ComTask,
    FrameTask,
    PositionTask,
    PostureOptions,
    PostureStatus,
    PostureTask,
    Task,
    solve_posture,
)
from homodyn.dynamics import center_of_mass, orientation, position
from homodyn.errors import ModelError
from homodyn.model import Model
from homodyn.model.configuration import within_limits
from homodyn.motion import BoxObstacle, Scene


@pytest.fixture(scope="module")
def bip() -> Model:
    return hd.catalog.bip()


def standing(model: Model, q: np.ndarray) -> list[Task]:
    """Both feet where they are at q."""
    return [
        FrameTask(name, position(model, q, name), orientation(model, q, name))
        for name in ("left_foot", "right_foot")
    ]


@pytest.mark.parametrize("seed", range(4))
def test_random_postures_are_found(bip: Model, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q = bip.random(seed)
    q[:6] = 0.2 * rng.normal(size=6)
    tasks = [*standing(bip, q), ComTask(center_of_mass(bip, q)), PostureTask()]
    result = solve_posture(bip, tasks)
    assert result.solved, result.sentence
    assert within_limits(bip, result.q, tolerance=1e-9)
    np.testing.assert_allclose(center_of_mass(bip, result.q), center_of_mass(bip, q), atol=1e-4)
    np.testing.assert_allclose(
        position(bip, result.q, "left_foot"), position(bip, q, "left_foot"), atol=1e-4
    )


def test_preferences_choose_among_the_solutions(bip: Model) -> None:
    q = bip.neutral()
    wanted = bip.neutral()
    place = bip.position_index[bip.actuated[-1]]
    wanted[place] = 0.5 * bip.upper[bip.actuated[-1]]
    result = solve_posture(bip, [*standing(bip, q), PostureTask(wanted, cost=0.1)], q)
    assert result.solved
    assert result.q[place] == pytest.approx(wanted[place], abs=1e-2)


def test_a_target_out_of_reach_is_said_with_its_distance(bip: Model) -> None:
    q = bip.neutral()
    far = position(bip, q, "left_foot") + np.array([0.0, 0.0, 5.0])
    tasks = [standing(bip, q)[1], PositionTask("left_foot", far), PostureTask()]
    result = solve_posture(bip, tasks, q, options=PostureOptions(starts=2))
    assert result.status in (PostureStatus.HELD_BY_LIMITS, PostureStatus.OUT_OF_REACH)
    assert "stays" in result.sentence
    assert result.errors.max() > 0.5


def test_the_limit_that_holds_a_task_back_is_named() -> None:
    """One joint and a target beyond its range: nothing else can be the reason."""
    model = hd.catalog.double_pendulum() if hasattr(hd.catalog, "double_pendulum") else None
    bip = hd.catalog.bip()
    model = model or bip
    name = "left_knee"
    k = bip.coordinate_index(name) if name in bip.coordinate_names else bip.actuated[3]
    place = bip.position_index[k]
    beyond = bip.neutral()
    beyond[place] = bip.upper[k] + 0.3
    pelvis = FrameTask(
        "pelvis", position(bip, beyond, "pelvis"), orientation(bip, beyond, "pelvis")
    )
    foot = FrameTask(
        "left_foot", position(bip, beyond, "left_foot"), orientation(bip, beyond, "left_foot")
    )
    result = solve_posture(bip, [pelvis, foot, PostureTask(cost=1e-3)])
    assert result.status is PostureStatus.HELD_BY_LIMITS
    assert bip.coordinate_names[k] in result.sentence
    assert within_limits(bip, result.q, tolerance=1e-9)


def test_starts_outside_the_limits_are_recovered(bip: Model) -> None:
    q = bip.neutral()
    start = q.copy()
    start[6:] += 5.0
    result = solve_posture(bip, [*standing(bip, q), PostureTask()], start)
    assert result.solved, result.sentence
    assert within_limits(bip, result.q, tolerance=1e-9)


def test_obstacles_are_kept_clear_or_named(bip: Model) -> None:
    q = bip.neutral()
    foot = position(bip, q, "left_foot")
    post = BoxObstacle((0.1, 0.1, 0.6), position=foot + np.array([0.3, 0.0, 0.2]), name="post")
    limit = CollisionLimit(Scene("post", obstacles=(post,)), margin=0.01)
    stand = standing(bip, q)[1]
    free = [stand, PositionTask("left_foot", foot + np.array([0.12, 0.0, 0.15])), PostureTask()]
    result = solve_posture(bip, free, q, limits=(limit,))
    assert limit.distances(bip, result.q).distance.min() >= 0.0099
    assert result.solved, result.sentence
    inside = [stand, PositionTask("left_foot", foot + np.array([0.3, 0.0, 0.2])), PostureTask()]
    options = PostureOptions(starts=2)
    blocked = solve_posture(bip, inside, q, limits=(limit,), options=options)
    assert not blocked.solved
    assert "box 'post' at capsule" in blocked.sentence


def test_a_start_inside_two_obstacles_is_left_without_an_error(bip: Model) -> None:
    """Rows of two obstacles that push in opposite directions contradict each other at the start."""
    q = bip.neutral()
    foot = position(bip, q, "left_foot")
    sides = tuple(
        BoxObstacle((0.2, 0.2, 0.3), position=foot + np.array([x, 0.0, 0.1]), name=name)
        for name, x in (("front", 0.08), ("rear", -0.08))
    )
    limit = CollisionLimit(Scene("vise", obstacles=sides), ["left_foot"], margin=0.01)
    assert limit.violation(bip, q) > 0.02
    aside = [standing(bip, q)[1], PositionTask("left_foot", foot + np.array([0.0, 0.3, 0.1]))]
    result = solve_posture(bip, aside, q, limits=(limit,))
    assert result.solved, result.sentence
    assert limit.violation(bip, result.q) <= 1e-4
    stay = [*standing(bip, q), PositionTask("left_foot", foot)]
    blocked = solve_posture(bip, stay, q, limits=(limit,), options=PostureOptions(starts=2))
    assert not blocked.solved
    assert "at capsule left_foot" in blocked.sentence


def test_wrong_starts_are_refused(bip: Model) -> None:
    with pytest.raises(ModelError, match="q0 is 21 finite numbers"):
        solve_posture(bip, [PostureTask()], np.zeros(4))
    with pytest.raises(ModelError, match="at least one task"):
        solve_posture(bip, [])
