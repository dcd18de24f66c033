"""Which variable of a network is what, told by the equations that point at it."""

from __future__ import annotations

import numpy as np

from homodyn.foundation.text import unknown_name
from homodyn.network.constants import constant
from homodyn.network.formula import Expression
from homodyn.network.scope import Scope
from homodyn.network.tree import Edge, Node, Projection, Variable

Equations = dict[tuple[Variable, int], list[tuple[Projection, Node | Edge]]]
"""Equations for the value (0) or the rate (1) of a variable, with what holds them."""


def equations(network: Node) -> Equations:
    """All equations, by the variable they point at."""
    found: Equations = {}
    for holder in network.walk():
        target = holder.output if isinstance(holder, Edge) else holder
        for projection in holder.projections:
            if projection.name not in target.variables:
                raise projection.expression.error(
                    f"{target.path or 'the network'} has "
                    + unknown_name("variable", projection.name, target.variables)
                )
            variable = target.variables[projection.name]
            found.setdefault((variable, projection.order), []).append((projection, holder))
    return found


def kinds(
    network: Node, pointing: Equations
) -> tuple[dict[Variable, str], dict[Variable, np.ndarray]]:
    """The kind of every variable, and the numbers of those that are written as one."""
    set_by_events = {
        event_target(node, name, given)
        for node in network.walk()
        if isinstance(node, Node)
        for event in node.events
        for name, given in event.sets
    }
    found: dict[Variable, str] = {}
    numbers: dict[Variable, np.ndarray] = {}
    for holder in network.walk():
        for variable in holder.variables.values():
            number = constant(variable.expression)
            if number is not None:
                numbers[variable] = number
            if (variable, 1) in pointing:
                kind = "state"
            elif "discrete" in variable.flags:
                kind = "discrete"
            elif variable in set_by_events or "once" in variable.flags:
                kind = "held"
            elif (variable, 0) in pointing:
                kind = "normal"
            else:
                kind = "parameter" if number is not None else "normal"
            found[variable] = kind
    return found, numbers


def event_target(node: Node, name: str, given: Expression) -> Variable:
    """The variable that an event of a node sets."""
    scope = Scope(node, {})
    found = scope.find(tuple(name.split(".")), "variables")
    if not isinstance(found, Variable):
        raise given.error(unknown_name("variable", name, scope.names((name,), "variables")))
    return found
