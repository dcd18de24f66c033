"""Sums of the equations of a variable: of whole variables, of elements, and of event-states."""

from __future__ import annotations

import casadi as ca

from homodyn.foundation.text import unknown_name
from homodyn.network.evaluation import element_indices, evaluate
from homodyn.network.functions import size_text
from homodyn.network.scope import Environment
from homodyn.network.symbol_table import Shape
from homodyn.network.tree import Edge, Equation, Node, Variable


class EventEnvironment(Environment):
    """An environment of formulas with event-states.

    Attributes:
        nodes_with_states: Nodes that have event-states.
        e: Index of the current event-state of each of these nodes.
    """

    nodes_with_states: list[Node]
    e: ca.SX


def sum_equations(
    world: EventEnvironment,
    variable: Variable,
    equations: list[tuple[Equation, Node | Edge]],
    total: ca.SX | None,
    shape: Shape | None = None,
) -> ca.SX:
    """The sum of all equations of a variable.

    A single number is added to all elements of a matrix. Equations that are bound to event-states
    are zero in other event-states.

    Args:
        world: Environment of the formulas.
        variable: The variable.
        equations: Its equations, with the nodes or edges that contain them.
        total: The value of the variable itself; None if equations replace it.
        shape: Size of the sum; that of the first term when left out.

    Returns:
        The sum.

    Raises:
        NetworkError: Sizes differ, or there is neither a value nor an equation.
    """
    for equation, holder in equations:
        term = evaluate(equation.expression, world, holder)
        size = shape or (total.shape if total is not None else term.shape)
        if equation.places is not None:
            if shape is None and total is None:
                raise equation.expression.error(
                    f"{variable.path} needs a value to which elements are added, such as "
                    "zeros(3, 1)"
                )
            term = _scatter(world, equation, holder, term, size)
        if term.shape != size and term.shape == (1, 1):
            term = ca.repmat(term, *size)
        if term.shape != size:
            raise equation.expression.error(
                f"{variable.path} is {size[0]}x{size[1]}; this equation is {size_text(term)}"
            )
        if equation.states:
            term = ca.if_else(_guard(world, equation, holder), term, 0)
        total = term if total is None else total + term
    if total is None:
        raise variable.expression.error(f"{variable.path} has neither a value nor equations")
    return total


def _scatter(
    world: EventEnvironment, equation: Equation, holder: Node | Edge, term: ca.SX, shape: Shape
) -> ca.SX:
    """A term for some elements as a matrix with zeros elsewhere."""
    assert equation.places is not None
    indices = element_indices(equation.places, world, holder, shape)
    if term.numel() not in (1, len(indices)):
        raise equation.expression.error(
            f"this equation is {size_text(term)}; expected 1x1 or {len(indices)} elements of a "
            f"{shape[0]}x{shape[1]} variable"
        )
    matrix = ca.SX.zeros(*shape)
    for place, k in enumerate(indices):
        matrix[k] = term[place if term.numel() > 1 else 0]
    return matrix


def _guard(world: EventEnvironment, equation: Equation, holder: Node | Edge) -> ca.SX:
    """Whether the nearest node with the event-states of an equation is in one of these states."""
    node: Node | None = equation.target(holder)[0]
    while node is not None and not any(state in node.states for state in equation.states):
        node = node.parent
    if node is None or node not in world.nodes_with_states:
        known = [state for each in world.nodes_with_states for state in each.states]
        raise equation.expression.error(unknown_name("event-state", equation.states[0], known))
    entry = world.e[world.nodes_with_states.index(node)]
    active = ca.SX(0)
    for state in equation.states:
        if state not in node.states:
            raise equation.expression.error(unknown_name("event-state", state, node.states))
        active = ca.logic_or(active, ca.eq(entry, node.states.index(state)))
    return active
