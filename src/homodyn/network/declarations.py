"""Statements that create no nodes or edges: macros, integrator, events and expectations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from homodyn.foundation.text import unknown_name
from homodyn.network.broadcast import Broadcast
from homodyn.network.constant_folding import fold_text
from homodyn.network.expansion import ExpansionContext, generate_names, substitute
from homodyn.network.formula import ParsedFormula, parse_formula
from homodyn.network.integrators import METHODS
from homodyn.network.source import SourceLocation
from homodyn.network.statements import LocatedText, Statement
from homodyn.network.tree import INPUT_PREFIX, Edge, NetworkEvent, Node


@dataclass(frozen=True)
class Expectation:
    """An expected value of a variable at a time."""

    path: str
    value: float
    time: float
    tolerance: float
    place: SourceLocation


class Declarations:
    """Executes the statements of a text that create no nodes or edges."""

    def __init__(self, network: Any) -> None:
        self.network = network
        self.macros: dict[str, str] = {}
        self.expectations: list[Expectation] = []

    # -- texts

    def _substitute(self, text: LocatedText, contexts: ExpansionContext) -> str:
        return substitute(text, contexts, fold_text)

    def _formula(self, text: LocatedText, contexts: ExpansionContext) -> ParsedFormula:
        if "{" in text.text:
            names = generate_names(text, contexts, fold_text)
            if len(names) != 1:
                raise text.place.error(
                    f"a formula must be a single text, not {len(names)}; reduce them: "
                    "{1:3}[|@0 + @1]"
                )
            filled = names[0][0]
        else:
            filled = self._substitute(text, contexts)
        return parse_formula(filled, text.place, expanded=filled != text.text)

    def _names(
        self, text: LocatedText, contexts: ExpansionContext
    ) -> list[tuple[str, tuple[str, ...]]]:
        names = generate_names(text, contexts, fold_text)
        for name, _ in names:
            if not re.fullmatch(r"[^\W\d][\w\u0300-\u036f]*", name):
                raise text.place.error(
                    f"{name!r} is not a name; expected letters, digits and _, first a letter"
                )
        return names

    def _equation_names(
        self, text: LocatedText, holder: Node | Edge, contexts: ExpansionContext
    ) -> list[tuple[str, tuple[str, ...]]]:
        """The names of the variables of an equation; ``input.`` is in front of those of an edge."""
        if not text.text.startswith(INPUT_PREFIX):
            return self._names(text, contexts)
        if isinstance(holder, Node):
            raise text.place.error("only an edge has an input; remove 'input.'")
        plain = LocatedText(
            text.text.removeprefix(INPUT_PREFIX), text.place.shift(len(INPUT_PREFIX))
        )
        return [(INPUT_PREFIX + name, groups) for name, groups in self._names(plain, contexts)]

    def _require_node(self, statement: Statement, holder: Node | Edge) -> Node:
        if not isinstance(holder, Node):
            raise statement.place.error(f"an edge cannot contain a {statement.kind}")
        return holder

    def _macro_values(
        self, settings: Sequence[tuple[LocatedText, Any]], contexts: ExpansionContext
    ) -> dict[str, str]:
        macros: dict[str, str] = {}
        for name, value in settings:
            if isinstance(value, list):
                raise name.place.error("a macro has a single value, not a list")
            macros[name.text] = self._substitute(value, contexts.define(macros))
        return macros

    def _defines(
        self,
        statement: Statement,
        holder: Node | Edge,
        contexts: ExpansionContext,
        spread: Broadcast,
    ) -> None:
        self.macros.update(self._macro_values(statement["settings"], contexts))

    def _integrator(
        self,
        statement: Statement,
        holder: Node | Edge,
        contexts: ExpansionContext,
        spread: Broadcast,
    ) -> None:
        for name, value in statement["settings"]:
            if isinstance(value, list):
                raise name.place.error("an integrator setting has a single value")
            text = self._substitute(value, contexts)
            if name.text == "method":
                if text not in METHODS:
                    raise value.place.error(unknown_name("method", text, METHODS))
                self.network.method = text
            elif name.text == "default-timestep":
                step = float(fold_text(text, value.place))
                if not step > 0:
                    raise value.place.error(f"the time step is {step:g} s; expected more than 0 s")
                self.network.timestep = step
            else:
                known = ["method", "default-timestep"]
                raise name.place.error(unknown_name("integrator setting", name.text, known))

    def _initial(
        self,
        statement: Statement,
        holder: Node | Edge,
        contexts: ExpansionContext,
        spread: Broadcast,
    ) -> None:
        self._require_node(statement, holder).initial_state = self._substitute(
            statement["state"], contexts
        )

    def _event(
        self,
        statement: Statement,
        holder: Node | Edge,
        contexts: ExpansionContext,
        spread: Broadcast,
    ) -> None:
        node = self._require_node(statement, holder)
        end = statement["end"]
        within = statement["within"]
        tolerance = None
        if within is not None:
            tolerance = float(fold_text(self._substitute(within, contexts), within.place))
            if not tolerance > 0:
                raise within.place.error(f"the tolerance is {tolerance:g}; expected more than 0")
        sets = tuple(
            (
                self._substitute(name, contexts),
                self._formula(spread.pick(value, name.place), contexts),
            )
            for name, value in statement["sets"]
        )
        node.events.append(
            NetworkEvent(
                tuple(self._substitute(state, contexts) for state in statement["begin"]),
                self._substitute(end[0], contexts) if end is not None else None,
                self._formula(statement["condition"], contexts),
                tolerance,
                sets,
            )
        )

    def _expectation(
        self,
        statement: Statement,
        holder: Node | Edge,
        contexts: ExpansionContext,
        spread: Broadcast,
    ) -> None:
        path = holder.member(self._substitute(statement["name"], contexts))
        self.expectations.append(
            Expectation(
                path, statement["value"], statement["time"], statement["within"], statement.place
            )
        )
