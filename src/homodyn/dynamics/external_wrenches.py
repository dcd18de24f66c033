"""External wrenches, given at named frames in world axes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.model import Model
from homodyn.spatial import Array, Transform, stack


def body_wrenches(tree: Tree, external: Mapping[str, Array] | None) -> dict[int, Array]:
    """The external wrench of each body that has one, in its frame.

    ``external`` maps the name of a body, frame, marker or contact to (moment, force) in world axes
    (N m, N), the moment taken about the origin of that frame.
    """
    total: dict[int, Array] = {}
    for name, wrench in (external or {}).items():
        body, placement = acting_body(tree.model, name)
        rotation = tree.placements[body].E
        local = stack(rotation @ wrench[:3], rotation @ wrench[3:])
        shifted = Transform(np.eye(3), placement.r).force_back(local)
        total[body] = total[body] + shifted if body in total else shifted
    return total


def acting_body(model: Model, name: str) -> tuple[int, Transform]:
    """Index of the body that a wrench on a named frame acts on, and the frame's placement in it.

    Raises:
        ModelError: The frame is unknown, or the world.
    """
    body, placement = model.locate(name)
    if body < 0:
        raise ModelError(f"a wrench on {name!r} would act on the world; name a frame of a body")
    return body, placement
