"""What a model must satisfy before it exists: every fault found, not only the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from homodyn.model.joint import Joint
    from homodyn.model.model import Body, Model


def faults(model: Model) -> list[str]:
    """Every reason why the model cannot be, in words; empty when there is none."""
    return []


def sorted_tree(
    bodies: tuple[Body, ...], joints: tuple[Joint, ...]
) -> tuple[tuple[Body, ...], tuple[Joint, ...]]:
    """Bodies and joints with parents before children, depth first, keeping the given order."""
    by_child = {joint.child: joint for joint in joints}
    by_name = {body.name: body for body in bodies}
    children: dict[str, list[str]] = {}
    for joint in joints:
        children.setdefault(joint.parent, []).append(joint.child)
    order: list[str] = []
    waiting = list(reversed(children.get("world", [])))
    while waiting:
        name = waiting.pop()
        order.append(name)
        waiting.extend(reversed(children.get(name, [])))
    return tuple(by_name[name] for name in order), tuple(by_child[name] for name in order)
