"""The tree taken apart into single motions, all written in one frame.

Every joint is a chain of turns and slides of bodies without mass (or, for quaternions, a set of
motions at once), so each moves what it carries along one screw. In a common frame the sum over a
subtree is a plain sum, and how a screw changes with any coordinate before it is one cross product.

The common frame of a tree has its origin at the first body with mass, so nothing is lost far from
the origin of the world. Its axes are those of that body under a free joint, of the world otherwise:
the choice that leaves most entries of the base's screws zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from homodyn.model import Model
from homodyn.model.coordinate_layout import JointSlots, joint_layout
from homodyn.model.functions import ScalarFunction
from homodyn.model.joint import Joint, JointAxis
from homodyn.spatial import Array, Inertia, Transform, cross_motion, stack


@dataclass(frozen=True)
class ScrewDrive:
    """One screw (in the frame it ends in) and how far entry ``entry`` of v drives it.

    The three derivatives are those of the displacement by that entry.
    """

    screw: Array
    entry: int
    first: Array = 1.0
    second: Array = 0.0
    third: Array = 0.0


@dataclass
class ScrewStep:
    """From one frame of the tree to the next: a transform, and the screws that may change it."""

    parent: int
    transform: Transform
    joint: int
    drives: list[ScrewDrive] = field(default_factory=list)
    ends_at: int | None = None


@dataclass
class ScrewColumn:
    """What one entry of v does through one joint, in the common frame.

    A unit rate moves the subtree with ``S`` and changes its accelerations by ``Av - v x S``. A unit
    displacement turns the subtree with ``S``, and beyond turning with it changes velocities by
    ``Vq`` and accelerations by ``Aq - v x Vq``. The names with a dash in Singh, Russo and Wensing
    2022 for a constant screw are Vq = v_p x S, Aq = a_p x S + v_p x Vq, Av = Vq + v x S.
    """

    S: Array
    Vq: Array
    Aq: Array
    Av: Array


@dataclass
class TreeScrews:
    """Columns of every joint and motion of every body, all in the common frame of their tree.

    ``bends[i][c, d]`` is how, beyond turning with it, column c of joint i changes with entry d.
    """

    model: Model
    columns: list[dict[int, ScrewColumn]]
    bends: list[dict[tuple[int, int], Array]]
    places: list[Transform]
    world: list[Transform]
    velocities: list[Array]
    accelerations: list[Array]


def tree_screws(model: Model, q: Array, v: Array, a: Array) -> TreeScrews:
    """The tree at positions, velocities and accelerations, with weight as acceleration."""
    count = len(model.bodies)
    blank: list[Any] = [None] * count
    result = TreeScrews(
        model,
        [{} for _ in range(count)],
        [{} for _ in range(count)],
        list(blank),
        list(blank),
        list(blank),
        list(blank),
    )
    steps = tree_steps(model, q)
    for root in (i for i, parent in enumerate(model.parents) if parent < 0):
        _propagate(result, _one_tree(model, steps, root), root, v, a)
    return result


def tree_steps(model: Model, q: Array) -> list[list[ScrewStep]]:
    """For each joint, the steps from the parent's frame to the child's."""
    all_steps = []
    for i, (joint, place) in enumerate(zip(model.joints, joint_layout(model), strict=True)):
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
    for motion in joint.axes:
        if motion.coordinate is None:
            steps.append(ScrewStep(-1, motion.transform(motion.function.value(0.0)), i))
            continue
        amount, drive = _drive(motion, place, q)
        steps.append(ScrewStep(-1, motion.transform(amount), i, [drive] if drive else []))
    return steps


def _drive(motion: JointAxis, place: JointSlots, q: Array) -> tuple[Array, ScrewDrive | None]:
    """Displacement of a motion and its derivatives by the entry that drives it, if any does."""
    k = motion.coordinate
    assert k is not None
    f = motion.function
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
    return f.value(x), ScrewDrive(motion.screw(), entry, first, second, third)


def _third(function: ScalarFunction, x: Array) -> Array:
    """Third derivative of a function of one coordinate."""
    symbol = ca.SX.sym("x")
    curvature = ca.SX(function.curvature(symbol))
    rate = ca.jacobian(curvature, symbol)
    return 0.0 if rate.nnz() == 0 else ca.substitute(rate, symbol, ca.SX(x))


def _is_zero(number: Array) -> bool:
    return bool(ca.SX(number).is_zero())


def _one_tree(model: Model, steps: list[list[ScrewStep]], root: int) -> list[ScrewStep]:
    """The steps of the tree on one root in order, each with the index of the frame it starts in.

    Frame 0 is the world; frame k is where step k - 1 ends.
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
    """From the common frame to every frame of the tree."""
    bodies = [step.ends_at for step in steps if step.ends_at is not None]
    heavy = [i for i in bodies if not _is_zero(model.bodies[i].mass)]
    base = heavy[0] if heavy else root
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
    placed = _place_frames(result.model, steps, root)
    still = stack(np.zeros(3), -(placed[0].E.T @ ca.SX(result.model.gravity)))
    velocity: list[Array] = [ca.SX.zeros(6)]
    acceleration: list[Array] = [still]
    earlier: list[tuple[int, Array]] = []
    for k, step in enumerate(steps, 1):
        before, base = velocity[step.parent], acceleration[step.parent]
        after, gained = before, base
        driven = []
        for drive in step.drives:
            s = placed[k].motion_back(ca.SX(drive.screw))
            rate = drive.first * v[drive.entry]
            swept = cross_motion(before, s)
            after = after + s * rate
            gained = gained + swept * rate
            gained = gained + s * (
                drive.first * a[drive.entry] + drive.second * v[drive.entry] ** 2
            )
            driven.append((drive, s, swept))
        for drive, s, swept in driven:
            gain = drive.second * v[drive.entry]
            own = swept if len(driven) == 1 else cross_motion(after, s)
            further = cross_motion(base, s) + cross_motion(before, swept)
            grown = drive.second * a[drive.entry] + drive.third * v[drive.entry] ** 2
            column = ScrewColumn(
                s * drive.first,
                swept * drive.first + s * gain,
                further * drive.first + swept * (2 * gain) + s * grown,
                (swept + own) * drive.first + s * (2 * gain),
            )
            _add(result.columns[step.joint], drive.entry, column)
            _bend(result.bends[step.joint], earlier, drive, s)
        if len(driven) == 1:
            earlier.append((driven[0][0].entry, driven[0][1] * driven[0][0].first))
        velocity.append(after)
        acceleration.append(gained)
        if step.ends_at is not None:
            i = step.ends_at
            result.places[i], result.world[i] = placed[k], placed[0]
            result.velocities[i], result.accelerations[i] = after, gained
            earlier = []


def _add(columns: dict[int, ScrewColumn], entry: int, column: ScrewColumn) -> None:
    old = columns.get(entry)
    if old is None:
        columns[entry] = column
    else:
        columns[entry] = ScrewColumn(
            old.S + column.S, old.Vq + column.Vq, old.Aq + column.Aq, old.Av + column.Av
        )


def _bend(
    bends: dict[tuple[int, int], Array],
    earlier: list[tuple[int, Array]],
    drive: ScrewDrive,
    s: Array,
) -> None:
    """A screw does not turn with one that comes after it, and grows by its second derivative."""
    found = [((entry, drive.entry), cross_motion(t, s * drive.first)) for entry, t in earlier]
    found.append(((drive.entry, drive.entry), s * drive.second))
    for key, bend in found:
        bends[key] = bends[key] + bend if key in bends else bend


def rigid_inertias(model: Model) -> list[Inertia | None]:
    """Inertia of each body with all that is fixed to it, in its frame; None for what is fixed."""
    total: list[Inertia | None] = [body.spatial_inertia for body in model.bodies]
    for i in reversed(range(len(total))):
        joint, parent = model.joints[i], model.parents[i]
        own, carrier = total[i], total[parent] if parent >= 0 else None
        if joint.nv == 0 and own is not None and carrier is not None:
            total[parent] = carrier + own.transform_back(joint.state(np.zeros(0), np.zeros(0)).X)
            total[i] = None
    return total
