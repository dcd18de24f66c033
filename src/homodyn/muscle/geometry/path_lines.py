"""Length of a path and the forces of unit tension on its points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from homodyn.muscle.geometry.path_nodes import PathFrames, PathNode
from homodyn.muscle.geometry.selects import is_constant, length_and_inverse, select
from homodyn.spatial import Array, cross, reuse_graph

NO_DIRECTION = ca.SX.zeros(3)
ANY_STEP = ca.SX([1.0, 0.0, 0.0])
"""Stands for the step between two points where there is none; its length is not used."""


@dataclass(frozen=True)
class SurfaceNodes:
    """Both tangent points of a path on a wrap object, and the length between them."""

    start: PathNode
    end: PathNode
    length: Array


PathElement = PathNode | SurfaceNodes


@dataclass(frozen=True)
class PointForce:
    """Force of unit tension on a point of a path: minus the gradient of the length."""

    node: PathNode
    force: Array
    """World vector, (3,); zero if the point is not active."""


@reuse_graph
def _line(step: Array) -> tuple[Array, Array]:
    length, inverse = length_and_inverse(step)
    return length, step * inverse


@dataclass(frozen=True)
class PathLines:
    """A path at one state: its length and the forces of unit tension on its points."""

    length: Array
    forces: tuple[PointForce, ...]

    @staticmethod
    def of(elements: Sequence[PathElement]) -> PathLines:
        """Sum up the straight lines between active points and the parts on surfaces.

        Args:
            elements: Points and parts on surfaces in the order of the path; the first is active.
        """
        nodes = [node for e in elements for node in _nodes_of(e)]
        total: Array = 0.0
        directions: list[Array] = []  # from the active point before each node to it
        previous = None
        for element in elements:
            for node in _nodes_of(element):
                direction: Array = NO_DIRECTION
                if isinstance(element, SurfaceNodes) and node is element.end:
                    total = total + select(node.active, element.length, 0.0)
                elif previous is not None:
                    step = select(node.active, node.position - previous, ANY_STEP)
                    length, direction = _line(step)
                    total = total + select(node.active, length, 0.0)
                    direction = select(node.active, direction, NO_DIRECTION)
                directions.append(direction)
                previous = (
                    node.position
                    if previous is None
                    else select(node.active, node.position, previous)
                )
        forces = []
        onward: Array = NO_DIRECTION  # from each node to the active point after it
        for node, direction in zip(reversed(nodes), reversed(directions), strict=True):
            if is_constant(node.active) and not bool(float(node.active)):
                continue
            forces.append(PointForce(node, select(node.active, onward - direction, NO_DIRECTION)))
            onward = select(node.active, direction, onward)
        return PathLines(total, tuple(forces))


def _nodes_of(element: PathElement) -> tuple[PathNode, ...]:
    return (element.start, element.end) if isinstance(element, SurfaceNodes) else (element,)


def moment_arm_entries(frames: PathFrames, lines: PathLines) -> dict[int, Array]:
    """Moment arms of a path by entry of ``v``; other arms are zero.

    The moment arm of a coordinate is its generalized force under unit tension: minus the derivative
    of the length, because the length of a shortest path on a surface is stationary with respect to
    its tangent points.

    Args:
        frames: The tree.
        lines: The path.

    Returns:
        m, or m/rad of a coordinate that is an angle.
    """
    arms: dict[int, Array] = {}

    def add(entry: int, arm: Array) -> None:
        arms[entry] = arms[entry] + arm if entry in arms else arm

    wrenches = [
        (one.node.body, ca.vertcat(cross(one.node.position, one.force), one.force))
        for one in lines.forces
    ]
    bodies = {body for body, _ in wrenches}
    tree = frames.tree
    for k, weights in enumerate(tree.weights):
        moved = {body for body in bodies if k in frames.chains[body]}
        if not weights or not moved or moved == bodies:
            continue
        total = sum((wrench for body, wrench in wrenches if body in moved), start=ca.SX.zeros(6))
        axes = frames.world_axes[k]
        for column, (entry, weight) in enumerate(weights):
            add(entry, weight * ca.dot(axes[:, column], total))
    for one in lines.forces:
        for rate in one.node.rates:
            add(rate.entry, ca.dot(one.force, rate.rate))
    return arms
