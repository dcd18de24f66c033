"""Inverse kinematics with tasks against Pink, postures, and calls of whole-body control.

All figures are processor time of one thread, which the load of the machine affects least. Pink's
error of a frame is a twist in the axes of the frame, that of Homodyn a displacement and a rotation
vector in the axes of the world: velocities agree to first order in the error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

import numpy as np

from homodyn.bench.harness import BenchmarkRow, benchmark, environment, interleave, missing
from homodyn.bench.pinocchio_tree import pinocchio_tree
from homodyn.bench.posture_problems import SPHERE_COUNT, clutter, posture_problem_rows
from homodyn.catalog import manikin
from homodyn.control import (
    BodyContact,
    ComTask,
    ConfigurationLimit,
    FrameTask,
    Limit,
    OrientationTask,
    PositionTask,
    PostureTask,
    Task,
    TrackingTask,
    VelocityLimit,
    WholeBodyController,
    compile_ik,
    solve_ik,
    solve_posture,
)
from homodyn.dynamics import center_of_mass, orientation, position
from homodyn.model import Model
from homodyn.model.configuration import clamp

TASK_FRAMES = ("right_hand", "left_hand", "right_foot", "left_foot")
BATCH_STATES = 1000
STEP_S = 0.01
MAX_SPEED_RAD_PER_S = 10.0
STEP_DAMPING = 1e-6
MAX_POSTURE_MS = 20.0
"""Time limit of a posture among obstacles."""
MAX_CALL_MS = 0.5
"""Time limit of a call of whole-body control."""
SPREADS_RAD = {"near": 0.02, "spread": 0.1, "wide": 0.3}
"""Standard deviations of the coordinates about the middle pose."""


@benchmark("control")
def control(quick: bool) -> Iterator[BenchmarkRow]:
    """Steps of inverse kinematics against Pink, and calls of whole-body control, one core."""
    model = manikin()
    with environment("HOMODYN_THREADS", "1"):
        yield from _ik_rows(model, quick)
        yield from _posture_rows(model, quick)
        yield from posture_problem_rows(model, quick)
        yield from _whole_body_rows(model, quick)


def _ik_rows(model: Model, quick: bool) -> Iterator[BenchmarkRow]:
    rng = np.random.default_rng(0)
    shake = np.r_[np.zeros(6), 0.3 * rng.normal(size=model.nv - 6)]
    middle = clamp(model, model.integrate(model.neutral(), shake))
    target = clamp(model, model.integrate(middle, 0.1 * rng.normal(size=model.nv)))
    joints = model.coordinate_names[6:]
    tasks: list[Task] = [
        FrameTask(name, position(model, target, name), orientation(model, target, name), gain=0.5)
        for name in TASK_FRAMES
    ]
    tasks.append(PostureTask(middle, cost=dict.fromkeys(model.coordinate_names, 0.1)))
    limits: tuple[Limit, ...] = (
        ConfigurationLimit(),
        VelocityLimit(dict.fromkeys(joints, MAX_SPEED_RAD_PER_S)),
    )
    compile_ik(model, tasks, limits=limits)
    note = missing("pin-pink") or missing("daqp")
    peer = None if note else _pink_step(model, target, middle)
    repeat = 2 if quick else 5
    for name, spread in SPREADS_RAD.items():
        steps = spread * rng.normal(size=(BATCH_STATES, model.nv))
        poses = clamp(model, np.array([model.integrate(middle, step) for step in steps]))

        def one(poses: np.ndarray = poses) -> None:
            for q in poses[:50]:
                solve_ik(model, q, tasks, STEP_S, limits=limits, damping=STEP_DAMPING)

        def batch(poses: np.ndarray = poses) -> None:
            solve_ik(model, poses, tasks, STEP_S, limits=limits, damping=STEP_DAMPING)

        def pink(poses: np.ndarray = poses) -> None:
            if peer is not None:
                for q in poses[:50]:
                    peer(q)

        seconds = interleave(one, batch, pink, repeat=repeat, clock=process_time)
        theirs = None if peer is None else 1e6 * seconds[2] / 50
        share = solve_ik(model, poses, tasks, STEP_S, limits=limits, damping=STEP_DAMPING).active
        at_limits = f"{(share != 0).sum(axis=1).mean():.0f} of {model.nv} at limits"
        required = (3.0, 20.0) if name != "wide" else (None, None)
        yield BenchmarkRow.from_times(
            f"solve_ik, {model.nv} dof, 4 frames and a posture, one state, {name} poses",
            1e6 * seconds[0] / 50,
            theirs,
            unit="us",
            required=required[0],
            note=note or at_limits,
        )
        yield BenchmarkRow.from_times(
            f"solve_ik, the same, batches of {BATCH_STATES}, {name} poses",
            1e6 * seconds[1] / BATCH_STATES,
            theirs,
            unit="us/state",
            required=required[1],
            note=note or at_limits,
        )


def _pink_step(model: Model, target: np.ndarray, middle: np.ndarray) -> Callable[[np.ndarray], Any]:
    """A step of Pink with the same model, tasks, limits and solver of the literature."""
    import pink  # type: ignore[import-not-found,import-untyped,unused-ignore]
    import pinocchio as pin

    peer = pinocchio_tree(model)
    peer.lowerPositionLimit = np.array(model.lower)
    peer.upperPositionLimit = np.array(model.upper)
    peer.velocityLimit = np.r_[np.full(6, np.inf), np.full(model.nv - 6, MAX_SPEED_RAD_PER_S)]
    data = peer.createData()
    tasks = []
    for name in TASK_FRAMES:
        task = pink.tasks.FrameTask(name, position_cost=1.0, orientation_cost=1.0, gain=0.5)
        turn, place = orientation(model, target, name), position(model, target, name)
        task.set_target(pin.SE3(turn, place))
        tasks.append(task)
    posture = pink.tasks.PostureTask(cost=0.1)
    posture.set_target(np.array(middle))
    tasks.append(posture)
    limits = [pink.limits.ConfigurationLimit(peer), pink.limits.VelocityLimit(peer)]

    def step(q: np.ndarray) -> Any:
        configuration = pink.Configuration(peer, data, q, copy_data=False)
        return pink.solve_ik(
            configuration, tasks, STEP_S, solver="daqp", damping=STEP_DAMPING, limits=limits
        )

    return step


def standing_posture(model: Model) -> np.ndarray:
    """Knees bent, center of mass over the middle of the feet.

    Args:
        model: The manikin.

    Returns:
        (nq,).
    """
    return np.asarray(solve_posture(model, _standing_tasks(model), model.neutral()).q)


def _standing_tasks(model: Model) -> list[Task]:
    q = model.neutral()
    place = center_of_mass(model, q)
    place[0], place[2] = position(model, q, "right_foot")[0] + 0.04, place[2] - 0.04
    feet = [
        FrameTask(name, position(model, q, name), orientation(model, q, name))
        for name in TASK_FRAMES[2:]
    ]
    return [*feet, ComTask(place), OrientationTask("pelvis", np.eye(3)), PostureTask()]


def _posture_rows(model: Model, quick: bool) -> Iterator[BenchmarkRow]:
    hand = position(model, model.neutral(), "right_hand") + np.array([0.25, 0.0, 0.35])
    tasks = [*_standing_tasks(model), PositionTask("right_hand", hand)]
    q = standing_posture(model)
    solve_posture(model, tasks, q)
    seconds = interleave(
        lambda: solve_posture(model, tasks, q), repeat=2 if quick else 5, clock=process_time
    )[0]
    yield BenchmarkRow.from_times(
        "solve_posture, feet, center of mass and a hand, from standing",
        1e3 * seconds,
        None,
        unit="ms",
        required=None,
    )
    free = solve_posture(model, tasks, q).q
    limit = clutter(model, np.array([q, free]), np.random.default_rng(0))
    solve_posture(model, tasks, q, limits=(limit,))
    seconds = interleave(
        lambda: solve_posture(model, tasks, q, limits=(limit,)),
        repeat=2 if quick else 5,
        clock=process_time,
    )[0]
    yield BenchmarkRow.from_times(
        f"solve_posture, the same among {SPHERE_COUNT} spheres, {len(model.capsules)} capsules",
        1e3 * seconds,
        MAX_POSTURE_MS,
        unit="ms",
        required=1.0,
        note="the peer is the limit",
    )


def _whole_body_rows(model: Model, quick: bool) -> Iterator[BenchmarkRow]:
    q, v = standing_posture(model), np.zeros(model.nv)
    feet = [
        FrameTask(name, position(model, q, name), orientation(model, q, name), 5e4**0.5, 5e4**0.5)
        for name in TASK_FRAMES[2:]
    ]
    fixed = [
        *[TrackingTask(foot) for foot in feet],
        TrackingTask(OrientationTask("pelvis", np.eye(3), cost=1e4**0.5)),
        TrackingTask(PostureTask(q, cost=10**0.5)),
    ]
    start = center_of_mass(model, q)

    def references(t: float) -> list[TrackingTask]:
        place = start + np.array([0.0, 0.01 * t, 0.0])
        return [TrackingTask(ComTask(place, cost=2e4**0.5)), *fixed]

    corners = ("heel_outer", "heel_inner", "ball_outer", "ball_inner")
    contacts = [
        BodyContact(f"{side}_foot", tuple(f"{side}_{name}" for name in corners))
        for side in ("right", "left")
    ]
    controller = WholeBodyController(model, references, contacts).compile()
    times = iter(np.linspace(0, 1, 10**6))
    seconds = interleave(
        lambda: controller(next(times), q, v), repeat=2 if quick else 5, clock=process_time
    )[0]
    yield BenchmarkRow.from_times(
        f"whole-body control, {model.nv} dof, two soles, one call",
        1e3 * seconds,
        MAX_CALL_MS,
        unit="ms",
        required=1.0,
        note="the peer is the limit; kinematics and dynamics included",
    )
