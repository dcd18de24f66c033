"""Where each joint finds its share of q, v, a and tau, with coordinates that follow others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from homodyn.model.functions import ScalarFunction
from homodyn.spatial import Array, stack

if TYPE_CHECKING:
    from homodyn.model.model import Model


@dataclass(frozen=True)
class CoordinateSlot:
    """Where one joint coordinate comes from: an entry of q and v, or a function of one."""

    q: int
    v: int
    function: ScalarFunction | None = None


@dataclass(frozen=True)
class JointSlots:
    """One joint's entries: a run of q and v, or a slot each when some follow others."""

    q: slice
    v: slice
    slots: tuple[CoordinateSlot, ...] = ()


def joint_layout(model: Model) -> tuple[JointSlots, ...]:
    """The entries of every joint, in order."""
    return model.joint_slots


def lay_out_joints(model: Model) -> tuple[JointSlots, ...]:
    """The same found anew, for the model to keep."""
    following = {coupler.coordinate: coupler for coupler in model.couplers}
    place: dict[str, tuple[int, int]] = {}
    runs = []
    q = v = 0
    for joint in model.joints:
        q0, v0 = q, v
        for k, coordinate in enumerate(joint.coordinates):
            if coordinate.name not in following:
                place[coordinate.name] = (q, v)
                v += 1
                q += 2 if joint.quaternion and k == len(joint.coordinates) - 1 else 1
        runs.append((slice(q0, q), slice(v0, v)))
    result = []
    for joint, (qs, vs) in zip(model.joints, runs, strict=True):
        slots: list[CoordinateSlot] = []
        if any(coordinate.name in following for coordinate in joint.coordinates):
            for coordinate in joint.coordinates:
                coupler = following.get(coordinate.name)
                source = place[coupler.of if coupler else coordinate.name]
                slots.append(CoordinateSlot(*source, coupler.function if coupler else None))
        result.append(JointSlots(qs, vs, tuple(slots)))
    return tuple(result)


def joint_positions(model: Model, q: Array) -> list[Array]:
    """The positions of each joint."""
    parts = []
    for place in joint_layout(model):
        if not place.slots:
            parts.append(q[place.q])
        else:
            parts.append(stack(*[_position(slot, q) for slot in place.slots]))
    return parts


def joint_velocities(model: Model, q: Array, v: Array) -> list[Array]:
    """The velocities of each joint: f'(q) v where a coordinate follows."""
    parts = []
    for place in joint_layout(model):
        if not place.slots:
            parts.append(v[place.v])
        else:
            parts.append(stack(*[v[s.v] * _slope(s, q) for s in place.slots]))
    return parts


def joint_accelerations(model: Model, q: Array, v: Array, a: Array) -> list[Array]:
    """The accelerations of each joint: f'(q) a + f''(q) v^2 where a coordinate follows."""
    parts = []
    for place in joint_layout(model):
        if not place.slots:
            parts.append(a[place.v])
        else:
            parts.append(
                stack(
                    *[a[s.v] * _slope(s, q) + _curvature(s, q) * v[s.v] ** 2 for s in place.slots]
                )
            )
    return parts


def joint_weights(model: Model, q: Array) -> list[list[tuple[int, Array]]]:
    """For each joint, per coordinate: the entry of v it moves with and by what factor."""
    weights = []
    for place, joint in zip(joint_layout(model), model.joints, strict=True):
        if not place.slots:
            weights.append([(place.v.start + k, 1.0) for k in range(joint.nv)])
        else:
            weights.append([(slot.v, _slope(slot, q)) for slot in place.slots])
    return weights


def _position(slot: CoordinateSlot, q: Array) -> Array:
    return slot.function.value(q[slot.q]) if slot.function else q[slot.q]


def _slope(slot: CoordinateSlot, q: Array) -> Array:
    return slot.function.slope(q[slot.q]) if slot.function else 1.0


def _curvature(slot: CoordinateSlot, q: Array) -> Array:
    return slot.function.curvature(q[slot.q]) if slot.function else 0.0
