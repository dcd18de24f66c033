"""Loads that are known beforehand: measured ground forces, a rope, the push of an exoskeleton."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from homodyn.dynamics.external_wrenches import acting_body
from homodyn.dynamics.kinematics import body_jacobians
from homodyn.dynamics.tree import Tree
from homodyn.errors import HomodynError
from homodyn.model import Model
from homodyn.optimal.samples import Series, series
from homodyn.spatial import Array, cross

SIZE = 6
"""Numbers of a wrench."""


@dataclass(frozen=True, eq=False)
class Load:
    """A known wrench on a body, frame or contact of the model, over a phase.

    ``wrench`` has six columns in world axes, the moment about the origin of the world (N m) and the
    force (N): samples spread evenly over the phase, or a function of the part of it (0 to 1) that
    has passed. About that origin the wrench is the same wherever the body is, as what a plate
    measures is; ``push`` makes one from a force and where it acts.
    """

    frame: str
    wrench: Series

    def sampled(self, fractions: np.ndarray) -> np.ndarray:
        """(len(fractions), 6): the wrench at parts of the phase."""
        values = series(self.wrench, fractions)
        if values.shape[1] != SIZE or not np.isfinite(values).all():
            raise HomodynError(
                f"load on {self.frame!r}: a wrench has {SIZE} finite columns (moment about the "
                f"origin, force), got {values.shape[1]}"
                + ("" if np.isfinite(values).all() else " with values that are not finite")
            )
        return values


def push(force: Array, point: Array, torque: Array = (0.0, 0.0, 0.0)) -> np.ndarray:
    """The wrench about the origin of the world of forces (N) at points (m), (samples, 6).

    ``torque`` (N m) is a free moment besides.
    """
    forces, points, free = (np.atleast_2d(np.asarray(x, float)) for x in (force, point, torque))
    moments = np.cross(points, forces) + free
    return np.column_stack([moments, np.broadcast_to(forces, moments.shape)])


def load_force(loads: Sequence[Load], model: Model, q: Array, wrenches: Array) -> Array:
    """What loads do to the degrees of freedom (N m, N), (nv,): J^T w of each.

    ``wrenches`` has six entries for each load.
    """
    total = ca.SX.zeros(model.nv)
    if not loads:
        return total
    tree = Tree(model, q)
    for k, load in enumerate(loads):
        body, _ = acting_body(model, load.frame)
        wrench = wrenches[SIZE * k : SIZE * (k + 1)]
        origin = tree.placements[body].point_back(np.zeros(3))
        angular, linear = body_jacobians(tree, body, np.zeros(3))
        moment = wrench[:3] - cross(origin, wrench[3:])
        total = total + angular.T @ moment + linear.T @ wrench[3:]
    return total
