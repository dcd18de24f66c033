"""Which variable of a network is what, told by the equations that point at it."""

from __future__ import annotations

import numpy as np

from homodyn.foundation.text import unknown_name
from homodyn.network.constant_folding import constant_value
from homodyn.network.formula import ParsedFormula
from homodyn.network.scope import Scope
from homodyn.network.tree import Edge, Equation, Node, Variable

Equations = dict[tuple[Variable, int], list[tuple[Equation, Node | Edge]]]
"""Equations for the value (0) or the rate (1) of a variable, with what holds them."""


def equations_by_variable(network: Node) -> Equations:
    """All equations, by the variable they point at."""
    found: Equations = {}
    for holder in network.walk():
        target = holder.output if isinstance(holder, Edge) else holder
        for equation in holder.equations:
            if equation.name not in target.variables:
                raise equation.expression.error(
                    f"{target.path or 'the network'} has "
                    + unknown_name("variable", equation.name, target.variables)
                )
            variable = target.variables[equation.name]
            found.setdefault((variable, equation.order), []).append((equation, holder))
    return found


def classify_variables(
    network: Node, pointing: Equations
) -> tuple[dict[Variable, str], dict[Variable, np.ndarray]]:
    """The kind of every variable, and the numbers of those that are written as one."""
    set_by_events = {
        event_target(node, name, given)
        for node in network.walk()
        if isinstance(node, Node)
        for event in node.events
        for name, given in event.assignments
    }
    found: dict[Variable, str] = {}
    numbers: dict[Variable, np.ndarray] = {}
    for holder in network.walk():
        for variable in holder.variables.values():
            number = constant_value(variable.expression)
            if number is not None:
                numbers[variable] = number
            if (variable, 1) in pointing:
                kind = "state"
            elif "discrete" in variable.flags:
                kind = "discrete"
            elif variable in set_by_events or "once" in variable.flags:
                kind = "piecewise_constant"
            elif (variable, 0) in pointing:
                kind = "algebraic"
            else:
                kind = "parameter" if number is not None else "algebraic"
            found[variable] = kind
    return found, numbers


def event_target(node: Node, name: str, given: ParsedFormula) -> Variable:
    """The variable that an event of a node sets."""
    scope = Scope(node, {})
    found = scope.find(tuple(name.split(".")), "variables")
    if not isinstance(found, Variable):
        raise given.error(unknown_name("variable", name, scope.names((name,), "variables")))
    return found
