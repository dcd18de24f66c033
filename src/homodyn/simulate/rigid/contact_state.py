"""A model among its contacts at one state, in numbers: inertia, loads, rows and how they drift."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from homodyn.dynamics import Constraint, ConstraintSet, Stabilization
from homodyn.dynamics.constraint_rows import ConstraintRows
from homodyn.dynamics.crba import composite_inertia
from homodyn.dynamics.rnea import newton_euler, passive_force
from homodyn.dynamics.tree import Tree
from homodyn.dynamics.wrenches import WrenchRows, as_column
from homodyn.model.configuration import rates
from homodyn.simulate.contact_geometry import ContactGeometry
from homodyn.simulate.rigid.coordinate_rows import CoordinateRows
from homodyn.spatial import Array
from homodyn.symbolic import Kernel, kernel

CLOSING_TIME = 0.01
"""s: in which loops that integration opens are closed again."""
RANK_TOLERANCE = 1e-10
"""Rows of constraints this near to depending on others count as one with them."""


@dataclass(frozen=True, eq=False)
class ContactState:
    """Everything a rigid law needs to know at one state.

    Rows are normal and two tangents of each gap, then the limits, then the rubbing coordinates.
    """

    q: np.ndarray
    v: np.ndarray
    qdot: np.ndarray
    H: np.ndarray
    load: np.ndarray
    """Generalised forces without torques: gravity, velocity products, springs and dampers."""
    passive: np.ndarray
    """Those of springs and dampers alone."""
    G: np.ndarray
    drift: np.ndarray
    """(dG/dt) v: accelerations of the rows without accelerations of the coordinates."""
    gap: np.ndarray
    """m, rad: of each contact, then of each limit."""
    K: np.ndarray
    """Rows of constraints, then of locked coordinates: K v = 0."""
    gamma: np.ndarray
    """K a: what constrained accelerations have to be, with what closes loops that are open."""

    @cached_property
    def L(self) -> np.ndarray:
        """H = L L^T; raises ``LinAlgError`` where H is not positive definite."""
        return np.linalg.cholesky(self.H)

    @cached_property
    def half_inverse(self) -> np.ndarray:
        """L^-1."""
        return np.linalg.inv(self.L)

    @cached_property
    def _constrained_directions(self) -> np.ndarray:
        """Unit columns of the directions that constraints hold, in the metric of inertia."""
        U, size, _ = np.linalg.svd(self.half_inverse @ self.K.T, full_matrices=False)
        return np.asarray(U[:, size > RANK_TOLERANCE * size.max(initial=0.0)])

    @cached_property
    def free_half_inverse(self) -> np.ndarray:
        """L^-1 without the directions that constraints hold: its square is what forces can move."""
        if not len(self.K):
            return self.half_inverse
        return np.asarray(
            self.half_inverse
            - self._constrained_directions @ (self._constrained_directions.T @ self.half_inverse)
        )

    @cached_property
    def constrained_velocity(self) -> np.ndarray:
        """Velocities without what constraints do not let move: nearest in the metric of inertia."""
        if not len(self.K):
            return self.v
        return np.asarray(
            self.v
            - self.half_inverse.T
            @ (
                self._constrained_directions
                @ (self._constrained_directions.T @ (self.L.T @ self.v))
            )
        )

    @cached_property
    def speed(self) -> np.ndarray:
        """G v: of each row (m/s, rad/s)."""
        return self.G @ self.v

    @cached_property
    def response(self) -> np.ndarray:
        """H^-1 G^T: how coordinates move under unit forces of the rows, loops being closed."""
        return self.free_half_inverse.T @ (self.free_half_inverse @ self.G.T)

    @cached_property
    def A(self) -> np.ndarray:
        """G H^-1 G^T."""
        Y = self.free_half_inverse @ self.G.T
        return Y.T @ Y

    def free_acceleration(self, tau: np.ndarray) -> np.ndarray:
        """Accelerations without forces of the rows."""
        free = self.free_half_inverse.T @ (self.free_half_inverse @ (self.load + tau))
        if not len(self.K):
            return free
        back = np.linalg.pinv((self.half_inverse @ self.K.T).T, rcond=RANK_TOLERANCE)
        return np.asarray(free + self.half_inverse.T @ (back @ self.gamma))

    def constraint_forces(
        self, acceleration: np.ndarray, tau: np.ndarray, force: np.ndarray
    ) -> np.ndarray:
        """Forces of the constraints in a motion; least ones where rows depend on each other."""
        left = self.H @ acceleration - self.load - tau - self.G.T @ force
        return np.asarray(np.linalg.pinv(self.K.T, rcond=RANK_TOLERANCE) @ left)

    @property
    def kinetic_energy(self) -> float:
        """J."""
        return float(self.v @ self.H @ self.v) / 2


def contact_kernel(
    geometry: ContactGeometry, limits: bool = True, constraints: Constraint | None = None
) -> Kernel:
    """The kernel behind `contact_states`."""
    model = geometry.model
    held = _stabilize(constraints)
    coordinates = CoordinateRows(model, limits)
    contacts = len(geometry.names)
    limited, rubbing = len(coordinates.limited), len(coordinates.frictional)
    count = 3 * contacts + limited + rubbing
    locked = [i for i, coordinate in enumerate(model.coordinates) if coordinate.locked]

    def state(q: Array, v: Array) -> dict[str, Array]:
        tree = Tree(model, q, v)
        gaps = geometry.gaps(tree)
        G = WrenchRows(tree, [w for gap in gaps for w in gap.wrenches]).jacobian
        # The drift follows the place of touch as it wanders over round shapes and uneven ground.
        drift = ca.jtimes(G @ v, q, rates(model, q, v)) if contacts else ca.SX(0, 1)
        inside = coordinates.limit_gaps(q)
        closed = ConstraintRows(tree, held)
        own = ca.SX(limited + rubbing, model.nv)
        for k, (i, (way, _)) in enumerate(zip(coordinates.limited, inside, strict=True)):
            own[k, i] = way
        for k, i in enumerate(coordinates.frictional):
            own[limited + k, i] = 1.0
        stopped = ca.SX(len(locked), model.nv)
        for k, i in enumerate(locked):
            stopped[k, i] = 1.0
        return {
            "qdot": rates(model, q, v),
            "H": composite_inertia(tree),
            "load": passive_force(model, q, v) - newton_euler(tree, None),
            "passive": passive_force(model, q, v),
            "G": ca.vertcat(G, own),
            "drift": ca.vertcat(drift, ca.SX.zeros(limited + rubbing)),
            "gap": ca.vertcat(
                ca.SX(0, 1), *[gap.distance for gap in gaps], *[gap for _, gap in inside]
            ),
            "K": ca.vertcat(closed.matrix.jacobian, stopped),
            "gamma": ca.vertcat(as_column(closed.bias), -(stopped @ v) / CLOSING_TIME),
        }

    shapes: dict[str, int | tuple[int, ...]] = {
        "qdot": model.nq,
        "H": (model.nv, model.nv),
        "load": model.nv,
        "passive": model.nv,
        "G": (count, model.nv),
        "drift": count,
        "gap": contacts + limited,
        "K": (len(held.rows) + len(locked), model.nv),
        "gamma": len(held.rows) + len(locked),
    }
    return kernel(state, q=model.nq, v=model.nv, outputs=shapes, name=f"contacts of {model.name}")


def _stabilize(constraints: Constraint | None) -> ConstraintSet:
    """The constraints, each with something that closes it again where it opens."""
    parts: tuple[Any, ...] = ConstraintSet(
        () if constraints is None else (constraints,)
    ).constraints
    usual = Stabilization.oscillator(1 / CLOSING_TIME)
    return ConstraintSet(
        tuple(replace(part, stabilization=part.stabilization or usual) for part in parts)
    )


def contact_states(
    geometry: ContactGeometry, limits: bool = True, constraints: Constraint | None = None
) -> Callable[[np.ndarray, np.ndarray], ContactState]:
    """A function from (q, v) to the `ContactState` there."""
    traced = contact_kernel(geometry, limits, constraints)

    def at(q: np.ndarray, v: np.ndarray) -> ContactState:
        return ContactState(q=q, v=v, **traced(q, v))

    return at
