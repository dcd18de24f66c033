"""Random problems of postures: some that have a solution by construction, some that have none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import process_time

import numpy as np

from homodyn.bench.harness import BenchmarkRow
from homodyn.control import (
    CollisionLimit,
    ComTask,
    FrameTask,
    Limit,
    PositionTask,
    PostureResult,
    PostureTask,
    Task,
    solve_posture,
)
from homodyn.dynamics import center_of_mass, orientation, position
from homodyn.model import Model
from homodyn.model.configuration import random
from homodyn.motion import BoxObstacle, Scene, SphereObstacle

SOLVABLE_COUNT, UNSOLVABLE_COUNT = 200, 50
SPHERE_COUNT = 20
SPHERE_RADIUS_M = 0.08
MARGIN_M = 0.01
SPHERE_REGION_M = ((-0.6, -0.9, 0.2), (0.9, 0.9, 1.9))
"""Corners of the box in which spheres lie."""
POSTURE_RANGE_SHARE = 0.5
"""Share of the way from the neutral pose to a random one."""


@dataclass(frozen=True, eq=False)
class PostureProblem:
    """Tasks and limits, and a word of the reason where there is no solution."""

    tasks: list[Task]
    limits: tuple[Limit, ...] = ()
    reason: str = ""

    def solve(self, model: Model) -> PostureResult:
        """The result from the neutral pose."""
        return solve_posture(model, self.tasks, limits=self.limits)

    def is_named(self, result: PostureResult) -> bool:
        """Whether a refusal names the reason."""
        return not result.solved and self.reason in result.sentence


def _place(model: Model, q: np.ndarray, frames: tuple[str, ...]) -> list[Task]:
    return [
        FrameTask(name, position(model, q, name), orientation(model, q, name)) for name in frames
    ]


def _random_pose(model: Model, rng: np.random.Generator) -> np.ndarray:
    start = model.neutral()
    step = np.asarray(model.difference(start, random(model, rng, 1)[0])) * POSTURE_RANGE_SHARE
    step[list(model.root.v)] = 0.1 * rng.normal(size=len(model.root.v))
    return np.asarray(model.integrate(start, step))


def clutter(model: Model, poses: np.ndarray, rng: np.random.Generator) -> CollisionLimit:
    """Random spheres that some poses do not touch.

    Args:
        model: The model.
        poses: (poses, nq).
        rng: Source of the places.

    Returns:
        The limit of all capsules of the model.
    """
    spheres: list[SphereObstacle] = []
    while len(spheres) < SPHERE_COUNT:
        place = rng.uniform(*SPHERE_REGION_M)
        ball = SphereObstacle(SPHERE_RADIUS_M, position=place, name=f"sphere {len(spheres) + 1}")
        alone = CollisionLimit(Scene("ball", obstacles=(ball,)), margin=MARGIN_M)
        if (alone.violation(model, poses) == 0).all():
            spheres.append(ball)
    return CollisionLimit(Scene("clutter", obstacles=tuple(spheres)), margin=MARGIN_M)


def solvable_problems(
    model: Model, count: int, seed: int = 0, among_spheres: bool = False
) -> Iterator[PostureProblem]:
    """Poses of feet, hands and center of mass that a random posture has.

    Args:
        model: The manikin.
        count: Number of problems.
        seed: Of the postures.
        among_spheres: Whether 20 spheres lie about the posture, with 1 cm of clearance.
    """
    rng = np.random.default_rng(seed)
    for _ in range(count):
        q = _random_pose(model, rng)
        tasks = _place(model, q, ("right_foot", "left_foot"))
        tasks += [
            PositionTask(name, position(model, q, name)) for name in ("right_hand", "left_hand")
        ]
        tasks += [ComTask(center_of_mass(model, q)), PostureTask()]
        limits = (clutter(model, q[None], rng),) if among_spheres else ()
        yield PostureProblem(tasks, limits)


def unsolvable_problems(model: Model, count: int, seed: int = 1) -> Iterator[PostureProblem]:
    """Feet on the ground with a hand, center of mass or pelvis too far away, or inside a box.

    Args:
        model: The manikin.
        count: Number of problems.
        seed: Of the targets.
    """
    rng = np.random.default_rng(seed)
    q = model.neutral()
    feet = _place(model, q, ("right_foot", "left_foot"))
    for k in range(count):
        kind = k % 4
        away = rng.normal(size=3)
        away = away / np.linalg.norm(away) * rng.uniform(2.5, 3.5)
        hand = position(model, q, "right_hand")
        if kind == 0:
            yield PostureProblem([*feet, PositionTask("right_hand", hand + away)], (), "right_hand")
        elif kind == 1:
            mass = center_of_mass(model, q) + 0.5 * away
            yield PostureProblem([*feet, ComTask(mass)], (), "ComTask")
        elif kind == 2:
            pelvis = position(model, q, "pelvis") + 0.5 * away
            yield PostureProblem([*feet, PositionTask("pelvis", pelvis)], (), "pelvis")
        else:
            place = hand + np.array([0.3, 0.0, 0.2]) + 0.05 * rng.normal(size=3)
            box = BoxObstacle((0.3, 0.3, 0.3), position=place, name="box")
            limit = CollisionLimit(Scene("box", obstacles=(box,)), margin=MARGIN_M)
            yield PostureProblem([*feet, PositionTask("right_hand", place)], (limit,), "box 'box'")


def posture_problem_rows(model: Model, quick: bool) -> Iterator[BenchmarkRow]:
    """Solved and refused shares, and processor times.

    Args:
        model: The manikin.
        quick: Whether to take a tenth of the problems.
    """
    part = 10 if quick else 1
    for title, spheres in (("", False), (f" among {SPHERE_COUNT} spheres", True)):
        count = SOLVABLE_COUNT // part
        times, solved = [], 0
        for problem in solvable_problems(model, count, among_spheres=spheres):
            start = process_time()
            solved += problem.solve(model).solved
            times.append(1e3 * (process_time() - start))
        yield BenchmarkRow.from_times(
            f"solve_posture, random postures{title}, median",
            float(np.median(times)),
            None,
            unit="ms",
            required=None,
            note=f"{solved} of {count} solved, at most {max(times):.0f} ms",
        )
    count = UNSOLVABLE_COUNT // part
    times, named = [], 0
    for problem in unsolvable_problems(model, count):
        start = process_time()
        named += problem.is_named(problem.solve(model))
        times.append(1e3 * (process_time() - start))
    yield BenchmarkRow.from_times(
        "solve_posture, refusal of impossible postures, median",
        float(np.median(times)),
        None,
        unit="ms",
        required=None,
        note=f"{named} of {count} refused with the reason, at most {max(times):.0f} ms",
    )
