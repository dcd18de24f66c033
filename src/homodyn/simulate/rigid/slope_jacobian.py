"""Derivatives of the rate of an event-driven run, for implicit integration.

Between events the accelerations a and the forces f of the rows that have one solve

    H a - load - tau - G^T f = 0,      G a + c = 0

Their derivatives along a coordinate of the state x follow from those of the two equations with a
and f kept constant, r = d(H a - load - tau - G^T f)/dx and s = d(G a + c)/dx:

    H da - G^T df = -r,      G da = -s

so that no derivative of a factorization is needed. The derivatives of the equations are exact.

The friction of a contact that slides follows its normal force and its direction of slip. Forces
then act along the columns C = G_n - mu d^T G_t in place of G_n (`slope_kernel`), and r contains the
derivative of the directions d. At low slip speed this term is large: directions turn fast.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from scipy.linalg import cho_factor, cho_solve

from homodyn.dynamics.crba import composite_inertia
from homodyn.dynamics.rnea import armature, newton_euler, passive_force
from homodyn.dynamics.tree import Tree
from homodyn.model.configuration import rates
from homodyn.simulate.geometry import ContactGeometry
from homodyn.simulate.rigid.contact_rows import contact_rows
from homodyn.simulate.rigid.coordinate_rows import CoordinateRows
from homodyn.simulate.rigid.slope_kernel import (
    TracedActuation,
    sliding_columns,
    slip_friction,
    traced_load,
)
from homodyn.spatial import Array
from homodyn.symbolic import Kernel, kernel

DEPENDENT_ROW_WEIGHT = 1e-10
"""Relative weight that makes the equations of dependent rows regular."""


@dataclass(frozen=True, eq=False)
class SlopeJacobian:
    """Evaluates the derivatives of the rate of q, v and states of actuations by all of these."""

    kernel: Kernel

    @staticmethod
    def create(
        geometry: ContactGeometry,
        limits: bool,
        actuation: TracedActuation,
        *,
        slipping: bool = False,
    ) -> SlopeJacobian:
        """Trace the derivatives of the equations of motion and of the rows."""
        model = geometry.model
        coordinates = CoordinateRows(model, limits)
        gaps = len(geometry.names) + len(coordinates.limited)
        rows = 2 * len(geometry.names) + gaps + len(coordinates.frictional)
        nq, nv, contacts = model.nq, model.nv, len(geometry.names)
        states = len(actuation.state_names(model))
        size = nq + nv + states

        def derivatives(
            t: Array,
            x: Array,
            a: Array,
            force: Array,
            external: Array,
            batch: Array,
            closing: Array,
            slide: Array,
            directions: Array,
            friction: Array,
        ) -> dict[str, Array]:
            q, v = x[:nq], x[nq : nq + nv]
            tree = Tree(model, q, v)
            contact = contact_rows(geometry, coordinates, tree)
            acting = traced_load(actuation, model, t, x, external, batch)
            columns, total = contact.G, force
            if slipping:
                slips = contact.G @ v - contact.surface
                pulls = slip_friction(slips, slide, directions, friction)
                columns, total = sliding_columns(contact.G, pulls), ca.SX(force)
                for k, pull in enumerate(pulls):
                    own = slice(3 * k + 1, 3 * k + 3)
                    total[own] = (1 - slide[k]) * force[own] + pull * force[3 * k]
            motion = newton_euler(tree, a) + armature(model) * a
            balance = motion - passive_force(model, q, v) - acting.torque - contact.G.T @ total
            row_motion = contact.G @ a + contact.drift + contact.correction(v, closing)
            return {
                "inertia": ca.densify(composite_inertia(tree)),
                "G": ca.densify(contact.G),
                "columns": ca.densify(columns),
                "balance": ca.densify(ca.jacobian(balance, x)),
                "rows": ca.densify(ca.jacobian(row_motion, x)),
                "rates": ca.densify(ca.jacobian(rates(model, q, v), x)),
                "states": ca.densify(ca.jacobian(acting.state_rate, x)),
            }

        traced = kernel(
            derivatives,
            {
                "t": (),
                "x": size,
                "a": nv,
                "force": rows,
                "external": nv,
                "batch": len(actuation.batch_names),
                "closing": gaps,
                "slide": contacts,
                "directions": 2 * contacts,
                "friction": contacts,
            },
            outputs={
                "inertia": (nv, nv),
                "G": (rows, nv),
                "columns": (rows, nv),
                "balance": (nv, size),
                "rows": (rows, size),
                "rates": (nq, size),
                "states": (states, size),
            },
            name=f"event-driven slope derivatives of {model.name}, slip: {slipping}",
        )
        return SlopeJacobian(traced)

    def __call__(
        self,
        t: float,
        x: np.ndarray,
        a: np.ndarray,
        force: np.ndarray,
        inputs: tuple[np.ndarray, np.ndarray],
        contacts: tuple[np.ndarray, np.ndarray],
        slip: tuple[np.ndarray, np.ndarray, np.ndarray],
    ) -> np.ndarray:
        """The derivatives at a state.

        Args:
            t: Time (s).
            x: Positions, velocities and states of actuations, (size,).
            a: Accelerations there, (nv,).
            force: Forces of all rows, (rows,).
            inputs: External torques (nv,) and values of the batch parameters.
            contacts: Which rows have a force, (rows,), and the gaps at which contacts closed.
            slip: 0 or 1 for contacts that slide, their last directions, (2 contacts,), and the
                coefficients of friction.

        Returns:
            (size, size).
        """
        active, closing = contacts
        given = (np.array(t, float), x, a, force, *inputs, closing, *slip)
        H, G, columns, balance, rows, rate, states = self.kernel(*given).values()
        factor = cho_factor(H)
        chosen = active > 0
        da = -cho_solve(factor, balance)
        if chosen.any():
            G, rows = G[chosen], rows[chosen]
            response = cho_solve(factor, columns[chosen].T)
            A = G @ response
            A[np.diag_indices(len(A))] += DEPENDENT_ROW_WEIGHT * A.diagonal().max()
            da -= response @ np.linalg.solve(A, rows + G @ da)
        return np.concatenate([rate, da, states])
