"""Known external loads: measured ground forces, a rope, the force of an exoskeleton."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from homodyn.dynamics.external_wrenches import acting_body
from homodyn.dynamics.kinematics import body_jacobians
from homodyn.dynamics.tree import Tree
from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.optimal.statement.phase_series import PhaseSeries, evaluate_series
from homodyn.spatial import Array, cross

WRENCH_SIZE = 6
"""Entries of a wrench."""


@record
class ExternalLoad(Record):
    """A known wrench on a body, frame or contact of the model, over a phase.

    About the origin of the world a wrench does not depend on where the body is, like the wrench
    that a force plate measures. `wrench_of_force` computes one from a force and its point.
    """

    frame: str
    """Name of the body, frame or contact."""
    wrench: PhaseSeries
    """Six columns in world axes: moment about the origin of the world (N m), then force (N). Evenly
    spaced samples, or a function of the fraction of the phase (0 to 1)."""

    def headline(self) -> str:
        """The frame that it acts on."""
        return f"ExternalLoad on {self.frame!r}"

    def sample(self, fractions: np.ndarray) -> np.ndarray:
        """The wrench at fractions of the phase.

        Args:
            fractions: (samples,), 0 to 1.

        Returns:
            (samples, 6), N m and N.

        Raises:
            HomodynError: The wrench does not have six finite columns.
        """
        values = evaluate_series(self.wrench, fractions)
        if values.shape[1] != WRENCH_SIZE or not np.isfinite(values).all():
            raise HomodynError(
                f"load on {self.frame!r}: a wrench has {WRENCH_SIZE} finite columns (moment about "
                f"the origin, force), got {values.shape[1]}"
                + ("" if np.isfinite(values).all() else " with values that are not finite")
            )
        return values


def wrench_of_force(force: Array, point: Array, torque: Array = (0.0, 0.0, 0.0)) -> np.ndarray:
    """The wrench about the origin of the world of forces at points.

    Args:
        force: (samples, 3) or (3,), N, world.
        point: (samples, 3) or (3,), m, world: where the force acts.
        torque: (samples, 3) or (3,), N m: an additional free moment.

    Returns:
        (samples, 6), moment (N m) and force (N).
    """
    forces, points, free = (np.atleast_2d(np.asarray(x, float)) for x in (force, point, torque))
    moments = np.cross(points, forces) + free
    return np.column_stack([moments, np.broadcast_to(forces, moments.shape)])


def generalized_load_force(
    loads: Sequence[ExternalLoad], model: Model, q: Array, wrenches: Array
) -> Array:
    """Generalized force of loads (N m, N), (nv,): the sum of J^T w.

    ``wrenches`` has six entries per load.
    """
    total = ca.SX.zeros(model.nv)
    if not loads:
        return total
    tree = Tree(model, q)
    for k, load in enumerate(loads):
        body, _ = acting_body(model, load.frame)
        wrench = wrenches[WRENCH_SIZE * k : WRENCH_SIZE * (k + 1)]
        origin = tree.placements[body].point_back(np.zeros(3))
        angular, linear = body_jacobians(tree, body, np.zeros(3))
        moment = wrench[:3] - cross(origin, wrench[3:])
        total = total + angular.T @ moment + linear.T @ wrench[3:]
    return total
