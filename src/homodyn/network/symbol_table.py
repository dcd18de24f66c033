"""Tables of symbols of a system of equations, its events and its delayed values."""

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
    """An event of a node."""

    node: Node
    event: NetworkEvent
    condition: ConditionLeaf | ConditionBranch
    """Its condition as a tree over the zero functions."""
    state_index: int
    """Index of the node in the event-states."""


@dataclass
class DelayedValue:
    """A delayed value."""

    symbol: ca.SX
    """Symbol of the delayed value."""
    value: ca.SX
    """The formula at the current time."""
    start: tuple[ParsedFormula, Scope]
    """The formula for times before the start."""
    delay: ca.SX
    """The delay (s)."""
    offset: int
    """Offset in the column of delayed values."""


@dataclass
class SymbolTable:
    """A column of symbols that grows with every allocation."""

    label: str
    symbols: list[ca.SX] = field(default_factory=list)
    slots: dict[Any, tuple[int, Shape]] = field(default_factory=dict)
    length: int = 0

    def allocate(self, key: Any, shape: Shape) -> ca.SX:
        """New symbols of a shape, which `slots` finds by their key."""
        symbol = ca.SX.sym(f"{self.label}{len(self.symbols)}", *shape)
        self.slots[key] = (self.length, shape)
        self.length += symbol.numel()
        self.symbols.append(symbol)
        return symbol

    def vector(self) -> ca.SX:
        """All symbols in one column; a placeholder if there are none."""
        if not self.symbols:
            return ca.SX.sym(f"no_{self.label}", 1)
        return ca.vertcat(*[ca.vec(symbol) for symbol in self.symbols])


def element_hashes(symbol: ca.SX) -> list[int]:
    """Hashes that identify the entries of a symbol."""
    return [symbol[k].element_hash() for k in range(symbol.numel())]


def stack_column(values: list[ca.SX]) -> ca.SX:
    """All entries in one column; a single zero if there are none."""
    if not values:
        return ca.SX.zeros(1)
    return ca.densify(ca.vertcat(*[ca.vec(value) for value in values]))
