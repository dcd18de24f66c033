"""Numbers of contacts, one for each gap of a geometry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca
import numpy as np

from homodyn.dynamics.tree import Tree
from homodyn.simulate.contact_geometry import ContactGeometry
from homodyn.simulate.law_constants import Constant, resolve_constant


def gap_shapes(geometry: ContactGeometry) -> list[str]:
    """The contact shape of each gap."""
    gaps = geometry.gaps(Tree(geometry.model, ca.SX.sym("q", geometry.model.nq)))
    return [geometry.model.contacts[gap.shape].name for gap in gaps]


def gap_constants(
    given: Constant, shapes: Sequence[str], what: str, batch: Mapping[str, float]
) -> np.ndarray:
    """One number for each gap, from one for all, a mapping from shapes, or one of the batch."""
    return np.array([resolve_constant(given, name, batch, what) for name in shapes], float)
