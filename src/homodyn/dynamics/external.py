"""Wrenches that act from outside, given where users think of them."""

from __future__ import annotations

from collections.abc import Mapping

from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.spatial import Array, Transform, stack


def body_wrenches(tree: Tree, external: Mapping[str, Array] | None) -> dict[int, Array]:
    """For each body that something acts on: the wrench in the body's frame.

    ``external`` maps the name of a body, frame, marker or contact to (moment, force) in world axes
    (N m, N), the moment taken about the origin of that frame.
    """
    total: dict[int, Array] = {}
    for name, wrench in (external or {}).items():
        body, placement = tree.model.locate(name)
        if body < 0:
            raise ModelError(f"a wrench on {name!r} acts on the world, which does not move")
        turn = tree.placements[body].E
        local = stack(turn @ wrench[:3], turn @ wrench[3:])
        moved = Transform(placement.E @ placement.E.T, placement.r).force_back(local)
        total[body] = total[body] + moved if body in total else moved
    return total
