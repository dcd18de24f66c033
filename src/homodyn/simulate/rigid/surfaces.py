"""Numbers of contacts, one for each gap of a scene."""

from __future__ import annotations

import casadi as ca
import numpy as np

from homodyn.dynamics.tree import Tree
from homodyn.simulate.constants import Constant, constant
from homodyn.simulate.geometry import Scene


def per_gap(given: Constant, scene: Scene, what: str) -> np.ndarray:
    """One number for each gap, from one for all or a mapping from names of contact shapes."""
    gaps = scene.gaps(Tree(scene.model, ca.SX.sym("q", scene.model.nq)))
    names = [scene.model.contacts[gap.shape].name for gap in gaps]
    return np.array([constant(given, name, {}, what) for name in names], float)
