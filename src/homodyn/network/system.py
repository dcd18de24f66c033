"""A network as a system of equations: kinds of variables and symbolic values."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from homodyn.errors import NetworkError
from homodyn.network.equation_sums import EventEnvironment, sum_equations
from homodyn.network.evaluation import evaluate
from homodyn.network.event_conditions import condition_tree
from homodyn.network.formula import Formula, ParsedFormula
from homodyn.network.functions import size_text
from homodyn.network.symbol_table import (
    DelayedValue,
    MonitoredEvent,
    Shape,
    SymbolTable,
    element_hashes,
    stack_column,
)
from homodyn.network.tree import NetworkEvent, Node, Variable
from homodyn.network.variable_kinds import classify_variables, equations_by_variable, event_target

__all__ = ["EquationSystem", "MonitoredEvent"]


class EquationSystem(EventEnvironment):
    """The variables of a network by kind, with symbolic values, rates, events and delays.

    Args:
        network: The network.
        sparse: Whether zeros of matrices are left out of products; else they count as any number.

    Kinds of variables: ``state`` (has equations for its rate), ``discrete`` (has a next value),
    ``piecewise_constant`` (set by events, or computed once), ``parameter`` (a number to set) and
    ``algebraic`` (a formula).
    """

    def __init__(self, network: Node, *, sparse: bool = True) -> None:
        self.network = network
        self.sparse = sparse
        self.t = ca.SX.sym("t")
        self.variables = {
            variable.path: variable
            for holder in network.walk()
            for variable in holder.variables.values()
        }
        self._equations = equations_by_variable(network)
        self.kinds, self.numbers = classify_variables(network, self._equations)
        self.structural: set[Variable] = set()
        self._symbols: dict[Variable, ca.SX] = {}
        self._tables = {kind: SymbolTable(kind) for kind in ("x", "h", "p", "u", "d")}
        self._values: dict[Variable, ca.SX] = {}
        self._constants: dict[tuple[Variable, bool], np.ndarray | None] = {}
        self._starts: dict[Variable, ca.SX] = {}
        self._rates: dict[Variable, ca.SX] = {}
        self._open: list[tuple[str, Variable]] = []
        self._initial = False
        self._draws: dict[Any, ca.SX] = {}
        self._states_of: dict[int, Variable] = {}
        self.delays: dict[Any, DelayedValue] = {}
        self.nodes_with_states = [
            node
            for node in network.walk()
            if isinstance(node, Node) and (node.events or len(node.states) > 1)
        ]
        self.bodies = {
            node.path: node.model
            for node in network.walk()
            if isinstance(node, Node) and node.model is not None
        }
        self.e = ca.SX.sym("e", max(1, len(self.nodes_with_states)))
        self._zero = ca.SX(0) if sparse else self._tables["p"].allocate("zero", (1, 1))
        self._allocate_symbols()

    def _allocate_symbols(self) -> None:
        self._parameters: dict[Variable, ca.SX] = {}
        self._parameter_of: dict[int, tuple[Variable, int]] = {}
        for variable, number in self.numbers.items():
            symbol = self._tables["p"].allocate(variable, number.shape)
            if number.size > 1 and self.kinds[variable] == "parameter":
                # Zeros of a matrix stay zeros; otherwise all products with it would be dense.
                symbol = ca.SX(symbol)
                for row, column in np.argwhere(number == 0):
                    symbol[int(row), int(column)] = self._zero
            self._parameters[variable] = symbol
            for k in range(symbol.numel()):
                self._parameter_of.setdefault(symbol[k].element_hash(), (variable, k))
        for variable, kind in self.kinds.items():
            if kind in ("state", "discrete", "piecewise_constant"):
                shape = self._start_shape(variable)
                symbol = self._tables["x" if kind == "state" else "h"].allocate(variable, shape)
                self._symbols[variable] = symbol
                if kind == "state":
                    for k in range(symbol.numel()):
                        self._states_of[symbol[k].element_hash()] = variable

    def _start_shape(self, variable: Variable) -> Shape:
        """The size of the initial value; that of q for the velocity dq of an equation for q''."""
        shape = self.start(variable).shape
        base = variable.owner.variables.get(variable.name[1:])
        if shape == (1, 1) and variable.name.startswith("d") and base is not None:
            first = self._equations.get((base, 1), [])
            if any(equation.expression.text == variable.name for equation, _ in first):
                return self.start(base).shape
        return shape

    # -- environment of formulas

    def time(self) -> ca.SX:
        """The symbol of time."""
        return self.t

    def number(self, variable: Variable) -> np.ndarray | None:
        """The number of a variable for sizes and indices; setting it then needs new equations."""
        if self.kinds[variable] == "parameter":
            self.structural.add(variable)
            return self.numbers[variable]
        key = (variable, self._initial)
        if key not in self._constants:
            self._constants[key] = self._fold(self.value(variable))
        return self._constants[key]

    def _fold(self, value: ca.SX) -> np.ndarray | None:
        """The number of a formula of parameters; None if it varies."""
        involved = ca.symvar(value)
        owners = [self._parameter_of.get(symbol.element_hash()) for symbol in involved]
        known = []
        for owner, symbol in zip(owners, involved, strict=True):
            if not self.sparse and symbol.element_hash() == self._zero.element_hash():
                known.append(0.0)
                continue
            if owner is None:
                return None
            self.structural.add(owner[0])
            known.append(self.numbers[owner[0]].flatten("F")[owner[1]])
        if not known:
            return np.array(ca.DM(value))
        found = ca.substitute([value], [ca.vertcat(*involved)], [ca.DM(known)])[0]
        return np.array(ca.DM(found))

    def value(self, variable: Variable) -> ca.SX:
        """The value of a variable during a run, or its initial value while those are computed."""
        if self._initial:
            return self.start(variable)
        if variable in self._symbols:
            return self._symbols[variable]
        if self.kinds[variable] == "parameter":
            return self._parameters[variable]
        if variable not in self._values:
            contributions = self._equations.get((variable, 0), [])
            own = not any(equation.operator == "<=" for equation, _ in contributions)
            self._enter("value", variable)
            total = evaluate(variable.expression, self, variable.owner) if own else None
            self._values[variable] = self._fill_zeros(
                sum_equations(self, variable, contributions, total)
            )
            self._open.pop()
        return self._values[variable]

    def _fill_zeros(self, value: ca.SX) -> ca.SX:
        """The value with symbols instead of zeros, unless zeros are left out of products."""
        if self.sparse or value.numel() == 1:
            return value
        full = ca.densify(value)
        for k in range(full.numel()):
            if full[k].is_zero():
                full[k] = self._zero
        return full

    def start(self, variable: Variable) -> ca.SX:
        """The value of a variable before the first step."""
        if variable in self.numbers and (
            self.kinds[variable] != "algebraic" or (variable, 0) not in self._equations
        ):
            return self._parameters[variable]
        if variable not in self._starts:
            self._enter("initial value", variable)
            before, self._initial = self._initial, True
            try:
                equations = self._equations.get((variable, 0), [])
                algebraic = self.kinds[variable] == "algebraic" and equations
                own = not algebraic or not any(each.operator == "<=" for each, _ in equations)
                value = evaluate(variable.expression, self, variable.owner) if own else None
                if algebraic:
                    value = sum_equations(self, variable, equations, value)
                self._starts[variable] = value
            finally:
                self._initial = before
            self._open.pop()
        return self._starts[variable]

    def _enter(self, what: str, variable: Variable) -> None:
        if (what, variable) in self._open:
            begin = self._open.index((what, variable))
            cycle = " -> ".join(each.path for _, each in [*self._open[begin:], (what, variable)])
            raise variable.expression.error(
                f"the {what} of {variable.path} depends on itself: {cycle}"
            )
        self._open.append((what, variable))

    def rate_of(self, variable: Variable) -> ca.SX:
        """The rate of a state: the sum of its equations."""
        if variable not in self._rates:
            self._enter("rate", variable)
            shape = self._symbols[variable].shape
            equations = self._equations[variable, 1]
            self._rates[variable] = sum_equations(self, variable, equations, None, shape)
            self._open.pop()
        return self._rates[variable]

    def rate(self, value: ca.SX) -> ca.SX:
        """Time derivative of a value: of time and states; all else is constant during a step."""
        column = ca.vec(value)
        total = ca.jacobian(column, self.t)
        involved: dict[Variable, None] = {}
        delays = {k for d in self.delays.values() for k in element_hashes(d.symbol)}
        for symbol in ca.symvar(column):
            key = symbol.element_hash()
            if key in delays:
                raise NetworkError("the time derivative of a delayed value is not available")
            if key in self._states_of:
                involved[self._states_of[key]] = None
        for variable in involved:
            by = ca.vec(self._symbols[variable])
            total += ca.mtimes(ca.jacobian(column, by), ca.vec(self.rate_of(variable)))
        return ca.reshape(ca.densify(total), *value.shape)

    def draw(self, key: tuple[Any, ...], shape: Shape) -> ca.SX:
        """Random numbers of one ``rand`` in the text, in one node."""
        if key not in self._draws:
            self._draws[key] = self._tables["u"].allocate(key, shape)
        return self._draws[key]

    def delayed_value(self, key: tuple[Any, ...], value: ca.SX, start: Any, delay: ca.SX) -> ca.SX:
        """The symbol of a delayed value, which the run fills in."""
        if self._initial:
            expression, scope = start
            return evaluate(expression, self, scope.owner, scope.local)
        if delay.shape != (1, 1):
            raise start[0].error(f"the delay is {size_text(delay)}; expected a single number")
        if key not in self.delays:
            offset = self._tables["d"].length
            symbol = self._tables["d"].allocate(key, value.shape)
            self.delays[key] = DelayedValue(symbol, value, start, delay, offset)
        return self.delays[key].symbol

    # -- assembled columns

    @cached_property
    def states(self) -> list[Variable]:
        """The continuous states."""
        return [variable for variable, kind in self.kinds.items() if kind == "state"]

    @cached_property
    def discrete(self) -> list[Variable]:
        """Discrete and piecewise-constant variables."""
        return [
            variable
            for variable, kind in self.kinds.items()
            if kind in ("discrete", "piecewise_constant")
        ]

    @cached_property
    def rates(self) -> ca.SX:
        """Rates of all states, in one column."""
        return stack_column([self.rate_of(variable) for variable in self.states])

    @cached_property
    def positions(self) -> list[int]:
        """Indices of states whose rate is another state."""
        found = []
        for variable in self.states:
            begin, _ = self._tables["x"].slots[variable]
            column = ca.vec(self.rate_of(variable))
            hashes = [
                column[k].element_hash() if column[k].is_symbolic() else 0
                for k in range(column.numel())
            ]
            found += [begin + k for k, key in enumerate(hashes) if key in self._states_of]
        return found

    @cached_property
    def next_discrete(self) -> ca.SX:
        """Next values of discrete variables; piecewise-constant ones do not change."""
        values = []
        for variable in self.discrete:
            equations = self._equations.get((variable, 0), [])
            symbol = self._symbols[variable]
            if self.kinds[variable] == "discrete" and equations:
                values.append(sum_equations(self, variable, equations, None, symbol.shape))
            else:
                values.append(symbol)
        return stack_column(values)

    def apply_constraints(self, variables: list[Variable]) -> ca.SX:
        """Values after their constraints are applied, in one column."""
        values = []
        for variable in variables:
            value = self._symbols[variable]
            if variable.constraint is not None:
                constrained = evaluate(variable.constraint, self, variable.owner)
                if constrained.shape != value.shape:
                    raise variable.constraint.error(
                        f"{variable.path} is {size_text(value)}; its constraint is "
                        f"{size_text(constrained)}"
                    )
                value = constrained
            values.append(value)
        return stack_column(values)

    @cached_property
    def events(self) -> tuple[list[MonitoredEvent], ca.SX]:
        """All events, and their zero functions in one column."""
        zeros: list[ca.SX] = []
        found = []
        for place, node in enumerate(self.nodes_with_states):
            for event in node.events:

                def value(
                    formula: Formula, node: Node = node, event: NetworkEvent = event
                ) -> ca.SX:
                    whole = event.condition
                    part = ParsedFormula(formula, whole.text, whole.place, whole.expanded)
                    result = evaluate(part, self, node)
                    if result.shape != (1, 1):
                        raise part.error(f"the condition is {size_text(result)}; expected 1x1")
                    return result

                tree = condition_tree(event.condition.formula, value, zeros)
                found.append(MonitoredEvent(node, event, tree, place))
        return found, stack_column(zeros)

    def assignments(self, watched: MonitoredEvent) -> list[tuple[str, int, ca.SX]]:
        """Assignments of an event: table, offset and new value."""
        results = []
        for name, formula in watched.event.assignments:
            variable = event_target(watched.node, name, formula)
            symbol = self._symbols[variable]
            value = evaluate(formula, self, watched.node)
            if value.shape != symbol.shape:
                raise formula.error(
                    f"{variable.path} is {size_text(symbol)}; this formula is {size_text(value)}"
                )
            table = "x" if self.kinds[variable] == "state" else "h"
            results.append((table, self._tables[table].slots[variable][0], ca.vec(value)))
        return results

    def fits(self, variable: Variable, number: np.ndarray) -> bool:
        """Whether a variable can be set to a number without new equations."""
        if variable not in self.numbers or variable in self.structural:
            return False
        before = self.numbers[variable]
        if number.shape != before.shape:
            return False
        plain = number.size == 1 or self.kinds[variable] != "parameter"
        return plain or bool(np.all(number[before == 0] == 0))

    def starts(self, variables: list[Variable]) -> ca.SX:
        """Initial values, in one column."""
        values = []
        for variable in variables:
            value = self.start(variable)
            shape = self._symbols[variable].shape
            values.append(ca.repmat(value, *shape) if value.shape != shape else value)
        return stack_column(values)

    def named_variables(self) -> Iterator[tuple[Variable, ca.SX]]:
        """States, discrete variables and parameters with their symbols."""
        yield from self._symbols.items()
        for variable, symbol in self._parameters.items():
            if variable not in self._symbols:
                yield variable, symbol

    def named_symbols(self) -> Iterator[tuple[Variable, ca.SX]]:
        """States, discrete variables and parameters with each of their symbols."""
        for variable, symbol in self.named_variables():
            for k in range(symbol.numel()):
                if symbol[k].is_symbolic():
                    yield variable, symbol[k]

    def symbols(self, table: str) -> ca.SX:
        """All symbols of a table.

        Args:
            table: ``"x"`` states, ``"h"`` discrete variables, ``"p"`` parameters, ``"u"`` random
                numbers, ``"d"`` delayed values.

        Returns:
            The symbols in one column.
        """
        return self._tables[table].vector()

    def length(self, table: str) -> int:
        """Number of entries of a table; see `symbols`."""
        return self._tables[table].length

    def slot(self, variable: Variable, table: str = "p") -> tuple[int, Shape]:
        """Offset and shape of a variable in a table; see `symbols`."""
        return self._tables[table].slots[variable]

    def delay_start(self, delay: DelayedValue) -> ca.SX:
        """The value of a delayed formula at times before the start."""
        before, self._initial = self._initial, True
        try:
            expression, scope = delay.start
            value = evaluate(expression, self, scope.owner, scope.local)
        finally:
            self._initial = before
        return ca.repmat(value, *delay.symbol.shape) if value.shape == (1, 1) else value
