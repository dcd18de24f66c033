"""Equations of motion under the contacts of a phase, as residuals and as forward dynamics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from homodyn.dynamics import forward_dynamics
from homodyn.dynamics.constraint_rows import ConstraintRows
from homodyn.dynamics.kkt_methods import solve_constrained
from homodyn.dynamics.rnea import newton_euler, passive_force
from homodyn.dynamics.tree import Tree
from homodyn.dynamics.wrenches import as_column
from homodyn.model import Model
from homodyn.model.configuration import rates
from homodyn.optimal.statement.external_loads import WRENCH_SIZE, generalized_load_force
from homodyn.optimal.statement.phase import Phase
from homodyn.optimal.statement.springs import Spring, spring_force
from homodyn.optimal.statement.time_point import TimePoint
from homodyn.optimal.transcription.block_derivatives import DERIVATION_VERSION, NO_ENTRIES
from homodyn.spatial import Array
from homodyn.symbolic.lazy_kernel import DerivedGraph, LazyKernel
from homodyn.symbolic.trace import Port

MAX_CACHED_DYNAMICS = 16
"""Compiled dynamics that are kept for later solves."""


def dynamics_rows(
    time_point: TimePoint, phase: Phase, independent_rows: Sequence[int]
) -> list[tuple[str, ca.SX]]:
    """Residuals of the equations of motion and of the independent contact accelerations."""
    rows = [("balance of forces", time_point.dynamics_residual)]
    if len(phase.contacts.rows):
        G, gamma = time_point.contact_jacobian, as_column(time_point.rows.bias)
        rate = G @ time_point.v
        residual = (
            G @ time_point.a - gamma + stabilization_acceleration(time_point.rows, rate, phase)
        )
        rows.append(("contact", residual[list(independent_rows)]))
    return rows


def stabilization_acceleration(rows: ConstraintRows, rate: Array, phase: Phase) -> Array:
    """Baumgarte stabilization: damping of the rate, stiffness of anchored rows."""
    errors = as_column(rows.errors)
    stiffness = phase.stabilization.stiffness * is_anchored(rows)
    return phase.stabilization.damping * rate + stiffness * errors


def is_anchored(rows: ConstraintRows) -> np.ndarray:
    """1 for rows with a defined position error: anchored rows, and heights above the ground."""
    return np.array(
        [
            float(r.measure != "none" and (r.has_anchor or r.slide == (0.0, 0.0, 1.0)))
            for r in rows.rows
        ]
    )


def constrained_dynamics(
    model: Model, phase: Phase, q: Array, v: Array, tau: Array, force: Array | None = None
) -> tuple[Array, Array]:
    """Accelerations and contact forces under torques, by forward dynamics.

    ``force`` are the forces of compliant contacts; those of others follow from the torques.
    """
    drive = tau + passive_force(model, q, v)
    if phase.compliant and force is not None:
        jacobian = ConstraintRows(Tree(model, q, v), phase.contacts).matrix.jacobian
        return forward_dynamics(model, q, v, drive + jacobian.T @ force), force
    if not len(phase.contacts.rows):
        return forward_dynamics(model, q, v, drive), ca.SX(0, 1)
    tree = Tree(model, q, v)
    rows = ConstraintRows(tree, phase.contacts)
    correction = stabilization_acceleration(rows, as_column(rows.matrix.times(v)), phase)
    target = [gamma - correction[k] for k, gamma in enumerate(rows.bias)]
    acceleration, force, _ = solve_constrained(
        rows, drive - newton_euler(tree, None), target, "range"
    )
    return acceleration, force


@dataclass(frozen=True, eq=False)
class PhaseDynamics:
    """Forward dynamics under the contacts of a phase, as a kernel.

    Attributes:
        kernel: Rates of q and v and the contact forces, as a function of q, v, torques, spring
            parameters and, in one array, the wrenches of external loads and the forces of compliant
            contacts (`load_columns`).
        parameters: Names of the spring parameters.
    """

    kernel: LazyKernel
    parameters: tuple[str, ...]


_cached_dynamics: dict[tuple[str, ...], PhaseDynamics] = {}


def phase_dynamics(model: Model, phase: Phase, springs: Sequence[Spring]) -> PhaseDynamics:
    """The forward dynamics with which the intervals of a phase are resimulated."""
    numbers = (n for s in springs for n in (s.stiffness, s.rest, s.damping))
    names = tuple(dict.fromkeys(name for name in numbers if isinstance(name, str)))
    dynamics = PhaseDynamics(_kernel(model, phase, springs, names), names)
    cached = _cached_dynamics.setdefault(dynamics.kernel.identity, dynamics)
    if len(_cached_dynamics) > MAX_CACHED_DYNAMICS:
        del _cached_dynamics[next(iter(_cached_dynamics))]
    return cached


def load_columns(phase: Phase, fractions: np.ndarray, force: np.ndarray | None) -> np.ndarray:
    """What acts on a phase besides torques: wrenches of loads and forces of compliant contacts.

    Args:
        phase: The phase.
        fractions: (samples,), fractions of the phase (0 to 1).
        force: (samples, rows), N: contact forces there; only compliant contacts need them.

    Returns:
        (samples, columns), the last argument of the kernel of `phase_dynamics`.
    """
    columns = [np.zeros((len(fractions), 0))]
    columns += [load.sample(fractions) for load in phase.external_loads]
    if phase.compliant and force is not None:
        columns.append(force)
    return np.hstack(columns)


def phase_dynamics_kernels(
    model: Model, phases: Sequence[Phase], springs: Sequence[Spring]
) -> list[LazyKernel]:
    """The different forward-dynamics kernels of several phases."""
    kernels = [phase_dynamics(model, phase, springs).kernel for phase in phases]
    return list({kernel.identity: kernel for kernel in kernels}.values())


def _kernel(
    model: Model, phase: Phase, springs: Sequence[Spring], parameters: tuple[str, ...]
) -> LazyKernel:
    """Rates of q and v under torques, and the contact forces of a phase."""

    def derive() -> DerivedGraph:
        q, v, tau = (ca.SX.sym(n, s) for n, s in zip("qvt", sizes[:3], strict=True))
        numbers = ca.SX.sym("numbers", len(parameters))
        values = dict(zip(parameters, ca.vertsplit(numbers), strict=True))
        loads = ca.SX.sym("wrenches", sizes[4])
        wrenches, pressing = loads[: sizes[4] - yielding], loads[sizes[4] - yielding :]
        drive = tau + spring_force(springs, model, q, v, values)
        drive = drive + generalized_load_force(phase.external_loads, model, q, wrenches)
        acceleration, force = constrained_dynamics(model, phase, q, v, drive, pressing)
        outputs = [ca.densify(ca.SX(x)) for x in (rates(model, q, v), acceleration, force)]
        return DerivedGraph(ca.Function("law", [q, v, tau, numbers, loads], outputs), NO_ENTRIES)

    frames = tuple(load.frame for load in phase.external_loads)
    yielding = len(phase.contacts.rows) if phase.compliant else 0
    sizes = (model.nq, model.nv, model.nv, len(parameters), WRENCH_SIZE * len(frames) + yielding)
    names = ("q", "v", "tau", "numbers", "wrenches")
    ports = [Port(name, (size,)) for name, size in zip(names, sizes, strict=True)]
    keys = tuple(spring.key for spring in springs)
    identity: tuple[object, ...] = (phase.contacts.rows, phase.stabilization, keys, parameters)
    identity = (*identity, frames, "compliant") if phase.compliant else (*identity, frames)
    text = ("law and forces", str(DERIVATION_VERSION), model.digest, *map(repr, identity))
    return LazyKernel(f"forward dynamics in {phase.name}", text, ports, derive)
