"""Collision limits: rows against differences of the distance, steps that keep clear."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.control import (
    CollisionLimit,
    PositionTask,
    PostureTask,
    VelocityLimit,
    build_ik,
    solve_ik,
)
from homodyn.dynamics import position
from homodyn.errors import ModelError
from homodyn.model import Model
from homodyn.motion import BoxObstacle, HeightField, Scene, SphereObstacle

DT = 0.05


@pytest.fixture(scope="module")
def bip() -> Model:
    return hd.catalog.bip()


@pytest.fixture(scope="module")
def scene(bip: Model) -> Scene:
    foot = position(bip, bip.neutral(), "left_foot")
    return Scene(
        "posts",
        obstacles=(
            BoxObstacle((0.1, 0.1, 0.6), position=foot + np.array([0.35, 0.0, 0.2]), name="post"),
            SphereObstacle(0.1, position=foot + np.array([0.2, 0.3, 0.4]), name="ball"),
        ),
    )


def test_rows_are_derivatives_of_the_distance(bip: Model, scene: Scene) -> None:
    pair = [("left_foot", "right_foot")]
    limit = CollisionLimit(scene, ["left_foot", "left_shank"], pair, influence=9.0, gain=1.0)
    rng = np.random.default_rng(1)
    q = np.asarray(bip.integrate(bip.neutral(), 0.1 * rng.normal(size=bip.nv)))
    program = build_ik(bip, q, [PostureTask()], DT, limits=(limit,))
    found = limit.distances(bip, q)
    index = [k for k, owner in enumerate(program.row_owners) if owner == "CollisionLimit"]
    assert len(index) == len(found.distance) == 5
    step = 1e-6 * rng.normal(size=bip.nv)
    more = limit.distances(bip, np.asarray(bip.integrate(q, step))).distance
    less = limit.distances(bip, np.asarray(bip.integrate(q, -step))).distance
    np.testing.assert_allclose(program.rows[index] @ step, (more - less) / 2, atol=1e-10)
    np.testing.assert_allclose(program.row_lower[index], -found.distance, atol=1e-12)


@pytest.mark.parametrize(("dt", "steps", "error"), [(0.05, 40, 4e-3)])
def test_a_foot_stops_at_the_margin(
    bip: Model, scene: Scene, dt: float, steps: int, error: float
) -> None:
    """Rows are linear, and a pair has one: the margin is exceeded around corners and by tipping."""
    limit = CollisionLimit(scene, ["left_foot"], margin=0.02)
    q = bip.neutral()
    target = position(bip, q, "left_foot") + np.array([0.5, 0.0, 0.0])
    task = PositionTask("left_foot", target, gain=0.3)
    limits = (limit, VelocityLimit(np.full(bip.nv, 0.4)))
    for _ in range(steps):
        result = solve_ik(bip, q, [task, PostureTask(cost=0.05)], dt, limits=limits)
        assert result.status.success
        q = np.asarray(bip.integrate(q, result.v * dt))
        assert limit.distances(bip, q).distance.min() > 0.02 - error
    assert limit.distances(bip, q).distance.min() < 0.1


def test_bodies_inside_an_obstacle_leave_it_slowly(bip: Model) -> None:
    q = bip.neutral()
    inside = SphereObstacle(0.2, position=position(bip, q, "left_foot"), name="ball")
    limit = CollisionLimit(Scene("ball", obstacles=(inside,)), ["left_foot"], max_recovery=0.01)
    before = limit.distances(bip, q).distance.min()
    assert before < -0.1
    v = solve_ik(bip, q, [PostureTask()], DT, limits=(limit,)).v
    after = limit.distances(bip, np.asarray(bip.integrate(q, v * DT))).distance.min()
    assert after - before == pytest.approx(0.01, abs=1e-3)


def test_far_obstacles_have_no_influence(bip: Model, scene: Scene) -> None:
    q = bip.neutral()
    limit = CollisionLimit(scene, ["left_foot"], influence=1e-3)
    program = build_ik(bip, q, [PostureTask()], DT, limits=(limit,))
    assert (program.row_lower == -np.inf).all()


def test_what_cannot_be_avoided_is_refused(bip: Model, scene: Scene) -> None:
    hill = Scene("hill", obstacles=(HeightField([[0.0, 0.0], [0.0, 0.1]], name="hill"),))
    with pytest.raises(ModelError, match="hill"):
        CollisionLimit(hill)
    with pytest.raises(ModelError, match="capsule 'nose'"):
        solve_ik(bip, bip.neutral(), [PostureTask()], DT, limits=(CollisionLimit(scene, ["nose"]),))
    with pytest.raises(ModelError, match="gain"):
        CollisionLimit(scene, gain=0.0)
