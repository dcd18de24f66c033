"""Statements that need nothing but texts: macros, the integrator, events and expectations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from homodyn.foundation.text import unknown_name
from homodyn.network.constants import calculated
from homodyn.network.document import Statement, Text
from homodyn.network.expansion import Contexts, generated, substituted
from homodyn.network.formula import Expression, expression
from homodyn.network.integrators import METHODS
from homodyn.network.source import Place
from homodyn.network.spread import Spread
from homodyn.network.tree import Edge, Event, Node


@dataclass(frozen=True)
class Expectation:
    """A value a variable should have at a time, written in the text itself."""

    path: str
    value: float
    time: float
    within: float
    place: Place


class Declarations:
    """Carries out the statements of a text that make no objects."""

    def __init__(self, network: Any) -> None:
        self.network = network
        self.macros: dict[str, str] = {}
        self.expectations: list[Expectation] = []

    # -- texts

    def _filled(self, text: Text, contexts: Contexts) -> str:
        return substituted(text, contexts, calculated)

    def _formula(self, text: Text, contexts: Contexts) -> Expression:
        if "{" in text.text:
            names = generated(text, contexts, calculated)
            if len(names) != 1:
                raise text.place.error(
                    f"a formula is one text and not {len(names)}; reduce them: {{1:3}}[|@0 + @1]"
                )
            filled = names[0][0]
        else:
            filled = self._filled(text, contexts)
        return expression(filled, text.place, shifted=filled != text.text)

    def _names(self, text: Text, contexts: Contexts) -> list[tuple[str, tuple[str, ...]]]:
        names = generated(text, contexts, calculated)
        for name, _ in names:
            if not re.fullmatch(r"[^\W\d][\w\u0300-\u036f]*", name):
                raise text.place.error(
                    f"{name!r} cannot be a name; letters, digits and _ are accepted, letters first"
                )
        return names

    def _inside(self, statement: Statement, holder: Node | Edge) -> Node:
        if not isinstance(holder, Node):
            raise statement.place.error(f"an edge cannot hold a {statement.kind}")
        return holder

    def _defined(self, settings: Sequence[tuple[Text, Any]], contexts: Contexts) -> dict[str, str]:
        macros: dict[str, str] = {}
        for name, value in settings:
            if isinstance(value, list):
                raise name.place.error("a macro has one value, not a list")
            macros[name.text] = self._filled(value, contexts.defined(macros))
        return macros

    def _defines(
        self, statement: Statement, holder: Node | Edge, contexts: Contexts, spread: Spread
    ) -> None:
        self.macros.update(self._defined(statement["settings"], contexts))

    def _integrator(
        self, statement: Statement, holder: Node | Edge, contexts: Contexts, spread: Spread
    ) -> None:
        for name, value in statement["settings"]:
            if isinstance(value, list):
                raise name.place.error("an integrator setting has one value")
            text = self._filled(value, contexts)
            if name.text == "method":
                if text not in METHODS:
                    raise value.place.error(unknown_name("method", text, METHODS))
                self.network.method = text
            elif name.text == "default-timestep":
                step = float(calculated(text, value.place))
                if not step > 0:
                    raise value.place.error(f"the time step is {step:g} s; expected above 0")
                self.network.timestep = step
            else:
                known = ["method", "default-timestep"]
                raise name.place.error(unknown_name("integrator setting", name.text, known))

    def _initial(
        self, statement: Statement, holder: Node | Edge, contexts: Contexts, spread: Spread
    ) -> None:
        self._inside(statement, holder).initial_state = self._filled(statement["state"], contexts)

    def _event(
        self, statement: Statement, holder: Node | Edge, contexts: Contexts, spread: Spread
    ) -> None:
        node = self._inside(statement, holder)
        end = statement["end"]
        within = statement["within"]
        tolerance = None
        if within is not None:
            tolerance = float(calculated(self._filled(within, contexts), within.place))
            if not tolerance > 0:
                raise within.place.error(f"within {tolerance:g}: expected above 0")
        sets = tuple(
            (
                self._filled(name, contexts),
                self._formula(spread.picked(value, name.place), contexts),
            )
            for name, value in statement["sets"]
        )
        node.events.append(
            Event(
                tuple(self._filled(state, contexts) for state in statement["begin"]),
                self._filled(end[0], contexts) if end is not None else None,
                self._formula(statement["condition"], contexts),
                tolerance,
                sets,
            )
        )

    def _expectation(
        self, statement: Statement, holder: Node | Edge, contexts: Contexts, spread: Spread
    ) -> None:
        path = holder.member(self._filled(statement["name"], contexts))
        self.expectations.append(
            Expectation(
                path, statement["value"], statement["time"], statement["within"], statement.place
            )
        )
