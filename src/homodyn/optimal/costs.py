"""Sums of what terms cost, and the same as squares for Hessians of Gauss and Newton."""

from __future__ import annotations

import casadi as ca

from homodyn.optimal.terms import Term
from homodyn.spatial import Array


class Costs:
    """Costs by name, and the same as squares of numbers where they are that."""

    def __init__(self) -> None:
        self.named: dict[str, Array] = {}
        self.squares: list[ca.SX] = []
        self.plain = ca.SX(0)

    def add(self, term: Term, value: Array, target: Array | None, factor: Array = 1.0) -> None:
        """``factor`` times what a term says of a value."""
        cost = factor * term.cost(value, target)
        self.named[term.name] = self.named.get(term.name, 0) + cost
        roots = term.roots(value, target)
        if roots is None:
            self.plain = self.plain + cost
        else:
            self.squares.append(ca.SX(ca.sqrt(factor) * roots))
