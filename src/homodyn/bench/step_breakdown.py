"""Where the time of a rigid step goes: its parts one after another, each beginning as the whole."""

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
from homodyn.simulate.joint_rows import joint_rows
from homodyn.simulate.rigid.time_stepping import VelocityProblem
from homodyn.spatial import Array
from homodyn.symbolic import Kernel, kernel

STATE_COUNT = 2048
"""States that the parts are timed on."""


@dataclass(frozen=True)
class StepPart:
    """A part of a step: what it adds to all before it, in instructions and (if timed) seconds."""

    name: str
    instructions: int
    seconds: float | None


def step_parts(
    model: Model, law: TimeStepping, q: np.ndarray, dt: float, timed: bool
) -> list[StepPart]:
    """The parts of a step of the time-stepping law at a state, in their order.

    Kernels of growing length are built, each up to the end of a part and with the sum of what is
    known by then as its only result, so that nothing is left out and nothing is stored.
    """
    grown = _prefixes(model, law)
    counts = [each.instructions for each in grown.values()]
    times: list[float] | list[None] = [None] * len(counts)
    if timed:
        states = np.tile(q, (STATE_COUNT, 1))
        rest = {
            "v": np.zeros(model.nv),
            "h": dt,
            "z": np.zeros(law.memory_size(ContactGeometry(model))),
        }
        calls = [partial(each.compile(), q=states, **rest) for each in grown.values()]
        with environment("HOMODYN_THREADS", "1"):
            times = [seconds / STATE_COUNT for seconds in interleave(*calls, clock=process_time)]
    parts = []
    for k, name in enumerate(grown):
        before = times[k - 1] if k else 0.0
        took, up_to = None, times[k]
        if up_to is not None and before is not None:
            took = max(up_to - before, 0.0)
        parts.append(StepPart(name, counts[k] - (counts[k - 1] if k else 0), took))
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
        def known(q: Array, v: Array, h: Array, z: Array) -> Array:
            tree = Tree(model, q, v)
            rows = joint_rows(model, q, h, JointLimits())
            step = VelocityProblem(law, scene, tree, ca.SX.zeros(model.nv), rows, h, {})
            done = [_total([newton_euler(tree, None)])]
            if last > 0:
                done.append(_total([ca.tril(composite_inertia(tree))]))
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
                done = [_total([model.integrate(q, h * w), w, *step.joint_forces(w, ca.SX(0, 1))])]
            return sum(done[1:], done[0])

        return known

    names = (
        "kinematics and bias forces",
        "mass matrix",
        "joint rows and factor",
        "contacts and what they move",
        f"{law.sweeps} sweeps over the cones",
        "velocities and positions",
    )
    return {
        name: kernel(up_to(k), sizes, name=f"step of {model.name} up to {name}")
        for k, name in enumerate(names)
    }


def _total(values: list[Array]) -> Array:
    return sum((ca.sum1(ca.vec(ca.SX(value))) for value in values), ca.SX(0.0))
