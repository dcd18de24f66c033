"""Contact rows as combinations of the six wrenches of a body.

The rows of three and more contacts of one body with the world are G = P J with J the six rows of
the body, so A = G H^-1 G^T = P K with K = (J H^-1 J^T) P^T. Sweeps that update the motion u = K f
of the bodies need only P and K: their cost, and that of the setup, grows linearly with the number
of contacts and not quadratically.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from homodyn.dynamics.tree import Tree
from homodyn.dynamics.wrenches import PairWrench
from homodyn.simulate.geometry import Gap
from homodyn.simulate.solvers.cone_problem import ConeProblem, clip, maximum, project_on_disc
from homodyn.simulate.solvers.gauss_seidel import inverse_scales
from homodyn.spatial import Array, cross, stack

MIN_SPANNED_CONTACTS = 3
"""Contacts of a body from which its six wrenches are fewer than their rows."""

Entries = dict[int, Array]
"""Entries of a row that can differ from zero, by their index."""


@dataclass(frozen=True, eq=False)
class ContactSpan:
    """Wrenches that span all rows of contacts."""

    wrenches: list[PairWrench]
    rows: list[Entries]
    """Each row as a combination of the wrenches."""


def contact_span(tree: Tree, gaps: Sequence[Gap]) -> ContactSpan:
    """Six wrenches for every body with enough contacts with the world, own rows for the others."""
    by_body: dict[int, list[int]] = {}
    for k, gap in enumerate(gaps):
        if gap.other < 0:
            by_body.setdefault(gap.body, []).append(k)
    wrenches: list[PairWrench] = []
    rows: list[Entries] = [{} for _ in range(3 * len(gaps))]
    for body, chosen in by_body.items():
        if len(chosen) < MIN_SPANNED_CONTACTS:
            continue
        first, origin, none = len(wrenches), tree.placements[body].r, np.zeros(3)
        wrenches += [PairWrench(body, -1, origin, none, axis) for axis in np.eye(3)]
        wrenches += [PairWrench(body, -1, origin, axis, none) for axis in np.eye(3)]
        for k in chosen:
            arm = gaps[k].point - origin
            for j, wrench in enumerate(gaps[k].wrenches):
                full = ca.SX(stack(cross(arm, wrench.slide), wrench.slide))
                rows[3 * k + j] = {first + i: full[i] for i in range(6) if not full[i].is_zero()}
    for k, gap in enumerate(gaps):
        if not rows[3 * k]:
            for j, wrench in enumerate(gap.wrenches):
                rows[3 * k + j] = {len(wrenches): ca.SX(1.0)}
                wrenches.append(wrench)
    return ContactSpan(wrenches, rows)


def combine(row: Entries, values: Sequence[Array]) -> Array:
    """The row times values of the wrenches that it combines."""
    return sum((product(x, values[k]) for k, x in row.items()), ca.SX(0))


def product(x: Array, y: Array) -> Array:
    """The product x y; y itself where x is one."""
    return y if x.is_constant() and float(x) == 1.0 else x * y


def span_sweeps(
    problem: ConeProblem,
    rows: Sequence[Entries],
    response: Sequence[Entries],
    soft: Sequence[Array],
    start: Array,
    sweeps: int,
) -> Array:
    """Forces after Gauss-Seidel sweeps over symbols, without forming A = P K + diag(soft).

    ``rows`` are those of P, ``response`` the columns of K. One sweep is traced over its own symbols
    and repeated as a graph.
    """
    m = problem.size
    size = 1 + max((k for row in (*rows, *response) for k in row), default=-1)
    symbols: list[Array] = []
    values: list[Array] = []

    def leaf(value: Array) -> Array:
        value = ca.SX(value)
        if value.is_constant():
            return value
        symbols.append(ca.SX.sym("x"))
        values.append(value)
        return symbols[-1]

    P, K = ([{k: leaf(x) for k, x in row.items()} for row in part] for part in (rows, response))
    b, c, inverse = (
        [leaf(x) for x in part]
        for part in (problem.entries(problem.b), soft, inverse_scales(problem))
    )
    mu = [leaf(problem.coefficient(k)) for k in range(len(problem.cones))]
    bounds = {
        i: [leaf(x) if isinstance(x, ca.SX) else x for x in problem.bounds(i)]
        for i in problem.bounded
    }
    before, motion_before = ca.SX.sym("f", m), ca.SX.sym("u", size)
    f: list[Any] = [before[i] for i in range(m)]
    u: list[Any] = [motion_before[k] for k in range(size)]

    def unbounded_force(i: int) -> Array:
        return f[i] - (b[i] + c[i] * f[i] + combine(P[i], u)) * inverse[i]

    def update(i: int, force: Array) -> None:
        change = force - f[i]
        f[i] = force
        for k, x in K[i].items():
            u[k] = u[k] + x * change

    for i, (low, high) in bounds.items():
        update(i, clip(unbounded_force(i), low, high))
    for k, (normal, *tangents) in enumerate(problem.cones):
        update(normal, maximum(0.0, unbounded_force(normal)))
        projected = project_on_disc([unbounded_force(t) for t in tangents], mu[k] * f[normal])
        for t, force in zip(tangents, projected, strict=True):
            update(t, force)
    inputs = ca.vertcat(ca.SX(0, 1), *values)
    sweep = ca.Function(
        "sweep",
        [before, motion_before, ca.vertcat(ca.SX(0, 1), *symbols)],
        [ca.vertcat(ca.SX(0, 1), *f), ca.vertcat(ca.SX(0, 1), *u)],
    )
    initial = [ca.SX(0)] * size
    for i, column in enumerate(response):
        for k, x in column.items():
            initial[k] = initial[k] + x * start[i]
    force, motion = ca.SX(start), ca.vertcat(ca.SX(0, 1), *initial)
    for _ in range(sweeps):
        force, motion = sweep.call([force, motion, inputs], True, False)
    return force
