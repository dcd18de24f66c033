"""Arithmetic expressions: combinations of objectives, and probabilities over iterations.

The operators are those of the network language: ``+ - * / % ^``, comparisons, ``&& || !`` and
``a ? b : c``. Anything else is refused, so a job file cannot run code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from homodyn.errors import SearchError

Tree = tuple[Any, ...]

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "ln": np.log,
    "log": np.log,
    "log10": np.log10,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.round,
    "sign": np.sign,
    "hypot": np.hypot,
    "pow": np.power,
    "min": lambda *given: np.minimum.reduce(np.broadcast_arrays(*given)),
    "max": lambda *given: np.maximum.reduce(np.broadcast_arrays(*given)),
    "clip": lambda value, low, high: np.clip(value, low, high),
    # Probability curves: a smooth step from 0 to 1 at 0, and a bump of height 1 at 0.
    "sigmoid": lambda value: 0.5 * (1.0 + np.tanh(0.5 * np.asarray(value))),
    "bump": lambda value: np.exp(-0.5 * np.square(value)),
}
CONSTANTS = {"pi": np.pi, "e": np.e}
_BINARY: dict[str, tuple[int, Callable[[Any, Any], Any]]] = {
    "||": (1, lambda a, b: 1.0 * ((a != 0) | (b != 0))),
    "&&": (2, lambda a, b: 1.0 * ((a != 0) & (b != 0))),
    "==": (3, lambda a, b: 1.0 * (a == b)),
    "!=": (3, lambda a, b: 1.0 * (a != b)),
    "<": (4, lambda a, b: 1.0 * (a < b)),
    "<=": (4, lambda a, b: 1.0 * (a <= b)),
    ">": (4, lambda a, b: 1.0 * (a > b)),
    ">=": (4, lambda a, b: 1.0 * (a >= b)),
    "+": (5, np.add),
    "-": (5, np.subtract),
    "*": (6, np.multiply),
    "/": (6, np.divide),
    "%": (6, np.fmod),
    "^": (8, np.power),
}
_UNARY_PRECEDENCE = 7
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d][\w.]*)"
    r"|(?P<sign>\|\||&&|[=!<>]=|[-+*/%^<>!?:(),]))"
)


MAX_EXPRESSION_CHARACTERS = 20_000
MAX_EXPRESSION_DEPTH = 400
"""Levels of an expression that the recursion of Python evaluates safely."""


class Expression:
    """A parsed arithmetic expression.

    Args:
        text: The expression.

    Attributes:
        variables: Names that need values.

    Raises:
        SearchError: The text is not an expression; the message names the column.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._tree, self.variables = _parse(text)

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """Evaluate the expression.

        Args:
            values: Numbers or arrays by name.

        Returns:
            The value; division by zero gives inf or NaN.

        Raises:
            SearchError: A variable has no value.
        """
        with np.errstate(all="ignore"):
            return _evaluate(self._tree, values)

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"


@lru_cache(maxsize=1000)
def _parse(text: str) -> tuple[Tree, tuple[str, ...]]:
    if len(text) > MAX_EXPRESSION_CHARACTERS:
        raise SearchError(
            f"the expression that begins {text[:40]!r} has {len(text)} characters; the limit is "
            f"{MAX_EXPRESSION_CHARACTERS}"
        )
    parser = _Parser(text)
    try:
        tree = parser.ternary()
    except RecursionError:
        raise parser.error("it is nested too deeply") from None
    if parser.kind != "end":
        raise parser.error(f"unexpected {parser.word!r}")
    if _depth(tree) > MAX_EXPRESSION_DEPTH:
        raise parser.error(f"it is nested more than {MAX_EXPRESSION_DEPTH} deep")
    return tree, tuple(dict.fromkeys(parser.names))


def _depth(tree: Tree) -> int:
    """Levels of a tree; a sum of n terms has n, because its operators are left-associative."""
    deepest, pending = 0, [(tree, 1)]
    while pending:
        part, depth = pending.pop()
        deepest = max(deepest, depth)
        for child in part:
            if isinstance(child, tuple):
                # The arguments of a call are a tuple of trees, not a level.
                level = depth + (bool(child) and isinstance(child[0], str))
                pending.append((child, level))
    return deepest


def _evaluate(tree: Tree, values: Mapping[str, Any]) -> Any:
    match tree:
        case ("number", value):
            return value
        case ("name", name):
            if name not in values:
                raise SearchError(f"no value for {name!r}; given: {sorted(values)}")
            return values[name]
        case ("call", name, arguments):
            return FUNCTIONS[name](*(_evaluate(each, values) for each in arguments))
        case ("if", condition, yes, no):
            return np.where(
                np.asarray(_evaluate(condition, values)) != 0,
                _evaluate(yes, values),
                _evaluate(no, values),
            )
        case ("-", inner):
            return np.negative(_evaluate(inner, values))
        case ("!", inner):
            return 1.0 * (np.asarray(_evaluate(inner, values)) == 0)
        case (sign, left, right):
            # Floats, because numpy integers have no negative powers.
            a = np.asarray(_evaluate(left, values), dtype=float)
            return _BINARY[sign][1](a, np.asarray(_evaluate(right, values), dtype=float))
    raise AssertionError(tree)


class _Parser:
    """Precedence climbing over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self.text, self.place, self.end = text, 0, 0
        self.names: list[str] = []
        self.step()

    def error(self, message: str) -> SearchError:
        return SearchError(f"expression {self.text!r}, column {self.place + 1}: {message}")

    def step(self) -> None:
        rest = self.text[self.end :]
        if not rest.strip():
            self.kind, self.word, self.place = "end", "the end", len(self.text)
            return
        found = _TOKEN.match(rest)
        if found is None or found.lastgroup is None:
            self.place = self.end + len(rest) - len(rest.lstrip())
            raise self.error(f"cannot read {rest.strip()[0]!r}")
        self.kind, self.word = found.lastgroup, found[found.lastgroup]
        self.place = self.end + found.start(found.lastgroup)
        self.end += found.end()

    def take(self, sign: str) -> None:
        if self.kind != "sign" or self.word != sign:
            raise self.error(f"expected {sign!r}, found {self.word!r}")
        self.step()

    def ternary(self) -> Tree:
        condition = self.binary(1)
        if self.kind == "sign" and self.word == "?":
            self.step()
            yes = self.ternary()
            self.take(":")
            return ("if", condition, yes, self.ternary())
        return condition

    def binary(self, min_precedence: int) -> Tree:
        left = self.unary()
        while self.kind == "sign" and self.word in _BINARY:
            sign = self.word
            precedence = _BINARY[sign][0]
            if precedence < min_precedence:
                break
            self.step()
            # Powers are right-associative, all other operators left-associative.
            left = (sign, left, self.binary(precedence if sign == "^" else precedence + 1))
        return left

    def unary(self) -> Tree:
        if self.kind == "sign" and self.word in "-+!":
            sign = self.word
            self.step()
            inner = self.binary(_UNARY_PRECEDENCE)
            return inner if sign == "+" else (sign, inner)
        return self.atom()

    def atom(self) -> Tree:
        kind, word = self.kind, self.word
        if kind == "number":
            self.step()
            return ("number", float(word))
        if kind == "name":
            self.step()
            if self.kind == "sign" and self.word == "(":
                return self.call(word)
            if word in CONSTANTS:
                return ("number", CONSTANTS[word])
            self.names.append(word)
            return ("name", word)
        if kind == "sign" and word == "(":
            self.step()
            inner = self.ternary()
            self.take(")")
            return inner
        raise self.error(f"expected a number, a name or '(', found {word!r}")

    def call(self, name: str) -> Tree:
        if name not in FUNCTIONS:
            raise self.error(f"no function {name!r}; accepted: {sorted(FUNCTIONS)}")
        self.step()
        arguments = [self.ternary()]
        while self.kind == "sign" and self.word == ",":
            self.step()
            arguments.append(self.ternary())
        self.take(")")
        try:
            with np.errstate(all="ignore"):
                FUNCTIONS[name](*(0.5 for _ in arguments))
        except (TypeError, ValueError):
            raise self.error(f"{name} does not take {len(arguments)} arguments") from None
        return ("call", name, tuple(arguments))
