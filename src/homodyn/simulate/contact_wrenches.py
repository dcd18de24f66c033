"""Forces of contacts and joints as wrenches on bodies, generalized forces and accelerations."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from homodyn.dynamics.aba import articulated_body_algorithm
from homodyn.dynamics.crba import composite_inertia
from homodyn.dynamics.external_wrenches import body_wrenches
from homodyn.dynamics.mass_factor import factorize_mass_matrix
from homodyn.dynamics.rnea import newton_euler
from homodyn.dynamics.tree import Tree
from homodyn.model import Model
from homodyn.simulate.geometry import Gap
from homodyn.simulate.rows import JointRow
from homodyn.spatial import Array, cross, stack


def accelerations(
    tree: Tree, tau: Array, wrenches: dict[str, Array], added: Array | None = None
) -> Array:
    """Forward dynamics with additional inertia ``added`` along the degrees of freedom."""
    if not tree.model.couplers:
        return articulated_body_algorithm(tree, tau, wrenches, added)
    H = composite_inertia(tree)
    if added is not None:
        H = H + ca.diag(added)
    return factorize_mass_matrix(tree, H).solve(tau - newton_euler(tree, None, wrenches))


def joint_forces(model: Model, rows: Sequence[JointRow], forces: Sequence[Array]) -> Array:
    """Forces of rows along single coordinates as generalized forces."""
    total = [ca.SX(0.0)] * model.nv
    for joint, force in zip(rows, forces, strict=True):
        total[joint.entry] = total[joint.entry] + force
    return stack(*total) if total else ca.SX(0, 1)


def contact_wrenches(tree: Tree, gaps: Sequence[Gap], forces: Sequence[Array]) -> dict[str, Array]:
    """Contact forces summed per body: moment about its origin and force, world axes."""
    total: dict[str, Array] = {}
    for gap, force in zip(gaps, forces, strict=True):
        for body, sign in ((gap.body, 1.0), (gap.other, -1.0)):
            if body < 0:
                continue
            name = tree.model.body_names[body]
            arm = gap.point - tree.placements[body].r
            wrench = sign * stack(cross(arm, force), force)
            total[name] = total[name] + wrench if name in total else wrench
    return total


def generalized_forces(tree: Tree, wrenches: dict[str, Array]) -> Array:
    """Generalized forces of wrenches on bodies."""
    by_body = body_wrenches(tree, wrenches)
    forces = [by_body.get(i, ca.SX.zeros(6)) for i in range(len(tree.model.bodies))]
    return tree.project(tree.accumulate_inward(forces))
