"""Sums of objective terms, also as squared residuals for Gauss-Newton Hessians."""

from __future__ import annotations

import casadi as ca

from homodyn.optimal.statement.objective_terms import ObjectiveTerm
from homodyn.spatial import Array


class CostSums:
    """Costs by term; squared terms also as residuals whose squares add up to the cost."""

    def __init__(self) -> None:
        self.by_term: dict[str, Array] = {}
        self.residuals: list[ca.SX] = []
        self.plain = ca.SX(0)

    def add(
        self, term: ObjectiveTerm, value: Array, target: Array | None, factor: Array = 1.0
    ) -> None:
        """Add ``factor`` times the cost of a term at a value."""
        cost = factor * term.cost(value, target)
        self.by_term[term.name] = self.by_term.get(term.name, 0) + cost
        residuals = term.residuals(value, target)
        if residuals is None:
            self.plain = self.plain + cost
        else:
            self.residuals.append(ca.SX(ca.sqrt(factor) * residuals))
