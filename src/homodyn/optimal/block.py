"""Functions applied at many places of one long vector of unknowns, with sparse derivatives.

Everything a transcription writes down is a `Block`: one symbolic function of a short vector ``z``
(the unknowns of one interval, of one boundary, ...) that is applied at ``count`` places. Its
Jacobian and its Lagrangian's Hessian are derived once, for the short vector (`derivatives`); the
entries for all places are then moved to where they belong in the matrices of the whole problem
(`program`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import casadi as ca
import numpy as np

from homodyn.optimal import derivatives
from homodyn.symbolic.lazy_kernel import DerivedGraph, LazyKernel
from homodyn.symbolic.trace import Port


def _nothing() -> ca.SX:
    return ca.SX(0, 1)


@dataclass(frozen=True, eq=False)
class Block:
    """Costs and rows as functions of ``z`` and ``data``, at each of several places.

    They may be written with further symbols ``inner``, which stand for ``outer``: the state in the
    middle of an interval, say. Derivatives are then formed in these first, where they are few, and
    carried over to ``z`` by the chain rule.
    """

    name: str
    z: ca.SX
    data: ca.SX
    costs: ca.SX
    """One entry for each of ``terms``."""
    rows: ca.SX
    terms: tuple[str, ...]
    row_names: tuple[str, ...]
    index: np.ndarray
    """(places, len(z)): which unknowns ``z`` stands for; none of them twice in one place."""
    values: np.ndarray
    """(places, len(data)): numbers that differ from place to place."""
    lower: np.ndarray
    """(places, rows)."""
    upper: np.ndarray
    places: tuple[str, ...]
    """What to call each place."""
    inner: ca.SX = field(default_factory=_nothing)
    outer: ca.SX = field(default_factory=_nothing)
    """In ``z`` and ``data``."""
    squares: ca.SX = field(default_factory=_nothing)
    """Numbers whose squares are added up in costs."""
    plain: ca.SX = field(default_factory=lambda: ca.SX(0))
    """The sum of the costs that are no such squares."""

    @property
    def count(self) -> int:
        """Number of places."""
        return len(self.places)

    def at(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Costs (places, terms) and rows (places, rows) at numbers for all unknowns."""
        costs, rows = self.value(x[self.index], self.values)
        return costs, rows

    @cached_property
    def text(self) -> str:
        """What the block says, apart from where it says it."""
        symbols = [self.z, self.inner, self.data]
        said = [self.costs, self.rows, self.outer, self.squares, self.plain]
        return str(ca.Function("text", symbols, said).serialize())

    @cached_property
    def value(self) -> LazyKernel:
        """Costs and rows."""
        return self._kernel("value", (), lambda: derivatives.value(self))

    @cached_property
    def slope(self) -> LazyKernel:
        """The gradient of the sum of costs, and the entries of the Jacobian of the rows."""
        return self._kernel("slope", (), lambda: derivatives.slope(self))

    @cached_property
    def curvature(self) -> LazyKernel:
        """Entries of the Hessian of ``weight costs + multipliers . rows``, upper triangle."""
        ports = (Port("weight", ()), Port("multipliers", (self.rows.shape[0],)))
        return self._kernel("curvature", ports, lambda: derivatives.curvature(self))

    @cached_property
    def gauss_newton(self) -> LazyKernel:
        """The same without the curvature of rows, and of the numbers whose squares are costs."""
        ports = (Port("weight", ()),)
        return self._kernel("gauss_newton", ports, lambda: derivatives.gauss_newton(self))

    def _kernel(
        self, kind: str, more: tuple[Port, ...], derive: Callable[[], DerivedGraph]
    ) -> LazyKernel:
        ports = (Port("z", (self.z.shape[0],)), Port("data", (self.data.shape[0],)), *more)
        text = (kind, str(derivatives.VERSION), self.text)
        return LazyKernel(f"{kind} of {self.name}", text, ports, derive)
