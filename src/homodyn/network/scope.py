"""Environments in which formulas are evaluated, and scopes in which names are looked up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from homodyn.network.tree import Edge, NativeFunction, NetworkFunction, Node, Variable


class Environment:
    """Values of the names in formulas; the base class has constants only."""

    def value(self, variable: Variable) -> ca.SX:
        """The value of a variable."""
        raise NotImplementedError

    def number(self, variable: Variable) -> np.ndarray | None:
        """The number of a variable for sizes and indices; None if it varies."""
        raise NotImplementedError

    def time(self) -> ca.SX | None:
        """The symbol of time; None if there is no time."""
        return None

    def rate(self, value: ca.SX) -> ca.SX:
        """The time derivative of a value."""
        return ca.SX.zeros(*value.shape)

    def draw(self, key: tuple[Any, ...], shape: tuple[int, int]) -> ca.SX:
        """Random numbers between 0 and 1, equal for equal keys during a step."""
        raise NotImplementedError

    def delayed_value(self, key: tuple[Any, ...], value: ca.SX, start: Any, delay: ca.SX) -> ca.SX:
        """The value of a formula at an earlier time."""
        raise NotImplementedError


@dataclass(frozen=True)
class Scope:
    """The scope of a formula."""

    owner: Node | Edge | None
    """Node or edge that contains the formula."""
    local: Mapping[str, ca.SX]
    """Arguments of the function that the formula is the body of."""

    def holders(self) -> Iterator[Node | Edge]:
        """Where names are looked up, in order.

        A node and its parents; for an edge the edge, its input node, and its parents.
        """
        owner = self.owner
        if isinstance(owner, Edge):
            yield owner
            yield owner.input
            owner = owner.parent
        while owner is not None:
            yield owner
            owner = owner.parent

    def find(
        self, parts: tuple[str, ...], kind: str
    ) -> Variable | NetworkFunction | NativeFunction | None:
        """Look up a variable or function.

        Args:
            parts: Parts of the dotted name.
            kind: ``"variables"`` or ``"functions"``.

        Returns:
            The variable or function; None if there is none.
        """
        for holder in self.holders():
            here: Any = holder
            for part in parts[:-1]:
                here = _member(here, part)
                if here is None:
                    break
            if here is not None and parts[-1] in getattr(here, kind):
                return getattr(here, kind)[parts[-1]]
        return None

    def names(self, parts: tuple[str, ...], kind: str) -> list[str]:
        """Names that are accepted, for messages.

        Args:
            parts: Parts of the dotted name that was not found.
            kind: ``"variables"`` or ``"functions"``.

        Returns:
            The names.
        """
        known: list[str] = [*self.local] if kind == "variables" else []
        for holder in self.holders():
            here: Any = holder
            for part in parts[:-1]:
                here = _member(here, part) if here is not None else None
            if here is not None:
                prefix = "".join(f"{part}." for part in parts[:-1])
                known += [prefix + name for name in getattr(here, kind)]
            elif isinstance(holder, Node):
                known += [f"{name}.{parts[-1]}" for name in holder.nodes]
        return known


def _member(holder: Node | Edge, part: str) -> Node | Edge | None:
    if isinstance(holder, Edge):
        return {"input": holder.input, "output": holder.output}.get(part)
    return holder.nodes.get(part) or holder.edges.get(part)
