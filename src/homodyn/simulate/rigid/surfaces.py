"""Numbers of contacts, one for each gap of a scene."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca
import numpy as np

from homodyn.dynamics.tree import Tree
from homodyn.simulate.constants import Constant, constant
from homodyn.simulate.geometry import Scene


def gap_shapes(scene: Scene) -> list[str]:
    """The contact shape of each gap."""
    gaps = scene.gaps(Tree(scene.model, ca.SX.sym("q", scene.model.nq)))
    return [scene.model.contacts[gap.shape].name for gap in gaps]


def per_gap(
    given: Constant, shapes: Sequence[str], what: str, lane: Mapping[str, float]
) -> np.ndarray:
    """One number for each gap, from one for all, a mapping from shapes, or one of the lane."""
    return np.array([constant(given, name, lane, what) for name in shapes], float)
