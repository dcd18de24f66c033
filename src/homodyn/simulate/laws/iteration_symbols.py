"""Symbols of one Newton iteration, which is traced once and repeated in a loop."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from homodyn.simulate.rows.implicit_rows import ImplicitRow
from homodyn.spatial import Array


@dataclass(frozen=True, eq=False)
class IterationSymbols:
    """Symbols of the state of the iterations, and of their constants."""

    w: Array
    slope: Array
    merit: Array
    """Size of the slope."""
    secants: Array
    """Number of steps with secants before the next one of Newton's."""
    patience: Array
    """Number of steps with secants after the next refusal."""
    count: Array
    flag: Array
    before: Array
    """Velocities before the step."""
    load: Array
    """Impulse besides the rows."""
    limit: Array
    """Largest slope at the end."""
    H: Array
    inertia: Array
    """Nonzeros of the lower triangle of H."""

    @staticmethod
    def of(n: int, H: Array) -> IterationSymbols:
        """Symbols for n degrees of freedom."""
        sizes = {
            "w": n, "slope": n, "merit": 1, "secants": 1, "patience": 1, "count": 1, "flag": 1,
            "before": n, "load": n, "limit": 1,
        }  # fmt: skip
        symbols = {name: ca.SX.sym(name, size) for name, size in sizes.items()}
        lower = ca.SX.sym("H", ca.tril(H).sparsity())
        return IterationSymbols(
            H=ca.tril2symm(lower), inertia=ca.vertcat(*lower.nonzeros()), **symbols
        )

    @property
    def state(self) -> Array:
        """The state as one column."""
        return ca.vertcat(
            self.w, self.slope, self.merit, self.secants, self.patience, self.count, self.flag
        )


class ExpressionSymbols:
    """Expressions and the symbols that replace them; constants are not replaced."""

    def __init__(self) -> None:
        self.symbols: list[Array] = []
        self.values: list[Array] = []

    def of(self, value: Array) -> Array:
        """The symbol that replaces a scalar expression."""
        if not isinstance(value, ca.SX) or value.is_constant():
            return value
        self.symbols.append(ca.SX.sym("x"))
        self.values.append(value)
        return self.symbols[-1]

    def row(self, row: ImplicitRow) -> ImplicitRow:
        """A row with symbols instead of its expressions."""
        return ImplicitRow(
            self.of(row.slope), self.of(row.offset), self.of(row.lower), self.of(row.upper)
        )
