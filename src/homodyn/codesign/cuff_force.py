"""Forces between a robot and the person at the cuffs on torso, thigh and shank.

A cuff is all that joins a robot to one segment. Where a loop is cut at a cuff, its force is that of
the rows that close the loop; else it follows from the momentum of the robot links that hang on the
cuff: sum of m (dv/dt - g) = force of the cuff + forces of cut loops on these links.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np

from homodyn.codesign.device import Device, DeviceJoint
from homodyn.codesign.walking import MeasureBuilder
from homodyn.dynamics import orientation, velocity
from homodyn.dynamics.constraints import row_names
from homodyn.foundation.record import Record, record
from homodyn.model.side import Side
from homodyn.simulate import SimulationResult
from homodyn.simulate.signals import StepSample
from homodyn.symbolic import Kernel
from homodyn.symbolic.trace import trace

SMOOTHING_N2 = 1e-6
"""Added to squared forces before the root."""
PLANE = (0, 2)
"""Forward and up."""


@record
class CuffForces(Record):
    """Forces of a robot on a person over time, in world axes."""

    time: np.ndarray
    """Start of each step (s), (steps,)."""
    force: dict[tuple[Side, str], np.ndarray]
    """Forward and upward force on a segment (N), (steps, 2), by side and segment."""

    def size(self, side: Side, segment: str) -> np.ndarray:
        """Size of the force of one cuff.

        Args:
            side: The leg.
            segment: ``"torso"``, ``"thigh"`` or ``"shank"``.

        Returns:
            N, (steps,).
        """
        return np.asarray(np.linalg.norm(self.force[side, segment], axis=-1))

    @property
    def mean_sum(self) -> float:
        """Mean over time of the sum of the sizes of all forces (N)."""
        return float(np.sum([self.size(*key).mean() for key in self.force]))


def mean_cuff_force(device: Device) -> MeasureBuilder:
    """The sum of the sizes of the forces of all cuffs, for a measure of a simulation.

    Args:
        device: The device.

    Returns:
        ``f(step)`` (N).
    """

    def total(step: StepSample) -> ca.SX:
        forces = cuff_forces(device, step).values()
        return sum((ca.sqrt(ca.sumsqr(one) + SMOOTHING_N2) for one in forces), ca.SX(0.0))

    return total


def cuff_forces(device: Device, step: StepSample) -> dict[tuple[Side, str], ca.SX]:
    """Force of the robot on each segment in a step.

    Args:
        device: The device.
        step: The step.

    Returns:
        Forward and upward force (N), (2,), by side and segment.
    """
    found: dict[tuple[Side, str], ca.SX] = {}
    for frame in device.frames:
        joints = [joint for joint in device.joints if joint.side is frame.side]
        segments = dict(zip(frame.bodies, device.topology.linkage.segments, strict=True))
        on_body = _cut_forces(device, joints, step)
        for body, segment in segments.items():
            force = on_body.get(body, ca.SX.zeros(2))
            hanging = _links_beyond(joints, body)
            if hanging:
                force = force - _momentum_rate(device, hanging, step)
                force = force + sum((on_body.get(b, ca.SX.zeros(2)) for b in hanging), ca.SX(0.0))
            found[frame.side, segment] = force
    return found


def _cut_forces(device: Device, joints: list[DeviceJoint], step: StepSample) -> dict[str, ca.SX]:
    """Sum of the forces of cut loops on each body, (2,)."""
    found: dict[str, ca.SX] = {}
    for joint in joints:
        if not joint.closes_loop:
            continue
        names = [f"{joint.side.value}_robot_{joint.number}_{end}" for end in "ab"]
        first, second = (step.model.locate(name)[0] for name in names)
        label = "-".join(names)
        x, z = (step.row_force(f"{label} {axis}") for axis in "xz")
        world = orientation(step.model, step.q, step.model.body_names[second])
        force = (world @ ca.vertcat(x, 0.0, z))[list(PLANE)]
        for body, sign in ((first, 1.0), (second, -1.0)):
            name = step.model.body_names[body]
            found[name] = found.get(name, ca.SX.zeros(2)) + sign * force
    return found


def _links_beyond(joints: list[DeviceJoint], segment: str) -> list[str]:
    """Robot links of the tree that hang on a segment."""
    found = [segment]
    for _ in joints:
        found += [
            joint.links[1]
            for joint in joints
            if not joint.closes_loop and joint.links[0] in found and joint.links[1] not in found
        ]
    return found[1:]


def _momentum_rate(device: Device, bodies: list[str], step: StepSample) -> ca.SX:
    """Sum of m (dv/dt - g) of bodies in a step, (2,), N."""
    model, total = step.model, ca.SX.zeros(3)
    gravity = ca.SX(np.asarray(model.gravity, dtype=float))
    for name in bodies:
        body = model.bodies[model.body_names.index(name)]
        place = ca.SX(ca.vertcat(*[body.com[k] for k in range(3)]))
        before = velocity(model, step.q, step.v, name, place)
        after = velocity(model, step.next_q, step.next_v, name, place)
        total = total + body.mass * ((after - before) / step.h - gravity)
    return total[list(PLANE)]


def cuff_force_series(
    device: Device, result: SimulationResult, parameters: Mapping[str, float]
) -> CuffForces:
    """Forces of the cuffs along a simulation that recorded every step.

    Args:
        device: The device.
        result: A simulation of its model.
        parameters: Values of the parameters of the model.

    Returns:
        The forces in each step.
    """
    model = device.model
    names = row_names(device.loops)
    keys = [
        (f.side, segment) for f in device.frames for segment in device.topology.linkage.segments
    ]

    def body(*symbols: ca.SX) -> dict[str, ca.SX]:
        q, v, next_q, next_v, rows, h = symbols[:6]
        nothing = ca.SX.zeros(model.nv)
        step = StepSample(
            model, ca.SX(0.0), h, q, v, {}, next_q, next_v, nothing, [], [], rows, names
        )  # fmt: skip
        forces = cuff_forces(device, step)
        return {"force": ca.vertcat(*[forces[key] for key in keys])}

    shapes: dict[str, int | tuple[int, ...]] = {
        "q": model.nq, "v": model.nv, "next_q": model.nq, "next_v": model.nv,
        "rows": len(names), "h": (), "parameters": len(model.parameters),
    }  # fmt: skip
    known = {"parameters": model.parameter_symbols}
    kernel = Kernel(trace(body, shapes, None, f"cuffs of {model.name}", given=known), mapping=True)
    numbers = np.array([float(parameters[name]) for name in model.parameter_names])
    values = kernel(
        q=result.q[:-1],
        v=result.v[:-1],
        next_q=result.q[1:],
        next_v=result.v[1:],
        rows=np.ascontiguousarray(result.constraint_forces[:-1, : len(names)]),
        h=np.diff(result.time),
        parameters=numbers,
    )["force"]
    return CuffForces(
        result.time[:-1],
        {key: values[:, 2 * k : 2 * k + 2] for k, key in enumerate(keys)},
    )
