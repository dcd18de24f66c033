"""Collision limits: rows against differences of the distance, steps that keep clear."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.control import (
    CollisionLimit,
    ConfigurationLimit,
    PositionTask,
    PostureTask,
    VelocityLimit,
    build_ik,
    solve_ik,
)
from homodyn.control.collision.segment_distance import nearest_on_segments
from homodyn.dynamics import orientation, position
from homodyn.errors import ModelError
from homodyn.model import Model
from homodyn.motion import BoxObstacle, HeightField, Scene, SphereObstacle
from homodyn.motion.obstacles import (
    CapsuleObstacle,
    CylinderObstacle,
    Obstacle,
    PlaneObstacle,
    RingObstacle,
)

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
    """The first row of a pair by its nearest points, the others by points fixed to the body."""
    pair = [("left_foot", "right_foot")]
    limit = CollisionLimit(scene, ["left_foot", "left_shank"], pair, influence=9.0, gain=1.0)
    rng = np.random.default_rng(1)
    q = np.asarray(bip.integrate(bip.neutral(), 0.1 * rng.normal(size=bip.nv)))
    program = build_ik(bip, q, [PostureTask()], DT, limits=(limit,))
    found = limit.distances(bip, q)
    index = [k for k, owner in enumerate(program.row_owners) if owner == "CollisionLimit"]
    assert len(index) == len(found.distance) == 15
    step = 1e-6 * rng.normal(size=bip.nv)
    ends = [np.asarray(bip.integrate(q, sign * step)) for sign in (1, -1)]
    rows = program.rows[index]
    more, less = (limit.distances(bip, end).distance[::3] for end in ends)
    np.testing.assert_allclose(rows[::3] @ step, (more - less) / 2, atol=1e-10)
    lower = program.row_lower[index]
    used = np.isfinite(lower)
    assert used[::3].all()
    assert used.sum() > 5
    np.testing.assert_allclose(lower[used], -found.distance[used], atol=1e-12)
    bodies = ["left_foot"] * 6 + ["left_shank"] * 6 + ["left_foot"] * 3
    for k, body in enumerate(bodies):
        places = [position(bip, end, body, found.point[k]) for end in ends]
        if k >= 12:
            others = [position(bip, end, "right_foot", found.other_point[k]) for end in ends]
            more, less = (np.linalg.norm(a - b) for a, b in zip(places, others, strict=True))
        else:
            obstacle = scene.obstacles[found.obstacle[k]]
            more, less = (nearest_on_segments(obstacle, p, p)[1] for p in places)
        np.testing.assert_allclose(rows[k] @ step, (more - less) / 2, atol=1e-10)


def obstacles_beside(place: np.ndarray) -> dict[str, Obstacle]:
    """Obstacles whose surfaces are at a place, in the direction of x."""
    turned = np.array([[0.5**0.5, -(0.5**0.5), 0.0], [0.5**0.5, 0.5**0.5, 0.0], [0.0, 0.0, 1.0]])
    upright = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])

    def beyond(depth: float) -> np.ndarray:
        return np.asarray(place + np.array([depth, 0.0, 0.0]))

    return {
        "plane": PlaneObstacle(normal=(-1.0, 0.0, 0.0), height=-place[0]),
        "face": BoxObstacle((0.2, 1.0, 1.0), position=beyond(0.1)),
        "narrow face": BoxObstacle((0.2, 0.1, 0.12), position=beyond(0.1)),
        "edge": BoxObstacle((0.2, 0.2, 1.0), position=beyond(0.02**0.5), orientation=turned),
        "cylinder": CylinderObstacle(0.1, 0.3, position=beyond(0.1)),
        "capsule": CapsuleObstacle(0.05, 0.3, position=beyond(0.05)),
        "ring": RingObstacle(0.15, 0.02, position=beyond(0.02), orientation=upright),
        "sphere": SphereObstacle(0.1, position=beyond(0.1)),
    }


@pytest.mark.parametrize(("dt", "count"), [(0.05, 30), (0.0125, 40), (0.004, 60)])
@pytest.mark.parametrize("kind", list(obstacles_beside(np.zeros(3))))
def test_a_capsule_along_an_obstacle_stays_at_the_margin(
    bip: Model, kind: str, dt: float, count: int
) -> None:
    """The shank is drawn to random places beyond the obstacle; distances by dense samples."""
    start = bip.neutral()
    shank = next(capsule for capsule in bip.capsules if capsule.name == "left_shank")
    shares = np.linspace(0, 1, 201)[:, None]
    local = shares * np.asarray(shank.end) + (1 - shares) * np.asarray(shank.start)
    middle = position(bip, start, "left_shank", local[100])
    obstacle = obstacles_beside(middle + np.array([shank.radius + 0.022, 0.0, 0.0]))[kind]
    limit = CollisionLimit(Scene(kind, obstacles=(obstacle,)), ["left_shank"], margin=0.02)
    limits = (ConfigurationLimit(), VelocityLimit(np.full(bip.nv, 0.8)), limit)
    rng, q = np.random.default_rng(4), start
    least = np.inf
    for k in range(count):
        if k % 10 == 0:
            goals = [
                position(bip, start, body) + [0.2, 0.0, 0.0] + 0.3 * rng.normal(size=3)
                for body in ("left_foot", "left_shank")
            ]
        tasks = [
            PositionTask("left_foot", goals[0], gain=0.3),
            PositionTask("left_shank", goals[1], gain=0.3),
            PostureTask(cost=0.05),
        ]
        step = solve_ik(bip, q, tasks, dt, limits=limits)
        assert step.status.success
        q = np.asarray(bip.integrate(q, step.v * dt))
        rotation, origin = orientation(bip, q, "left_shank"), position(bip, q, "left_shank")
        places = local @ np.asarray(rotation).T + origin
        distance = nearest_on_segments(obstacle, places, places)[1].min() - shank.radius
        assert distance > 0.02 - 1e-3
        least = min(least, distance)
    assert least < 0.03


@pytest.mark.parametrize(("dt", "count"), [(0.05, 30), (0.004, 60)])
def test_capsules_along_each_other_stay_at_the_margin(bip: Model, dt: float, count: int) -> None:
    q = bip.neutral()
    limit = CollisionLimit(None, pairs=[("left_shank", "right_shank")], margin=0.02)
    limits = (ConfigurationLimit(), VelocityLimit(np.full(bip.nv, 0.8)), limit)
    names = ("left_foot", "right_foot", "left_shank", "right_shank")
    rng, starts = np.random.default_rng(6), [position(bip, q, name) for name in names]
    middle = np.mean(starts[:2], axis=0)
    least = np.inf
    for k in range(count):
        if k % 10 == 0:
            goals = [
                start + 1.2 * (middle - start) * [1, 1, 0] + 0.1 * rng.normal(size=3)
                for start in starts
            ]
        tasks = [PositionTask(n, goal, gain=0.5) for n, goal in zip(names, goals, strict=True)]
        step = solve_ik(bip, q, [*tasks, PostureTask(cost=0.05)], dt, limits=limits)
        q = np.asarray(bip.integrate(q, step.v * dt))
        least = min(least, float(limit.distances(bip, q).distance.min()))
        assert limit.violation(bip, q) <= max(0.02 - least, 0.0) + 1e-9
        assert least > 0.02 - 1e-3
    assert least < 0.021 or dt < 0.05


def test_bodies_inside_an_obstacle_leave_it_slowly(bip: Model) -> None:
    q = bip.neutral()
    inside = SphereObstacle(0.2, position=position(bip, q, "left_foot"), name="ball")
    limit = CollisionLimit(Scene("ball", obstacles=(inside,)), ["left_foot"], max_recovery=0.01)
    before = limit.distances(bip, q).distance.min()
    assert before < -0.1
    assert limit.violation(bip, q) == pytest.approx(-before)
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
