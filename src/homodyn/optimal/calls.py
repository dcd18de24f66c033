"""A program as the functions that a solver calls, over the memory that the solver hands out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from homodyn.optimal.program import Program

Numbers = np.ndarray
Form = tuple[str, ca.Sparsity]


class Call(ca.Callback):
    """A Python function on arrays as one that solvers of CasADi take; nothing is copied."""

    def __init__(
        self,
        name: str,
        inputs: Sequence[Form],
        outputs: Sequence[Form],
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
        """Evaluate; CasADi turns what is not zero into a failure of the solver."""
        given = [
            np.zeros(sparsity.nnz()) if a is None else np.frombuffer(a, dtype=float)
            for a, (_, sparsity) in zip(arguments, self._in, strict=True)
        ]
        for place, values in zip(results, self._function(*given), strict=True):
            if place is not None:
                np.frombuffer(place, dtype=float)[:] = values
        return 0


class Calls:
    """``f``, ``g`` and their derivatives in scaled units; what was just computed is kept.

    ``unknowns`` and ``rows`` tell in which order a solver has them, if in another than the program.
    ``ones`` are entries of the Jacobian that are one but for rounding.
    """

    def __init__(
        self,
        program: Program,
        unknowns: np.ndarray | None = None,
        rows: np.ndarray | None = None,
        *,
        ones: np.ndarray | None = None,
        both_triangles: bool = False,
    ) -> None:
        self.program = program
        self.unknowns = np.arange(program.size) if unknowns is None else unknowns
        self.rows = np.arange(program.rows) if rows is None else rows
        self.seconds = 0.0
        """Spent in functions."""
        self.deadline = np.inf
        """When values cease to be numbers: the end for solvers without a clock of their own."""
        self.late = False
        """Whether that has happened."""
        self._values: tuple[bytes, float, Numbers] | None = None
        self._slopes: tuple[bytes, Numbers, Numbers] | None = None
        to_unknown, to_row = np.argsort(self.unknowns), np.argsort(self.rows)
        row, column = program.jacobian_places
        moved = to_row[row], to_unknown[column]
        self._order = np.lexsort(moved)
        self._jacobian_scale = (program.row_scale[row] * program.scale[column])[self._order]
        is_one = np.zeros(len(row), dtype=bool)
        is_one[[] if ones is None else ones] = True
        self._ones = np.flatnonzero(is_one[self._order])
        self.jacobian_sparsity = pattern(
            program.rows, program.size, *(part[self._order] for part in moved)
        )
        row, column, self._sums = program.hessian_sums
        ends = np.stack([to_unknown[row], to_unknown[column]])
        ends = np.concatenate([ends, ends[::-1, row != column]], axis=1) if both_triangles else ends
        entries = np.arange(len(row))
        entries = np.concatenate([entries, entries[row != column]]) if both_triangles else entries
        if not both_triangles:
            ends = np.sort(ends, axis=0)
        order = np.lexsort((ends[0], ends[1]))
        self._entries = entries[order]
        self.hessian_sparsity = pattern(program.size, program.size, *ends[:, order])

    def start(self, x: Numbers) -> Numbers:
        """Unknowns in own units as the solver has them."""
        return (x / self.program.scale)[self.unknowns]

    def result(self, y: Numbers) -> Numbers:
        """The other way round."""
        x = np.empty(self.program.size)
        x[self.unknowns] = y
        return x * self.program.scale

    def bounds(self) -> tuple[Numbers, Numbers]:
        """Of the rows, as the solver has them."""
        scale = self.program.row_scale
        ends = self.program.lower * scale, self.program.upper * scale
        low, high = np.minimum(*ends), np.maximum(*ends)
        return low[self.rows], high[self.rows]

    def multipliers(self, lam: Numbers) -> Numbers:
        """Of the rows in own units."""
        own = np.empty(self.program.rows)
        own[self.rows] = lam
        return own * self.program.row_scale

    def bound_multipliers(self, lam: Numbers) -> Numbers:
        """Of the bounds of unknowns in own units."""
        own = np.empty(self.program.size)
        own[self.unknowns] = lam
        return own / self.program.scale

    def value(self, y: Numbers) -> tuple[float, Numbers]:
        """Objective and rows."""
        if time.perf_counter() > self.deadline:
            self.late = True
            return np.nan, np.full(self.program.rows, np.nan)
        key = y.tobytes()
        if self._values is None or self._values[0] != key:
            began = time.perf_counter()
            costs, rows = self.program.evaluate(self.result(y))
            total = sum(float(c.sum()) for c in costs)
            self._values = (key, total, (rows * self.program.row_scale)[self.rows])
            self.seconds += time.perf_counter() - began
        return self._values[1:]

    def slope(self, y: Numbers) -> tuple[Numbers, Numbers]:
        """Gradient of the objective, entries of the Jacobian of the rows."""
        key = y.tobytes()
        if self._slopes is None or self._slopes[0] != key:
            began = time.perf_counter()
            gradients, entries = self.program.slopes(self.result(y))
            jacobian = entries[self._order] * self._jacobian_scale
            jacobian[self._ones] = 1.0
            gradient = (self.program.gradient_sums @ gradients)[self.unknowns]
            self._slopes = (key, gradient, jacobian)
            self.seconds += time.perf_counter() - began
        return self._slopes[1:]

    def curvature(self, y: Numbers, weight: float, lam: Numbers) -> Numbers:
        """Entries of the Hessian of the Lagrangian."""
        began = time.perf_counter()
        entries = self.program.curvatures(self.result(y), weight, self.multipliers(lam))
        summed = (self._sums @ entries)[self._entries]
        self.seconds += time.perf_counter() - began
        return summed

    def lagrangian_slope(self, y: Numbers, weight: float, lam: Numbers) -> Numbers:
        """The gradient of the Lagrangian."""
        gradient, entries = self.slope(y)
        row, column = self.jacobian_sparsity.get_triplet()
        pushed = np.bincount(column, entries * lam[row], minlength=self.program.size)
        return weight * gradient + pushed

    def ipopt(self) -> dict[str, Call]:
        """In the form that the plug-in of IPOPT asks for."""
        forms = self._forms()
        return _named(
            Call("nlp_grad_f", forms.at, [forms.f, forms.gradient], self._value_and_gradient),
            Call(
                "nlp_hess_l",
                forms.weighted,
                [("triu_hess_gamma_x_x", self.hessian_sparsity)],
                lambda y, p, weight, lam: [self.curvature(y, float(weight[0]), lam)],
            ),
            *self._common(forms),
        )

    def fatrop(self) -> dict[str, Call]:
        """In the form that the plug-in of FATROP asks for."""
        forms = self._forms()
        return _named(
            Call("nlp_grad_f", forms.at, [forms.gradient], lambda y, p: [self.slope(y)[0]]),
            Call(
                "nlp_hess_l",
                forms.weighted,
                [forms.lagrangian, ("hess_gamma_x_x", self.hessian_sparsity)],
                lambda y, p, weight, lam: [
                    self.lagrangian_slope(y, float(weight[0]), lam),
                    self.curvature(y, float(weight[0]), lam),
                ],
            ),
            *self._common(forms),
        )

    def _value_and_gradient(self, y: Numbers, _: Numbers) -> list[Any]:
        return [self.value(y)[0], self.slope(y)[0]]

    def _common(self, forms: _Forms) -> list[Call]:
        jacobian = ("jac_g_x", self.jacobian_sparsity)
        return [
            Call("nlp", forms.at, [forms.f, forms.g], lambda y, p: list(self.value(y))),
            Call("nlp_f", forms.at, [forms.f], lambda y, p: [self.value(y)[0]]),
            Call("nlp_g", forms.at, [forms.g], lambda y, p: [self.value(y)[1]]),
            Call(
                "nlp_jac_g",
                forms.at,
                [forms.g, jacobian],
                lambda y, p: [self.value(y)[1], self.slope(y)[1]],
            ),
            Call(
                "nlp_grad",
                forms.weighted,
                [forms.f, forms.g, forms.lagrangian, ("grad_gamma_p", ca.Sparsity.dense(0, 1))],
                lambda y, p, weight, lam: [
                    *self.value(y),
                    self.lagrangian_slope(y, float(weight[0]), lam),
                    np.zeros(0),
                ],
            ),
        ]

    def _forms(self) -> _Forms:
        dense, scalar = ca.Sparsity.dense, ca.Sparsity.dense(1, 1)
        size, rows = self.program.size, self.program.rows
        at = [("x", dense(size)), ("p", dense(0, 1))]
        return _Forms(
            at,
            [*at, ("lam_f", scalar), ("lam_g", dense(rows))],
            ("f", scalar),
            ("g", dense(rows)),
            ("grad_f_x", dense(size)),
            ("grad_gamma_x", dense(size)),
        )


@dataclass(frozen=True, eq=False)
class _Forms:
    """Names and sparsities that CasADi expects."""

    at: list[Form]
    weighted: list[Form]
    f: Form
    g: Form
    gradient: Form
    lagrangian: Form


def _named(*calls: Call) -> dict[str, Call]:
    return {call.name(): call for call in calls}


def pattern(rows: int, columns: int, row: np.ndarray, column: np.ndarray) -> ca.Sparsity:
    """The sparsity of entries that are sorted by column, then row."""
    starts = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=columns))])
    return ca.Sparsity(rows, columns, starts.tolist(), row.tolist())
