"""Rows of contacts, limits and dry friction of the event-driven law, over symbols."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from homodyn.dynamics.tree import Tree
from homodyn.dynamics.wrenches import WrenchRows
from homodyn.model.configuration import rates
from homodyn.simulate.geometry import ContactGeometry, Gap, surface_speeds
from homodyn.simulate.rigid.coordinate_rows import CoordinateRows
from homodyn.simulate.rigid.mode_solver import STABILIZATION_TIME_S
from homodyn.spatial import Array


@dataclass(frozen=True, eq=False)
class ContactRows:
    """Rows of contacts, limits and dry friction at a state."""

    G: Array
    surface: Array
    drift: Array
    gap: Array
    contacts: int

    @property
    def normals(self) -> list[int]:
        """Rows of the normals of contacts and of the limits."""
        limits = self.gap.shape[0] - self.contacts
        return [
            *range(0, 3 * self.contacts, 3),
            *range(3 * self.contacts, 3 * self.contacts + limits),
        ]

    def correction(self, v: Array, closing_gaps: Array) -> Array:
        """Accelerations that correct errors of position and velocity in closed contacts."""
        correction = (self.G @ v - self.surface) / STABILIZATION_TIME_S
        for k, row in enumerate(self.normals):
            depth = (self.gap[k] - closing_gaps[k]) / STABILIZATION_TIME_S**2
            correction[row] = 2 * correction[row] + depth
        return correction


def contact_rows(geometry: ContactGeometry, coordinates: CoordinateRows, tree: Tree) -> ContactRows:
    """The rows at a state, in the order of `ContactState`."""
    gaps: list[Gap] = geometry.gaps(tree)
    model, q, v = geometry.model, tree.q, tree.v
    limit_gaps = coordinates.limit_gaps(q)
    limited, frictional = len(coordinates.limited), len(coordinates.frictional)
    wrenches = WrenchRows(tree, [w for gap in gaps for w in gap.wrenches])
    own = 3 * len(gaps)
    G = ca.SX(own + limited + frictional, model.nv)
    for i, row in enumerate(wrenches.entries):
        for j, entry in row.items():
            G[i, j] = entry
    surface, drift = surface_speeds(gaps), ca.SX(0, 1)
    if gaps:
        drift = ca.jtimes(G[:own, :] @ v - surface, q, rates(model, q, v))
    for k, (i, (sign, _)) in enumerate(zip(coordinates.limited, limit_gaps, strict=True)):
        G[own + k, i] = sign
    for k, i in enumerate(coordinates.frictional):
        G[own + limited + k, i] = 1.0
    none = ca.SX.zeros(limited + frictional)
    distances = [gap.distance for gap in gaps] + [gap for _, gap in limit_gaps]
    return ContactRows(
        G,
        ca.vertcat(surface, none),
        ca.vertcat(drift, none),
        ca.vertcat(ca.SX(0, 1), *distances),
        len(gaps),
    )
