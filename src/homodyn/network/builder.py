"""Execution of statements: generates names, applies templates and includes files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from homodyn.errors import NetworkError
from homodyn.foundation.text import unknown_name
from homodyn.network.body_nodes import CATALOG_PREFIX, add_body, load_model, to_identifier
from homodyn.network.broadcast import Broadcast
from homodyn.network.constant_folding import fold_text
from homodyn.network.declarations import Declarations
from homodyn.network.expansion import ExpansionContext, generate_names
from homodyn.network.formula import parse_formula
from homodyn.network.search_path import SearchPath, read_text
from homodyn.network.selection import Selection, select
from homodyn.network.source import SourceLocation, SourceText
from homodyn.network.statements import LocatedText, SelectorStep, Statement, parse_statements
from homodyn.network.tree import Edge, Node

MAX_INCLUDE_DEPTH = 20
"""Maximum depth of included files."""

MAX_OBJECTS = 50_000
"""Maximum number of nodes and edges of a network."""
MAX_BLOCK_DEPTH = 50
"""Maximum depth of nested blocks and templates."""


@dataclass(frozen=True)
class NetworkTemplate:
    """A template: statements that are executed in the nodes or edges that inherit it."""

    kind: str
    name: str
    parents: tuple[LocatedText, ...]
    block: list[Statement]
    contexts: ExpansionContext
    groups: tuple[str, ...] = ()
    """Groups of the name, if a generator created it: the values of ``@1``, ... inside."""
    spread: Broadcast | None = None


class NetworkBuilder(Declarations):
    """Executes the statements of a text on a network.

    Args:
        network: The network to extend.
        folder: Folder of the network file.
        outside: Whether files outside the folder and the library may be included.
    """

    def __init__(self, network: Any, folder: Path | None, *, outside: bool = False) -> None:
        super().__init__(network)
        self.search_path = SearchPath(folder, outside)
        self.templates: dict[str, NetworkTemplate] = {}
        self.required: set[Path] = set()
        self._depth = 0
        self._objects = 0

    def build(self, source: SourceText) -> None:
        """Execute all statements of a text.

        Args:
            source: The text.

        Raises:
            NetworkError: The text has an error; the error gives file, line and column.
        """
        self.execute(parse_statements(source), self.network, ExpansionContext(), Broadcast())

    def execute(
        self,
        block: Sequence[Statement],
        holder: Node | Edge,
        contexts: ExpansionContext,
        spread: Broadcast,
    ) -> None:
        """Execute statements in order; each sees the macros that were defined before it.

        Args:
            block: The statements.
            holder: Node or edge that contains them.
            contexts: Values of contexts and macros.
            spread: Position of the holder, for lists of values.
        """
        for statement in block:
            current = contexts.define({**self.macros, **contexts.macros})
            method = getattr(self, f"_{statement.kind}")
            method(statement, holder, current, spread)

    # -- variables, equations, functions

    def _equation(
        self,
        statement: Statement,
        holder: Node | Edge,
        contexts: ExpansionContext,
        spread: Broadcast,
    ) -> None:
        names = self._equation_names(statement["name"], holder, contexts)
        for k, (name, groups) in enumerate(names):
            inner = contexts.push(groups)
            value = spread.pick(statement["value"], statement.place, k, len(names))
            if isinstance(value, list):
                raise statement.place.error("lists cannot be nested; write a matrix in quotes")
            formula = self._formula(value, inner)
            states = tuple(self._substitute(text, inner) for text in statement["guard"])
            if statement["order"] == 0 and statement["operator"] == "=":
                if states:
                    raise statement.place.error(
                        "only equations can be bound to event-states: x' = ... state ..."
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
                filled = self._substitute(LocatedText(statement["places"], statement.place), inner)
                places = parse_formula(f"{name}{filled}", statement.place, expanded=True)
            holder.equation(
                name,
                formula,
                order=statement["order"],
                operator=statement["operator"],
                states=states,
                places=places,
            )

    def _function(
        self,
        statement: Statement,
        holder: Node | Edge,
        contexts: ExpansionContext,
        spread: Broadcast,
    ) -> None:
        name: LocatedText = statement["name"]
        inner = contexts.push((name.text,))
        holder.function(name.text, statement["arguments"], self._formula(statement["body"], inner))

    # -- nodes and edges

    def _count_objects(self, count: int, place: SourceLocation) -> None:
        self._objects += count
        if self._objects > MAX_OBJECTS:
            raise place.error(f"the network has more than {MAX_OBJECTS} nodes and edges")

    def _node(
        self,
        statement: Statement,
        holder: Node | Edge,
        contexts: ExpansionContext,
        spread: Broadcast,
    ) -> None:
        parent = self._require_node(statement, holder)
        if statement["attributes"]:
            raise statement.place.error(f"nodes have no attribute <{statement['attributes']}>")
        target = statement["target"]
        found: list[Selection] = []
        if len(target) == 1 and target[0].kind == "generator" and not statement["existing"]:
            for name, groups in self._names(target[0].text, contexts):
                if name not in parent.nodes:
                    self._count_objects(1, statement.place)
                found.append(Selection(parent.node(name), contexts.push(groups)))
        else:
            found = self._select_nodes(target, parent, contexts)
        for k, each in enumerate(found):
            position = Broadcast(k, len(found), None, spread)
            self._fill(statement, each.item, each.contexts, position)

    def _fill(
        self, statement: Statement, item: Any, contexts: ExpansionContext, spread: Broadcast
    ) -> None:
        """Execute the templates and the block of a statement in a node or edge."""
        self._depth += 1
        if self._depth > MAX_BLOCK_DEPTH:
            raise statement.place.error(
                f"templates or blocks are nested more than {MAX_BLOCK_DEPTH} deep"
            )
        contexts = replace(contexts, position=(spread.index, spread.count))
        for reference in statement["inherits"]:
            self._inherit(reference, statement.kind, item, contexts, spread, [])
        self.execute(statement["block"], item, contexts, spread)
        self._depth -= 1

    def _inherit(
        self,
        reference: LocatedText,
        kind: str,
        item: Any,
        contexts: ExpansionContext,
        spread: Broadcast,
        chain: list[str],
    ) -> None:
        name = self._substitute(reference, contexts)
        template = self.templates.get(name)
        if template is None or template.kind != kind:
            known = [each.name for each in self.templates.values() if each.kind == kind]
            raise reference.place.error(unknown_name(f"{kind} template", name, known))
        if name in chain:
            cycle = " > ".join([*chain, name])
            raise reference.place.error(f"templates inherit from each other: {cycle}")
        inner = contexts.define({**template.contexts.macros, **contexts.macros})
        if template.groups:
            inner = inner.push(template.groups)
        for parent in template.parents:
            resolved = replace(parent, text=self._substitute(parent, inner))
            self._inherit(resolved, kind, item, contexts, spread, [*chain, name])
        item.templates.append(name)
        self.execute(template.block, item, inner, template.spread or spread)

    def _edge(
        self,
        statement: Statement,
        holder: Node | Edge,
        contexts: ExpansionContext,
        spread: Broadcast,
    ) -> None:
        parent = self._require_node(statement, holder)
        attributes = statement["attributes"].replace(",", " ").split()
        for attribute in attributes:
            if attribute != "bidirectional":
                raise statement.place.error(unknown_name("attribute", attribute, ["bidirectional"]))
        if statement["ends"] is None:
            self._extend_edges(statement, parent, contexts, spread)
            return
        both = bool(attributes)
        created = []
        for source, target in self._edge_pairs(statement, parent, contexts):
            groups = (
                source.contexts.groups[0]
                if len(source.contexts.groups) > len(contexts.groups)
                else ()
            )
            inner = target.contexts.push(groups) if groups else target.contexts
            label = self._substitute(statement["name"], inner) if statement["name"] else ""
            created.append((parent.edge(source.item, target.item, label), inner))  # type: ignore[arg-type]
            if both and source.item is not target.item:
                back = f"{label}_back" if label else ""
                created.append((parent.edge(target.item, source.item, back), inner))  # type: ignore[arg-type]
        for k, (edge, inner) in enumerate(created):
            reverse = k % 2 if both else None
            self._fill(statement, edge, inner, Broadcast(k, len(created), reverse, spread))

    def _edge_pairs(
        self, statement: Statement, parent: Node, contexts: ExpansionContext
    ) -> list[tuple[Selection, Selection]]:
        """Input and output nodes of the edges of a statement."""
        source, target = statement["ends"]
        pairs: list[tuple[Selection, Selection]] = []
        inputs = self._select_nodes(source, parent, contexts)
        for k, each in enumerate(inputs):
            end = target
            if isinstance(target, list):
                chosen = Broadcast(k, len(inputs)).pick(target, statement.place)
                end = (SelectorStep("generator", chosen),)
            ends = self._select_nodes(end, parent, each.contexts)
            self._count_objects(len(ends), statement.place)
            pairs += [(each, other) for other in ends]
        # Selectors may find nothing; names that do not exist are errors.
        if not pairs and _is_name(source) and (isinstance(target, list) or _is_name(target)):
            output = target[0] if isinstance(target, list) else target[0].text
            missing = output if inputs else source[0].text
            raise missing.place.error(unknown_name("node", missing.text, [*parent.nodes]))
        return pairs

    def _select_nodes(
        self, steps: Any, parent: Node, contexts: ExpansionContext
    ) -> list[Selection]:
        found = select(steps, parent, contexts, fold_text)
        return [each for each in found if isinstance(each.item, Node)]

    def _extend_edges(
        self, statement: Statement, parent: Node, contexts: ExpansionContext, spread: Broadcast
    ) -> None:
        """Extend existing edges, given by name or by a selector."""
        if statement["target"] is not None:
            chosen = select(statement["target"], parent, contexts, fold_text)
            found = [(each.item, each.contexts) for each in chosen if isinstance(each.item, Edge)]
        elif statement["name"] is None:
            raise statement.place.error("an edge needs ends: edge from ... to ... {}")
        else:
            found = []
            for name, groups in generate_names(statement["name"], contexts, fold_text):
                if name not in parent.edges:
                    raise statement.place.error(unknown_name("edge", name, parent.edges))
                found.append((parent.edges[name], contexts.push(groups)))
        for k, (edge, inner) in enumerate(found):
            self._fill(statement, edge, inner, Broadcast(k, len(found), None, spread))

    def _body(
        self,
        statement: Statement,
        holder: Node | Edge,
        contexts: ExpansionContext,
        spread: Broadcast,
    ) -> None:
        """Add the node of a model: from a file or, after ``catalog:``, from the catalog."""
        parent = self._require_node(statement, holder)
        text: LocatedText = statement["file"]
        file = self._substitute(text, contexts)
        is_catalog = file.startswith(CATALOG_PREFIX)
        path = None if is_catalog else self.search_path.resolve(file, text.place)
        settings = self._macro_values(statement["settings"], contexts)
        model = load_model(file, path, settings, text.place)
        stem = file.removeprefix(CATALOG_PREFIX) if is_catalog else Path(file).stem
        names: list[tuple[str, tuple[str, ...]]] = [(to_identifier(stem), (stem,))]
        if statement["name"] is not None:
            names = self._names(statement["name"], contexts)
        for k, (name, groups) in enumerate(names):
            self._count_objects(1, statement.place)
            try:
                node = add_body(parent, name, model)
            except NetworkError as error:
                raise statement.place.error(error.message) from None
            inner = replace(contexts.push(groups), position=(k, len(names)))
            self.execute(statement["block"], node, inner, Broadcast(k, len(names), None, spread))

    # -- templates, macros, settings

    def _templates(
        self,
        statement: Statement,
        holder: Node | Edge,
        contexts: ExpansionContext,
        spread: Broadcast,
    ) -> None:
        for inner in statement["block"]:
            if inner.kind == "node":
                texts = [step.text for step in inner["target"]]
            elif inner.kind == "edge" and inner["name"] is not None and inner["ends"] is None:
                texts = [inner["name"]]
            elif inner.kind in ("include", "require", "parse", "defines", "templates"):
                self.execute([inner], holder, contexts, spread)
                continue
            else:
                raise inner.place.error(
                    'templates contain node "name" { } and edge "name" { } without ends'
                )
            names = [name for text in texts for name in generate_names(text, contexts, fold_text)]
            for k, (name, groups) in enumerate(names):
                generated = (groups, Broadcast(k, len(names))) if len(groups) > 1 else ((), None)
                self.templates[name] = NetworkTemplate(
                    inner.kind, name, inner["inherits"], inner["block"], contexts, *generated
                )

    # -- files

    def _resolve(self, text: LocatedText, contexts: ExpansionContext) -> Path:
        return self.search_path.resolve(self._substitute(text, contexts), text.place)

    def _read(
        self, path: Path, text: LocatedText, holder: Node | Edge, contexts: ExpansionContext
    ) -> None:
        self._depth += 1
        if self._depth > MAX_INCLUDE_DEPTH:
            raise text.place.error(f"included files are nested more than {MAX_INCLUDE_DEPTH} deep")
        self.execute(
            parse_statements(SourceText(read_text(path), str(path))), holder, contexts, Broadcast()
        )
        self._depth -= 1

    def _include(
        self,
        statement: Statement,
        holder: Node | Edge,
        contexts: ExpansionContext,
        spread: Broadcast,
    ) -> None:
        path = self._resolve(statement["file"], contexts)
        self._read(path, statement["file"], holder, contexts)

    def _require(
        self,
        statement: Statement,
        holder: Node | Edge,
        contexts: ExpansionContext,
        spread: Broadcast,
    ) -> None:
        path = self._resolve(statement["file"], contexts)
        if path not in self.required:
            self.required.add(path)
            self._read(path, statement["file"], holder, contexts)

    def _parse(
        self,
        statement: Statement,
        holder: Node | Edge,
        contexts: ExpansionContext,
        spread: Broadcast,
    ) -> None:
        path = self._resolve(statement["file"], contexts)
        macros = self._macro_values(statement["settings"], contexts)
        self._read(path, statement["file"], holder, contexts.define(macros))


def _is_name(steps: Sequence[SelectorStep]) -> bool:
    """Whether a selector is just a name or a generator of names."""
    return len(steps) == 1 and steps[0].kind == "generator"
