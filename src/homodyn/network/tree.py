"""The objects of a network: nodes with variables, functions and events, and edges between nodes.

Equations of a node apply to its own variables, equations of an edge to those of its output node, or
of its input node where the name of the variable begins with ``input.``.
The rate of a state is the sum of all its equations, so couplings add up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from homodyn.errors import NetworkError
from homodyn.foundation.text import enumerate_names, unknown_name
from homodyn.model import Model
from homodyn.network.formula import ParsedFormula, dots_to_primes, parse_formula
from homodyn.network.source import NO_LOCATION, SourceLocation

INPUT_PREFIX = "input."
"""What begins the names of variables of the input node in the equations of an edge."""
FLAGS = ("discrete", "once", "in", "out")
MAX_LISTED_VARIABLES = 8
"""Variables in the repr of a node or edge."""


def to_formula(value: Any, place: SourceLocation | None = None) -> ParsedFormula:
    """Convert a number, an array or a text to a formula.

    Args:
        value: The value.
        place: Its place in a source text.

    Returns:
        The formula.

    Raises:
        NetworkError: The text is not a formula, or the array has more than two dimensions.
    """
    if isinstance(value, ParsedFormula):
        return value
    if isinstance(value, str):
        return parse_formula(value, place)
    array = np.asarray(value, dtype=float)
    if array.ndim == 0:
        return parse_formula(repr(float(array)), place)
    if array.ndim > 2:
        raise NetworkError(f"the value has {array.ndim} dimensions; expected at most 2")
    rows = array.reshape(len(array), -1)
    text = "; ".join(", ".join(repr(float(number)) for number in row) for row in rows)
    return parse_formula(f"[{text}]", place)


@dataclass(eq=False)
class Variable:
    """A named value of a node or edge; an equation for its rate makes it a state."""

    name: str
    owner: Node | Edge
    """Node or edge that contains it."""
    expression: ParsedFormula
    """Its value, or the initial value of a state."""
    flags: frozenset[str] = frozenset()
    """Of ``discrete``, ``once``, ``in`` and ``out``."""
    constraint: ParsedFormula | None = None
    """Formula that replaces the value after every step."""

    @property
    def path(self) -> str:
        """Dotted name."""
        return self.owner.member(self.name)


@dataclass(eq=False)
class NetworkFunction:
    """A user-defined function: names of its arguments and a formula in the scope of its owner."""

    name: str
    arguments: tuple[str, ...]
    body: ParsedFormula
    owner: Node | Edge


@dataclass(frozen=True, eq=False)
class NativeFunction:
    """A function that is traced from Python."""

    name: str
    arguments: tuple[str, ...]
    """Names of the arguments, which are columns."""
    lengths: tuple[int, ...]
    """Lengths of the arguments."""
    traced: Callable[..., Any]
    """Receives a function that returns the variables in ``state`` by name, and the arguments;
    returns a symbolic matrix."""
    state: Mapping[str, Variable]
    """Variables on which the function depends, by name."""


@dataclass(frozen=True)
class Equation:
    """A formula that is added to the rate or the value of a variable."""

    name: str
    """Name of the variable."""
    order: int
    """1 for the rate, 0 for the value."""
    operator: str
    """``=``, ``+=`` or ``<=``."""
    expression: ParsedFormula
    states: tuple[str, ...] = ()
    """Event-states in which the equation applies; all if empty."""
    places: ParsedFormula | None = None
    """Index of the elements to which it applies; all if None."""

    def target(self, holder: Node | Edge) -> tuple[Node, str]:
        """The node whose variable it applies to, and the name of the variable there.

        Args:
            holder: The node or edge that contains it.

        Returns:
            Node and name.
        """
        if isinstance(holder, Node):
            return holder, self.name
        if self.name.startswith(INPUT_PREFIX):
            return holder.input, self.name.removeprefix(INPUT_PREFIX)
        return holder.output, self.name


@dataclass(frozen=True)
class NetworkEvent:
    """An event: when its condition becomes true, variables and the event-state are set."""

    from_states: tuple[str, ...]
    """Event-states in which it is monitored; all if empty."""
    to_state: str | None
    """Event-state that it enters; None ends the run."""
    condition: ParsedFormula
    tolerance: float | None
    """Accepted overshoot of the condition; None does not locate the event within the step."""
    assignments: tuple[tuple[str, ParsedFormula], ...]
    """Variables and their new values."""


class _Container:
    """Base of nodes and edges: variables, functions and equations."""

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
        """Dotted name; empty for the network itself."""
        return self.parent.member(self.name) if self.parent is not None else ""

    def member(self, name: str) -> str:
        """Dotted name of a member.

        Args:
            name: Name of the member.

        Returns:
            The dotted name.
        """
        return f"{self.path}.{name}" if self.path else name

    @property
    def root(self) -> Node:
        """The network that contains this node or edge."""
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
        """Add a variable, or give an existing one another value.

        Args:
            name: Name of the variable.
            value: A number, an array or a formula.
            flags: Of ``discrete``, ``once``, ``in`` and ``out``.
            constraint: Formula that replaces the value after every step.
            place: Place in a source text, for messages.

        Returns:
            The variable.

        Raises:
            NetworkError: A flag is unknown, or a formula is wrong.
        """
        for flag in flags:
            if flag not in FLAGS:
                raise (place or NO_LOCATION).error(unknown_name("flag", flag, FLAGS))
        formula = to_formula(value, place)
        variable = self.variables.get(name)
        if variable is None:
            variable = Variable(name, self, formula)  # type: ignore[arg-type]
            self.variables[name] = variable
        variable.expression = formula
        variable.flags |= frozenset(flags)
        if constraint is not None:
            variable.constraint = to_formula(constraint, place)
        self._invalidate()
        return variable

    def function(self, name: str, arguments: Sequence[str], body: Any) -> NetworkFunction:
        """Add a function, or replace an existing one.

        Args:
            name: Name of the function.
            arguments: Names of its arguments.
            body: Formula of the arguments and of variables in scope.

        Returns:
            The function.
        """
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
        """Add an equation for the rate or the value of a variable.

        Orders above 1 add the states dy, ddy and so on, with initial values 0.

        Args:
            name: The variable, with a prime per time derivative: ``equation("y''", "-g")``. In an
                edge it belongs to the output node, or with ``input.`` in front to the input node.
            value: A number, an array or a formula.
            order: Order of the time derivative in addition to the primes.
            operator: ``=`` replaces an earlier equation of this node or edge for the same
                event-states, ``+=`` adds to it, ``<=`` replaces the value of the variable.
            states: Event-states in which it applies; all if empty.
            places: Index of the elements to which it applies, such as ``"x[0:2]"``; all if None.
        """
        plain, dots = dots_to_primes(name.rstrip("'"))
        order += dots + len(name) - len(name.rstrip("'"))
        target = plain
        for _ in range(order - 1):
            rate = f"d{target}"
            if target.startswith(INPUT_PREFIX):
                rate = f"{INPUT_PREFIX}d{target.removeprefix(INPUT_PREFIX)}"
            if not any(each.name == target and each.order for each in self.equations):
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
        """Add the variable of an equation in a node; edges refer to existing variables."""
        if isinstance(self, Node) and name not in self.variables:
            self.variable(name, 0)

    def __repr__(self) -> str:
        """Path and names of the variables."""
        names = enumerate_names(list(self.variables), MAX_LISTED_VARIABLES)
        return f"{type(self).__name__} {self.path or self.name!r}: {names or 'no variables'}"


class Edge(_Container):
    """A coupling: formulas of the input node that are added to variables of the output node.

    Attributes:
        input: The input node.
        output: The output node.
    """

    def __init__(self, name: str, parent: Node, source: Node, target: Node) -> None:
        super().__init__(name, parent)
        self.input = source
        self.output = target


class Node(_Container):
    """A node: variables, functions, events, and further nodes and edges inside.

    Attributes:
        nodes: Nodes inside, by name.
        edges: Edges inside, by name.
        events: Events.
        initial_state: Initial event-state.
    """

    def __init__(self, name: str, parent: Node | None = None) -> None:
        super().__init__(name, parent)
        self.nodes: dict[str, Node] = {}
        self.edges: dict[str, Edge] = {}
        self.events: list[NetworkEvent] = []
        self.initial_state = ""
        self.model: Model | None = None
        """The model whose movement the node describes; None for other nodes."""

    def node(self, name: str, **values: Any) -> Node:
        """The node of that name inside this one; it is created if there is none.

        Args:
            name: Name of the node.
            **values: Variables to set: numbers, arrays or formulas.

        Returns:
            The node.
        """
        if name not in self.nodes:
            self.nodes[name] = Node(name, self)
            self._invalidate()
        for key, value in values.items():
            self.nodes[name].variable(key, value)
        return self.nodes[name]

    def edge(self, source: Node, target: Node, name: str = "", **values: Any) -> Edge:
        """Add an edge.

        Args:
            source: Input node.
            target: Output node.
            name: Name of the edge; by default from the names of the nodes.
            **values: Variables of the edge: numbers, arrays or formulas.

        Returns:
            The edge.
        """
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
        """Add an event.

        Args:
            from_states: Event-states in which it is monitored; ``""`` for all.
            to_state: Event-state that it enters; None ends the run.
            when: Condition; the event fires when it becomes true.
            within: Accepted overshoot of the condition; None does not locate the event within the
                step.
            sets: Formulas of the new values of variables, by name.
        """
        states = (
            ((from_states,) if from_states else ())
            if isinstance(from_states, str)
            else tuple(from_states)
        )
        assignments = tuple((name, to_formula(value)) for name, value in (sets or {}).items())
        self.events.append(NetworkEvent(states, to_state, to_formula(when), within, assignments))
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
        """This node, its edges, and all nodes and edges inside."""
        yield self
        yield from self.edges.values()
        for node in self.nodes.values():
            yield from node.walk()

    def find(self, path: str) -> Node | Edge:
        """Find a node or edge inside this one.

        Args:
            path: Dotted name.

        Returns:
            The node or edge.

        Raises:
            NetworkError: There is none of that name.
        """
        here: Any = self
        for part in path.split(".") if path else ():
            inside = {**here.nodes, **here.edges} if isinstance(here, Node) else {}
            if part not in inside:
                raise NetworkError(
                    unknown_name("node", part, inside) + f" (in {here.path or 'the network'})"
                )
            here = inside[part]
        return here
