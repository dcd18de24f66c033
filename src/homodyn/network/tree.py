"""The objects of a network: nodes with variables, functions and events, and edges between nodes.

Every equation lives on an edge; those written inside a node on the edge from it to itself. The
rates of a state are the sum of all equations that point at it, so couplings add up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from homodyn.errors import NetworkError
from homodyn.foundation.text import unknown_name
from homodyn.network.formula import Expression, dots_to_primes, expression
from homodyn.network.source import NOWHERE, Place

FLAGS = ("discrete", "once", "in", "out")


def formula_of(value: Any, place: Place | None = None) -> Expression:
    """A number, an array or a text as a formula."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, str):
        return expression(value, place)
    array = np.asarray(value, dtype=float)
    if array.ndim == 0:
        return expression(repr(float(array)), place)
    if array.ndim > 2:
        raise NetworkError(f"a value has {array.ndim} dimensions; matrices have 2 at most")
    rows = array.reshape(len(array), -1)
    text = "; ".join(", ".join(repr(float(number)) for number in row) for row in rows)
    return expression(f"[{text}]", place)


@dataclass(eq=False)
class Variable:
    """A named value of a node or edge; equations that point at it make it a state."""

    name: str
    owner: Node | Edge
    expression: Expression
    flags: frozenset[str] = frozenset()
    constraint: Expression | None = None

    @property
    def path(self) -> str:
        """The dotted name from the network down."""
        return self.owner.member(self.name)


@dataclass(eq=False)
class Function:
    """A function of the user: names of arguments and a formula, closed over where it stands."""

    name: str
    arguments: tuple[str, ...]
    body: Expression
    owner: Node | Edge


@dataclass(frozen=True, eq=False)
class Native:
    """A function that is traced from Python: columns in, a matrix of symbols out.

    ``traced`` is called with a look-up of the variables in ``state`` and the arguments.
    """

    name: str
    arguments: tuple[str, ...]
    lengths: tuple[int, ...]
    traced: Callable[..., Any]
    state: Mapping[str, Variable]


@dataclass(frozen=True)
class Projection:
    """A formula added to the rate (order 1) or the value (order 0) of a variable of the output."""

    name: str
    order: int
    operator: str
    expression: Expression
    states: tuple[str, ...] = ()
    places: Expression | None = None


@dataclass(frozen=True)
class Event:
    """A condition watched in some event-states; when it comes true, values and state are set."""

    begin: tuple[str, ...]
    """Event-states it is watched in; none means all."""
    end: str | None
    """The event-state it leads to; None ends the run."""
    condition: Expression
    within: float | None
    sets: tuple[tuple[str, Expression], ...]


class _Holder:
    """What nodes and edges share: variables, functions and equations."""

    name: str
    parent: Node | None

    def __init__(self, name: str, parent: Node | None) -> None:
        self.name = name
        self.parent = parent
        self.variables: dict[str, Variable] = {}
        self.functions: dict[str, Function | Native] = {}
        self.projections: list[Projection] = []
        self.templates: list[str] = []

    @property
    def path(self) -> str:
        """The dotted name from the network down; the network itself has none."""
        return self.parent.member(self.name) if self.parent is not None else ""

    def member(self, name: str) -> str:
        """The dotted name of something inside."""
        return f"{self.path}.{name}" if self.path else name

    @property
    def root(self) -> Node:
        """The network this is part of."""
        node: Any = self
        while node.parent is not None:
            node = node.parent
        return node

    def _changed(self) -> None:
        root: Any = self.root
        if hasattr(root, "forget"):
            root.forget()

    def variable(
        self,
        name: str,
        value: Any = 0,
        *,
        flags: Sequence[str] = (),
        constraint: Any = None,
        place: Place | None = None,
    ) -> Variable:
        """Make a variable or give it another formula."""
        for flag in flags:
            if flag not in FLAGS:
                raise (place or NOWHERE).error(unknown_name("flag", flag, FLAGS))
        given = formula_of(value, place)
        held = self.variables.get(name)
        if held is None:
            held = Variable(name, self, given)  # type: ignore[arg-type]
            self.variables[name] = held
        held.expression = given
        held.flags |= frozenset(flags)
        if constraint is not None:
            held.constraint = formula_of(constraint, place)
        self._changed()
        return held

    def function(self, name: str, arguments: Sequence[str], body: Any) -> Function:
        """Make a function or give it another body."""
        made = Function(name, tuple(arguments), formula_of(body), self)  # type: ignore[arg-type]
        self.functions[name] = made
        self._changed()
        return made

    def equation(
        self,
        name: str,
        value: Any,
        *,
        order: int = 0,
        operator: str = "=",
        states: Sequence[str] = (),
        places: Any = None,
    ) -> None:
        """An equation for the rate of a variable: ``equation("y''", "-g")`` or ``order=2``.

        ``=`` replaces an earlier equation of this block for the same event-states, ``+=`` adds.
        Orders above 1 make the states dy, ddy and so on, with their initial values 0.
        """
        plain, dots = dots_to_primes(name.rstrip("'"))
        order += dots + len(name) - len(name.rstrip("'"))
        target = plain
        for _ in range(order - 1):
            rate = f"d{target}"
            if not any(held.name == target and held.order for held in self.projections):
                self.projections.append(Projection(target, 1, "=", formula_of(rate)))
            self._declare(target)
            target = rate
        self._declare(target)
        made = Projection(
            target,
            min(order, 1),
            operator,
            formula_of(value),
            tuple(states),
            formula_of(places) if places is not None else None,
        )
        if operator != "+=" and made.places is None:
            self.projections = [
                held
                for held in self.projections
                if (held.name, held.order, held.states) != (target, made.order, made.states)
                or held.operator == "+="
                or held.places is not None
            ]
        self.projections.append(made)
        self._changed()

    def _declare(self, name: str) -> None:
        """An equation in a node makes its variable; one in an edge points at what there is."""
        if isinstance(self, Node) and name not in self.variables:
            self.variable(name, 0)

    def __repr__(self) -> str:
        return f"{type(self).__name__} {self.path or self.name!r}: {', '.join(self.variables)}"


class Edge(_Holder):
    """A coupling: formulas over the input node, added to variables of the output node."""

    def __init__(self, name: str, parent: Node, source: Node, target: Node) -> None:
        super().__init__(name, parent)
        self.input = source
        self.output = target


class Node(_Holder):
    """A part of a network: variables, functions, events, and nodes and edges inside."""

    def __init__(self, name: str, parent: Node | None = None) -> None:
        super().__init__(name, parent)
        self.nodes: dict[str, Node] = {}
        self.edges: dict[str, Edge] = {}
        self.events: list[Event] = []
        self.initial_state = ""

    def node(self, name: str, **values: Any) -> Node:
        """The node of that name inside, made if there is none, with variables set."""
        if name not in self.nodes:
            self.nodes[name] = Node(name, self)
            self._changed()
        for key, value in values.items():
            self.nodes[name].variable(key, value)
        return self.nodes[name]

    def edge(self, source: Node, target: Node, name: str = "", **values: Any) -> Edge:
        """A new edge from one node to another, with variables of its own."""
        label = name or f"{source.name or 'root'}_{target.name or 'root'}"
        unique, count = label, 1
        while unique in self.edges or unique in self.nodes:
            count += 1
            unique = f"{label}_{count}"
        self.edges[unique] = Edge(unique, self, source, target)
        for key, value in values.items():
            self.edges[unique].variable(key, value)
        self._changed()
        return self.edges[unique]

    def event(
        self,
        begin: str | Sequence[str],
        end: str | None,
        when: Any,
        *,
        within: float | None = None,
        sets: dict[str, Any] | None = None,
    ) -> None:
        """Watch a condition in the event-states ``begin`` ("" for any); None as ``end`` stops."""
        states = ((begin,) if begin else ()) if isinstance(begin, str) else tuple(begin)
        assigned = tuple((name, formula_of(value)) for name, value in (sets or {}).items())
        self.events.append(Event(states, end, formula_of(when), within, assigned))
        self._changed()

    @property
    def states(self) -> tuple[str, ...]:
        """The event-states, the initial one first."""
        names = [self.initial_state]
        for event in self.events:
            names += [*event.begin, *([event.end] if event.end is not None else [])]
        names += [state for held in self.projections for state in held.states]
        return tuple(dict.fromkeys(names))

    def walk(self) -> Iterator[Node | Edge]:
        """This node, its edges and everything in the nodes inside."""
        yield self
        yield from self.edges.values()
        for node in self.nodes.values():
            yield from node.walk()

    def find(self, path: str) -> Node | Edge:
        """The node or edge of a dotted name."""
        here: Any = self
        for part in path.split(".") if path else ():
            inside = {**here.nodes, **here.edges} if isinstance(here, Node) else {}
            if part not in inside:
                raise NetworkError(
                    unknown_name("node", part, inside) + f" (in {here.path or 'the network'})"
                )
            here = inside[part]
        return here
