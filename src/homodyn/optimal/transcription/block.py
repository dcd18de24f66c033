"""Functions that are evaluated at many points of one long vector of decision variables.

Everything a transcription produces is a `Block`: one symbolic function of a short vector ``z`` (the
variables of one interval, of one boundary, ...) that is evaluated at ``count`` points. Its Jacobian
and the Hessian of its Lagrangian are derived once, for the short vector (`block_derivatives`). The
entries of all points are then placed in the matrices of the whole problem (`homodyn.optimal.nlp`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import casadi as ca
import numpy as np

from homodyn.optimal.transcription import block_derivatives
from homodyn.optimal.transcription.block_derivatives import BlockExpressions
from homodyn.symbolic.lazy_kernel import DerivedGraph, LazyKernel
from homodyn.symbolic.trace import Port


def _empty_column() -> ca.SX:
    return ca.SX(0, 1)


@dataclass(frozen=True, eq=False)
class Block:
    """Costs and rows as functions of ``z`` and ``data``, at each of several points.

    They may be written with further symbols ``inner``, which ``outer`` replaces: the state in the
    middle of an interval, for example. Derivatives are then formed in these few symbols first, and
    carried over to ``z`` by the chain rule.
    """

    name: str
    z: ca.SX
    data: ca.SX
    costs: ca.SX
    """One entry per name in ``terms``."""
    rows: ca.SX
    terms: tuple[str, ...]
    row_names: tuple[str, ...]
    index: np.ndarray
    """(points, len(z)): the decision variables of ``z``, without repetition."""
    values: np.ndarray
    """(points, len(data)): numbers that differ between points."""
    lower: np.ndarray
    """(points, rows)."""
    upper: np.ndarray
    """(points, rows)."""
    point_labels: tuple[str, ...]
    """A label for each point."""
    inner: ca.SX = field(default_factory=_empty_column)
    outer: ca.SX = field(default_factory=_empty_column)
    """In ``z`` and ``data``."""
    residuals: ca.SX = field(default_factory=_empty_column)
    """Numbers whose squares are added up in the costs."""
    plain: ca.SX = field(default_factory=lambda: ca.SX(0))
    """Sum of the costs that are not such squares."""

    @property
    def count(self) -> int:
        """Number of points."""
        return len(self.point_labels)

    def evaluate(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Costs (points, terms) and rows (points, rows) for a vector of decision variables."""
        costs, rows = self.value(x[self.index], self.values)
        return costs, rows

    @cached_property
    def expressions(self) -> BlockExpressions:
        """The expressions of the block, from which derivatives are formed."""
        return BlockExpressions(
            self.z,
            self.data,
            self.costs,
            self.rows,
            self.inner,
            self.outer,
            self.residuals,
            self.plain,
        )

    @cached_property
    def expression_text(self) -> str:
        """Serialized expressions, which identify the compiled code of the block."""
        symbols = [self.z, self.inner, self.data]
        outputs = [self.costs, self.rows, self.outer, self.residuals, self.plain]
        return str(ca.Function("text", symbols, outputs).serialize())

    @cached_property
    def value(self) -> LazyKernel:
        """Costs and rows."""
        return self._kernel("value", (), lambda: block_derivatives.value(self.expressions))

    @cached_property
    def jacobian(self) -> LazyKernel:
        """The gradient of the sum of costs, and the nonzeros of the Jacobian of the rows."""
        return self._kernel(
            "slope", (), lambda: block_derivatives.first_derivatives(self.expressions)
        )

    @cached_property
    def hessian(self) -> LazyKernel:
        """Upper triangle of the Hessian of ``weight costs + multipliers . rows``."""
        ports = (Port("weight", ()), Port("multipliers", (self.rows.shape[0],)))
        return self._kernel(
            "curvature", ports, lambda: block_derivatives.lagrangian_hessian(self.expressions)
        )

    @cached_property
    def gauss_newton(self) -> LazyKernel:
        """The same without the curvature of rows and of residuals."""
        ports = (Port("weight", ()),)
        return self._kernel(
            "gauss_newton", ports, lambda: block_derivatives.gauss_newton_hessian(self.expressions)
        )

    def _kernel(
        self, kind: str, more: tuple[Port, ...], derive: Callable[[], DerivedGraph]
    ) -> LazyKernel:
        ports = (Port("z", (self.z.shape[0],)), Port("data", (self.data.shape[0],)), *more)
        text = (kind, str(block_derivatives.DERIVATION_VERSION), self.expression_text)
        return LazyKernel(f"{kind} of {self.name}", text, ports, derive)
