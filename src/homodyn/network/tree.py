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
from homodyn.network.formula import ParsedFormula, dots_to_primes, parse_formula
from homodyn.network.source import NO_LOCATION, SourceLocation

FLAGS = ("discrete", "once", "in", "out")


def to_formula(value: Any, place: SourceLocation | None = None) -> ParsedFormula:
    """A number, an array or a text as a formula."""
    if isinstance(value, ParsedFormula):
        return value
    if isinstance(value, str):
        return parse_formula(value, place)
    array = np.asarray(value, dtype=float)
    if array.ndim == 0:
        return parse_formula(repr(float(array)), place)
    if array.ndim > 2:
        raise NetworkError(f"a value has {array.ndim} dimensions; matrices have 2 at most")
    rows = array.reshape(len(array), -1)
    text = "; ".join(", ".join(repr(float(number)) for number in row) for row in rows)
    return parse_formula(f"[{text}]", place)


@dataclass(eq=False)
class Variable:
    """A named value of a node or edge; equations that point at it make it a state."""

    name: str
    owner: Node | Edge
    expression: ParsedFormula
    flags: frozenset[str] = frozenset()
    constraint: ParsedFormula | None = None

    @property
    def path(self) -> str:
        """The dotted name from the network down."""
        return self.owner.member(self.name)


@dataclass(eq=False)
class NetworkFunction:
    """A function of the user: names of arguments and a formula, closed over where it stands."""

    name: str
    arguments: tuple[str, ...]
    body: ParsedFormula
    owner: Node | Edge


@dataclass(frozen=True, eq=False)
class NativeFunction:
    """A function that is traced from Python: columns in, a matrix of symbols out.

    ``traced`` is called with a look-up of the variables in ``state`` and the arguments.
    """

    name: str
    arguments: tuple[str, ...]
    lengths: tuple[int, ...]
    traced: Callable[..., Any]
    state: Mapping[str, Variable]


@dataclass(frozen=True)
class Equation:
    """A formula added to the rate (order 1) or the value (order 0) of a variable of the output."""

    name: str
    order: int
    operator: str
    expression: ParsedFormula
    states: tuple[str, ...] = ()
    places: ParsedFormula | None = None


@dataclass(frozen=True)
class NetworkEvent:
    """A condition watched in some event-states; when it comes true, values and state are set."""

    from_states: tuple[str, ...]
    """Event-states it is watched in; none means all."""
    to_state: str | None
    """The event-state it leads to; None ends the run."""
    condition: ParsedFormula
    tolerance: float | None
    assignments: tuple[tuple[str, ParsedFormula], ...]


class _Container:
    """What nodes and edges share: variables, functions and equations."""

    name: str
    parent: Node | None

    def __init__(self, name: str, parent: Node | None) -> None:
        self.name = name
        self.parent = parent
        self.variables: dict[str, Variable] = {}
        self.functions: dict[str, NetworkFunction | NativeFunction] = {}
        self.equations: list[Equation] = []
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

    def _invalidate(self) -> None:
        root: Any = self.root
        if hasattr(root, "invalidate"):
            root.invalidate()

    def variable(
        self,
        name: str,
        value: Any = 0,
        *,
        flags: Sequence[str] = (),
        constraint: Any = None,
        place: SourceLocation | None = None,
    ) -> Variable:
        """Make a variable or give it another formula."""
        for flag in flags:
            if flag not in FLAGS:
                raise (place or NO_LOCATION).error(unknown_name("flag", flag, FLAGS))
        given = to_formula(value, place)
        variable = self.variables.get(name)
        if variable is None:
            variable = Variable(name, self, given)  # type: ignore[arg-type]
            self.variables[name] = variable
        variable.expression = given
        variable.flags |= frozenset(flags)
        if constraint is not None:
            variable.constraint = to_formula(constraint, place)
        self._invalidate()
        return variable

    def function(self, name: str, arguments: Sequence[str], body: Any) -> NetworkFunction:
        """Make a function or give it another body."""
        new = NetworkFunction(name, tuple(arguments), to_formula(body), self)  # type: ignore[arg-type]
        self.functions[name] = new
        self._invalidate()
        return new

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
            if not any(one.name == target and one.order for one in self.equations):
                self.equations.append(Equation(target, 1, "=", to_formula(rate)))
            self._declare(target)
            target = rate
        self._declare(target)
        new = Equation(
            target,
            min(order, 1),
            operator,
            to_formula(value),
            tuple(states),
            to_formula(places) if places is not None else None,
        )
        if operator != "+=" and new.places is None:
            self.equations = [
                earlier
                for earlier in self.equations
                if (earlier.name, earlier.order, earlier.states) != (target, new.order, new.states)
                or earlier.operator == "+="
                or earlier.places is not None
            ]
        self.equations.append(new)
        self._invalidate()

    def _declare(self, name: str) -> None:
        """An equation in a node makes its variable; one in an edge points at what there is."""
        if isinstance(self, Node) and name not in self.variables:
            self.variable(name, 0)

    def __repr__(self) -> str:
        return f"{type(self).__name__} {self.path or self.name!r}: {', '.join(self.variables)}"


class Edge(_Container):
    """A coupling: formulas over the input node, added to variables of the output node."""

    def __init__(self, name: str, parent: Node, source: Node, target: Node) -> None:
        super().__init__(name, parent)
        self.input = source
        self.output = target


class Node(_Container):
    """A part of a network: variables, functions, events, and nodes and edges inside."""

    def __init__(self, name: str, parent: Node | None = None) -> None:
        super().__init__(name, parent)
        self.nodes: dict[str, Node] = {}
        self.edges: dict[str, Edge] = {}
        self.events: list[NetworkEvent] = []
        self.initial_state = ""

    def node(self, name: str, **values: Any) -> Node:
        """The node of that name inside, new if there is none, with variables set."""
        if name not in self.nodes:
            self.nodes[name] = Node(name, self)
            self._invalidate()
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
        self._invalidate()
        return self.edges[unique]

    def event(
        self,
        from_states: str | Sequence[str],
        to_state: str | None,
        when: Any,
        *,
        within: float | None = None,
        sets: dict[str, Any] | None = None,
    ) -> None:
        """Watch a condition in the event-states ``begin`` ("" for any); None as ``end`` stops."""
        states = (
            ((from_states,) if from_states else ())
            if isinstance(from_states, str)
            else tuple(from_states)
        )
        assigned = tuple((name, to_formula(value)) for name, value in (sets or {}).items())
        self.events.append(NetworkEvent(states, to_state, to_formula(when), within, assigned))
        self._invalidate()

    @property
    def states(self) -> tuple[str, ...]:
        """The event-states, the initial one first."""
        names = [self.initial_state]
        for event in self.events:
            names += [*event.from_states, *([event.to_state] if event.to_state is not None else [])]
        names += [state for equation in self.equations for state in equation.states]
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
