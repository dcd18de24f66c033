"""Formulas evaluated to symbolic matrices: names are resolved, functions called, sizes checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import e, pi
from typing import NoReturn

import casadi as ca
import numpy as np

from homodyn.errors import NetworkError
from homodyn.foundation.text import unknown_name
from homodyn.network.formula import Formula, ParsedFormula
from homodyn.network.functions import (
    FUNCTION_NAMES,
    FUNCTIONS,
    MAX_MATRIX_ENTRIES,
    STRUCTURAL_FUNCTIONS,
    TREE_FUNCTIONS,
    SizeError,
    apply_operator,
    select_elements,
    size_text,
)
from homodyn.network.scope import Environment, Scope
from homodyn.network.tree import Edge, NativeFunction, NetworkFunction, Node, Variable

CONSTANTS = {"pi": pi, "π": pi, "e": e}


def evaluate(
    given: ParsedFormula,
    world: Environment,
    owner: Node | Edge | None,
    local: Mapping[str, ca.SX] | None = None,
    *,
    numeric: bool = False,
) -> ca.SX:
    """The value of a formula that stands in a node or edge."""
    try:
        return _Evaluation(given, world, Scope(owner, local or {}), numeric).visit(given.formula)
    except RecursionError:
        raise given.error("this is nested too deeply, or a function calls itself") from None


def element_indices(
    given: ParsedFormula, world: Environment, owner: Node | Edge, shape: tuple[int, int]
) -> list[int]:
    """Which entries of a matrix laid out in columns an index such as ``x[0, 2]`` means.

    Of a vector, several numbers are several elements; of a matrix they are row and column.
    """
    whole = ca.SX(ca.DM(np.arange(shape[0] * shape[1]).reshape(shape, order="F")))
    evaluation = _Evaluation(given, world, Scope(owner, {}), False)
    slots = given.formula.parts[1:]
    plain = all(slot.kind not in ("whole", "span") for slot in slots)
    if plain and len(slots) > 1 and min(shape) == 1:
        singles = [replace(given.formula, parts=(given.formula.parts[0], slot)) for slot in slots]
        picked = ca.vertcat(*[ca.vec(evaluation.index(whole, one)) for one in singles])
    else:
        picked = evaluation.index(whole, given.formula)
    return [int(k) for k in np.array(ca.DM(picked)).flatten("F")]


class _Evaluation:
    def __init__(
        self, given: ParsedFormula, world: Environment, scope: Scope, numeric: bool
    ) -> None:
        self.given = given
        self.world = world
        self.scope = scope
        self.numeric = numeric

    def fail(self, message: str, at: int) -> NoReturn:
        raise self.given.error(message, at)

    def visit(self, formula: Formula) -> ca.SX:
        try:
            value = getattr(self, f"_{formula.kind}")(formula)
        except NetworkError as error:
            if error.line:
                raise
            self.fail(error.message, formula.at)
        except RecursionError:
            raise
        except RuntimeError as error:
            reason = str(error).splitlines()[-1] if str(error) else "it has no value here"
            self.fail(f"this cannot be worked out: {reason}", formula.at)
        if not value.numel():
            self.fail(f"a matrix of {size_text(value)} is empty; 1x1 is the least", formula.at)
        if value.numel() > MAX_MATRIX_ENTRIES:
            self.fail(
                f"a matrix of {size_text(value)} is too large; {MAX_MATRIX_ENTRIES} entries fit",
                formula.at,
            )
        return value

    def _number(self, formula: Formula) -> ca.SX:
        return ca.SX(formula.value)

    def _name(self, formula: Formula) -> ca.SX:
        parts = formula.value
        if len(parts) == 1 and parts[0] in self.scope.local:
            return self.scope.local[parts[0]]
        variable = self.scope.find(parts, "variables")
        if isinstance(variable, Variable):
            if self.numeric:
                number = self.world.number(variable)
                if number is None:
                    self.fail(
                        f"{'.'.join(parts)} varies; sizes and indices must be known before a run",
                        formula.at,
                    )
                return ca.SX(number)
            return self.world.value(variable)
        if len(parts) == 1 and parts[0] in CONSTANTS:
            return ca.SX(CONSTANTS[parts[0]])
        time = self.world.time() if parts == ("t",) else None
        if time is not None:
            return time
        known = [*self.scope.names(parts, "variables"), *CONSTANTS]
        known += ["t"] if self.world.time() is not None else []
        return self.fail(unknown_name("variable", ".".join(parts), known), formula.at)

    def _unary(self, formula: Formula) -> ca.SX:
        value = self.visit(formula.parts[0])
        if formula.value == "-":
            return -value
        return ca.SX(ca.eq(value, 0)) if formula.value == "!" else value

    def _binary(self, formula: Formula) -> ca.SX:
        # Long sums lean to the left; they are walked, for they may be deeper than Python calls.
        spine = []
        while formula.kind == "binary":
            spine.append(formula)
            formula = formula.parts[0]
        value = self.visit(formula)
        for one in reversed(spine):
            right = self.visit(one.parts[1])
            try:
                value = apply_operator(one.value, value, right)
            except SizeError as error:
                self.fail(error.message, one.at)
        return value

    def _choice(self, formula: Formula) -> ca.SX:
        return select_elements(*map(self.visit, formula.parts))

    def _matrix(self, formula: Formula) -> ca.SX:
        rows = []
        for row in formula.parts:
            values = [self.visit(entry) for entry in row]
            heights = {value.shape[0] for value in values}
            if len(heights) > 1:
                sizes = ", ".join(map(size_text, values))
                self.fail(f"one row of a matrix holds {sizes}: heights differ", row[0].at)
            rows.append(ca.horzcat(*values))
        widths = {row.shape[1] for row in rows}
        if len(widths) > 1:
            self.fail(f"the rows of a matrix are {', '.join(map(size_text, rows))}", formula.at)
        return ca.densify(ca.vertcat(*rows))

    def _prime(self, formula: Formula) -> ca.SX:
        value = self.visit(formula.parts[0])
        for _ in range(formula.value):
            value = self.world.rate(value)
        return value

    # -- indices

    def _whole_numbers(self, formula: Formula) -> np.ndarray:
        inner = _Evaluation(self.given, self.world, self.scope, True)
        value = inner.visit(formula)
        if not value.is_constant():
            self.fail("this varies; sizes and indices must be known before a run", formula.at)
        numbers = np.array(ca.DM(value))
        if not np.all(numbers == np.round(numbers)) or np.any(np.abs(numbers) > 1e9):
            self.fail("sizes and indices are whole numbers", formula.at)
        return numbers.astype(int)

    def _slot(self, slot: Formula, extent: int) -> np.ndarray:
        if slot.kind == "whole":
            return np.arange(extent).reshape(-1, 1)
        if slot.kind == "span":
            begin, end = (self._whole_numbers(part) for part in slot.parts)
            if begin.size != 1 or end.size != 1:
                self.fail("a range has one number at each end", slot.at)
            if not 0 <= begin.item() <= end.item() <= extent:
                self.fail(f"the range {begin.item()}:{end.item()} is outside 0:{extent}", slot.at)
            return np.arange(begin.item(), end.item()).reshape(-1, 1)
        return self._whole_numbers(slot)

    def _within(self, numbers: np.ndarray, extent: int, value: ca.SX, at: int) -> None:
        outside = numbers[(numbers < 0) | (numbers >= extent)]
        if outside.size:
            self.fail(
                f"index {outside.flat[0]} is outside 0 to {extent - 1} of a {size_text(value)}", at
            )

    def _index(self, formula: Formula) -> ca.SX:
        return self.index(self.visit(formula.parts[0]), formula)

    def index(self, value: ca.SX, formula: Formula) -> ca.SX:
        """The elements of a value that the slots of an index tell."""
        slots = formula.parts[1:]
        if len(slots) == 1:
            numbers = self._slot(slots[0], value.numel())
            if slots[0].kind == "span" and value.shape[0] == 1:
                numbers = numbers.T
            return self._linear(value, numbers, formula.at)
        if len(slots) != 2:
            self.fail(f"{len(slots)} indices; matrices take 1 or 2", formula.at)
        rows = self._slot(slots[0], value.shape[0])
        columns = self._slot(slots[1], value.shape[1])
        self._within(rows, value.shape[0], value, slots[0].at)
        self._within(columns, value.shape[1], value, slots[1].at)
        paired = all(slot.kind == "matrix" for slot in slots)
        if paired and rows.shape == columns.shape and rows.shape[0] == 1 and rows.size > 1:
            return self._linear(value, rows + value.shape[0] * columns, formula.at)
        picked = value[[int(r) for r in rows.flatten("F")], [int(c) for c in columns.flatten("F")]]
        return ca.densify(ca.SX(picked))

    def _linear(self, value: ca.SX, numbers: np.ndarray, at: int) -> ca.SX:
        self._within(numbers, value.numel(), value, at)
        flat = ca.vec(ca.densify(value))
        picked = ca.vertcat(*[flat[int(k)] for k in numbers.flatten("F")])
        return ca.reshape(picked, *numbers.shape) if numbers.size else ca.SX(0, 1)

    # -- calls

    def _call(self, formula: Formula) -> ca.SX:
        parts = formula.value
        function = self.scope.find(parts, "functions")
        if isinstance(function, (NetworkFunction, NativeFunction)):
            return self._apply(function, [self.visit(part) for part in formula.parts], formula.at)
        name = ".".join(parts)
        if name in STRUCTURAL_FUNCTIONS:
            return self._call_structural(name, formula)
        count = len(formula.parts)
        if name in TREE_FUNCTIONS:
            wanted, applied = TREE_FUNCTIONS[name]
            if count != wanted:
                self.fail(f"{name} takes {wanted} arguments, not {count}", formula.at)
            parents = self._whole_numbers(formula.parts[-1]).flatten("F").tolist()
            if any(parent >= k or parent < -1 for k, parent in enumerate(parents)):
                self.fail("a parent comes before its row, or is -1", formula.at)
            values = [self.visit(part) for part in formula.parts[:-1]]
            if len(parents) != values[0].shape[0]:
                self.fail(f"{len(parents)} parents for a {size_text(values[0])}", formula.at)
            return applied(*values, parents)
        if name not in FUNCTIONS:
            known = [*self.scope.names(parts, "functions"), *FUNCTION_NAMES]
            self.fail(unknown_name("function", name, known), formula.at)
        counts, builtin = FUNCTIONS[name]
        if count not in counts:
            wanted_text = " or ".join(map(str, counts))
            self.fail(f"{name} takes {wanted_text} arguments, not {count}", formula.at)
        return ca.densify(ca.SX(builtin(*[self.visit(part) for part in formula.parts])))

    def _apply(
        self, function: NetworkFunction | NativeFunction, values: list[ca.SX], at: int
    ) -> ca.SX:
        if len(values) != len(function.arguments):
            shown = ", ".join(function.arguments)
            self.fail(
                f"{function.name}({shown}) takes {len(function.arguments)} arguments, "
                f"not {len(values)}",
                at,
            )
        if isinstance(function, NativeFunction):
            return self._call_native(function, values, at)
        local = dict(zip(function.arguments, values, strict=True))
        scope = Scope(function.owner, local)
        return _Evaluation(function.body, self.world, scope, self.numeric).visit(
            function.body.formula
        )

    def _call_native(self, function: NativeFunction, values: list[ca.SX], at: int) -> ca.SX:
        if self.numeric:
            self.fail(f"{function.name} varies; sizes and indices must be known before a run", at)
        for name, value, length in zip(function.arguments, values, function.lengths, strict=True):
            if value.shape != (length, 1):
                self.fail(f"{name} of {function.name} is {length}x1, not {size_text(value)}", at)
        result = function.traced(lambda name: self.world.value(function.state[name]), *values)
        return ca.densify(ca.SX(result))

    def _call_structural(self, name: str, formula: Formula) -> ca.SX:
        parts = formula.parts
        counts = {"zeros": (1, 2), "eye": (1,), "size": (1, 2), "index": (2,), "lindex": (3,)}
        if len(parts) not in counts.get(name, (0, 1, 2)):
            self.fail(f"{name} does not take {len(parts)} arguments", formula.at)
        if name == "rand":
            return self._rand(formula)
        if name in ("zeros", "eye"):
            extents = [int(self._whole_numbers(part).item(0)) for part in parts]
            rows, columns = extents[0], extents[-1]
            if name == "zeros" and len(parts) == 1:
                columns = 1
            if rows < 0 or columns < 0 or rows * columns > MAX_MATRIX_ENTRIES:
                self.fail(
                    f"no matrix of {rows}x{columns}; {MAX_MATRIX_ENTRIES} entries fit", formula.at
                )
            return ca.SX.zeros(rows, columns) if name == "zeros" else ca.SX(ca.DM.eye(rows))
        value = self.visit(parts[0])
        if name == "size":
            if len(parts) == 1:
                return ca.SX(ca.DM([[*value.shape]]))
            side = self._whole_numbers(parts[1]).item(0)
            if side not in (0, 1):
                self.fail("size(a, 0) are the rows, size(a, 1) the columns", formula.at)
            return ca.SX(value.shape[side])
        numbers = self._whole_numbers(parts[1])
        if name == "lindex":
            # Indices into a matrix of so many rows, laid out in columns.
            rows = self._whole_numbers(parts[2]).item(0)
            if rows < 1 or value.numel() % rows:
                self.fail(f"a {size_text(value)} has no layout of {rows} rows", formula.at)
        return self._linear(value, numbers, formula.at)

    def _rand(self, formula: Formula) -> ca.SX:
        bounds = [self.visit(part) for part in formula.parts]
        low = bounds[0] if len(bounds) == 2 else ca.SX(0)
        high = bounds[-1] if bounds else ca.SX(1)
        width = apply_operator("-", high, low)
        owner = self.scope.owner.path if self.scope.owner is not None else ""
        key = (owner, self.given.text, self.given.place.offset, formula.at)
        draws = self.world.draw(key, width.shape)
        return apply_operator("+", low, width * draws)

    # -- symbolic operators

    def _symbolic(self, formula: Formula) -> ca.SX:
        *inside, last = formula.parts
        arguments = last[1]
        towards: tuple[str, ...] = ()
        if inside and isinstance(inside[-1], tuple):
            towards = inside.pop()[1]
        if formula.value == "dt":
            value = self.visit(inside[0])
            order = self._order(inside, formula)
            for _ in range(order):
                value = self.world.rate(value)
            return value
        if formula.value == "delayed":
            return self._delay(inside, arguments, formula)
        return self._derivative(inside, towards, arguments, formula)

    def _order(self, inside: list[Formula], formula: Formula) -> int:
        if len(inside) > 2:
            self.fail(f"{formula.value}[...] takes a formula and an order", formula.at)
        order = int(self._whole_numbers(inside[1]).item(0)) if len(inside) == 2 else 1
        if not 0 <= order <= 10:
            self.fail(f"order {order}: 0 to 10 are accepted", formula.at)
        return order

    def _delay(
        self, inside: list[Formula], arguments: tuple[Formula, ...], formula: Formula
    ) -> ca.SX:
        if len(inside) > 2 or len(arguments) != 1:
            self.fail("expected delayed[formula, start](delay)", formula.at)
        owner = self.scope.owner.path if self.scope.owner is not None else ""
        key = (owner, self.given.text, self.given.place.offset, formula.at)
        start = replace(self.given, formula=inside[1] if len(inside) == 2 else Formula("number", 0))
        return self.world.delayed_value(
            key, self.visit(inside[0]), (start, self.scope), self.visit(arguments[0])
        )

    def _derivative(
        self,
        inside: list[Formula],
        towards: tuple[str, ...],
        arguments: tuple[Formula, ...],
        formula: Formula,
    ) -> ca.SX:
        named = inside[0]
        function = self.scope.find(named.value, "functions") if named.kind == "name" else None
        if not isinstance(function, (NetworkFunction, NativeFunction)):
            known = self.scope.names(("f",), "functions")
            shown = ".".join(named.value) if named.kind == "name" else "this"
            self.fail(unknown_name("function of yours", shown, known), named.at)
        order = self._order(inside, formula)
        values = [self.visit(part) for part in arguments]
        symbols = [
            ca.SX.sym(name, *value.shape)
            for name, value in zip(function.arguments, values, strict=False)
        ]
        result = self._apply(function, symbols if len(values) == len(symbols) else values, named.at)
        wanted = towards or function.arguments[:1]
        if formula.value == "pdiff" and len(wanted) != 1:
            self.fail("a partial derivative is towards one argument", formula.at)
        for name in wanted:
            if name not in function.arguments:
                self.fail(unknown_name("argument", name, function.arguments), formula.at)
        by = ca.vertcat(*[ca.vec(symbols[function.arguments.index(name)]) for name in wanted])
        for _ in range(order):
            result = ca.jacobian(ca.vec(result), by)
        return ca.densify(ca.substitute([result], symbols, values)[0])

    def _span(self, formula: Formula) -> ca.SX:
        return self.fail("a range stands in an index only", formula.at)

    _whole = _span
