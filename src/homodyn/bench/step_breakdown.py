"""Breakdown of the time of a rigid step into its parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import process_time

import casadi as ca
import numpy as np

from homodyn.bench.harness import environment, interleave
from homodyn.dynamics.crba import composite_inertia
from homodyn.dynamics.rnea import newton_euler
from homodyn.dynamics.tree import Tree
from homodyn.model import Model
from homodyn.simulate import ContactGeometry, JointLimits, TimeStepping
from homodyn.simulate.momentum_transport import midpoint_acceleration, transport_momentum
from homodyn.simulate.rigid.time_stepping import VelocityProblem
from homodyn.simulate.rotating_axes import axes_rotation_rate, rotate_velocities
from homodyn.simulate.rows.joint_rows import joint_rows
from homodyn.simulate.rows.target_forces import StepRows
from homodyn.spatial import Array
from homodyn.symbolic import Kernel, kernel

STATE_COUNT = 2048
"""States of the batch that is timed."""


@dataclass(frozen=True)
class StepPart:
    """A part of a step."""

    name: str
    instructions: int
    """Instructions in addition to those of the parts before it."""
    seconds: float | None
    """Time in addition to that of the parts before it (s); None if it was not measured."""


def step_parts(
    model: Model, law: TimeStepping, q: np.ndarray, dt: float, timed: bool
) -> list[StepPart]:
    """The parts of a step of the time-stepping law, in order.

    For each part, a kernel computes the step up to the end of that part. Its only result is the sum
    of all quantities known by then, so that none is eliminated and none is stored.

    Args:
        model: The model.
        law: The contact law.
        q: Pose.
        dt: Time step (s).
        timed: Whether to measure times.

    Returns:
        The parts.
    """
    prefixes = _prefixes(model, law)
    counts = [each.instructions for each in prefixes.values()]
    times: list[float] | list[None] = [None] * len(counts)
    if timed:
        states = np.tile(q, (STATE_COUNT, 1))
        rest = {
            "v": np.zeros(model.nv),
            "h": dt,
            "z": np.zeros(law.memory_size(ContactGeometry(model))),
        }
        calls = [partial(each.compile(), q=states, **rest) for each in prefixes.values()]
        with environment("HOMODYN_THREADS", "1"):
            times = [seconds / STATE_COUNT for seconds in interleave(*calls, clock=process_time)]
    parts = []
    for k, name in enumerate(prefixes):
        before, until = (times[k - 1] if k else 0.0), times[k]
        seconds = None
        if until is not None and before is not None:
            seconds = max(until - before, 0.0)
        parts.append(StepPart(name, counts[k] - (counts[k - 1] if k else 0), seconds))
    return parts


def _prefixes(model: Model, law: TimeStepping) -> dict[str, Kernel]:
    scene = ContactGeometry(model)
    sizes: dict[str, int | tuple[int, ...]] = {
        "q": model.nq,
        "v": model.nv,
        "h": (),
        "z": law.memory_size(scene),
    }

    def up_to(last: int) -> Callable[..., Array]:
        def prefix(q: Array, v: Array, h: Array, z: Array) -> Array:
            tree = Tree(model, q, v)
            rows = joint_rows(model, q, h, JointLimits())
            other = StepRows(tree, h)
            inertia = composite_inertia(tree)
            turning = axes_rotation_rate(model, v) + midpoint_acceleration(tree, h)
            tau = inertia @ turning
            step = VelocityProblem(law, scene, tree, tau, rows, h, {}, other)
            done = [_total([newton_euler(tree, None)])]
            if last > 0:
                done.append(_total([ca.tril(inertia)]))
            if last > 1:
                done = [_total([*step.factor.L.values(), *step.factor.reciprocal, *step.free])]
            if last > 2:
                entries = [x for column in step.response for x in column.values()]
                done = [_total([*entries, step.problem.b])]
            if last > 3:
                impulse = step.solve(h * z)
                done = [_total([impulse])]
            if last > 4:
                w = step.velocity(impulse)
                after = model.integrate(q, h * w)
                force = inertia @ (w - v) / h
                end = transport_momentum(tree, after, rotate_velocities(model, w, h), force, h)
                done = [_total([after, end, *step.row_forces(w, ca.SX(0, 1))])]
            return sum(done[1:], done[0])

        return prefix

    names = (
        "kinematics and bias forces",
        "mass matrix",
        "joint rows and factor",
        "contact responses",
        f"{law.sweeps} sweeps of the contact solver",
        "velocities and positions",
    )
    return {
        name: kernel(up_to(k), sizes, name=f"step of {model.name} up to {name}")
        for k, name in enumerate(names)
    }


def _total(values: list[Array]) -> Array:
    return sum((ca.sum1(ca.vec(ca.SX(value))) for value in values), ca.SX(0.0))
