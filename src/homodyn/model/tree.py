"""The tree of bodies: its order, and whether it is one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from homodyn.foundation.text import unknown_name
from homodyn.model.joint import WORLD, Joint
from homodyn.spatial import Inertia

if TYPE_CHECKING:
    from homodyn.model.body import Body

RELATIVE_ROUNDING = 1e-12
GENERIC_POSITIONS = (0.3, 0.7, -0.4, 0.2, -0.6, 0.5, 0.1)
"""Positions where no joint of the zoo is singular unless it is everywhere."""


def sorted_tree(
    bodies: Sequence[Body], joints: Sequence[Joint]
) -> tuple[tuple[Body, ...], tuple[Joint, ...]]:
    """Bodies and joints with parents before children, depth first, keeping the given order.

    Bodies that do not hang on the world are left out.
    """
    by_name = {body.name: body for body in bodies}
    carried: dict[str, list[Joint]] = {}
    for joint in joints:
        carried.setdefault(joint.parent, []).append(joint)
    order: dict[str, Joint] = {}
    waiting = list(reversed(carried.get(WORLD, [])))
    while waiting:
        joint = waiting.pop()
        if joint.child in by_name and joint.child not in order:
            order[joint.child] = joint
            waiting.extend(reversed(carried.get(joint.child, [])))
    return tuple(by_name[name] for name in order), tuple(order.values())


def tree_errors(bodies: Sequence[Body], joints: Sequence[Joint]) -> list[str]:
    """Why the joints do not make one tree of the bodies."""
    found: list[str] = []
    names = [body.name for body in bodies]
    carrying: dict[str, list[str]] = {name: [] for name in names}
    for joint in joints:
        if joint.parent != WORLD and joint.parent not in carrying:
            what = unknown_name("body", joint.parent, [WORLD, *names])
            found.append(f"joint {joint.name!r}: its parent: {what}")
        if joint.child not in carrying:
            found.append(
                f"joint {joint.name!r}: its child: {unknown_name('body', joint.child, names)}"
            )
        elif joint.child == joint.parent:
            found.append(f"joint {joint.name!r} joins {joint.child!r} to itself")
        else:
            carrying[joint.child].append(joint.name)
    for name, carriers in carrying.items():
        if not carriers:
            found.append(f"body {name!r} has no joint; join it to a body or to {WORLD!r}")
        elif len(carriers) > 1:
            found.append(
                f"body {name!r} is the child of {len(carriers)} joints ({', '.join(carriers)}); "
                f"one carries it, further ones are loop closures"
            )
    if not bodies:
        found.append("there are no bodies; a model has one at least")
    if not found:
        reached = {body.name for body in sorted_tree(bodies, joints)[0]}
        ring = [name for name in names if name not in reached]
        if ring:
            found.append(
                f"bodies {', '.join(ring)} hang on each other in a ring and not on {WORLD!r}"
            )
    return found


def joints_without_inertia(
    bodies: Sequence[Body], joints: Sequence[Joint], following: Collection[str] = ()
) -> Iterator[str]:
    """Joints that move nothing with mass or inertia: their accelerations would be anything.

    Coordinates ``following`` others are told theirs and need no mass.
    """
    bodies, joints = sorted_tree(bodies, joints)
    rigid: dict[str, Inertia] = {body.name: body.spatial_inertia for body in bodies}
    heavy = {body.name: bool(body.mass > 0 or body.inertia.any()) for body in bodies}
    ends = dict.fromkeys(rigid, True)
    for joint in reversed(joints):
        child, parent = joint.child, joint.parent
        told = bool(joint.nv) and all(c.name in following for c in joint.coordinates)
        if joint.nv and not heavy[child]:
            if not told and not all(coordinate.armature > 0 for coordinate in joint.coordinates):
                yield (
                    f"joint {joint.name!r}: body {child!r} and what it carries have no mass and no "
                    f"inertia; give them some, or the joint an armature, or make it fixed"
                )
        elif joint.nv and ends[child] and joint.kind != "custom" and not told:
            yield from _joint_inertia_errors(joint, rigid[child])
        if parent == WORLD:
            continue
        heavy[parent] = heavy[parent] or heavy[child]
        if joint.nv:
            ends[parent] = False
        else:
            ends[parent] = ends[parent] and ends[child]
            rigid[parent] = rigid[parent] + rigid[child].transform_back(
                joint.state(np.zeros(0), np.zeros(0)).X
            )


def _joint_inertia_errors(joint: Joint, inertia: Inertia) -> Iterator[str]:
    """Whether a body at the end of the tree resists every motion of its joint."""
    state = joint.state(np.array(GENERIC_POSITIONS[: joint.nq]), np.zeros(joint.nv))
    armature = np.array([coordinate.armature for coordinate in joint.coordinates])
    resistance = state.S.T @ inertia.matrix() @ state.S + np.diag(armature)
    most = np.abs(state.S).T @ np.abs(inertia.matrix()) @ np.abs(state.S) + np.diag(armature)
    own = resistance.diagonal()
    idle = own <= RELATIVE_ROUNDING * most.diagonal()
    if not idle.any():
        scaled = resistance / np.sqrt(np.outer(own, own))
        values, vectors = np.linalg.eigh(scaled)
        if values[0] > RELATIVE_ROUNDING:
            return
        idle = np.abs(vectors[:, 0]) > 0.1
    names = [c.name for c, lazy in zip(joint.coordinates, idle, strict=True) if lazy]
    yield (
        f"joint {joint.name!r}: body {joint.child!r} has mass but no inertia against "
        f"{', '.join(names)}; give it an inertia or the coordinate an armature"
    )
