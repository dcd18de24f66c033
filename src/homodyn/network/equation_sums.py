"""Equations for one variable, added up: whole ones, ones for elements, and ones of event-states."""

from __future__ import annotations

import casadi as ca

from homodyn.foundation.text import unknown_name
from homodyn.network.evaluation import element_indices, evaluate
from homodyn.network.functions import size_text
from homodyn.network.scope import Environment
from homodyn.network.symbol_table import Shape
from homodyn.network.tree import Edge, Equation, Node, Variable


class EventEnvironment(Environment):
    """A world of formulas whose nodes are in event-states, one entry of ``e`` for each."""

    nodes_with_states: list[Node]
    e: ca.SX


def sum_equations(
    world: EventEnvironment,
    variable: Variable,
    equations: list[tuple[Equation, Node | Edge]],
    total: ca.SX | None,
    shape: Shape | None = None,
) -> ca.SX:
    """The sum of all equations for a variable, and of a value that it has beside them.

    A single number counts for all elements of a matrix. Equations bound to event-states are zero
    in others.
    """
    for equation, holder in equations:
        term = evaluate(equation.expression, world, holder)
        wanted = shape or (total.shape if total is not None else term.shape)
        if equation.places is not None:
            if shape is None and total is None:
                raise equation.expression.error(
                    f"elements of {variable.path} are added to a value; give it one, "
                    "as in zeros(3, 1)"
                )
            term = _scatter(world, equation, holder, term, wanted)
        if term.shape != wanted and term.shape == (1, 1):
            term = ca.repmat(term, *wanted)
        if term.shape != wanted:
            raise equation.expression.error(
                f"{variable.path} is {wanted[0]}x{wanted[1]} and this {size_text(term)}"
            )
        if equation.states:
            term = ca.if_else(_guard(world, equation, holder), term, 0)
        total = term if total is None else total + term
    if total is None:
        raise variable.expression.error(f"{variable.path} has neither value nor equations")
    return total


def _scatter(
    world: EventEnvironment, equation: Equation, holder: Node | Edge, term: ca.SX, shape: Shape
) -> ca.SX:
    """A term for some elements, as a whole matrix with zeros elsewhere."""
    assert equation.places is not None
    picked = element_indices(equation.places, world, holder, shape)
    if term.numel() not in (1, len(picked)):
        raise equation.expression.error(
            f"{size_text(term)} does not fit {len(picked)} elements of {shape[0]}x{shape[1]}"
        )
    whole = ca.SX.zeros(*shape)
    for place, k in enumerate(picked):
        whole[k] = term[place if term.numel() > 1 else 0]
    return whole


def _guard(world: EventEnvironment, equation: Equation, holder: Node | Edge) -> ca.SX:
    """Whether the nearest node with the event-states of an equation is in one of them."""
    node: Node | None = holder.output if isinstance(holder, Edge) else holder
    while node is not None and not any(one in node.states for one in equation.states):
        node = node.parent
    if node is None or node not in world.nodes_with_states:
        known = [state for one in world.nodes_with_states for state in one.states]
        raise equation.expression.error(unknown_name("event-state", equation.states[0], known))
    entry = world.e[world.nodes_with_states.index(node)]
    active = ca.SX(0)
    for state in equation.states:
        if state not in node.states:
            raise equation.expression.error(unknown_name("event-state", state, node.states))
        active = ca.logic_or(active, ca.eq(entry, node.states.index(state)))
    return active
