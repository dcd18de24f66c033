"""Evaluation of formulas to symbolic matrices: names, functions, sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import e, pi
from typing import NoReturn

import casadi as ca
import numpy as np

from homodyn.errors import NetworkError
from homodyn.foundation.text import duplicate_names, unknown_name
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
    formula: ParsedFormula,
    world: Environment,
    owner: Node | Edge | None,
    local: Mapping[str, ca.SX] | None = None,
    *,
    numeric: bool = False,
) -> ca.SX:
    """Evaluate a formula.

    Args:
        formula: The formula.
        world: Values of its names.
        owner: Node or edge that contains it.
        local: Arguments of the function that it is the body of.
        numeric: Whether only numbers are accepted, as in sizes and indices.

    Returns:
        Its symbolic value.

    Raises:
        NetworkError: The formula is wrong; the error gives file, line and column.
    """
    evaluation = _Evaluation(formula, world, Scope(owner, local or {}), numeric)
    try:
        return evaluation.visit(formula.formula)
    except RecursionError:
        raise formula.error(
            "the formula is nested too deeply, or a function calls itself"
        ) from None


def element_indices(
    index: ParsedFormula, world: Environment, owner: Node | Edge, shape: tuple[int, int]
) -> list[int]:
    """Entries of a matrix that an index such as ``x[0, 2]`` selects.

    Several numbers select several elements of a vector, or row and column of a matrix.

    Args:
        index: The index formula.
        world: Values of its names.
        owner: Node or edge that contains it.
        shape: Size of the matrix.

    Returns:
        Numbers of the entries, column by column.
    """
    numbered = ca.SX(ca.DM(np.arange(shape[0] * shape[1]).reshape(shape, order="F")))
    evaluation = _Evaluation(index, world, Scope(owner, {}), False)
    slots = index.formula.parts[1:]
    plain = all(slot.kind not in ("whole", "span") for slot in slots)
    if plain and len(slots) > 1 and min(shape) == 1:
        singles = [replace(index.formula, parts=(index.formula.parts[0], slot)) for slot in slots]
        selected = ca.vertcat(*[ca.vec(evaluation.index(numbered, each)) for each in singles])
    else:
        selected = evaluation.index(numbered, index.formula)
    return [int(k) for k in np.array(ca.DM(selected)).flatten("F")]


class _Evaluation:
    """The evaluation of one formula; the method ``_kind`` evaluates a formula of that kind."""

    def __init__(
        self, source: ParsedFormula, world: Environment, scope: Scope, numeric: bool
    ) -> None:
        self.source = source
        self.world = world
        self.scope = scope
        self.numeric = numeric

    def fail(self, message: str, at: int) -> NoReturn:
        raise self.source.error(message, at)

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
            reason = str(error).splitlines()[-1] if str(error) else "no reason given"
            self.fail(f"the formula cannot be evaluated: {reason}", formula.at)
        if not value.numel():
            self.fail(f"a {size_text(value)} matrix is empty; expected at least 1x1", formula.at)
        if value.numel() > MAX_MATRIX_ENTRIES:
            self.fail(
                f"a {size_text(value)} matrix is too large; at most {MAX_MATRIX_ENTRIES} entries",
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
                        f"{'.'.join(parts)} varies; sizes and indices must be constant",
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
        # Long sums are left-deep trees; a loop avoids the recursion limit.
        spine = []
        while formula.kind == "binary":
            spine.append(formula)
            formula = formula.parts[0]
        value = self.visit(formula)
        for operation in reversed(spine):
            right = self.visit(operation.parts[1])
            try:
                value = apply_operator(operation.value, value, right)
            except SizeError as error:
                self.fail(error.message, operation.at)
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
                self.fail(f"parts of a matrix row have different heights: {sizes}", row[0].at)
            rows.append(ca.horzcat(*values))
        widths = {row.shape[1] for row in rows}
        if len(widths) > 1:
            sizes = ", ".join(map(size_text, rows))
            self.fail(f"the rows of a matrix have different widths: {sizes}", formula.at)
        return ca.densify(ca.vertcat(*rows))

    def _prime(self, formula: Formula) -> ca.SX:
        value = self.visit(formula.parts[0])
        for _ in range(formula.value):
            value = self.world.rate(value)
        return value

    # -- indices

    def _whole_numbers(self, formula: Formula) -> np.ndarray:
        inner = _Evaluation(self.source, self.world, self.scope, True)
        value = inner.visit(formula)
        if not value.is_constant():
            self.fail("this varies; sizes and indices must be constant", formula.at)
        numbers = np.array(ca.DM(value))
        if not np.all(numbers == np.round(numbers)) or np.any(np.abs(numbers) > 1e9):
            self.fail("sizes and indices must be integers", formula.at)
        return numbers.astype(int)

    def _slot(self, slot: Formula, extent: int) -> np.ndarray:
        if slot.kind == "whole":
            return np.arange(extent).reshape(-1, 1)
        if slot.kind == "span":
            begin, end = (self._whole_numbers(part) for part in slot.parts)
            if begin.size != 1 or end.size != 1:
                self.fail("the ends of a range must be single numbers", slot.at)
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
        """Select elements of a value.

        Args:
            value: The value.
            formula: The index, whose slots select.

        Returns:
            The elements.
        """
        slots = formula.parts[1:]
        if len(slots) == 1:
            numbers = self._slot(slots[0], value.numel())
            if slots[0].kind == "span" and value.shape[0] == 1:
                numbers = numbers.T
            return self._linear(value, numbers, formula.at)
        if len(slots) != 2:
            self.fail(f"{len(slots)} indices; expected 1 or 2", formula.at)
        rows = self._slot(slots[0], value.shape[0])
        columns = self._slot(slots[1], value.shape[1])
        self._within(rows, value.shape[0], value, slots[0].at)
        self._within(columns, value.shape[1], value, slots[1].at)
        paired = all(slot.kind == "matrix" for slot in slots)
        if paired and rows.shape == columns.shape and rows.shape[0] == 1 and rows.size > 1:
            return self._linear(value, rows + value.shape[0] * columns, formula.at)
        selected = value[
            [int(r) for r in rows.flatten("F")], [int(c) for c in columns.flatten("F")]
        ]
        return ca.densify(ca.SX(selected))

    def _linear(self, value: ca.SX, numbers: np.ndarray, at: int) -> ca.SX:
        self._within(numbers, value.numel(), value, at)
        flat = ca.vec(ca.densify(value))
        selected = ca.vertcat(*[flat[int(k)] for k in numbers.flatten("F")])
        return ca.reshape(selected, *numbers.shape) if numbers.size else ca.SX(0, 1)

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
            expected, tree_function = TREE_FUNCTIONS[name]
            if count != expected:
                self.fail(f"{name} takes {expected} arguments, not {count}", formula.at)
            parents = self._whole_numbers(formula.parts[-1]).flatten("F").tolist()
            if any(parent >= k or parent < -1 for k, parent in enumerate(parents)):
                self.fail("the parent of a row must be an earlier row, or -1", formula.at)
            values = [self.visit(part) for part in formula.parts[:-1]]
            if len(parents) != values[0].shape[0]:
                self.fail(f"{len(parents)} parents for a {size_text(values[0])}", formula.at)
            return tree_function(*values, parents)
        if name not in FUNCTIONS:
            known = [*self.scope.names(parts, "functions"), *FUNCTION_NAMES]
            self.fail(unknown_name("function", name, known), formula.at)
        counts, builtin = FUNCTIONS[name]
        if count not in counts:
            accepted = " or ".join(map(str, counts))
            self.fail(f"{name} takes {accepted} arguments, not {count}", formula.at)
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
            self.fail(f"{function.name} varies; sizes and indices must be constant", at)
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
                    f"the size is {rows}x{columns}; expected at most {MAX_MATRIX_ENTRIES} entries",
                    formula.at,
                )
            return ca.SX.zeros(rows, columns) if name == "zeros" else ca.SX(ca.DM.eye(rows))
        value = self.visit(parts[0])
        if name == "size":
            if len(parts) == 1:
                return ca.SX(ca.DM([[*value.shape]]))
            side = self._whole_numbers(parts[1]).item(0)
            if side not in (0, 1):
                self.fail("expected size(a, 0) for rows or size(a, 1) for columns", formula.at)
            return ca.SX(value.shape[side])
        numbers = self._whole_numbers(parts[1])
        if name == "lindex":
            # Indices into a matrix with this number of rows, column by column.
            rows = self._whole_numbers(parts[2]).item(0)
            if rows < 1 or value.numel() % rows:
                self.fail(f"a {size_text(value)} matrix cannot have {rows} rows", formula.at)
        return self._linear(value, numbers, formula.at)

    def _rand(self, formula: Formula) -> ca.SX:
        bounds = [self.visit(part) for part in formula.parts]
        low = bounds[0] if len(bounds) == 2 else ca.SX(0)
        high = bounds[-1] if bounds else ca.SX(1)
        width = apply_operator("-", high, low)
        owner = self.scope.owner.path if self.scope.owner is not None else ""
        key = (owner, self.source.text, self.source.place.offset, formula.at)
        draws = self.world.draw(key, width.shape)
        return apply_operator("+", low, width * draws)

    # -- symbolic operators

    def _symbolic(self, formula: Formula) -> ca.SX:
        *inside, last = formula.parts
        arguments = last[1]
        variables: tuple[str, ...] = ()
        if inside and isinstance(inside[-1], tuple):
            variables = inside.pop()[1]
        if formula.value == "dt":
            value = self.visit(inside[0])
            order = self._order(inside, formula)
            for _ in range(order):
                value = self.world.rate(value)
            return value
        if formula.value == "delayed":
            return self._delay(inside, arguments, formula)
        return self._derivative(inside, variables, arguments, formula)

    def _order(self, inside: list[Formula], formula: Formula) -> int:
        if len(inside) > 2:
            self.fail(f"{formula.value}[...] takes a formula and an order", formula.at)
        order = int(self._whole_numbers(inside[1]).item(0)) if len(inside) == 2 else 1
        if not 0 <= order <= 10:
            self.fail(f"the order is {order}; expected 0 to 10", formula.at)
        return order

    def _delay(
        self, inside: list[Formula], arguments: tuple[Formula, ...], formula: Formula
    ) -> ca.SX:
        if len(inside) > 2 or len(arguments) != 1:
            self.fail("expected delayed[formula, start](delay)", formula.at)
        owner = self.scope.owner.path if self.scope.owner is not None else ""
        key = (owner, self.source.text, self.source.place.offset, formula.at)
        before = inside[1] if len(inside) == 2 else Formula("number", 0)
        start = replace(self.source, formula=before)
        return self.world.delayed_value(
            key, self.visit(inside[0]), (start, self.scope), self.visit(arguments[0])
        )

    def _derivative(
        self,
        inside: list[Formula],
        variables: tuple[str, ...],
        arguments: tuple[Formula, ...],
        formula: Formula,
    ) -> ca.SX:
        named = inside[0]
        function = self.scope.find(named.value, "functions") if named.kind == "name" else None
        if not isinstance(function, (NetworkFunction, NativeFunction)):
            known = self.scope.names(("f",), "functions")
            shown = ".".join(named.value) if named.kind == "name" else "this"
            self.fail(unknown_name("user-defined function", shown, known), named.at)
        order = self._order(inside, formula)
        values = [self.visit(part) for part in arguments]
        symbols = [
            ca.SX.sym(name, *value.shape)
            for name, value in zip(function.arguments, values, strict=False)
        ]
        result = self._apply(function, symbols if len(values) == len(symbols) else values, named.at)
        chosen = variables or function.arguments[:1]
        if formula.value == "pdiff" and len(chosen) != 1:
            self.fail("a partial derivative has one variable", formula.at)
        for name in chosen:
            if name not in function.arguments:
                self.fail(unknown_name("argument", name, function.arguments), formula.at)
        if repeated := duplicate_names(chosen):
            self.fail(f"{repeated[0]} is listed twice; list each argument once", formula.at)
        by = ca.vertcat(*[ca.vec(symbols[function.arguments.index(name)]) for name in chosen])
        for _ in range(order):
            result = ca.jacobian(ca.vec(result), by)
        return ca.densify(ca.substitute([result], symbols, values)[0])

    def _span(self, formula: Formula) -> ca.SX:
        return self.fail("a range is only accepted in an index", formula.at)

    _whole = _span
