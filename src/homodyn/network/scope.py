"""What formulas can refer to: the world they are evaluated in, and where names are looked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from homodyn.network.tree import Edge, NativeFunction, NetworkFunction, Node, Variable


class Environment:
    """What formulas can refer to beyond numbers; this one holds nothing but constants."""

    def value(self, variable: Variable) -> ca.SX:
        """The value of a variable."""
        raise NotImplementedError

    def number(self, variable: Variable) -> np.ndarray | None:
        """The value of a variable that is a plain number, which sizes and indices need."""
        raise NotImplementedError

    def time(self) -> ca.SX | None:
        """The time, if there is one."""
        return None

    def rate(self, value: ca.SX) -> ca.SX:
        """The time derivative of a value."""
        return ca.SX.zeros(*value.shape)

    def draw(self, key: tuple[Any, ...], shape: tuple[int, int]) -> ca.SX:
        """Numbers between 0 and 1, the same for the same key during a step."""
        raise NotImplementedError

    def delayed_value(self, key: tuple[Any, ...], value: ca.SX, start: Any, delay: ca.SX) -> ca.SX:
        """An earlier value."""
        raise NotImplementedError


@dataclass(frozen=True)
class Scope:
    """Where a formula stands: what holds it, and the arguments of a function around it."""

    owner: Node | Edge | None
    local: Mapping[str, ca.SX]

    def holders(self) -> Iterator[Node | Edge]:
        """Where names are looked for: a node and those around it; an edge, its input, its node."""
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
        """A variable or function by its dotted name."""
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
        """What could have been meant."""
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
