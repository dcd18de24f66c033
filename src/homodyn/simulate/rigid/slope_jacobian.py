"""Derivatives of the rate of an event-driven run, for implicit integration.

Between events the accelerations a and the forces f of the rows that have one solve

    H a - load - tau - G^T f = 0,      G a + c = 0

Their derivatives along a coordinate of the state x follow from those of the two equations with a
and f kept constant, r = d(H a - load - tau - G^T f)/dx and s = d(G a + c)/dx:

    H da - G^T df = -r,      G da = -s

so that no derivative of a factorization is needed. The derivatives of the equations are exact.
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
from homodyn.simulate.rigid.slope_kernel import TracedActuation, traced_torque
from homodyn.spatial import Array
from homodyn.symbolic import Kernel, kernel

DEPENDENT_ROW_WEIGHT = 1e-10
"""Relative weight that makes the equations of dependent rows regular."""


@dataclass(frozen=True, eq=False)
class SlopeJacobian:
    """Evaluates the derivatives of the rate of q and v with respect to q and v."""

    nq: int
    nv: int
    kernel: Kernel

    @staticmethod
    def create(
        geometry: ContactGeometry, limits: bool, actuation: TracedActuation
    ) -> SlopeJacobian:
        """Trace the derivatives of the equations of motion and of the rows."""
        model = geometry.model
        coordinates = CoordinateRows(model, limits)
        gaps = len(geometry.names) + len(coordinates.limited)
        rows = 2 * len(geometry.names) + gaps + len(coordinates.frictional)
        nq, nv = model.nq, model.nv

        def derivatives(
            t: Array,
            x: Array,
            a: Array,
            force: Array,
            external: Array,
            batch: Array,
            closing: Array,
        ) -> dict[str, Array]:
            q, v = x[:nq], x[nq:]
            tree = Tree(model, q, v)
            contact = contact_rows(geometry, coordinates, tree)
            tau = traced_torque(actuation, model, t, q, v, external, batch)
            motion = newton_euler(tree, a) + armature(model) * a
            balance = motion - passive_force(model, q, v) - tau - contact.G.T @ force
            row_motion = contact.G @ a + contact.drift + contact.correction(v, closing)
            return {
                "inertia": ca.densify(composite_inertia(tree)),
                "G": ca.densify(contact.G),
                "balance": ca.densify(ca.jacobian(balance, x)),
                "rows": ca.densify(ca.jacobian(row_motion, x)),
                "rates": ca.densify(ca.jacobian(rates(model, q, v), x)),
            }

        traced = kernel(
            derivatives,
            {
                "t": (),
                "x": nq + nv,
                "a": nv,
                "force": rows,
                "external": nv,
                "batch": len(actuation.batch_names),
                "closing": gaps,
            },
            outputs={
                "inertia": (nv, nv),
                "G": (rows, nv),
                "balance": (nv, nq + nv),
                "rows": (rows, nq + nv),
                "rates": (nq, nq + nv),
            },
            name=f"event-driven slope derivatives of {model.name}",
        )
        return SlopeJacobian(nq, nv, traced)

    def __call__(
        self,
        t: float,
        x: np.ndarray,
        a: np.ndarray,
        force: np.ndarray,
        inputs: tuple[np.ndarray, np.ndarray],
        contacts: tuple[np.ndarray, np.ndarray],
    ) -> np.ndarray:
        """The derivatives at a state.

        Args:
            t: Time (s).
            x: Positions and velocities, (nq + nv,).
            a: Accelerations there, (nv,).
            force: Forces of all rows, (rows,).
            inputs: External torques (nv,) and values of the batch parameters.
            contacts: Which rows have a force, (rows,), and the gaps at which contacts closed.

        Returns:
            (nq + nv, nq + nv).
        """
        active, closing = contacts
        given = (np.array(t, float), x, a, force, *inputs, closing)
        H, G, balance, rows, rate = self.kernel(*given).values()
        factor = cho_factor(H)
        chosen = active > 0
        da = -cho_solve(factor, balance)
        if chosen.any():
            G, rows = G[chosen], rows[chosen]
            response = cho_solve(factor, G.T)
            A = G @ response
            A[np.diag_indices(len(A))] += DEPENDENT_ROW_WEIGHT * A.diagonal().max()
            da -= response @ np.linalg.solve(A, rows + G @ da)
        return np.concatenate([rate, da])
