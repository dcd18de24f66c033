"""Selectors: pipelines that pick objects of a network, ``nodes | if(inputs) | name``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from homodyn.foundation.text import unknown_name
from homodyn.network.expansion import Calculator, ExpansionContext, generate_names
from homodyn.network.statements import SelectorStep
from homodyn.network.tree import Edge, Node, Variable

_WORDS = """
    root children parent first last edges nodes variables input output inputs outputs name
    has-template recurse if not
"""
WORDS = _WORDS.split()


@dataclass(frozen=True)
class Selection:
    """An object that was selected, with the names it was found by."""

    item: Node | Edge | Variable
    contexts: ExpansionContext


def children(item: Node | Edge | Variable) -> list[Node | Edge | Variable]:
    """What an object holds: nodes, edges and variables."""
    match item:
        case Node():
            return [*item.nodes.values(), *item.edges.values(), *item.variables.values()]
        case Edge():
            return [*item.variables.values()]
        case _:
            return []


def select(
    steps: Sequence[SelectorStep], node: Node, contexts: ExpansionContext, calculate: Calculator
) -> list[Selection]:
    """What a selector picks, seen from a node: by default among what the node holds."""
    here = [Selection(node, contexts)]
    first = steps[0]
    if first.kind in ("generator", "context"):
        return _apply(steps[1:], _look_up(first, node, contexts, calculate), calculate)
    if not (first.kind == "word" and first.text.text in ("root", "children", "parent")):
        here = [Selection(child, contexts) for child in children(node)]
    return _apply(steps, here, calculate)


def _look_up(
    step: SelectorStep, node: Node, contexts: ExpansionContext, calculate: Calculator
) -> list[Selection]:
    """What a node holds under generated names, looked up: it may hold thousands of edges."""
    return [
        Selection(members[name], contexts.push(context))
        for name, context in generate_names(step.text, contexts, calculate)
        for members in (node.nodes, node.edges, node.variables)
        if name in members
    ]


def _apply(
    steps: Sequence[SelectorStep], found: list[Selection], calculate: Calculator
) -> list[Selection]:
    for step in steps:
        found = _step(step, found, calculate)
    return found


def _step(step: SelectorStep, found: list[Selection], calculate: Calculator) -> list[Selection]:
    if step.kind in ("generator", "context"):
        return _select_names(step, found, calculate)
    if step.kind == "pattern":
        return _matching(step, found)
    return _word(step, found, calculate)


def _select_names(
    step: SelectorStep, found: list[Selection], calculate: Calculator
) -> list[Selection]:
    picked: list[Selection] = []
    wanted: dict[int, list[tuple[str, tuple[str, ...]]]] = {}
    groups: dict[int, tuple[ExpansionContext, dict[str, list[Selection]]]] = {}
    for candidate in found:
        key = id(candidate.contexts)
        groups.setdefault(key, (candidate.contexts, {}))[1].setdefault(
            candidate.item.name, []
        ).append(candidate)
    for key, (contexts, by_name) in groups.items():
        wanted[key] = generate_names(step.text, contexts, calculate)
        for name, context in wanted[key]:
            picked += [
                Selection(one.item, one.contexts.push(context)) for one in by_name.get(name, ())
            ]
    return picked


def _matching(step: SelectorStep, found: list[Selection]) -> list[Selection]:
    try:
        pattern = re.compile(step.text.text)
    except re.error as error:
        raise step.text.place.error(f"this is no pattern: {error}") from None
    picked = []
    for one in found:
        match = pattern.fullmatch(one.item.name)
        if match:
            groups = tuple(group or "" for group in match.groups())
            picked.append(Selection(one.item, one.contexts.push((match[0], *groups))))
    return picked


def _edges_of(item: Node | Edge | Variable, side: str) -> list[Edge]:
    if not isinstance(item, Node):
        return []
    edges = [part for part in item.root.walk() if isinstance(part, Edge)]
    return [edge for edge in edges if (edge.output if side == "inputs" else edge.input) is item]


def _parent(item: Node | Edge | Variable) -> Node | Edge | None:
    return item.owner if isinstance(item, Variable) else item.parent


def _word(step: SelectorStep, found: list[Selection], calculate: Calculator) -> list[Selection]:
    word = step.text.text
    if word in ("if", "not", "recurse", "has-template"):
        if not step.inner:
            raise step.text.place.error(f"{word} needs a selector, as in {word}(inputs)")
    elif step.inner:
        raise step.text.place.error(f"{word} takes no selector")
    simple: dict[str, Callable[[Selection], Sequence[Node | Edge | Variable | None]]] = {
        "root": lambda one: [_root(one.item)],
        "children": lambda one: children(one.item),
        "parent": lambda one: [_parent(one.item)],
        "edges": lambda one: [one.item] if isinstance(one.item, Edge) else [],
        "nodes": lambda one: [one.item] if isinstance(one.item, Node) else [],
        "variables": lambda one: [one.item] if isinstance(one.item, Variable) else [],
        "input": lambda one: [one.item.input] if isinstance(one.item, Edge) else [],
        "output": lambda one: [one.item.output] if isinstance(one.item, Edge) else [],
        "inputs": lambda one: _edges_of(one.item, "inputs"),
        "outputs": lambda one: _edges_of(one.item, "outputs"),
    }
    if word in simple:
        return _unique(
            Selection(item, one.contexts)
            for one in found
            for item in simple[word](one)
            if item is not None
        )
    match word:
        case "first":
            return found[:1]
        case "last":
            return found[-1:]
        case "name":
            return [Selection(one.item, one.contexts.push((one.item.name,))) for one in found]
        case "if":
            return [one for one in found if _apply(step.inner, [one], calculate)]
        case "not":
            return [one for one in found if not _apply(step.inner, [one], calculate)]
        case "has-template":
            return [one for one in found if _inherits(one, step, calculate)]
        case "recurse":
            return _recurse(step, found, calculate)
    raise step.text.place.error(unknown_name("selector", word, WORDS))


def _root(item: Node | Edge | Variable) -> Node:
    return item.owner.root if isinstance(item, Variable) else item.root


def _inherits(one: Selection, step: SelectorStep, calculate: Calculator) -> bool:
    if isinstance(one.item, Variable):
        return False
    inner = step.inner[-1]
    if inner.kind == "generator":
        names = [name for name, _ in generate_names(inner.text, one.contexts, calculate)]
    elif inner.kind == "pattern":
        return any(re.fullmatch(inner.text.text, name) for name in one.item.templates)
    else:
        names = [inner.text.text]
    return any(name in one.item.templates for name in names)


def _recurse(step: SelectorStep, found: list[Selection], calculate: Calculator) -> list[Selection]:
    result: list[Selection] = []
    while found:
        known = {id(one.item) for one in result}
        found = [one for one in _apply(step.inner, found, calculate) if id(one.item) not in known]
        result += found
    return _unique(result)


def _unique(found: object) -> list[Selection]:
    kept: dict[tuple[int, int], Selection] = {}
    for one in found:  # type: ignore[attr-defined]
        kept.setdefault((id(one.item), id(one.contexts)), one)
    return list(kept.values())
