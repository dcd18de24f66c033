"""The floating root of a model: the joints that place it in the world and that no motor drives.

A root is a chain of joints that starts at the world. Files write it in two ways: as one joint with
several degrees of freedom, or as joints of one degree of freedom each with massless links between
them. Both forms are recognized. The rules are:

1. The chain runs from the world through virtual links: bodies of negligible mass and inertia that
   carry one joint and have no marker, contact, capsule, mesh or muscle attached. It ends at the
   first other body, and before a joint that adds no independent direction.
2. The chain is a floating root when its degrees of freedom include three independent translations,
   or two independent translations and a rotation about the normal of their plane.

A cart on a rail (one translation), a gantry of two slides, and an arm on a stand (rotations alone)
are therefore fixed to the world, and so is a robot whose first links have mass. Each of these can
be declared a root by ``Model.root_joints``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
from homodyn.model.body import Body
from homodyn.model.coordinate_layout import JointSlots
from homodyn.model.joint import WORLD, Joint

MAX_VIRTUAL_LINK_SHARE = 1e-3
"""Largest mass and principal moment of a virtual link, as shares of the whole model's.

Some simulators refuse links without inertia, so files give virtual links a little of it.
"""
MIN_INDEPENDENT_SINGULAR_VALUE = 1e-6
"""Singular value of unit directions above which they count as independent."""
GENERIC_POSITIONS = (0.3, 0.7, -0.4, 0.2, -0.6, 0.5, 0.1)
"""Positions (rad, m) at which no joint is singular unless it is singular everywhere."""


@record(eq=True)
class Root(Record):
    """The joints by which a model floats in the world; empty where it is fixed to the world.

    A model of several trees has one chain of joints for each tree that floats.
    """

    joints: tuple[str, ...] = ()
    """Names of the joints, outward from the world."""
    bodies: tuple[str, ...] = ()
    """The body at the end of each chain, one per floating tree."""
    q: tuple[int, ...] = ()
    """Indices of their entries in ``q``."""
    v: tuple[int, ...] = ()
    """Indices of their entries in ``v``, ``a`` and ``tau``."""

    @property
    def body(self) -> str | None:
        """The first body that floats, such as the pelvis; None where there is none."""
        return self.bodies[0] if self.bodies else None

    def headline(self) -> str:
        """The bodies that float and their number of degrees of freedom."""
        if not self.joints:
            return "Root: fixed to the world"
        dof = count_of(len(self.v), "degree of freedom", "degrees of freedom")
        return f"Root: {', '.join(self.bodies)} with {dof}"

    def __bool__(self) -> bool:
        return bool(self.joints)


def find_root(
    bodies: Sequence[Body],
    joints: Sequence[Joint],
    slots: Sequence[JointSlots],
    attached: Collection[str],
    coupled: Collection[str],
    numeric: Callable[[Any], Any],
) -> Root:
    """Recognize the floating root of a tree in sorted order.

    Args:
        bodies: Bodies, parents before children.
        joints: Joints, each the one that carries the body of the same index.
        slots: Entries of q and v of each joint.
        attached: Names of bodies to which something is attached.
        coupled: Names of coordinates that follow others.
        numeric: Returns a record with numbers in the place of symbols.

    Returns:
        The root, empty where the model is fixed to the world.
    """
    children: dict[str, list[int]] = {}
    for i, joint in enumerate(joints):
        children.setdefault(joint.parent, []).append(i)
    chains = []
    for first in children.get(WORLD, []):
        # Usually one joint carries a body with mass, and virtual links need not be found.
        chain: list[int] = []
        directions, orientation = _Directions(), np.eye(3)
        virtual: set[str] | None = None
        i = first
        while True:
            joint = numeric(joints[i])
            extended, orientation = directions.extend(joint, orientation, coupled)
            if chain and not extended.independent:
                break
            directions = extended
            chain.append(i)
            below = children.get(joint.child, [])
            if len(below) != 1 or joint.child in attached:
                break
            virtual = _virtual_links([numeric(b) for b in bodies]) if virtual is None else virtual
            if joint.child not in virtual:
                break
            i = below[0]
        while chain and not joints[chain[-1]].nv:
            chain.pop()
        if directions.float:
            chains.append(chain)
    return root_of(joints, slots, chains)


def root_of(
    joints: Sequence[Joint], slots: Sequence[JointSlots], chains: Sequence[Sequence[int]]
) -> Root:
    """The root that consists of these chains of joint indices."""
    places = [i for chain in chains for i in chain]
    return Root(
        tuple(joints[i].name for i in places),
        tuple(joints[chain[-1]].child for chain in chains if chain),
        tuple(k for i in places for k in range(slots[i].q.start, slots[i].q.stop)),
        tuple(k for i in places for k in range(slots[i].v.start, slots[i].v.stop)),
    )


def declared_chains(joints: Sequence[Joint], names: Collection[str]) -> list[list[int]]:
    """Named joints as chains of indices outward from the world, one for each tree."""
    end: dict[str, list[int]] = {}
    chains = []
    for i, joint in enumerate(joints):
        if joint.name not in names:
            continue
        chain = end.pop(joint.parent, None)
        if chain is None:
            chain = []
            chains.append(chain)
        chain.append(i)
        end[joint.child] = chain
    return chains


def declaration_errors(joints: Sequence[Joint], names: Sequence[str]) -> list[str]:
    """Why the named joints are not chains that start at the world; empty if they are."""
    by_name = {joint.name: joint for joint in joints}
    errors = []
    for name in names:
        if name not in by_name:
            errors.append(f"root_joints: there is no joint {name!r}")
    listed = [by_name[name] for name in dict.fromkeys(names) if name in by_name]
    children = {joint.child for joint in listed}
    parents: list[str] = []
    for joint in listed:
        if joint.parent != WORLD and joint.parent not in children:
            errors.append(
                f"root_joints: the parent of joint {joint.name!r} is {joint.parent!r}; every "
                f"joint between {WORLD!r} and it must be listed too"
            )
        if joint.parent != WORLD and joint.parent in parents:
            errors.append(
                f"root_joints: two of them have the parent {joint.parent!r}; a root does not branch"
            )
        parents.append(joint.parent)
    return errors


class _Directions:
    """Directions of the degrees of freedom of a chain, in the world at a generic position."""

    def __init__(
        self, slides: tuple[np.ndarray, ...] = (), turns: tuple[np.ndarray, ...] = ()
    ) -> None:
        self.slides, self.turns = slides, turns

    @property
    def float(self) -> bool:
        """Whether they form a floating root; see rule 2 of the module."""
        translations = _rank(self.slides)
        if translations < 2 or not self.turns:
            return translations == 3
        normals = np.linalg.svd(np.array(self.slides))[2][translations:]
        rotations = np.array(self.turns)
        return all(_rank([*rotations, n]) == _rank(rotations) for n in normals)

    @property
    def independent(self) -> bool:
        """Whether no direction is a combination of the others."""
        return all(_rank(one) == len(one) for one in (self.slides, self.turns))

    def extend(
        self, joint: Joint, orientation: np.ndarray, coupled: Collection[str]
    ) -> tuple[_Directions, np.ndarray]:
        """The directions with those of one more joint, and the orientation of its child."""
        axes, orientation = _axes(joint, orientation)
        slides, turns = self.slides, self.turns
        for coordinate, (kind, axis) in zip(joint.coordinates, axes, strict=True):
            if coordinate.name in coupled or axis is None:
                continue
            if kind == "turn":
                turns = (*turns, axis)
            else:
                slides = (*slides, axis)
        return _Directions(slides, turns), orientation


def _axes(
    joint: Joint, orientation: np.ndarray
) -> tuple[list[tuple[str, np.ndarray | None]], np.ndarray]:
    """Kind and axis in the world of each coordinate, and the orientation of the child's frame."""
    # Transforms map vectors into the child; rows of E are its axes.
    E = np.asarray(joint.placement.E) @ orientation
    found: list[tuple[str, np.ndarray | None]]
    if joint.quaternion:
        found = [("slide", row) for row in E] if joint.kind == "free" else []
        found += [("turn", row) for row in E]
    else:
        found = [("slide", None)] * joint.nv
        for motion in joint.axes:
            axis = np.asarray(motion.axis, dtype=float) @ E
            k = motion.coordinate
            if k is not None and (found[k][1] is None or motion.kind != found[k][0] == "slide"):
                found[k] = (motion.kind, axis)
            if motion.kind == "turn":
                amount = motion.function.value(0.0 if k is None else GENERIC_POSITIONS[k % 7])
                E = np.asarray(motion.transform(float(amount)).E) @ E
    return found, np.asarray(joint.child_placement.E).T @ E


def _rank(directions: Any) -> int:
    if not len(directions):
        return 0
    values = np.linalg.svd(np.array(directions), compute_uv=False)
    return int((values > MIN_INDEPENDENT_SINGULAR_VALUE).sum())


def _virtual_links(bodies: Sequence[Body]) -> set[str]:
    """Names of the bodies whose mass and inertia are negligible in the whole model."""
    moments = [float(np.abs(np.asarray(body.inertia)).max()) for body in bodies]
    mass = MAX_VIRTUAL_LINK_SHARE * sum(float(body.mass) for body in bodies)
    moment = MAX_VIRTUAL_LINK_SHARE * sum(moments)
    return {
        body.name
        for body, own in zip(bodies, moments, strict=True)
        if body.mass <= mass and own <= moment
    }
