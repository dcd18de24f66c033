"""Formulas, the expressions in quotes of a network text: grammar and syntax tree."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lark import Lark, Transformer, v_args
from lark.exceptions import (
    UnexpectedCharacters,
    UnexpectedEOF,
    UnexpectedInput,
    UnexpectedToken,
    VisitError,
)

from homodyn.errors import NetworkError
from homodyn.network.source import SourceLocation, SourceText

MAX_FORMULA_CHARACTERS = 20_000
"""Maximum length of a formula."""

GRAMMAR = r"""
?start: choice
?choice: either | either "?" choice ":" choice -> choice
?either: both (OR both)* -> chain
?both: comparison (AND comparison)* -> chain
?comparison: sum (COMPARE sum)* -> chain
?sum: product (SIGN product)* -> chain
?product: unary (TIMES unary)* -> chain
?unary: power | SIGN unary -> unary | NOT unary -> unary
?power: postfix | postfix POWER exponent -> binary
?exponent: power | SIGN exponent -> unary
?postfix: atom
    | postfix PRIMES -> prime
    | postfix SUPERSCRIPT -> superscript
    | postfix "[" slot ("," slot)* "]" -> index
?atom: NUMBER -> number
    | name
    | name "(" (choice ("," choice)*)? ")" -> call
    | PREFIX postfix -> prefix
    | SYMBOLIC "[" choice ("," choice)* towards? "]" arguments -> symbolic
    | "(" choice ")"
    | "[" row (";" row)* "]" -> matrix
towards: ";" NAME ("," NAME)*
name: NAME ("." NAME)*
row: choice ("," choice)*
arguments: "(" (choice ("," choice)*)? ")"
?slot: choice | ":" -> whole | either ":" either -> span

OR: "||"
AND: "&&"
COMPARE: ">=" | "<=" | "==" | "!=" | ">" | "<"
SIGN: "+" | "-" | "−"
TIMES: "*" | ".*" | "/" | "%" | "·" | "÷"
POWER: "^"
NOT: "!"
PRIMES: /'+/
SUPERSCRIPT: /[²³ᵀ]/
PREFIX: /[∑∏√]/
SYMBOLIC.3: /(dt|diff|pdiff|delayed|∂)(?=\s*\[)/
NUMBER: /(\d+\.(?!\*)\d*|\.\d+|\d+)([eE][+-]?\d+)?/
NAME: /(?![²³ᵀ])[^\W\d](?:(?![²³ᵀ])[\w\u0300-\u036f\u20db])*/
%ignore /\s+/
"""

WORDS = {
    "NUMBER": "a number",
    "NAME": "a name",
    "SIGN": "+ or -",
    "TIMES": "* or /",
    "COMPARE": "a comparison",
    "POWER": "^",
    "PRIMES": "'",
    "OR": "||",
    "AND": "&&",
    "NOT": "!",
    "SUPERSCRIPT": "²",
    "PREFIX": "∑ ∏ √",
    "SYMBOLIC": "dt[...] or diff[...]",
    "LPAR": "(",
    "RPAR": ")",
    "LSQB": "[",
    "RSQB": "]",
    "LBRACE": "{",
    "RBRACE": "}",
    "COMMA": ",",
    "SEMICOLON": ";",
    "COLON": ":",
    "QMARK": "?",
    "DOT": ".",
    "EQUAL": "=",
    "VBAR": "|",
    "$END": "the end",
    "STRING": 'a text in "quotes"',
    "ARGUMENTS": "(arguments) of a function",
    "PLACES": "[indices] of elements",
    "REGEX": "/a pattern/",
    "AT": "@1 or @name",
    "ATTRIBUTE": "<bidirectional>",
    "PLUSEQUAL": "+=",
    "DIRECT": "<=",
    "BODY": "body",
}


@dataclass(frozen=True)
class Formula:
    """A node of the syntax tree."""

    kind: str
    """number, name, call, unary, binary, choice, index, span, whole, prime, symbolic or matrix."""
    value: Any = None
    """The number, the dotted name or the operator."""
    parts: tuple[Any, ...] = ()
    """Operands."""
    at: int = 0
    """Offset in the text."""


@dataclass(frozen=True, repr=False)
class ParsedFormula:
    """A formula with its text and its place."""

    formula: Formula
    text: str
    place: SourceLocation
    expanded: bool = False
    """Whether the text differs from that at the place, because names were substituted."""

    def __repr__(self) -> str:
        return f"ParsedFormula({self.text!r})"

    def error(self, message: str, at: int = 0) -> NetworkError:
        """An error in this formula.

        Args:
            message: What is wrong.
            at: Offset in the formula.

        Returns:
            The error, to be raised.
        """
        if self.expanded:
            return self.place.error(f"{message} (in {self.text!r})")
        return self.place.shift(at).error(message)


def dots_to_primes(name: str) -> tuple[str, int]:
    """A name without the dots above its last letter, and their number: ẏ is (y, 1)."""
    letters = unicodedata.normalize("NFD", name)
    count = 0
    while letters and letters[-1] in "\u0307\u0308\u20db":
        count += {"\u0307": 1, "\u0308": 2, "\u20db": 3}[letters[-1]]
        letters = letters[:-1]
    return unicodedata.normalize("NFC", letters), count


@v_args(meta=True)
class _Tree(Transformer[Any, Formula]):
    def number(self, meta: Any, children: list[Any]) -> Formula:
        return Formula("number", float(children[0]), (), meta.start_pos)

    def name(self, meta: Any, children: list[Any]) -> Formula:
        *path, last = map(str, children)
        last, dots = dots_to_primes(last)
        plain = [dots_to_primes(part)[0] for part in path]
        named = Formula("name", (*plain, last), (), meta.start_pos)
        return Formula("prime", dots, (named,), meta.start_pos) if dots else named

    def call(self, meta: Any, children: list[Any]) -> Formula:
        function = children[0]
        if function.kind == "prime":
            function = function.parts[0]
        return Formula("call", function.value, tuple(children[1:]), meta.start_pos)

    def unary(self, meta: Any, children: list[Any]) -> Formula:
        operator = "-" if children[0] == "−" else str(children[0])
        return Formula("unary", operator, (children[1],), children[0].start_pos)

    def binary(self, meta: Any, children: list[Any]) -> Formula:
        return self.join(*children)

    @staticmethod
    def join(a: Formula, token: Any, b: Formula) -> Formula:
        """The binary operation of two formulas."""
        operator = {"·": "*", "÷": "/", "−": "-"}.get(str(token), str(token))
        return Formula("binary", operator, (a, b), token.start_pos)

    def chain(self, meta: Any, children: list[Any]) -> Formula:
        """Left-associative operators of equal precedence."""
        result = children[0]
        for token, right in zip(children[1::2], children[2::2], strict=True):
            result = self.join(result, token, right)
        return result

    def choice(self, meta: Any, children: list[Any]) -> Formula:
        return Formula("choice", None, tuple(children), meta.start_pos)

    def prime(self, meta: Any, children: list[Any]) -> Formula:
        return Formula("prime", len(children[1]), (children[0],), meta.start_pos)

    def superscript(self, meta: Any, children: list[Any]) -> Formula:
        a, token = children
        if token == "ᵀ":
            return Formula("call", ("transpose",), (a,), meta.start_pos)
        power = Formula("number", 2.0 if token == "²" else 3.0, (), token.start_pos)
        return Formula("binary", "^", (a, power), token.start_pos)

    def prefix(self, meta: Any, children: list[Any]) -> Formula:
        function = {"∑": "sum", "∏": "product", "√": "sqrt"}[str(children[0])]
        return Formula("call", (function,), (children[1],), meta.start_pos)

    def index(self, meta: Any, children: list[Any]) -> Formula:
        return Formula("index", None, tuple(children), meta.start_pos)

    def whole(self, meta: Any, children: list[Any]) -> Formula:
        return Formula("whole")

    def span(self, meta: Any, children: list[Any]) -> Formula:
        return Formula("span", None, tuple(children), meta.start_pos)

    def row(self, meta: Any, children: list[Any]) -> tuple[Formula, ...]:
        return tuple(children)

    def matrix(self, meta: Any, children: list[Any]) -> Formula:
        return Formula("matrix", None, tuple(children), meta.start_pos)

    def towards(self, meta: Any, children: list[Any]) -> tuple[str, tuple[str, ...]]:
        return ("towards", tuple(map(str, children)))

    def symbolic(self, meta: Any, children: list[Any]) -> Formula:
        operator = "pdiff" if children[0] == "∂" else str(children[0])
        return Formula("symbolic", operator, tuple(children[1:]), meta.start_pos)

    def arguments(self, meta: Any, children: list[Any]) -> tuple[str, tuple[Any, ...]]:
        return "arguments", tuple(children)


NUMBER_PATTERN = re.compile(r"(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d+)?", re.ASCII)
"""Formulas that are just a number, which need no parser."""


@lru_cache(maxsize=1)
def _parser() -> Lark:
    return Lark(GRAMMAR, parser="lalr", propagate_positions=True, maybe_placeholders=False)


def expected_tokens(error: UnexpectedInput) -> str:
    """The tokens that would have been accepted, as text."""
    names: set[str] = set()
    if isinstance(error, UnexpectedToken):
        names = set(error.accepts or error.expected or ())
    elif isinstance(error, UnexpectedCharacters):
        names = set(error.allowed or ())
    elif isinstance(error, UnexpectedEOF):
        names = set(error.expected)
    words = sorted({WORDS.get(name, name.lower().replace("_", "-")) for name in names})
    return ", ".join(words)


def describe_parse_error(error: UnexpectedInput, text: str) -> tuple[str, int]:
    """A sentence about an error of the parser, and its offset."""
    token = getattr(error, "token", None)
    offset = error.pos_in_stream if error.pos_in_stream is not None else len(text)
    if isinstance(error, UnexpectedEOF) or (token is not None and token.type == "$END"):
        offset, found = len(text.rstrip()), "the text ends"
    elif token is not None:
        found = f"{str(token)[:40]!r} is not expected"
    else:
        found = f"{text[offset : offset + 1]!r} is not expected"
    words = expected_tokens(error)
    return f"{found} here; expected {words}" if words else f"{found} here", offset


@lru_cache(maxsize=4096)
def _parse(text: str) -> Formula | tuple[str, int]:
    if len(text) > MAX_FORMULA_CHARACTERS:
        return f"the formula has {len(text)} characters; at most {MAX_FORMULA_CHARACTERS}", 0
    if NUMBER_PATTERN.fullmatch(text):
        return Formula("number", float(text))
    try:
        return _Tree().transform(_parser().parse(text))
    except UnexpectedInput as error:
        return describe_parse_error(error, text)
    except (RecursionError, VisitError) as error:
        if isinstance(error, VisitError) and not isinstance(error.orig_exc, RecursionError):
            raise
        return "the formula is nested too deeply", 0


def parse_formula(
    text: str, place: SourceLocation | None = None, *, expanded: bool = False
) -> ParsedFormula:
    """Parse a formula.

    Args:
        text: The formula.
        place: Its place in a source text.
        expanded: Whether the text differs from that at the place.

    Returns:
        The parsed formula.

    Raises:
        NetworkError: The text is not a formula; the error gives file, line and column.
    """
    where = place or SourceLocation(SourceText(text, "formula"), 0)
    result = _parse(text)
    if isinstance(result, Formula):
        return ParsedFormula(result, text, where, expanded)
    message, offset = result
    raise ParsedFormula(Formula("number"), text, where, expanded).error(message, offset)
