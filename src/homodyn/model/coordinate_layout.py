"""The entries of q, v, a and tau of each joint, including coordinates that follow others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from homodyn.model.functions import ScalarFunction
from homodyn.model.joint import Coupler, Joint
from homodyn.spatial import Array, stack


@dataclass(frozen=True)
class CoordinateSlot:
    """Source of one joint coordinate: an entry of q and v, or a function of one."""

    q: int
    v: int
    function: ScalarFunction | None = None


@dataclass(frozen=True)
class JointSlots:
    """Entries of one joint: ranges of q and v, and one slot per coordinate if any is coupled."""

    q: slice
    v: slice
    slots: tuple[CoordinateSlot, ...] = ()


def lay_out_joints(joints: Sequence[Joint], couplers: Sequence[Coupler]) -> tuple[JointSlots, ...]:
    """The entries of every joint, in order."""
    following = {coupler.coordinate: coupler for coupler in couplers}
    place: dict[str, tuple[int, int]] = {}
    ranges = []
    q = v = 0
    for joint in joints:
        q0, v0 = q, v
        for k, coordinate in enumerate(joint.coordinates):
            if coordinate.name not in following:
                place[coordinate.name] = (q, v)
                v += 1
                q += 2 if joint.quaternion and k == len(joint.coordinates) - 1 else 1
        ranges.append((slice(q0, q), slice(v0, v)))
    result = []
    for joint, (qs, vs) in zip(joints, ranges, strict=True):
        slots: list[CoordinateSlot] = []
        if any(coordinate.name in following for coordinate in joint.coordinates):
            for coordinate in joint.coordinates:
                coupler = following.get(coordinate.name)
                source = place[coupler.of if coupler else coordinate.name]
                slots.append(CoordinateSlot(*source, coupler.function if coupler else None))
        result.append(JointSlots(qs, vs, tuple(slots)))
    return tuple(result)


def joint_positions(layout: Sequence[JointSlots], q: Array) -> list[Array]:
    """Positions of each joint."""
    parts = []
    for place in layout:
        if not place.slots:
            parts.append(q[place.q])
        else:
            parts.append(stack(*[_position(slot, q) for slot in place.slots]))
    return parts


def joint_velocities(layout: Sequence[JointSlots], q: Array, v: Array) -> list[Array]:
    """Velocities of each joint: f'(q) v for a coupled coordinate."""
    parts = []
    for place in layout:
        if not place.slots:
            parts.append(v[place.v])
        else:
            parts.append(stack(*[v[s.v] * _slope(s, q) for s in place.slots]))
    return parts


def joint_accelerations(layout: Sequence[JointSlots], q: Array, v: Array, a: Array) -> list[Array]:
    """Accelerations of each joint: f'(q) a + f''(q) v^2 for a coupled coordinate."""
    parts = []
    for place in layout:
        if not place.slots:
            parts.append(a[place.v])
        else:
            parts.append(
                stack(
                    *[a[s.v] * _slope(s, q) + _curvature(s, q) * v[s.v] ** 2 for s in place.slots]
                )
            )
    return parts


def joint_weights(layout: Sequence[JointSlots], q: Array) -> list[list[tuple[int, Array]]]:
    """For each joint, per coordinate: its entry of v and the factor f'(q) of that entry."""
    weights = []
    for place in layout:
        if not place.slots:
            weights.append([(entry, 1.0) for entry in range(place.v.start, place.v.stop)])
        else:
            weights.append([(slot.v, _slope(slot, q)) for slot in place.slots])
    return weights


def _position(slot: CoordinateSlot, q: Array) -> Array:
    return slot.function.value(q[slot.q]) if slot.function else q[slot.q]


def _slope(slot: CoordinateSlot, q: Array) -> Array:
    return slot.function.slope(q[slot.q]) if slot.function else 1.0


def _curvature(slot: CoordinateSlot, q: Array) -> Array:
    return slot.function.curvature(q[slot.q]) if slot.function else 0.0
