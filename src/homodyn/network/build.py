"""From statements to the tree: names are generated, templates applied, files included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from homodyn.errors import NetworkError
from homodyn.foundation.text import unknown_name
from homodyn.network.bridge import CATALOG, body, identifier, model_of
from homodyn.network.constants import calculated
from homodyn.network.declare import Declarations
from homodyn.network.document import Statement, Step, Text, statements
from homodyn.network.expansion import Contexts, generated
from homodyn.network.files import Shelf, read_text
from homodyn.network.formula import expression
from homodyn.network.selection import Found, select
from homodyn.network.source import Place, Source
from homodyn.network.spread import Spread
from homodyn.network.tree import Edge, Node

DEEPEST = 20
"""Files that may include each other in a row."""

MOST_OBJECTS = 50_000


@dataclass(frozen=True)
class Template:
    """Statements kept until a node or edge inherits them."""

    kind: str
    name: str
    parents: tuple[Text, ...]
    block: list[Statement]
    contexts: Contexts
    groups: tuple[str, ...] = ()
    """Of the name, if a generator made it: what ``@1`` stands for inside."""
    spread: Spread | None = None


class Builder(Declarations):
    """Carries out the statements of a text on a network."""

    def __init__(self, network: Any, folder: Path | None, *, outside: bool = False) -> None:
        super().__init__(network)
        self.shelf = Shelf(folder, outside)
        self.templates: dict[str, Template] = {}
        self.required: set[Path] = set()
        self._depth = 0
        self._objects = 0

    def build(self, source: Source) -> None:
        """Everything a text says."""
        self.carry_out(statements(source), self.network, Contexts(), Spread())

    def carry_out(
        self, block: Sequence[Statement], holder: Node | Edge, contexts: Contexts, spread: Spread
    ) -> None:
        """Statements in their order, each seeing the macros defined before it."""
        for statement in block:
            seen = contexts.defined({**self.macros, **contexts.macros})
            method = getattr(self, f"_{statement.kind}")
            method(statement, holder, seen, spread)

    # -- variables, equations, functions

    def _equation(
        self, statement: Statement, holder: Node | Edge, contexts: Contexts, spread: Spread
    ) -> None:
        names = self._names(statement["name"], contexts)
        for k, (name, groups) in enumerate(names):
            inner = contexts.pushed(groups)
            value = spread.picked(statement["value"], statement.place, k, len(names))
            if isinstance(value, list):
                raise statement.place.error("a list in a list; a matrix is written in quotes")
            formula = self._formula(value, inner)
            states = tuple(self._filled(text, inner) for text in statement["guard"])
            if statement["order"] == 0 and statement["operator"] == "=":
                if states:
                    raise statement.place.error(
                        "only equations can be bound to event-states, as in x' = ... state ..."
                    )
                constraint = statement["constraint"]
                holder.variable(
                    name,
                    formula,
                    flags=[flag.text for flag in statement["flags"]],
                    constraint=self._formula(constraint, inner) if constraint else None,
                    place=statement.place,
                )
                continue
            places = None
            if statement["places"]:
                filled = self._filled(Text(statement["places"], statement.place), inner)
                places = expression(f"{name}{filled}", statement.place, shifted=True)
            holder.equation(
                name,
                formula,
                order=statement["order"],
                operator=statement["operator"],
                states=states,
                places=places,
            )

    def _function(
        self, statement: Statement, holder: Node | Edge, contexts: Contexts, spread: Spread
    ) -> None:
        name: Text = statement["name"]
        inner = contexts.pushed((name.text,))
        holder.function(name.text, statement["arguments"], self._formula(statement["body"], inner))

    # -- nodes and edges

    def _counted(self, place: Place) -> None:
        self._objects += 1
        if self._objects > MOST_OBJECTS:
            raise place.error(f"the network has more than {MOST_OBJECTS} nodes and edges")

    def _node(
        self, statement: Statement, holder: Node | Edge, contexts: Contexts, spread: Spread
    ) -> None:
        parent = self._inside(statement, holder)
        if statement["attributes"]:
            raise statement.place.error(f"no attribute <{statement['attributes']}> for nodes")
        target = statement["target"]
        found: list[Found] = []
        if len(target) == 1 and target[0].kind == "generator" and not statement["existing"]:
            for name, groups in self._names(target[0].text, contexts):
                if name not in parent.nodes:
                    self._counted(statement.place)
                found.append(Found(parent.node(name), contexts.pushed(groups)))
        else:
            found = [
                one
                for one in select(target, parent, contexts, calculated)
                if isinstance(one.item, Node)
            ]
        for k, one in enumerate(found):
            self._fill(statement, one.item, one.contexts, Spread(k, len(found), None, spread))

    def _fill(self, statement: Statement, item: Any, contexts: Contexts, spread: Spread) -> None:
        self._depth += 1
        if self._depth > 50:
            raise statement.place.error("templates or blocks are nested more than 50 deep")
        contexts = replace(contexts, counted=(spread.index, spread.count))
        for reference in statement["inherits"]:
            self._inherit(reference, statement.kind, item, contexts, spread, [])
        self.carry_out(statement["block"], item, contexts, spread)
        self._depth -= 1

    def _inherit(
        self,
        reference: Text,
        kind: str,
        item: Any,
        contexts: Contexts,
        spread: Spread,
        chain: list[str],
    ) -> None:
        name = self._filled(reference, contexts)
        template = self.templates.get(name)
        if template is None or template.kind != kind:
            known = [one.name for one in self.templates.values() if one.kind == kind]
            raise reference.place.error(unknown_name(f"template of a {kind}", name, known))
        if name in chain:
            raise reference.place.error(f"templates inherit in a circle: {' > '.join(chain)}")
        inner = contexts.defined({**template.contexts.macros, **contexts.macros})
        if template.groups:
            inner = inner.pushed(template.groups)
        for parent in template.parents:
            own = self._filled(parent, inner)
            chosen = replace(parent, text=own)
            self._inherit(chosen, kind, item, contexts, spread, [*chain, name])
        item.templates.append(name)
        self.carry_out(template.block, item, inner, template.spread or spread)

    def _edge(
        self, statement: Statement, holder: Node | Edge, contexts: Contexts, spread: Spread
    ) -> None:
        parent = self._inside(statement, holder)
        attributes = statement["attributes"].replace(",", " ").split()
        for attribute in attributes:
            if attribute != "bidirectional":
                raise statement.place.error(unknown_name("attribute", attribute, ["bidirectional"]))
        if statement["ends"] is None:
            self._reopened(statement, parent, contexts, spread)
            return
        source, target = statement["ends"]
        pairs: list[tuple[Found, Found]] = []
        begins = self._ends(source, parent, contexts)
        for k, one in enumerate(begins):
            end = target
            if isinstance(target, list):
                chosen = Spread(k, len(begins)).picked(target, statement.place)
                end = (Step("generator", chosen),)
            for other in self._ends(end, parent, one.contexts):
                pairs.append((one, other))
        # Selectors may find nothing; names that are not there are mistakes.
        if not pairs and _is_name(source) and (isinstance(target, list) or _is_name(target)):
            names = [*parent.nodes]
            # Where the begin is there, the end is what is missing.
            named = target[0] if isinstance(target, list) else target[0].text
            wanted = named if begins else source[0].text
            raise wanted.place.error(
                f"no edge comes of this: {unknown_name('pair of nodes', wanted.text, names)}"
            )
        made = []
        both = bool(attributes)
        for one, other in pairs:
            groups = (
                one.contexts.groups[0] if len(one.contexts.groups) > len(contexts.groups) else ()
            )
            inner = other.contexts.pushed(groups) if groups else other.contexts
            label = self._filled(statement["name"], inner) if statement["name"] else ""
            self._counted(statement.place)
            made.append((parent.edge(one.item, other.item, label), inner))  # type: ignore[arg-type]
            if both and one.item is not other.item:
                back = f"{label}_back" if label else ""
                made.append((parent.edge(other.item, one.item, back), inner))  # type: ignore[arg-type]
        for k, (edge, inner) in enumerate(made):
            reverse = k % 2 if both else None
            self._fill(statement, edge, inner, Spread(k, len(made), reverse, spread))

    def _ends(self, steps: Any, parent: Node, contexts: Contexts) -> list[Found]:
        found = select(steps, parent, contexts, calculated)
        return [one for one in found if isinstance(one.item, Node)]

    def _reopened(
        self, statement: Statement, parent: Node, contexts: Contexts, spread: Spread
    ) -> None:
        """Edges that are there already, by name or by a selector."""
        if statement["target"] is not None:
            chosen = select(statement["target"], parent, contexts, calculated)
            found = [(one.item, one.contexts) for one in chosen if isinstance(one.item, Edge)]
        elif statement["name"] is None:
            raise statement.place.error("an edge needs ends: edge from ... to ... {}")
        else:
            found = []
            for name, groups in generated(statement["name"], contexts, calculated):
                if name not in parent.edges:
                    raise statement.place.error(unknown_name("edge", name, parent.edges))
                found.append((parent.edges[name], contexts.pushed(groups)))
        for k, (edge, inner) in enumerate(found):
            self._fill(statement, edge, inner, Spread(k, len(found), None, spread))

    def _body(
        self, statement: Statement, holder: Node | Edge, contexts: Contexts, spread: Spread
    ) -> None:
        """A node that moves as a model: of a file or, after ``catalog:``, of the catalog."""
        parent = self._inside(statement, holder)
        text: Text = statement["file"]
        file = self._filled(text, contexts)
        known = file.startswith(CATALOG)
        path = None if known else self.shelf.found(file, text.place)
        settings = self._defined(statement["settings"], contexts)
        model = model_of(file, path, settings, text.place)
        stem = file.removeprefix(CATALOG) if known else Path(file).stem
        names: list[tuple[str, tuple[str, ...]]] = [(identifier(stem), (stem,))]
        if statement["name"] is not None:
            names = self._names(statement["name"], contexts)
        for k, (name, groups) in enumerate(names):
            self._counted(statement.place)
            try:
                node = body(parent, name, model)
            except NetworkError as error:
                raise statement.place.error(error.message) from None
            inner = replace(contexts.pushed(groups), counted=(k, len(names)))
            self.carry_out(statement["block"], node, inner, Spread(k, len(names), None, spread))

    # -- templates, macros, settings

    def _templates(
        self, statement: Statement, holder: Node | Edge, contexts: Contexts, spread: Spread
    ) -> None:
        for inner in statement["block"]:
            if inner.kind == "node":
                texts = [step.text for step in inner["target"]]
            elif inner.kind == "edge" and inner["name"] is not None and inner["ends"] is None:
                texts = [inner["name"]]
            elif inner.kind in ("include", "require", "parse", "defines", "templates"):
                self.carry_out([inner], holder, contexts, spread)
                continue
            else:
                raise inner.place.error(
                    'templates hold node "name" { } and edge "name" { } without ends'
                )
            names = [one for text in texts for one in generated(text, contexts, calculated)]
            for k, (name, groups) in enumerate(names):
                several = (groups, Spread(k, len(names))) if len(groups) > 1 else ((), None)
                self.templates[name] = Template(
                    inner.kind, name, inner["inherits"], inner["block"], contexts, *several
                )

    # -- files

    def _found(self, text: Text, contexts: Contexts) -> Path:
        return self.shelf.found(self._filled(text, contexts), text.place)

    def _read(self, path: Path, text: Text, holder: Node | Edge, contexts: Contexts) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise text.place.error(f"files include each other more than {DEEPEST} deep")
        self.carry_out(statements(Source(read_text(path), str(path))), holder, contexts, Spread())
        self._depth -= 1

    def _include(
        self, statement: Statement, holder: Node | Edge, contexts: Contexts, spread: Spread
    ) -> None:
        path = self._found(statement["file"], contexts)
        self._read(path, statement["file"], holder, contexts)

    def _require(
        self, statement: Statement, holder: Node | Edge, contexts: Contexts, spread: Spread
    ) -> None:
        path = self._found(statement["file"], contexts)
        if path not in self.required:
            self.required.add(path)
            self._read(path, statement["file"], holder, contexts)

    def _parse(
        self, statement: Statement, holder: Node | Edge, contexts: Contexts, spread: Spread
    ) -> None:
        path = self._found(statement["file"], contexts)
        macros = self._defined(statement["settings"], contexts)
        self._read(path, statement["file"], holder, contexts.defined(macros))


def _is_name(steps: Sequence[Step]) -> bool:
    """Whether a selector is just a name, or a generator of names."""
    return len(steps) == 1 and steps[0].kind == "generator"
