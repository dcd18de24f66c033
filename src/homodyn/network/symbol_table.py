"""Symbols of a system of equations, kept in columns; and what is known of its events and delays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import casadi as ca

from homodyn.network.event_conditions import ConditionBranch, ConditionLeaf
from homodyn.network.formula import ParsedFormula
from homodyn.network.scope import Scope
from homodyn.network.tree import NetworkEvent, Node

Shape = tuple[int, int]


@dataclass(frozen=True)
class MonitoredEvent:
    """An event of a node, its condition as a tree over the zeros, and where its node's state is."""

    node: Node
    event: NetworkEvent
    condition: ConditionLeaf | ConditionBranch
    state_index: int
    """Which entry of the event-states belongs to the node."""


@dataclass
class DelayedValue:
    """A delayed value: the formula now, the formula for the time before the start, the delay."""

    symbol: ca.SX
    value: ca.SX
    start: tuple[ParsedFormula, Scope]
    delay: ca.SX
    offset: int


@dataclass
class SymbolTable:
    """Symbols in one column, given out piece by piece."""

    label: str
    symbols: list[ca.SX] = field(default_factory=list)
    slots: dict[Any, tuple[int, Shape]] = field(default_factory=dict)
    length: int = 0

    def allocate(self, key: Any, shape: Shape) -> ca.SX:
        symbol = ca.SX.sym(f"{self.label}{len(self.symbols)}", *shape)
        self.slots[key] = (self.length, shape)
        self.length += symbol.numel()
        self.symbols.append(symbol)
        return symbol

    def vector(self) -> ca.SX:
        """All symbols, or one that stands for none."""
        if not self.symbols:
            return ca.SX.sym(f"no_{self.label}", 1)
        return ca.vertcat(*[ca.vec(symbol) for symbol in self.symbols])


def element_hashes(symbol: ca.SX) -> list[int]:
    """By which entries of a symbol are told apart."""
    return [symbol[k].element_hash() for k in range(symbol.numel())]


def stack_column(values: list[ca.SX]) -> ca.SX:
    """All entries in one column; a zero for none."""
    if not values:
        return ca.SX.zeros(1)
    return ca.densify(ca.vertcat(*[ca.vec(value) for value in values]))
