"""The tree of bodies: its order, errors in it, and joints that move no inertia."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from homodyn.foundation.text import unknown_name
from homodyn.model.body import Body
from homodyn.model.joint import WORLD, Joint
from homodyn.spatial import Inertia

RELATIVE_ROUNDING = 1e-12
GENERIC_POSITIONS = (0.3, 0.7, -0.4, 0.2, -0.6, 0.5, 0.1)
"""Positions (rad, m) at which no joint is singular unless it is singular everywhere."""


def sorted_tree(
    bodies: Sequence[Body], joints: Sequence[Joint]
) -> tuple[tuple[Body, ...], tuple[Joint, ...]]:
    """Bodies and joints with parents before children, depth first, keeping the given order.

    Bodies that are not connected to the world are left out.
    """
    by_name = {body.name: body for body in bodies}
    children: dict[str, list[Joint]] = {}
    for joint in joints:
        children.setdefault(joint.parent, []).append(joint)
    order: dict[str, Joint] = {}
    waiting = list(reversed(children.get(WORLD, [])))
    while waiting:
        joint = waiting.pop()
        if joint.child in by_name and joint.child not in order:
            order[joint.child] = joint
            waiting.extend(reversed(children.get(joint.child, [])))
    return tuple(by_name[name] for name in order), tuple(order.values())


def tree_errors(bodies: Sequence[Body], joints: Sequence[Joint]) -> list[str]:
    """Sentences on why bodies and joints do not form a tree; empty if they do."""
    found: list[str] = []
    names = [body.name for body in bodies]
    joints_of: dict[str, list[str]] = {name: [] for name in names}
    for joint in joints:
        if joint.parent != WORLD and joint.parent not in joints_of:
            what = unknown_name("body", joint.parent, [WORLD, *names])
            found.append(f"joint {joint.name!r}, parent: {what}")
        if joint.child not in joints_of:
            found.append(f"joint {joint.name!r}, child: {unknown_name('body', joint.child, names)}")
        elif joint.child == joint.parent:
            found.append(f"joint {joint.name!r} connects {joint.child!r} to itself")
        else:
            joints_of[joint.child].append(joint.name)
    for name, parents in joints_of.items():
        if not parents:
            found.append(f"body {name!r} has no joint; connect it to a body or to {WORLD!r}")
        elif len(parents) > 1:
            found.append(
                f"body {name!r} is the child of {len(parents)} joints ({', '.join(parents)}); "
                f"a body has one joint, further ones are loop constraints"
            )
    if not bodies:
        found.append("there are no bodies; a model has at least one")
    if not found:
        reached = {body.name for body in sorted_tree(bodies, joints)[0]}
        loop = [name for name in names if name not in reached]
        if loop:
            found.append(f"bodies {', '.join(loop)} form a loop that is not connected to {WORLD!r}")
    return found


def joints_without_inertia(
    bodies: Sequence[Body], joints: Sequence[Joint], coupled: Collection[str] = ()
) -> Iterator[str]:
    """Sentences on joints that move no mass and no inertia: their accelerations are undefined.

    Args:
        bodies: Bodies without symbols.
        joints: Joints without symbols.
        coupled: Coordinates that follow others; they need no mass.

    Yields:
        Sentences without a full stop.
    """
    bodies, joints = sorted_tree(bodies, joints)
    rigid: dict[str, Inertia] = {body.name: body.spatial_inertia for body in bodies}
    has_mass = {body.name: bool(body.mass > 0 or body.inertia.any()) for body in bodies}
    is_leaf = dict.fromkeys(rigid, True)
    for joint in reversed(joints):
        child, parent = joint.child, joint.parent
        follows = bool(joint.nv) and all(c.name in coupled for c in joint.coordinates)
        if joint.nv and not has_mass[child]:
            if not follows and not all(coordinate.armature > 0 for coordinate in joint.coordinates):
                yield (
                    f"joint {joint.name!r}: body {child!r} and the bodies beyond it have no mass "
                    f"and no inertia; add some, add an armature to the joint, or make it fixed"
                )
        elif joint.nv and is_leaf[child] and joint.kind != "custom" and not follows:
            yield from _joint_inertia_errors(joint, rigid[child])
        if parent == WORLD:
            continue
        has_mass[parent] = has_mass[parent] or has_mass[child]
        if joint.nv:
            is_leaf[parent] = False
        else:
            is_leaf[parent] = is_leaf[parent] and is_leaf[child]
            rigid[parent] = rigid[parent] + rigid[child].transform_back(
                joint.state(np.zeros(0), np.zeros(0)).X
            )


def _joint_inertia_errors(joint: Joint, inertia: Inertia) -> Iterator[str]:
    """Sentences on motions of a joint that a body at the end of the tree has no inertia against."""
    state = joint.state(np.array(GENERIC_POSITIONS[: joint.nq]), np.zeros(joint.nv))
    armature = np.array([coordinate.armature for coordinate in joint.coordinates])
    resistance = state.S.T @ inertia.matrix() @ state.S + np.diag(armature)
    largest = np.abs(state.S).T @ np.abs(inertia.matrix()) @ np.abs(state.S) + np.diag(armature)
    own = resistance.diagonal()
    idle = own <= RELATIVE_ROUNDING * largest.diagonal()
    if not idle.any():
        scaled = resistance / np.sqrt(np.outer(own, own))
        values, vectors = np.linalg.eigh(scaled)
        if values[0] > RELATIVE_ROUNDING:
            return
        idle = np.abs(vectors[:, 0]) > 0.1
    names = [c.name for c, one in zip(joint.coordinates, idle, strict=True) if one]
    yield (
        f"joint {joint.name!r}: body {joint.child!r} has mass but no inertia against "
        f"{', '.join(names)}; add an inertia to it or an armature to the coordinate"
    )
