"""The tree as single screws, all expressed in one frame.

Every joint is a chain of rotations and translations of massless bodies (or, for quaternions, a set
of simultaneous motions), each along one screw. In a common frame the sum over a subtree is a plain
sum, and the derivative of a screw with respect to any coordinate before it is one cross product.

The origin of the common frame of a tree is the first body with mass, so that no precision is lost
far from the origin of the world. Its axes are those of that body under a free joint and those of
the world otherwise, which makes most entries of the base's screws zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from homodyn.model import Model
from homodyn.model.coordinate_layout import JointSlots
from homodyn.model.functions import ScalarFunction
from homodyn.model.joint import Joint, JointAxis
from homodyn.spatial import Array, Inertia, Transform, cross_motion, stack


@dataclass(frozen=True)
class ScrewDrive:
    """One screw, in the frame at its end, and the entry of v that drives it.

    ``first``, ``second`` and ``third`` are the derivatives of the displacement with respect to that
    entry.
    """

    screw: Array
    entry: int
    first: Array = 1.0
    second: Array = 0.0
    third: Array = 0.0


@dataclass
class ScrewStep:
    """From one frame of the tree to the next: a transform, and the screws that change it."""

    parent: int
    transform: Transform
    joint: int
    drives: list[ScrewDrive] = field(default_factory=list)
    ends_at: int | None = None


@dataclass
class ScrewColumn:
    """The effect of one entry of v through one joint, in the common frame.

    A unit rate moves the subtree with ``S`` and changes its accelerations by ``Av - v x S``. A unit
    displacement moves the subtree with ``S`` and, relative to that motion, changes velocities by
    ``Vq`` and accelerations by ``Aq - v x Vq``. For a constant screw, with the notation of Singh,
    Russo and Wensing 2022: Vq = v_p x S, Aq = a_p x S + v_p x Vq, Av = Vq + v x S.
    """

    S: Array
    Vq: Array
    Aq: Array
    Av: Array


@dataclass
class TreeScrews:
    """Columns of every joint and motion of every body, all in the common frame of their tree.

    ``derivatives[i][c, d]`` is the derivative of column c of joint i with respect to entry d, in
    addition to moving with it.
    """

    model: Model
    columns: list[dict[int, ScrewColumn]]
    derivatives: list[dict[tuple[int, int], Array]]
    places: list[Transform]
    world: list[Transform]
    velocities: list[Array]
    accelerations: list[Array]


def tree_screws(model: Model, q: Array, v: Array, a: Array) -> TreeScrews:
    """The tree at positions, velocities and accelerations, with gravity as an acceleration."""
    count = len(model.bodies)
    empty: list[Any] = [None] * count
    result = TreeScrews(
        model,
        [{} for _ in range(count)],
        [{} for _ in range(count)],
        list(empty),
        list(empty),
        list(empty),
        list(empty),
    )
    steps = tree_steps(model, q)
    for root in (i for i, parent in enumerate(model.parents) if parent < 0):
        _propagate(result, _one_tree(model, steps, root), root, v, a)
    return result


def tree_steps(model: Model, q: Array) -> list[list[ScrewStep]]:
    """For each joint, the steps from the parent's frame to the child's."""
    all_steps = []
    for i, (joint, place) in enumerate(zip(model.joints, model.joint_slots, strict=True)):
        steps = [ScrewStep(-1, joint.placement, i), *_joint_steps(joint, place, q, i)]
        steps.append(ScrewStep(-1, joint.child_placement.inverse(), i, ends_at=i))
        all_steps.append(steps)
    return all_steps


def _joint_steps(joint: Joint, place: JointSlots, q: Array, i: int) -> list[ScrewStep]:
    if joint.quaternion:
        own = joint.transform(q[place.q])
        units = [3, 4, 5, 0, 1, 2] if joint.kind == "free" else [0, 1, 2]
        drives = [ScrewDrive(np.eye(6)[:, u], place.v.start + k) for k, u in enumerate(units)]
        return [ScrewStep(-1, own, i, drives)]
    steps = []
    for axis in joint.axes:
        if axis.coordinate is None:
            steps.append(ScrewStep(-1, axis.transform(axis.function.value(0.0)), i))
            continue
        amount, drive = _drive(axis, place, q)
        steps.append(ScrewStep(-1, axis.transform(amount), i, [drive] if drive else []))
    return steps


def _drive(axis: JointAxis, place: JointSlots, q: Array) -> tuple[Array, ScrewDrive | None]:
    """Displacement of an axis, and its derivatives by the entry that drives it, if any does."""
    k = axis.coordinate
    assert k is not None
    f = axis.function
    if place.slots:
        slot = place.slots[k]
        entry, source, g = slot.v, q[slot.q], slot.function
    else:
        entry, source, g = place.v.start + k, q[place.q.start + k], None
    x = source if g is None else g.value(source)
    first, second, third = f.slope(x), f.curvature(x), _third(f, x)
    if g is not None:
        g1, g2, g3 = g.slope(source), g.curvature(source), _third(g, source)
        third = third * g1 * g1 * g1 + 3 * second * g1 * g2 + first * g3
        second = second * g1 * g1 + first * g2
        first = first * g1
    if _is_zero(first) and _is_zero(second):
        return f.value(x), None
    return f.value(x), ScrewDrive(axis.screw(), entry, first, second, third)


def _third(function: ScalarFunction, x: Array) -> Array:
    """Third derivative of a function of one coordinate."""
    symbol = ca.SX.sym("x")
    curvature = ca.SX(function.curvature(symbol))
    rate = ca.jacobian(curvature, symbol)
    return 0.0 if rate.nnz() == 0 else ca.substitute(rate, symbol, ca.SX(x))


def _is_zero(number: Array) -> bool:
    return bool(ca.SX(number).is_zero())


def _one_tree(model: Model, steps: list[list[ScrewStep]], root: int) -> list[ScrewStep]:
    """The steps of the tree of one root in order, each with the index of the frame it starts in.

    Frame 0 is the world; frame k is the end of step k - 1.
    """
    ends: dict[int, int] = {-1: 0}
    ordered: list[ScrewStep] = []
    for i, parent in enumerate(model.parents):
        if parent < 0 and i != root:
            continue
        if parent not in ends:
            continue
        frame = ends[parent]
        for step in steps[i]:
            step.parent = frame
            ordered.append(step)
            frame = len(ordered)
        ends[i] = frame
    return ordered


def _place_frames(model: Model, steps: list[ScrewStep], root: int) -> list[Transform]:
    """Transforms from the common frame to every frame of the tree."""
    bodies = [step.ends_at for step in steps if step.ends_at is not None]
    massive = [i for i in bodies if not _is_zero(model.bodies[i].mass)]
    base = massive[0] if massive else root
    own_axes = base == root and model.joints[root].kind == "free"
    frame = 1 + next(k for k, step in enumerate(steps) if step.ends_at == base)
    path = []
    while frame > 0:
        path.append(frame)
        frame = steps[frame - 1].parent

    E: dict[int, Array] = {path[0]: np.eye(3)} if own_axes else {0: np.eye(3)}
    for k in path if own_axes else reversed(path):
        step = steps[k - 1]
        if own_axes:
            E[step.parent] = step.transform.E.T @ E[k]
        else:
            E[k] = step.transform.E @ E[step.parent]
    r: dict[int, Array] = {path[0]: np.zeros(3)}
    for k in path:
        step = steps[k - 1]
        r[step.parent] = r[k] - E[step.parent].T @ step.transform.r
    for k, step in enumerate(steps, 1):
        if k not in E:
            E[k] = step.transform.E @ E[step.parent]
            r[k] = r[step.parent] + E[step.parent].T @ step.transform.r
    return [Transform(ca.SX(E[k]), ca.SX(r[k])) for k in range(len(steps) + 1)]


def _propagate(result: TreeScrews, steps: list[ScrewStep], root: int, v: Array, a: Array) -> None:
    """Velocities, accelerations and columns, outward from the root."""
    frames = _place_frames(result.model, steps, root)
    minus_gravity = stack(np.zeros(3), -(frames[0].E.T @ ca.SX(result.model.gravity)))
    velocity: list[Array] = [ca.SX.zeros(6)]
    acceleration: list[Array] = [minus_gravity]
    earlier: list[tuple[int, Array]] = []
    for k, step in enumerate(steps, 1):
        v0, a0 = velocity[step.parent], acceleration[step.parent]
        v1, a1 = v0, a0
        driven = []
        for drive in step.drives:
            s = frames[k].motion_back(ca.SX(drive.screw))
            rate = drive.first * v[drive.entry]
            s_rate = cross_motion(v0, s)
            v1 = v1 + s * rate
            a1 = a1 + s_rate * rate
            a1 = a1 + s * (drive.first * a[drive.entry] + drive.second * v[drive.entry] ** 2)
            driven.append((drive, s, s_rate))
        for drive, s, s_rate in driven:
            gain = drive.second * v[drive.entry]
            own_rate = s_rate if len(driven) == 1 else cross_motion(v1, s)
            s_second_rate = cross_motion(a0, s) + cross_motion(v0, s_rate)
            gain_rate = drive.second * a[drive.entry] + drive.third * v[drive.entry] ** 2
            column = ScrewColumn(
                s * drive.first,
                s_rate * drive.first + s * gain,
                s_second_rate * drive.first + s_rate * (2 * gain) + s * gain_rate,
                (s_rate + own_rate) * drive.first + s * (2 * gain),
            )
            _add(result.columns[step.joint], drive.entry, column)
            _add_derivatives(result.derivatives[step.joint], earlier, drive, s)
        if len(driven) == 1:
            earlier.append((driven[0][0].entry, driven[0][1] * driven[0][0].first))
        velocity.append(v1)
        acceleration.append(a1)
        if step.ends_at is not None:
            i = step.ends_at
            result.places[i], result.world[i] = frames[k], frames[0]
            result.velocities[i], result.accelerations[i] = v1, a1
            earlier = []


def _add(columns: dict[int, ScrewColumn], entry: int, column: ScrewColumn) -> None:
    old = columns.get(entry)
    if old is None:
        columns[entry] = column
    else:
        columns[entry] = ScrewColumn(
            old.S + column.S, old.Vq + column.Vq, old.Aq + column.Aq, old.Av + column.Av
        )


def _add_derivatives(
    derivatives: dict[tuple[int, int], Array],
    earlier: list[tuple[int, Array]],
    drive: ScrewDrive,
    s: Array,
) -> None:
    """Add the derivatives of earlier screws of the joint by this one, and of this one by itself.

    A screw does not move with those that come after it.
    """
    terms = [((entry, drive.entry), cross_motion(t, s * drive.first)) for entry, t in earlier]
    terms.append(((drive.entry, drive.entry), s * drive.second))
    for key, term in terms:
        derivatives[key] = derivatives[key] + term if key in derivatives else term


def rigid_inertias(model: Model) -> list[Inertia | None]:
    """Inertia of each body with the bodies fixed to it, in its frame; None for fixed bodies."""
    total: list[Inertia | None] = [body.spatial_inertia for body in model.bodies]
    for i in reversed(range(len(total))):
        joint, parent = model.joints[i], model.parents[i]
        own, base = total[i], total[parent] if parent >= 0 else None
        if joint.nv == 0 and own is not None and base is not None:
            total[parent] = base + own.transform_back(joint.state(np.zeros(0), np.zeros(0)).X)
            total[i] = None
    return total
