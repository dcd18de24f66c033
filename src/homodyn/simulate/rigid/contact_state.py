"""A model with its contacts at one state, in numbers: inertia, loads, rows and their drift."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from homodyn.dynamics import ConstraintSet
from homodyn.dynamics.constraint_rows import ConstraintRows
from homodyn.dynamics.constraints import Constraint, Stabilization
from homodyn.dynamics.crba import composite_inertia
from homodyn.dynamics.mass_factor import factorize_mass_matrix
from homodyn.dynamics.rnea import newton_euler, passive_force
from homodyn.dynamics.tree import Tree
from homodyn.dynamics.wrenches import WrenchRows, as_column
from homodyn.model.configuration import rates
from homodyn.simulate.geometry import ContactGeometry, gap_velocity, surface_speeds
from homodyn.simulate.rigid.coordinate_rows import CoordinateRows
from homodyn.simulate.rigid.geometry_cache import geometry_kernel
from homodyn.spatial import Array
from homodyn.symbolic import Kernel, kernel

CLOSING_TIME_S = 0.01
"""Time constant with which loops that integration opens are closed."""
MAX_PIVOT_RATIO = 1e14
"""Diagonal entry of the mass matrix over its pivot from which it counts as singular."""
RANK_TOLERANCE = 1e-10
"""Relative singular value of constraint rows below which they count as dependent."""


@dataclass(frozen=True, eq=False)
class ContactState:
    """Everything that a rigid law uses at one state.

    Rows are normal and two tangents of each gap, then the limits, then the coordinates with dry
    friction.
    """

    q: np.ndarray
    v: np.ndarray
    qdot: np.ndarray
    """Rate of q."""
    H: np.ndarray
    """Mass matrix."""
    load: np.ndarray
    """Generalized forces without torques: gravity, velocity products, springs and dampers."""
    passive: np.ndarray
    """Generalized forces of springs and dampers alone."""
    G: np.ndarray
    """(rows, nv): Jacobian of the rows."""
    drift: np.ndarray
    """(dG/dt) v: accelerations of the rows without accelerations of the coordinates."""
    gap: np.ndarray
    """m, rad: of each contact, then of each limit."""
    surface: np.ndarray
    """Velocity of the surface that each row touches, along the row (m/s); zero unless it moves."""
    inverse: np.ndarray
    """H^-1."""
    pivots: np.ndarray
    """Diagonal of H over the pivots of its factor: 1 or larger, unless H is singular."""
    K: np.ndarray
    """Rows of constraints, then of locked coordinates: K v = 0."""
    gamma: np.ndarray
    """K a: required accelerations of the constraints, including the correction of open loops."""

    @cached_property
    def L(self) -> np.ndarray:
        """H = L L^T; raises ``LinAlgError`` if H is not positive definite."""
        return np.linalg.cholesky(self.H)

    @cached_property
    def half_inverse(self) -> np.ndarray:
        """L^-1."""
        return np.linalg.inv(self.L)

    @cached_property
    def _constrained_directions(self) -> np.ndarray:
        """Orthonormal columns of the constrained directions, in the metric of inertia."""
        U, size, _ = np.linalg.svd(self.half_inverse @ self.K.T, full_matrices=False)
        return np.asarray(U[:, size > RANK_TOLERANCE * size.max(initial=0.0)])

    @cached_property
    def free_half_inverse(self) -> np.ndarray:
        """L^-1 without the constrained directions."""
        if not len(self.K):
            return self.half_inverse
        return np.asarray(
            self.half_inverse
            - self._constrained_directions @ (self._constrained_directions.T @ self.half_inverse)
        )

    @cached_property
    def constrained_velocity(self) -> np.ndarray:
        """Velocities projected onto the constraints, in the metric of inertia."""
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
        """Velocity of each row relative to the surface that it touches (m/s, rad/s)."""
        return self.G @ self.v - self.surface

    @cached_property
    def free_inverse(self) -> np.ndarray:
        """H^-1 under the constraints; raises ``LinAlgError`` if H is not positive definite."""
        if not 0.5 < self.pivots.min(initial=1.0) <= self.pivots.max(initial=1.0) < MAX_PIVOT_RATIO:
            raise np.linalg.LinAlgError("the mass matrix is not positive definite")
        if not len(self.K):
            return self.inverse
        return self.free_half_inverse.T @ self.free_half_inverse

    @cached_property
    def response(self) -> np.ndarray:
        """H^-1 G^T under the constraints: accelerations for unit forces of the rows."""
        return self.free_inverse @ self.G.T

    @cached_property
    def A(self) -> np.ndarray:
        """G H^-1 G^T."""
        return self.G @ self.response

    def free_acceleration(self, tau: np.ndarray) -> np.ndarray:
        """Accelerations without forces of the rows."""
        free = self.free_inverse @ (self.load + tau)
        if not len(self.K):
            return free
        inverse = np.linalg.pinv((self.half_inverse @ self.K.T).T, rcond=RANK_TOLERANCE)
        return np.asarray(free + self.half_inverse.T @ (inverse @ self.gamma))

    def constraint_forces(
        self, acceleration: np.ndarray, tau: np.ndarray, force: np.ndarray
    ) -> np.ndarray:
        """Forces of the constraints; those of smallest norm where rows are dependent."""
        remainder = self.H @ acceleration - self.load - tau - self.G.T @ force
        return np.asarray(np.linalg.pinv(self.K.T, rcond=RANK_TOLERANCE) @ remainder)

    @property
    def kinetic_energy(self) -> float:
        """J."""
        return float(self.v @ self.H @ self.v) / 2


def contact_kernel(
    geometry: ContactGeometry, limits: bool = True, constraints: Constraint | None = None
) -> Kernel:
    """The kernel behind `contact_states`."""
    model = geometry.model
    stabilized = _stabilize(constraints)
    coordinates = CoordinateRows(model, limits)
    contacts = len(geometry.names)
    limited, frictional = len(coordinates.limited), len(coordinates.frictional)
    count = 3 * contacts + limited + frictional
    locked = [i for i, coordinate in enumerate(model.coordinates) if coordinate.locked]

    def state(q: Array, v: Array) -> dict[str, Array]:
        tree = Tree(model, q, v)
        gaps = geometry.gaps(tree)
        G = WrenchRows(tree, [w for gap in gaps for w in gap.wrenches]).jacobian
        # The drift includes the motion of the contact point on round shapes and uneven ground.
        surface = surface_speeds(gaps)
        drift = ca.SX(0, 1)
        if contacts:
            drift = ca.jtimes(G @ v - surface, q, rates(model, q, v))
        limit_gaps = coordinates.limit_gaps(q)
        rows = ConstraintRows(tree, stabilized)
        own = ca.SX(limited + frictional, model.nv)
        for k, (i, (sign, _)) in enumerate(zip(coordinates.limited, limit_gaps, strict=True)):
            own[k, i] = sign
        for k, i in enumerate(coordinates.frictional):
            own[limited + k, i] = 1.0
        locks = ca.SX(len(locked), model.nv)
        for k, i in enumerate(locked):
            locks[k, i] = 1.0
        none = ca.SX.zeros(limited + frictional)
        H = composite_inertia(tree)
        factor = factorize_mass_matrix(tree, H)
        return {
            "qdot": rates(model, q, v),
            "H": H,
            "inverse": factor.inverse(),
            "pivots": ca.diag(H) * ca.vertcat(*factor.reciprocal),
            "surface": ca.vertcat(surface, none),
            "load": passive_force(model, q, v) - newton_euler(tree, None),
            "passive": passive_force(model, q, v),
            "G": ca.vertcat(G, own),
            "drift": ca.vertcat(drift, none),
            "gap": ca.vertcat(
                ca.SX(0, 1), *[gap.distance for gap in gaps], *[gap for _, gap in limit_gaps]
            ),
            "K": ca.vertcat(rows.matrix.jacobian, locks),
            "gamma": ca.vertcat(as_column(rows.bias), -(locks @ v) / CLOSING_TIME_S),
        }

    shapes: dict[str, int | tuple[int, ...]] = {
        "qdot": model.nq,
        "H": (model.nv, model.nv),
        "inverse": (model.nv, model.nv),
        "pivots": model.nv,
        "surface": count,
        "load": model.nv,
        "passive": model.nv,
        "G": (count, model.nv),
        "drift": count,
        "gap": contacts + limited,
        "K": (len(stabilized.rows) + len(locked), model.nv),
        "gamma": len(stabilized.rows) + len(locked),
    }
    return kernel(state, q=model.nq, v=model.nv, outputs=shapes, name=f"contacts of {model.name}")


def _stabilize(constraints: Constraint | None) -> ConstraintSet:
    """The constraints, each with a stabilization."""
    parts: tuple[Any, ...] = ConstraintSet(
        () if constraints is None else (constraints,)
    ).constraints
    default = Stabilization.oscillator(1 / CLOSING_TIME_S)
    return ConstraintSet(
        tuple(replace(part, stabilization=part.stabilization or default) for part in parts)
    )


def contact_states(
    geometry: ContactGeometry, limits: bool = True, constraints: Constraint | None = None
) -> Callable[[np.ndarray, np.ndarray], ContactState]:
    """A function from (q, v) to the `ContactState` there."""
    traced = geometry_kernel(
        geometry,
        ("states", limits) if constraints is None else None,
        lambda: contact_kernel(geometry, limits, constraints),
    )

    def at(q: np.ndarray, v: np.ndarray) -> ContactState:
        return ContactState(q=q, v=v, **traced(q, v))

    return at


@dataclass(frozen=True, eq=False)
class ContactMotion:
    """Gaps and velocities of the rows at states: what event functions need of them."""

    gap: np.ndarray
    """m, rad: of each contact, then of each limit, (..., gaps)."""
    speed: np.ndarray
    """Velocity of each row relative to the surface that it touches (m/s, rad/s), (..., rows)."""

    def __getitem__(self, k: int) -> ContactMotion:
        """The motion at one of several states."""
        return ContactMotion(self.gap[k], self.speed[k])


def contact_motions(
    geometry: ContactGeometry, limits: bool = True
) -> Callable[[np.ndarray, np.ndarray], ContactMotion]:
    """A function from states (n, nq) and (n, nv) to their `ContactMotion`."""
    model = geometry.model
    coordinates = CoordinateRows(model, limits)
    contacts = len(geometry.names)
    limited, frictional = len(coordinates.limited), len(coordinates.frictional)

    def motion(q: Array, v: Array) -> dict[str, Array]:
        tree = Tree(model, q, v)
        gaps = geometry.gaps(tree)
        directions = coordinates.limit_gaps(q)
        along = [
            ca.dot(direction, gap_velocity(tree, gap))
            for gap in gaps
            for direction in (gap.normal, *gap.tangents)
        ]
        along += [sign * v[i] for i, (sign, _) in zip(coordinates.limited, directions, strict=True)]
        along += [v[i] for i in coordinates.frictional]
        distances = [gap.distance for gap in gaps] + [gap for _, gap in directions]
        return {
            "gap": ca.vertcat(ca.SX(0, 1), *distances),
            "speed": ca.vertcat(ca.SX(0, 1), *along),
        }

    def trace() -> Kernel:
        return kernel(
            motion,
            q=model.nq,
            v=model.nv,
            outputs={"gap": contacts + limited, "speed": 3 * contacts + limited + frictional},
            name=f"contact motion of {model.name}",
        )

    traced = geometry_kernel(geometry, ("motions", limits), trace)

    def at(q: np.ndarray, v: np.ndarray) -> ContactMotion:
        return ContactMotion(**traced(q, v))

    return at
