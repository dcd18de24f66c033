"""Callbacks of a nonlinear program for the solvers of CasADi, without copying."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from homodyn.optimal.nlp.nonlinear_program import NonlinearProgram

Numbers = np.ndarray
NamedSparsity = tuple[str, ca.Sparsity]


class NlpCallback(ca.Callback):
    """A Python function on arrays as a CasADi callback on the memory of the solver."""

    def __init__(
        self,
        name: str,
        inputs: Sequence[NamedSparsity],
        outputs: Sequence[NamedSparsity],
        function: Callable[..., Sequence[Any]],
    ) -> None:
        super().__init__()
        self._in, self._out, self._function = tuple(inputs), tuple(outputs), function
        self.construct(name, {"enable_fd": False})

    def get_n_in(self) -> int:
        return len(self._in)

    def get_n_out(self) -> int:
        return len(self._out)

    def get_name_in(self, k: int) -> str:
        return self._in[k][0]

    def get_name_out(self, k: int) -> str:
        return self._out[k][0]

    def get_sparsity_in(self, k: int) -> ca.Sparsity:
        return self._in[k][1]

    def get_sparsity_out(self, k: int) -> ca.Sparsity:
        return self._out[k][1]

    def has_eval_buffer(self) -> bool:
        return True

    def eval_buffer(self, arguments: Sequence[memoryview], results: Sequence[memoryview]) -> int:
        """Evaluate; a return value other than zero makes the solver fail."""
        given = [
            np.zeros(sparsity.nnz()) if a is None else np.frombuffer(a, dtype=float)
            for a, (_, sparsity) in zip(arguments, self._in, strict=True)
        ]
        for buffer, values in zip(results, self._function(*given), strict=True):
            if buffer is not None:
                np.frombuffer(buffer, dtype=float)[:] = values
        return 0


class NlpCallbacks:
    """``f``, ``g`` and their derivatives in scaled units; the latest results are cached.

    ``variables`` and ``rows`` are the order of the solver, where it differs from the program.
    ``unit_entries`` are entries of the Jacobian that are one up to rounding.
    """

    def __init__(
        self,
        program: NonlinearProgram,
        variables: np.ndarray | None = None,
        rows: np.ndarray | None = None,
        *,
        unit_entries: np.ndarray | None = None,
        both_triangles: bool = False,
    ) -> None:
        self.program = program
        self.variables = np.arange(program.size) if variables is None else variables
        self.rows = np.arange(program.rows) if rows is None else rows
        self.seconds = 0.0
        """Time spent in functions (s)."""
        self.deadline = np.inf
        """Clock (s) from which values are NaN: stops solvers without a time limit of their own."""
        self.timed_out = False
        """Whether the deadline has passed."""
        self._values: tuple[bytes, float, Numbers] | None = None
        self._slopes: tuple[bytes, Numbers, Numbers] | None = None
        to_variable, to_row = np.argsort(self.variables), np.argsort(self.rows)
        row, column = program.jacobian_entries
        positions = to_row[row], to_variable[column]
        self._order = np.lexsort(positions)
        self._jacobian_scale = (program.row_scale[row] * program.scale[column])[self._order]
        is_one = np.zeros(len(row), dtype=bool)
        is_one[[] if unit_entries is None else unit_entries] = True
        self._ones = np.flatnonzero(is_one[self._order])
        self.jacobian_sparsity = sparsity_pattern(
            program.rows, program.size, *(part[self._order] for part in positions)
        )
        row, column, self._sums = program.hessian_sums
        ends = np.stack([to_variable[row], to_variable[column]])
        ends = np.concatenate([ends, ends[::-1, row != column]], axis=1) if both_triangles else ends
        entries = np.arange(len(row))
        entries = np.concatenate([entries, entries[row != column]]) if both_triangles else entries
        if not both_triangles:
            ends = np.sort(ends, axis=0)
        order = np.lexsort((ends[0], ends[1]))
        self._entries = entries[order]
        self.hessian_sparsity = sparsity_pattern(program.size, program.size, *ends[:, order])

    def to_solver(self, x: Numbers) -> Numbers:
        """Unscaled variables in the order and units of the solver."""
        return (x / self.program.scale)[self.variables]

    def from_solver(self, y: Numbers) -> Numbers:
        """Variables of the solver as unscaled ones."""
        x = np.empty(self.program.size)
        x[self.variables] = y
        return x * self.program.scale

    def bounds(self) -> tuple[Numbers, Numbers]:
        """Bounds of the rows in the order and units of the solver."""
        scale = self.program.row_scale
        ends = self.program.lower * scale, self.program.upper * scale
        low, high = np.minimum(*ends), np.maximum(*ends)
        return low[self.rows], high[self.rows]

    def multipliers(self, lam: Numbers) -> Numbers:
        """Multipliers of the unscaled rows."""
        own = np.empty(self.program.rows)
        own[self.rows] = lam
        return own * self.program.row_scale

    def bound_multipliers(self, lam: Numbers) -> Numbers:
        """Multipliers of the bounds of unscaled variables."""
        own = np.empty(self.program.size)
        own[self.variables] = lam
        return own / self.program.scale

    def objective_and_rows(self, y: Numbers) -> tuple[float, Numbers]:
        """Objective and rows."""
        if time.perf_counter() > self.deadline:
            self.timed_out = True
            return np.nan, np.full(self.program.rows, np.nan)
        key = y.tobytes()
        if self._values is None or self._values[0] != key:
            began = time.perf_counter()
            costs, rows = self.program.evaluate(self.from_solver(y))
            total = sum(float(c.sum()) for c in costs)
            self._values = (key, total, (rows * self.program.row_scale)[self.rows])
            self.seconds += time.perf_counter() - began
        return self._values[1:]

    def gradient_and_jacobian(self, y: Numbers) -> tuple[Numbers, Numbers]:
        """Gradient of the objective, nonzeros of the Jacobian of the rows."""
        key = y.tobytes()
        if self._slopes is None or self._slopes[0] != key:
            began = time.perf_counter()
            gradients, entries = self.program.first_derivatives(self.from_solver(y))
            jacobian = entries[self._order] * self._jacobian_scale
            jacobian[self._ones] = 1.0
            gradient = (self.program.gradient_sums @ gradients)[self.variables]
            self._slopes = (key, gradient, jacobian)
            self.seconds += time.perf_counter() - began
        return self._slopes[1:]

    def hessian(self, y: Numbers, weight: float, lam: Numbers) -> Numbers:
        """Nonzeros of the Hessian of the Lagrangian."""
        began = time.perf_counter()
        entries = self.program.second_derivatives(
            self.from_solver(y), weight, self.multipliers(lam)
        )
        summed = (self._sums @ entries)[self._entries]
        self.seconds += time.perf_counter() - began
        return summed

    def lagrangian_gradient(self, y: Numbers, weight: float, lam: Numbers) -> Numbers:
        """The gradient of the Lagrangian."""
        gradient, entries = self.gradient_and_jacobian(y)
        row, column = self.jacobian_sparsity.get_triplet()
        weighted = np.bincount(column, entries * lam[row], minlength=self.program.size)
        return weight * gradient + weighted

    def ipopt(self) -> dict[str, NlpCallback]:
        """Callbacks for the IPOPT plug-in."""
        signatures = self._signatures()
        return _by_name(
            NlpCallback(
                "nlp_grad_f",
                signatures.at,
                [signatures.f, signatures.gradient],
                self._value_and_gradient,
            ),
            NlpCallback(
                "nlp_hess_l",
                signatures.weighted,
                [("triu_hess_gamma_x_x", self.hessian_sparsity)],
                lambda y, p, weight, lam: [self.hessian(y, float(weight[0]), lam)],
            ),
            *self._common(signatures),
        )

    def fatrop(self) -> dict[str, NlpCallback]:
        """Callbacks for the FATROP plug-in."""
        signatures = self._signatures()
        return _by_name(
            NlpCallback(
                "nlp_grad_f",
                signatures.at,
                [signatures.gradient],
                lambda y, p: [self.gradient_and_jacobian(y)[0]],
            ),
            NlpCallback(
                "nlp_hess_l",
                signatures.weighted,
                [signatures.lagrangian, ("hess_gamma_x_x", self.hessian_sparsity)],
                lambda y, p, weight, lam: [
                    self.lagrangian_gradient(y, float(weight[0]), lam),
                    self.hessian(y, float(weight[0]), lam),
                ],
            ),
            *self._common(signatures),
        )

    def _value_and_gradient(self, y: Numbers, _: Numbers) -> list[Any]:
        return [self.objective_and_rows(y)[0], self.gradient_and_jacobian(y)[0]]

    def _common(self, signatures: _Signatures) -> list[NlpCallback]:
        jacobian = ("jac_g_x", self.jacobian_sparsity)
        return [
            NlpCallback(
                "nlp",
                signatures.at,
                [signatures.f, signatures.g],
                lambda y, p: list(self.objective_and_rows(y)),
            ),
            NlpCallback(
                "nlp_f", signatures.at, [signatures.f], lambda y, p: [self.objective_and_rows(y)[0]]
            ),
            NlpCallback(
                "nlp_g", signatures.at, [signatures.g], lambda y, p: [self.objective_and_rows(y)[1]]
            ),
            NlpCallback(
                "nlp_jac_g",
                signatures.at,
                [signatures.g, jacobian],
                lambda y, p: [self.objective_and_rows(y)[1], self.gradient_and_jacobian(y)[1]],
            ),
            NlpCallback(
                "nlp_grad",
                signatures.weighted,
                [
                    signatures.f,
                    signatures.g,
                    signatures.lagrangian,
                    ("grad_gamma_p", ca.Sparsity.dense(0, 1)),
                ],
                lambda y, p, weight, lam: [
                    *self.objective_and_rows(y),
                    self.lagrangian_gradient(y, float(weight[0]), lam),
                    np.zeros(0),
                ],
            ),
        ]

    def _signatures(self) -> _Signatures:
        dense, scalar = ca.Sparsity.dense, ca.Sparsity.dense(1, 1)
        size, rows = self.program.size, self.program.rows
        at = [("x", dense(size)), ("p", dense(0, 1))]
        return _Signatures(
            at,
            [*at, ("lam_f", scalar), ("lam_g", dense(rows))],
            ("f", scalar),
            ("g", dense(rows)),
            ("grad_f_x", dense(size)),
            ("grad_gamma_x", dense(size)),
        )


@dataclass(frozen=True, eq=False)
class _Signatures:
    """Names and sparsities of inputs and outputs that CasADi expects."""

    at: list[NamedSparsity]
    weighted: list[NamedSparsity]
    f: NamedSparsity
    g: NamedSparsity
    gradient: NamedSparsity
    lagrangian: NamedSparsity


def _by_name(*calls: NlpCallback) -> dict[str, NlpCallback]:
    return {call.name(): call for call in calls}


def sparsity_pattern(rows: int, columns: int, row: np.ndarray, column: np.ndarray) -> ca.Sparsity:
    """The sparsity of entries that are sorted by column, then row."""
    starts = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=columns))])
    return ca.Sparsity(rows, columns, starts.tolist(), row.tolist())
