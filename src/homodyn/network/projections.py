"""Equations for one variable, added up: whole ones, ones for elements, and ones of event-states."""

from __future__ import annotations

import casadi as ca

from homodyn.foundation.text import unknown_name
from homodyn.network.banks import Shape
from homodyn.network.evaluate import elements, evaluate
from homodyn.network.functions import size
from homodyn.network.scope import World
from homodyn.network.tree import Edge, Node, Projection, Variable


class EventWorld(World):
    """A world of formulas whose nodes are in event-states, one entry of ``e`` for each."""

    nodes_with_states: list[Node]
    e: ca.SX


def summed(
    world: EventWorld,
    variable: Variable,
    projections: list[tuple[Projection, Node | Edge]],
    total: ca.SX | None,
    shape: Shape | None = None,
) -> ca.SX:
    """The sum of all equations for a variable, and of a value that it has beside them.

    A single number counts for all elements of a matrix. Equations bound to event-states are zero
    in others.
    """
    for projection, holder in projections:
        term = evaluate(projection.expression, world, holder)
        wanted = shape or (total.shape if total is not None else term.shape)
        if projection.places is not None:
            if shape is None and total is None:
                raise projection.expression.error(
                    f"elements of {variable.path} are added to a value; give it one, "
                    "as in zeros(3, 1)"
                )
            term = _placed(world, projection, holder, term, wanted)
        if term.shape != wanted and term.shape == (1, 1):
            term = ca.repmat(term, *wanted)
        if term.shape != wanted:
            raise projection.expression.error(
                f"{variable.path} is {wanted[0]}x{wanted[1]} and this {size(term)}"
            )
        if projection.states:
            term = ca.if_else(_guard(world, projection, holder), term, 0)
        total = term if total is None else total + term
    if total is None:
        raise variable.expression.error(f"{variable.path} has neither value nor equations")
    return total


def _placed(
    world: EventWorld, projection: Projection, holder: Node | Edge, term: ca.SX, shape: Shape
) -> ca.SX:
    """A term for some elements, as a whole matrix with zeros elsewhere."""
    assert projection.places is not None
    picked = elements(projection.places, world, holder, shape)
    if term.numel() not in (1, len(picked)):
        raise projection.expression.error(
            f"{size(term)} does not fit {len(picked)} elements of {shape[0]}x{shape[1]}"
        )
    whole = ca.SX.zeros(*shape)
    for place, k in enumerate(picked):
        whole[k] = term[place if term.numel() > 1 else 0]
    return whole


def _guard(world: EventWorld, projection: Projection, holder: Node | Edge) -> ca.SX:
    """Whether the nearest node with the event-states of an equation is in one of them."""
    node: Node | None = holder.output if isinstance(holder, Edge) else holder
    while node is not None and not any(one in node.states for one in projection.states):
        node = node.parent
    if node is None or node not in world.nodes_with_states:
        known = [state for one in world.nodes_with_states for state in one.states]
        raise projection.expression.error(unknown_name("event-state", projection.states[0], known))
    entry = world.e[world.nodes_with_states.index(node)]
    active = ca.SX(0)
    for state in projection.states:
        if state not in node.states:
            raise projection.expression.error(unknown_name("event-state", state, node.states))
        active = ca.logic_or(active, ca.eq(entry, node.states.index(state)))
    return active
