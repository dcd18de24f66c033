"""The rate of an event-driven run between events, as one kernel.

Between events the contacts that have a force rarely change. For given contacts the accelerations
solve linear equations, so one traced expression gives the rate of the whole state:

    H a = load + tau + G^T f,      G_i a + drift_i + correction_i = 0  where row i has a force

The forces come from a few steps of the method of multipliers from zero (Hestenes 1969; Powell
1969): with K = H + G^T R G and a diagonal R,

    r = G H^-1 (load + tau + G^T f) + c,      f <- f - R (r - G K^-1 G^T R r)

so that each step solves (A + R^-1) df = -r with A = G H^-1 G^T, and corrects the rounding errors of
the one before. K has the pattern of H, so its factor has no fill-in, and dependent rows need no
special treatment: where forces are not unique they are those of smallest f^T R^-1 f. Weights of the
tangents that grow with the last normal force give friction to the contacts that can transmit it.
The kernel returns by how much the result violates the contact law; if it does,
`contact_accelerations` determines the contacts that have a force.

The friction of a contact that slides follows its normal force: its forces act along
G_n - mu d^T G_t, with d the direction of slip, in place of G_n. K is then not symmetric, and a
kernel of its own eliminates it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from homodyn.dynamics.crba import composite_inertia
from homodyn.dynamics.mass_factor import MassFactor, factorize_mass_matrix
from homodyn.dynamics.rnea import newton_euler, passive_force
from homodyn.dynamics.tree import Tree
from homodyn.model import Model
from homodyn.model.configuration import rates
from homodyn.simulate.actuation import (
    Actuation,
    ActuationInput,
    ActuationLoad,
    actuation_load,
    torque_bounds,
)
from homodyn.simulate.geometry import ContactGeometry
from homodyn.simulate.rigid.contact_modes import MAX_REST_SPEED
from homodyn.simulate.rigid.contact_rows import ContactRows, contact_rows
from homodyn.simulate.rigid.coordinate_rows import CoordinateRows
from homodyn.simulate.rigid.event_run import WORK_ENTRIES
from homodyn.simulate.solvers.tree_elimination import TreeElimination, eliminate_along_tree
from homodyn.spatial import Array
from homodyn.symbolic import Kernel, kernel

RELATIVE_PENALTY = 1e6
"""Penalty of a row, relative to its inertia."""
MULTIPLIER_STEPS = 3
MIN_TANGENT_WEIGHT = 1e-2
MIN_MOBILITY = 1e-300
"""Prevents division by zero for rows that no coordinate moves, and without forces."""


@dataclass(frozen=True, eq=False)
class TracedActuation:
    """The actuation of a run that is traced into the kernel."""

    parts: Sequence[Actuation] = ()
    batch_names: Sequence[str] = ()
    limited: bool = False
    """Whether torques stay within the limits of the motors."""

    def state_names(self, model: Model) -> tuple[str, ...]:
        """Names of the states of all parts.

        Args:
            model: The model.
        """
        return tuple(name for part in self.parts for name in part.state_names(model))


def slope_kernel(
    geometry: ContactGeometry, limits: bool, actuation: TracedActuation, *, slipping: bool = False
) -> Kernel:
    """The rate of the state vector of an event-driven run for given contacts with forces.

    Args:
        geometry: The gaps of a model.
        limits: Whether limits of coordinates are rigid.
        actuation: The traced part of the actuation.
        slipping: Whether contacts may slide.

    Returns:
        A kernel from time ``t``, state vector ``y``, external torques, batch parameters, 0 or 1 for
        rows that have a force (``active``) and that are ``closed``, 0 or 1 for contacts that
        ``slide`` and their last ``directions``, the last ``force`` of each row,
        forces of ``moving`` dry friction, gaps at which contacts ``closing``, and coefficients of
        ``friction`` and ``strengths`` of dry friction, to ``slope``, ``force``, ``motion`` of the
        rows and ``check``: the violation of the contact law, the largest acceleration of a closed
        row without forces, the smallest and the largest ratio of diagonal entries of H and pivots.
    """
    model = geometry.model
    coordinates = CoordinateRows(model, limits)
    contacts, frictional = len(geometry.names), len(coordinates.frictional)
    gaps = contacts + len(coordinates.limited)
    count = 2 * contacts + gaps + frictional
    nq, nv, states = model.nq, model.nv, len(actuation.state_names(model))
    size = nq + nv + states + WORK_ENTRIES

    def slope(
        t: Array,
        y: Array,
        external: Array,
        batch: Array,
        active: Array,
        closed: Array,
        slide: Array,
        directions: Array,
        force: Array,
        moving: Array,
        closing: Array,
        friction: Array,
        strengths: Array,
    ) -> dict[str, Array]:
        q, v = y[:nq], y[nq : nq + nv]
        tree = Tree(model, q, v)
        rows = contact_rows(geometry, coordinates, tree)
        acting = traced_load(actuation, model, t, y[: size - WORK_ENTRIES], external, batch)
        tau = acting.torque
        passive = passive_force(model, q, v)
        H = composite_inertia(tree)
        factor = factorize_mass_matrix(tree, H)
        G = rows.G
        moving_force = ca.vertcat(ca.SX.zeros(count - frictional), moving)
        load = passive - newton_euler(tree, None) + tau + G.T @ moving_force
        c = rows.drift + rows.correction(v, closing)
        free = factor.solve(load)
        mobility = ca.vertcat(ca.SX(0, 1), *[_mobility(G[i, :], H) for i in range(count)])
        R = active * _weights(contacts, force) * RELATIVE_PENALTY / ca.fmax(mobility, MIN_MOBILITY)
        velocities = G @ v
        columns = G
        pulls: list[Array] = []
        solver: MassFactor | TreeElimination
        if slipping:
            slips = velocities - rows.surface
            pulls = slip_friction(slips, slide, directions, friction)
            columns = sliding_columns(G, pulls)
            solver = _eliminate(H + columns.T @ ca.diag(R) @ G)
        else:
            solver = factorize_mass_matrix(tree, H + G.T @ ca.diag(R) @ G)
        f, a = ca.SX.zeros(count), free
        for _ in range(MULTIPLIER_STEPS):
            motion = G @ a + c
            f = f - R * (motion - G @ solver.solve(columns.T @ (R * motion)))
            a = factor.solve(load + columns.T @ f)
        total = f + moving_force
        for k, pull in enumerate(pulls):
            total[3 * k + 1 : 3 * k + 3] += pull * f[3 * k]
        cut = 3 * contacts
        contact_power = ca.dot(total[:cut], velocities[:cut])
        joint_power = ca.dot(total[cut:], velocities[cut:]) + ca.dot(passive, v)
        works = ca.vertcat(ca.dot(tau, v), contact_power, joint_power, 0, 0)
        errors = _violations(rows, f, G @ a + c, (active, closed), mobility, (friction, strengths))
        growth = ca.diag(H) * ca.vertcat(*factor.reciprocal)
        return {
            "slope": ca.vertcat(rates(model, q, v), a, acting.state_rate, works),
            "force": total,
            "motion": G @ a + c,
            "check": ca.vertcat(
                _largest(errors),
                _largest([ca.fabs(x) for x in ca.vertsplit(closed * (G @ free + c))]),
                ca.mmin(growth),
                ca.mmax(growth),
            ),
        }

    return kernel(
        slope,
        {
            "t": (),
            "y": size,
            "external": nv,
            "batch": len(actuation.batch_names),
            "active": count,
            "closed": count,
            "slide": contacts,
            "directions": 2 * contacts,
            "force": count,
            "moving": frictional,
            "closing": gaps,
            "friction": contacts,
            "strengths": frictional,
        },
        outputs={"slope": size, "force": count, "motion": count, "check": 4},
        name=f"event-driven slope{' with slip' if slipping else ''} of {model.name}",
    )


def traced_load(
    actuation: TracedActuation, model: Model, t: Array, x: Array, external: Array, batch: Array
) -> ActuationLoad:
    """The traced torques with external ones, within the limits of the motors.

    Args:
        actuation: The traced actuation.
        model: The model.
        t: Time (s).
        x: Positions, velocities and states of the actuation.
        external: Torques from outside (N m, N).
        batch: Values of the batch parameters.

    Returns:
        Torques, and rates of the states of the actuation.
    """
    named = {name: batch[k] for k, name in enumerate(actuation.batch_names)}
    q, v, z = x[: model.nq], x[model.nq : model.nq + model.nv], x[model.nq + model.nv :]
    bounds = torque_bounds(model, v, actuation.limited)
    at = ActuationInput(model, t, q, v, named, None, bounds, z)
    return actuation_load(actuation.parts, at, external, actuation.limited)


def _weights(contacts: int, force: Array) -> Array:
    """Weights of the rows: 1, but for tangents the normal force relative to the largest one."""
    normals = [ca.fmax(force[3 * k], 0) for k in range(contacts)]
    largest = ca.fmax(_largest(normals), MIN_MOBILITY)
    weights = ca.SX.ones(force.shape[0])
    for k, normal in enumerate(normals):
        share = ca.fmax(normal / largest, MIN_TANGENT_WEIGHT)
        weights[3 * k + 1] = weights[3 * k + 2] = share
    return weights


def slip_friction(speeds: Array, slide: Array, directions: Array, friction: Array) -> list[Array]:
    """Friction of each contact for a unit of its normal force, (2,); zero where it rests.

    A contact that has stopped, or that moves back, keeps the last direction of slip.
    """
    pulls = []
    for k in range(friction.numel()):
        slip, last = speeds[3 * k + 1 : 3 * k + 3], directions[2 * k : 2 * k + 2]
        forward = ca.dot(slip, last) > MAX_REST_SPEED
        # Without slip the norm has no derivative.
        direction = ca.if_else(forward, slip, ca.SX([1.0, 0.0]))
        direction = ca.if_else(forward, direction / ca.norm_2(direction), last)
        pulls.append(-slide[k] * friction[k] * direction)
    return pulls


def sliding_columns(G: Array, pulls: Sequence[Array]) -> Array:
    """The rows along which forces act: normals of contacts that slide with their friction."""
    columns = ca.SX(G)
    for k, pull in enumerate(pulls):
        columns[3 * k, :] = G[3 * k, :] + pull[0] * G[3 * k + 1, :] + pull[1] * G[3 * k + 2, :]
    return columns


def _eliminate(matrix: Array) -> TreeElimination:
    """Factors of an unsymmetric matrix."""
    rows, columns = matrix.sparsity().get_triplet()
    entries = dict(zip(zip(rows, columns, strict=True), matrix.nonzeros(), strict=True))
    for i, j in list(entries):
        entries.setdefault((j, i), ca.SX(0))
    return eliminate_along_tree(entries, matrix.shape[0], any_sign=True)


def _mobility(row: Array, H: Array) -> Array:
    """Acceleration of a row for a unit of force if the coordinates were not coupled."""
    return sum((row[0, j] ** 2 / H[j, j] for j in row.sparsity().get_col()), ca.SX(0))


def _violations(
    rows: ContactRows,
    force: Array,
    motion: Array,
    masks: tuple[Array, Array],
    mobility: Array,
    strengths: tuple[Array, Array],
) -> list[Array]:
    """By how much each row violates the contact law, in the unit of the motion."""
    active, closed = masks
    friction, dry = strengths
    errors = [ca.fabs(active[i] * motion[i]) for i in range(force.shape[0])]
    for row in rows.normals:
        errors.append(active[row] * mobility[row] * ca.fmax(-force[row], 0))
        errors.append((closed[row] - active[row]) * ca.fmax(-motion[row], 0))
    for k in range(rows.contacts):
        tangential = ca.norm_2(force[3 * k + 1 : 3 * k + 3])
        excess = ca.fmax(tangential - friction[k] * force[3 * k], 0)
        errors.append(active[3 * k] * mobility[3 * k + 1] * excess)
    first = force.shape[0] - dry.shape[0]
    for k in range(dry.shape[0]):
        row = first + k
        excess = ca.fmax(ca.fabs(force[row]) - dry[k], 0)
        errors.append(active[row] * mobility[row] * excess)
    return errors


def _largest(values: Sequence[Array]) -> Array:
    largest = ca.SX(0)
    for value in values:
        largest = ca.fmax(largest, value)
    return largest
