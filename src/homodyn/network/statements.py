"""The grammar of network texts, and their statements: nodes, edges, equations, events."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lark import Lark, Transformer, v_args
from lark.exceptions import UnexpectedInput, VisitError

from homodyn.network.formula import describe_parse_error, dots_to_primes
from homodyn.network.source import SourceLocation, SourceText

MAX_DOCUMENT_CHARACTERS = 2_000_000
"""Maximum length of a text."""

GRAMMAR = r"""
start: statement*
?statement: equation | function | node | edge | templates | defines | integrator | event
    | initial | file | expectation | body
name: NAME | STRING
equation: (INPUT_NAME | name) PRIMES? places? _operator value flags? constraint? guard?
_operator: EQUAL | PLUSEQUAL | DIRECT
places: PLACES
function: NAME ARGUMENTS EQUAL STRING
?value: NUMBER | STRING | NAME | several
several: "[" value ("," value)* "]"
flags: ("|" NAME)+
constraint: "(" STRING ")"
guard: "state" STRING ("," STRING)*
node: ATTRIBUTE? "node" target inherits? block
?target: selector | "|" selector -> existing
edge: ATTRIBUTE? "edge" STRING? ends? inherits? block
    | "edge" "|" selector inherits? block -> edges
ends: "from" selector "to" (selector | several)
body: BODY STRING? "from" STRING ("with" settings)? block?
inherits: ":" reference ("," reference)*
reference: (NAME | STRING) ("." (NAME | STRING))*
block: "{" statement* "}"
selector: step ((PIPE | DOT) step)*
step: STRING | REGEX | AT | NAME | NAME "(" selector ")"
templates: "templates" block
defines: "defines" settings
integrator: "integrator" settings
settings: "{" (NAME EQUAL value)* "}"
event: "event" from_state "to" to_state "when" STRING within? "{" assignment* "}"
?from_state: "any" -> anywhere | STRING ("," STRING)* -> states
?to_state: "terminate" -> terminate | STRING -> states
within: "within" (NUMBER | STRING)
assignment: "set" name EQUAL value
initial: INITIAL_STATE STRING
file: "include" STRING -> include
    | "require" STRING -> require
    | "parse" STRING settings? -> parse
expectation: "expect" STRING EQUAL NUMBER "at" NUMBER within?

INITIAL_STATE.2: "initial-state"
BODY.2: /body(?=\s*("|from\b))/
EQUAL: "="
PLUSEQUAL: "+="
DIRECT: "<="
PIPE: "|"
DOT: "."
PRIMES: /'+/
PLACES: /\[[^\]\n"]*\](?=\s*(\+?=|<=))/
INPUT_NAME.2: /input\.[^\W\d]\w*(?=\s*'*\s*(\[[^\]\n"]*\]\s*)?(\+=|<=))/
ARGUMENTS.2: /\(\s*([^\W\d]\w*(\s*,\s*[^\W\d]\w*)*)?\s*\)(?=\s*=[^=])/
STRING: /"[^"]*"/
REGEX: /\/[^\/\n]+\//
AT: /@+\w+/
ATTRIBUTE: /<[a-z][a-z ,-]*>/
NUMBER: /[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?/
NAME: /[^\W\d][\w\u0300-\u036f\u20db]*(-[^\W\d]\w*)*/
%ignore /[\s\ufeff]+/
%ignore /#[^\n]*/
"""


@dataclass(frozen=True)
class LocatedText:
    """Text without its quotes, and its place."""

    text: str
    place: SourceLocation


@dataclass(frozen=True)
class SelectorStep:
    """One step of a selector: a generator, a pattern, a context or a word with a selector."""

    kind: str
    text: LocatedText
    inner: tuple[SelectorStep, ...] = ()


@dataclass(frozen=True)
class Statement:
    """One statement: its kind, its place and its fields by name."""

    kind: str
    place: SourceLocation
    fields: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]


@v_args(meta=True)
class _Statements(Transformer[Any, Any]):
    """Converts the parse tree into statements; the methods are named by rules of the grammar."""

    def __init__(self, source: SourceText) -> None:
        super().__init__()
        self.source = source

    def _text(self, token: Any) -> LocatedText:
        quoted = token.type in ("STRING", "REGEX")
        text = str(token)[1:-1] if quoted else str(token)
        return LocatedText(text, SourceLocation(self.source, token.start_pos + quoted))

    def _statement(self, kind: str, meta: Any, **fields: Any) -> Statement:
        return Statement(kind, SourceLocation(self.source, getattr(meta, "start_pos", 0)), fields)

    def start(self, meta: Any, children: list[Any]) -> list[Statement]:
        return list(children)

    def name(self, meta: Any, children: list[Any]) -> Any:
        return children[0]

    def equation(self, meta: Any, children: list[Any]) -> Statement:
        name, *rest = children
        fields: dict[str, Any] = {
            "order": 0,
            "places": "",
            "flags": (),
            "constraint": None,
            "guard": (),
        }
        for part in rest:
            kind = getattr(part, "type", None)
            if kind == "PRIMES":
                fields["order"] += len(part)
            elif kind in ("EQUAL", "PLUSEQUAL", "DIRECT"):
                fields["operator"] = str(part)
            elif isinstance(part, tuple) and part and part[0] in fields:
                fields[part[0]] = part[1]
            else:
                fields["value"] = self._value(part)
        text = self._text(name)
        if name.type in ("NAME", "INPUT_NAME"):
            plain, dots = dots_to_primes(text.text)
            fields["order"] += dots
            text = LocatedText(plain, text.place)
        return self._statement("equation", meta, name=text, **fields)

    def _value(self, part: Any) -> Any:
        return part if isinstance(part, list) else self._text(part)

    def places(self, meta: Any, children: list[Any]) -> tuple[str, str]:
        return "places", str(children[0])

    def several(self, meta: Any, children: list[Any]) -> list[Any]:
        return [self._value(child) for child in children]

    def flags(self, meta: Any, children: list[Any]) -> tuple[str, tuple[LocatedText, ...]]:
        return "flags", tuple(map(self._text, children))

    def constraint(self, meta: Any, children: list[Any]) -> tuple[str, LocatedText]:
        return "constraint", self._text(children[0])

    def guard(self, meta: Any, children: list[Any]) -> tuple[str, tuple[LocatedText, ...]]:
        return "guard", tuple(map(self._text, children))

    def function(self, meta: Any, children: list[Any]) -> Statement:
        name, arguments, _, body = children
        inside = str(arguments)[1:-1].split(",")
        names = tuple(part.strip() for part in inside if part.strip())
        return self._statement(
            "function", meta, name=self._text(name), arguments=names, body=self._text(body)
        )

    def step(self, meta: Any, children: list[Any]) -> SelectorStep:
        token = children[0]
        kind = {"STRING": "generator", "REGEX": "pattern", "AT": "context", "NAME": "word"}
        inner = children[1] if len(children) > 1 else ()
        return SelectorStep(kind[token.type], self._text(token), inner)

    def selector(self, meta: Any, children: list[Any]) -> tuple[SelectorStep, ...]:
        steps: list[SelectorStep] = []
        for child in children:
            if isinstance(child, SelectorStep):
                steps.append(child)
            elif child.type == "DOT":
                steps.append(SelectorStep("word", LocatedText("children", self._text(child).place)))
        return tuple(steps)

    def existing(self, meta: Any, children: list[Any]) -> Any:
        return ("existing", children[0])

    def reference(self, meta: Any, children: list[Any]) -> LocatedText:
        texts = [self._text(child) for child in children if child.type != "DOT"]
        return LocatedText(".".join(text.text for text in texts), texts[0].place)

    def inherits(self, meta: Any, children: list[Any]) -> tuple[str, tuple[LocatedText, ...]]:
        return "inherits", tuple(children)

    def ends(self, meta: Any, children: list[Any]) -> tuple[str, Any]:
        return "ends", tuple(children)

    def block(self, meta: Any, children: list[Any]) -> tuple[str, list[Statement]]:
        return "block", list(children)

    def node(self, meta: Any, children: list[Any]) -> Statement:
        fields: dict[str, Any] = {"inherits": (), "existing": False, "attributes": ""}
        for child in children:
            if getattr(child, "type", "") == "ATTRIBUTE":
                fields["attributes"] = str(child)[1:-1]
            elif isinstance(child, tuple) and child and child[0] in ("inherits", "block"):
                fields[child[0]] = child[1]
            elif isinstance(child, tuple) and child and child[0] == "existing":
                fields["target"], fields["existing"] = child[1], True
            else:
                fields["target"] = child
        return self._statement("node", meta, **fields)

    def edge(self, meta: Any, children: list[Any]) -> Statement:
        fields: dict[str, Any] = {"inherits": (), "attributes": "", "name": None, "ends": None}
        fields["target"] = None
        for child in children:
            kind = getattr(child, "type", "")
            if kind == "ATTRIBUTE":
                fields["attributes"] = str(child)[1:-1]
            elif kind == "STRING":
                fields["name"] = self._text(child)
            else:
                fields[child[0]] = child[1]
        return self._statement("edge", meta, **fields)

    def edges(self, meta: Any, children: list[Any]) -> Statement:
        target, *rest = children
        fields: dict[str, Any] = {"inherits": (), "attributes": "", "name": None, "ends": None}
        return self._statement("edge", meta, **{**fields, "target": target, **dict(rest)})

    def body(self, meta: Any, children: list[Any]) -> Statement:
        texts = [child for child in children[1:] if getattr(child, "type", "") == "STRING"]
        fields: dict[str, Any] = {"settings": [], "block": []}
        for child in children[1:]:
            if isinstance(child, list):
                fields["settings"] = child
            elif isinstance(child, tuple):
                fields["block"] = child[1]
        fields["name"] = self._text(texts[0]) if len(texts) > 1 else None
        return self._statement("body", meta, file=self._text(texts[-1]), **fields)

    def templates(self, meta: Any, children: list[Any]) -> Statement:
        return self._statement("templates", meta, block=children[0][1])

    def settings(self, meta: Any, children: list[Any]) -> list[tuple[LocatedText, Any]]:
        parts = [child for child in children if getattr(child, "type", "") != "EQUAL"]
        return [
            (self._text(name), self._value(value))
            for name, value in zip(parts[::2], parts[1::2], strict=True)
        ]

    def defines(self, meta: Any, children: list[Any]) -> Statement:
        return self._statement("defines", meta, settings=children[0])

    def integrator(self, meta: Any, children: list[Any]) -> Statement:
        return self._statement("integrator", meta, settings=children[0])

    def anywhere(self, meta: Any, children: list[Any]) -> tuple[str, tuple[LocatedText, ...]]:
        return "states", ()

    def states(self, meta: Any, children: list[Any]) -> tuple[str, tuple[LocatedText, ...]]:
        return "states", tuple(map(self._text, children))

    def terminate(self, meta: Any, children: list[Any]) -> tuple[str, None]:
        return "states", None

    def within(self, meta: Any, children: list[Any]) -> tuple[str, LocatedText]:
        return "within", self._text(children[0])

    def assignment(self, meta: Any, children: list[Any]) -> tuple[str, LocatedText, Any]:
        return "set", self._text(children[0]), self._value(children[2])

    def event(self, meta: Any, children: list[Any]) -> Statement:
        begin, end, condition, *rest = children
        within = next((part[1] for part in rest if part[0] == "within"), None)
        sets = [part[1:] for part in rest if part[0] == "set"]
        return self._statement(
            "event",
            meta,
            begin=begin[1],
            end=end[1],
            condition=self._text(condition),
            within=within,
            sets=sets,
        )

    def initial(self, meta: Any, children: list[Any]) -> Statement:
        return self._statement("initial", meta, state=self._text(children[-1]))

    def include(self, meta: Any, children: list[Any]) -> Statement:
        return self._statement("include", meta, file=self._text(children[0]))

    def require(self, meta: Any, children: list[Any]) -> Statement:
        return self._statement("require", meta, file=self._text(children[0]))

    def parse(self, meta: Any, children: list[Any]) -> Statement:
        settings = children[1] if len(children) > 1 else []
        return self._statement("parse", meta, file=self._text(children[0]), settings=settings)

    def expectation(self, meta: Any, children: list[Any]) -> Statement:
        name, _, value, time, *rest = children
        within = float(rest[0][1].text) if rest else 1e-6
        return self._statement(
            "expectation",
            meta,
            name=self._text(name),
            value=float(value),
            time=float(time),
            within=within,
        )


@lru_cache(maxsize=1)
def _parser() -> Lark:
    return Lark(GRAMMAR, parser="lalr", propagate_positions=True, maybe_placeholders=False)


def parse_statements(source: SourceText) -> list[Statement]:
    """Parse a network text.

    Args:
        source: The text.

    Returns:
        Its statements.

    Raises:
        NetworkError: The text does not follow the grammar; the error gives line and column.
    """
    if len(source.text) > MAX_DOCUMENT_CHARACTERS:
        raise source.error(
            f"the text has {len(source.text)} characters; at most {MAX_DOCUMENT_CHARACTERS}", 0
        )
    try:
        return _Statements(source).transform(_parser().parse(source.text))
    except UnexpectedInput as error:
        message, offset = describe_parse_error(error, source.text)
        raise source.error(message, offset) from None
    except (RecursionError, VisitError) as error:
        if isinstance(error, VisitError) and not isinstance(error.orig_exc, RecursionError):
            raise
        raise source.error("blocks are nested too deeply", 0) from None
