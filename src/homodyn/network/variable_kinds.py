"""Kinds of variables: state, discrete, piecewise constant, parameter or algebraic."""

from __future__ import annotations

import numpy as np

from homodyn.foundation.text import unknown_name
from homodyn.network.constant_folding import constant_value
from homodyn.network.formula import ParsedFormula
from homodyn.network.scope import Scope
from homodyn.network.tree import Edge, Equation, Node, Variable

Equations = dict[tuple[Variable, int], list[tuple[Equation, Node | Edge]]]
"""Equations of the value (0) or the rate (1) of a variable, with the node or edge of each."""


def equations_by_variable(network: Node) -> Equations:
    """All equations of a network by variable.

    Args:
        network: The network.

    Returns:
        The equations.

    Raises:
        NetworkError: An equation is for an unknown variable.
    """
    found: Equations = {}
    for holder in network.walk():
        for equation in holder.equations:
            target, name = equation.target(holder)
            if name not in target.variables:
                raise equation.expression.error(
                    f"{target.path or 'the network'} has "
                    + unknown_name("variable", name, target.variables)
                )
            variable = target.variables[name]
            found.setdefault((variable, equation.order), []).append((equation, holder))
    return found


def classify_variables(
    network: Node, equations: Equations
) -> tuple[dict[Variable, str], dict[Variable, np.ndarray]]:
    """The kind of every variable.

    Args:
        network: The network.
        equations: Its equations by variable.

    Returns:
        The kinds, and the values of variables that are constants.
    """
    set_by_events = {
        event_target(node, name, formula)
        for node in network.walk()
        if isinstance(node, Node)
        for event in node.events
        for name, formula in event.assignments
    }
    kinds: dict[Variable, str] = {}
    numbers: dict[Variable, np.ndarray] = {}
    for holder in network.walk():
        for variable in holder.variables.values():
            number = constant_value(variable.expression)
            if number is not None:
                numbers[variable] = number
            if (variable, 1) in equations:
                kind = "state"
            elif "discrete" in variable.flags:
                kind = "discrete"
            elif variable in set_by_events or "once" in variable.flags:
                kind = "piecewise_constant"
            elif (variable, 0) in equations:
                kind = "algebraic"
            else:
                kind = "parameter" if number is not None else "algebraic"
            kinds[variable] = kind
    return kinds, numbers


def event_target(node: Node, name: str, formula: ParsedFormula) -> Variable:
    """The variable that an event of a node sets."""
    scope = Scope(node, {})
    found = scope.find(tuple(name.split(".")), "variables")
    if not isinstance(found, Variable):
        raise formula.error(unknown_name("variable", name, scope.names((name,), "variables")))
    return found
