"""Exact derivatives of inverse and forward dynamics, by recursion over the tree.

The formulas are those of Singh, Russo and Wensing 2022 ("Efficient analytical derivatives of rigid
body dynamics using spatial vector algebra"), extended to joints whose screws change with their
coordinates and to wrenches that follow points of the model. Derivatives by position are along the
directions of ``v``: for quaternion joints, along a unit of velocity in the frame of the body, as in
`homodyn.model.configuration.integrate`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from homodyn.dynamics.aba import forward_dynamics
from homodyn.dynamics.external_wrenches import acting_body
from homodyn.dynamics.mass_factor import factorize_mass_matrix
from homodyn.dynamics.rnea import inverse_dynamics
from homodyn.dynamics.screws import ScrewColumn, TreeScrews, rigid_inertias, tree_screws
from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.model.state_function import WRENCHES, state_function
from homodyn.spatial import (
    Array,
    ArrayInput,
    Inertia,
    ParameterValues,
    Transform,
    Wrenches,
    cross,
    cross_force,
    skew,
    stack,
    symmetric,
)

__all__ = [
    "ForwardDynamicsDerivatives",
    "InverseDynamicsDerivatives",
    "forward_dynamics_derivatives",
    "inverse_dynamics_derivatives",
    "inverse_dynamics_parameter_jacobian",
]

SQUARE = ("nv", "nv")


@record
class InverseDynamicsDerivatives(Record):
    """Derivatives of the generalized forces, one row per force and one column per entry."""

    q: np.ndarray
    """By position, along the directions of ``v``, (..., nv, nv)."""
    v: np.ndarray
    """By velocity, (..., nv, nv)."""
    a: np.ndarray
    """By acceleration: the mass matrix, (..., nv, nv)."""


@record
class ForwardDynamicsDerivatives(Record):
    """Derivatives of the accelerations, one row per acceleration and one column per entry."""

    q: np.ndarray
    """By position, along the directions of ``v``, (..., nv, nv)."""
    v: np.ndarray
    """By velocity, (..., nv, nv)."""
    tau: np.ndarray
    """By generalized force: the inverse mass matrix, (..., nv, nv)."""


@state_function(
    q="nq",
    v="nv",
    a="nv",
    external=WRENCHES,
    returns={"q": SQUARE, "v": SQUARE, "a": SQUARE},
    record=InverseDynamicsDerivatives,
)
def inverse_dynamics_derivatives(
    model: Model,
    q: ArrayInput,
    v: ArrayInput,
    a: ArrayInput,
    external: Wrenches | None = None,
    *,
    parameters: ParameterValues | None = None,
    out: Sequence[np.ndarray] | None = None,
) -> InverseDynamicsDerivatives:
    """Derivatives of `inverse_dynamics` by position, velocity and acceleration.

    External wrenches keep their world components and move with the points they act on.

    Args:
        model: The model.
        q: Positions, (..., nq).
        v: Velocities, (..., nv).
        a: Accelerations, (..., nv).
        external: External wrenches by frame name: moment (N m) and force (N), (..., 6), in world
            axes at the origin of that frame.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float arrays that receive the results, in the order of the fields.

    Returns:
        Three matrices (..., nv, nv); that by acceleration is the mass matrix.

    Raises:
        ModelError: ``external`` names a frame that the model does not have, or the world.
        KernelError: An array has the wrong shape or type.
    """
    motion = tree_screws(model, q, v, a)
    loads = _loads(motion, external)
    by_q, by_v, by_a = _Entries(), _Entries(), _Entries()
    loaded = [
        _loaded_columns(columns, load) for columns, load in zip(motion.columns, loads, strict=True)
    ]
    for i, own in enumerate(loaded):
        for c, column in own.items():
            for d, other in own.items():
                by_q.add(
                    c,
                    d,
                    column.row_q(other)
                    + _projection(motion.derivatives[i].get((c, d)), loads[i].total),
                )
                by_v.add(c, d, column.row_v(other))
                if c <= d:
                    by_a.add_symmetric(c, d, column.U.T @ other.S)
        above = model.parents[i]
        while own and above >= 0:
            for d, ancestor in loaded[above].items():
                for c, column in own.items():
                    by_q.add(c, d, column.row_q(ancestor))
                    by_v.add(c, d, column.row_v(ancestor))
                    by_q.add(d, c, ancestor.S.T @ column.Fq)
                    by_v.add(d, c, ancestor.S.T @ column.Fv)
                    share = column.U.T @ ancestor.S
                    by_a.add_symmetric(c, d, share if c != d else 2 * share)
            above = model.parents[above]
    for k, coordinate in enumerate(model.coordinates):
        by_a.add(k, k, coordinate.armature)
    return InverseDynamicsDerivatives(*(part.matrix(model.nv) for part in (by_q, by_v, by_a)))


@state_function(
    q="nq",
    v="nv",
    tau="nv",
    external=WRENCHES,
    returns={"q": SQUARE, "v": SQUARE, "tau": SQUARE},
    record=ForwardDynamicsDerivatives,
)
def forward_dynamics_derivatives(
    model: Model,
    q: ArrayInput,
    v: ArrayInput,
    tau: ArrayInput,
    external: Wrenches | None = None,
    *,
    parameters: ParameterValues | None = None,
    out: Sequence[np.ndarray] | None = None,
) -> ForwardDynamicsDerivatives:
    """Derivatives of `forward_dynamics` by position, velocity and generalized force.

    ID(q, v, FD(q, v, tau)) = tau, so da/dx = -H^-1 dID/dx at a = FD (Carpentier and Mansard 2018).

    Args:
        model: The model.
        q: Positions, (..., nq).
        v: Velocities, (..., nv).
        tau: Generalized forces (N m, N), (..., nv).
        external: External wrenches by frame name: moment (N m) and force (N), (..., 6), in world
            axes at the origin of that frame.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float arrays that receive the results, in the order of the fields.

    Returns:
        Three matrices (..., nv, nv); that by force is the inverse mass matrix.

    Raises:
        ModelError: ``external`` names a frame that the model does not have, or the world.
        KernelError: An array has the wrong shape or type.
    """
    a = forward_dynamics(model, q, v, tau, external)
    inverse = inverse_dynamics_derivatives(model, q, v, a, external)
    factor = factorize_mass_matrix(Tree(model, q), inverse.a)
    return ForwardDynamicsDerivatives(
        -factor.solve(inverse.q), -factor.solve(inverse.v), factor.inverse()
    )


@state_function(
    q="nq",
    v="nv",
    a="nv",
    external=WRENCHES,
    returns={"jacobian": lambda model: (model.nv, len(model.parameters))},
)
def inverse_dynamics_parameter_jacobian(
    model: Model,
    q: ArrayInput,
    v: ArrayInput,
    a: ArrayInput,
    external: Wrenches | None = None,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Derivative of `inverse_dynamics` by the parameters of the model.

    Args:
        model: The model.
        q: Positions, (..., nq).
        v: Velocities, (..., nv).
        a: Accelerations, (..., nv).
        external: External wrenches by frame name: moment (N m) and force (N), (..., 6), in world
            axes at the origin of that frame.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (..., nv, number of parameters).

    Raises:
        ModelError: The model has no parameters.
        KernelError: An array has the wrong shape or type.
    """
    if not model.parameters:
        raise ModelError(f"model {model.name!r} has no parameters to differentiate by")
    symbols = [ca.SX.sym(name, ca.SX(x).shape[0]) for name, x in (("q", q), ("v", v), ("a", a))]
    wrenches = {name: ca.SX.sym(name, 6) for name in external or {}}
    tau = inverse_dynamics(model, symbols[0], symbols[1], symbols[2], wrenches or None)
    jacobian = ca.jacobian(tau, model.parameter_symbols)
    # Values that depend on the parameters themselves count as constants.
    old = ca.vertcat(*symbols, *wrenches.values())
    new = ca.vertcat(*(ca.SX(x) for x in (q, v, a, *(external or {}).values())))
    return ca.substitute(jacobian, old, new)


@dataclass
class _Load:
    """Inertia, momentum and forces of a subtree, in the common frame.

    ``inertia`` with its rate (only the rotational part is needed), ``momentum``, the inertial
    ``force``, and external wrenches as free moments ``n``, forces ``F`` and ``G`` = sum of F^ p^
    over their points p.
    """

    inertia: Inertia
    rate: Array
    momentum: Array
    force: Array
    n: Array | None = None
    F: Array | None = None
    G: Array | None = None
    wrench: Array | None = None

    @property
    def total(self) -> Array:
        """Force that the joint of the subtree transmits."""
        return self.force if self.wrench is None else self.force - self.wrench

    def __add__(self, other: _Load) -> _Load:
        return _Load(
            self.inertia + other.inertia,
            self.rate + other.rate,
            self.momentum + other.momentum,
            self.force + other.force,
            _sum(self.n, other.n),
            _sum(self.F, other.F),
            _sum(self.G, other.G),
            _sum(self.wrench, other.wrench),
        )


@dataclass
class _LoadedColumn(ScrewColumn):
    """A column with its effect on the subtree.

    ``U`` = I S. ``Fq`` and ``Fv`` are the forces on ancestors per unit of position and of velocity.
    ``b`` and ``e`` give the change of the force along the column with the motion of ancestors.
    """

    U: Array
    Fq: Array
    Fv: Array
    b: Array
    e: Array | None

    def row_q(self, other: ScrewColumn) -> Array:
        """Derivative of the force along this column by the position of an ancestor."""
        result = self.U.T @ other.Aq + self.b.T @ other.Vq[:3]
        return result if self.e is None else result + self.e.T @ other.S[:3]

    def row_v(self, other: ScrewColumn) -> Array:
        """Derivative of the force along this column by the velocity of an ancestor."""
        return self.U.T @ other.Av + self.b.T @ other.S[:3]


def _loads(motion: TreeScrews, external: Mapping[str, Array] | None) -> list[_Load]:
    """The load of every subtree: the loads of the bodies, summed inward."""
    model = motion.model
    inertias = rigid_inertias(model)
    loads = [_body_load(motion, i, inertia) for i, inertia in enumerate(inertias)]
    for name, wrench in (external or {}).items():
        i, placement = acting_body(model, name)
        rotation = motion.world[i].E.T
        n, F = rotation @ wrench[:3], rotation @ wrench[3:]
        p = motion.places[i].point_back(placement.r)
        loads[i] = loads[i] + _external_load(n, F, p)
    for i in reversed(range(len(loads))):
        parent = model.parents[i]
        if parent >= 0:
            loads[parent] = loads[parent] + loads[i]
    return loads


def _body_load(motion: TreeScrews, i: int, local: Inertia | None) -> _Load:
    """The load of one body, with the bodies fixed to it."""
    if local is None:
        return _external_load(None, None, None)
    inertia = _in_common_frame(motion.model, i, local, motion.places[i])
    velocity, acceleration = motion.velocities[i], motion.accelerations[i]
    momentum = inertia @ velocity
    force = inertia @ acceleration + cross_force(velocity, momentum)
    # Rate of the rotational inertia about the origin: w^ I - I w^ - v^ h^ - h^ v^, symmetric.
    w, v, h = velocity[:3], velocity[3:], inertia.h
    half = skew(w) @ inertia.I - h @ v.T
    rate = symmetric(half + half.T) + 2 * ca.dot(h, v) * np.eye(3)
    return _Load(inertia, rate, momentum, force)


def _in_common_frame(model: Model, i: int, local: Inertia, X: Transform) -> Inertia:
    """An inertia of a body frame in the common frame; about the center of mass where possible."""
    body = model.bodies[i]
    is_alone = not any(
        parent == i and joint.nv == 0
        for parent, joint in zip(model.parents, model.joints, strict=True)
    )
    if not is_alone:
        return local.transform_back(X)
    return Inertia.at_com(body.mass, X.point_back(body.com), symmetric(X.E.T @ body.inertia @ X.E))


def _external_load(n: Array | None, F: Array | None, p: Array | None) -> _Load:
    """The load of a wrench on a point, or a load of zero."""
    zero = Inertia(0.0, ca.SX.zeros(3), ca.SX.zeros(3, 3))
    load = _Load(zero, ca.SX.zeros(3, 3), ca.SX.zeros(6), ca.SX.zeros(6), n, F)
    if n is not None and F is not None:
        load.G = skew(F) @ skew(p)
        load.wrench = stack(n + cross(p, F), F)
    return load


def _loaded_columns(columns: dict[int, ScrewColumn], load: _Load) -> dict[int, _LoadedColumn]:
    return {entry: _loaded_column(column, load) for entry, column in columns.items()}


def _loaded_column(column: ScrewColumn, load: _Load) -> _LoadedColumn:
    """A column with the load of its subtree.

    2 B = v x* I - I v x + (I v) x* of a subtree in the paper has only 12 numbers: with angular and
    linear momentum k and l, 2 B psi = (rate psi - k x psi, -2 l x psi), where psi is the angular
    part.
    """
    S, angular = column.S, column.Vq[:3]
    k, l = load.momentum[:3], load.momentum[3:]
    rate_term, momentum_term = load.rate @ S[:3], cross(k, S[:3])
    Fq = cross_force(S, load.force) + load.inertia @ column.Aq
    Fq = Fq + stack(load.rate @ angular - cross(k, angular), -2 * cross(l, angular))
    Fv = load.inertia @ column.Av + stack(rate_term - momentum_term, -2 * cross(l, S[:3]))
    b = rate_term + momentum_term + 2 * cross(l, S[3:])
    e = None
    if load.F is not None and load.n is not None:
        Fq = Fq - stack(load.G @ S[:3] + cross(S[3:], load.F), np.zeros(3))
        e = cross(load.n, S[:3]) - load.G @ S[:3] + cross(load.F, S[3:])
    return _LoadedColumn(S, column.Vq, column.Aq, column.Av, load.inertia @ S, Fq, Fv, b, e)


class _Entries:
    """A sparse matrix that is built entry by entry."""

    def __init__(self) -> None:
        self._entries: dict[tuple[int, int], Array] = {}

    def add(self, row: int, column: int, value: Array) -> None:
        key = (row, column)
        self._entries[key] = self._entries[key] + value if key in self._entries else value

    def add_symmetric(self, row: int, column: int, value: Array) -> None:
        self.add(row, column, value)
        if row != column:
            self.add(column, row, value)

    def matrix(self, size: int) -> ca.SX:
        result = ca.SX(size, size)
        for (row, column), value in self._entries.items():
            entry = ca.SX(value)
            if not entry.is_zero():
                result[row, column] = entry
        return result


def _projection(column: Array | None, force: Array) -> Array:
    return 0.0 if column is None else column.T @ force


def _sum(a: Array | None, b: Array | None) -> Array | None:
    if a is None or b is None:
        return b if a is None else a
    return a + b
