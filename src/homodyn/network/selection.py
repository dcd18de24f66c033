"""Selectors: pipelines that select objects of a network, ``nodes | if(inputs) | name``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from homodyn.foundation.text import unknown_name
from homodyn.network.expansion import Calculator, ExpansionContext, generate_names
from homodyn.network.pattern_matching import LinearPattern, PatternError
from homodyn.network.statements import SelectorStep
from homodyn.network.tree import Edge, Node, Variable

_WORDS = """
    root children parent first last edges nodes variables input output inputs outputs name
    has-template recurse if not
"""
WORDS = _WORDS.split()


@dataclass(frozen=True)
class Selection:
    """A selected object, with the context of the names that selected it."""

    item: Node | Edge | Variable
    contexts: ExpansionContext


def children(item: Node | Edge | Variable) -> list[Node | Edge | Variable]:
    """The nodes, edges and variables inside an object."""
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
    """Evaluate a selector.

    Args:
        steps: Steps of the selector.
        node: The node from which objects are selected.
        contexts: Values of contexts and macros.
        calculate: Evaluates the formula of ``$(...)``.

    Returns:
        The selected objects.

    Raises:
        NetworkError: A step is wrong.
    """
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
    """Children of a node by generated names, by lookup because there may be thousands."""
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
    selected: list[Selection] = []
    groups: dict[int, tuple[ExpansionContext, dict[str, list[Selection]]]] = {}
    for candidate in found:
        key = id(candidate.contexts)
        groups.setdefault(key, (candidate.contexts, {}))[1].setdefault(
            candidate.item.name, []
        ).append(candidate)
    for contexts, by_name in groups.values():
        for name, context in generate_names(step.text, contexts, calculate):
            selected += [
                Selection(each.item, each.contexts.push(context)) for each in by_name.get(name, ())
            ]
    return selected


def _matching(step: SelectorStep, found: list[Selection]) -> list[Selection]:
    pattern = _compile(step)
    selected = []
    for each in found:
        groups = pattern.fullmatch(each.item.name)
        if groups is not None:
            context = tuple(group or "" for group in groups)
            selected.append(Selection(each.item, each.contexts.push(context)))
    return selected


def _compile(step: SelectorStep) -> LinearPattern:
    """The pattern of a step."""
    try:
        return LinearPattern(step.text.text)
    except PatternError as error:
        raise step.text.place.error(f"this is not a regular expression: {error}") from None


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
            raise step.text.place.error(f"{word} needs a selector, such as {word}(inputs)")
    elif step.inner:
        raise step.text.place.error(f"{word} takes no selector")
    simple: dict[str, Callable[[Selection], Sequence[Node | Edge | Variable | None]]] = {
        "root": lambda each: [_root(each.item)],
        "children": lambda each: children(each.item),
        "parent": lambda each: [_parent(each.item)],
        "edges": lambda each: [each.item] if isinstance(each.item, Edge) else [],
        "nodes": lambda each: [each.item] if isinstance(each.item, Node) else [],
        "variables": lambda each: [each.item] if isinstance(each.item, Variable) else [],
        "input": lambda each: [each.item.input] if isinstance(each.item, Edge) else [],
        "output": lambda each: [each.item.output] if isinstance(each.item, Edge) else [],
        "inputs": lambda each: _edges_of(each.item, "inputs"),
        "outputs": lambda each: _edges_of(each.item, "outputs"),
    }
    if word in simple:
        return _unique(
            Selection(item, each.contexts)
            for each in found
            for item in simple[word](each)
            if item is not None
        )
    match word:
        case "first":
            return found[:1]
        case "last":
            return found[-1:]
        case "name":
            return [Selection(each.item, each.contexts.push((each.item.name,))) for each in found]
        case "if":
            return [each for each in found if _apply(step.inner, [each], calculate)]
        case "not":
            return [each for each in found if not _apply(step.inner, [each], calculate)]
        case "has-template":
            return [each for each in found if _inherits(each, step, calculate)]
        case "recurse":
            return _recurse(step, found, calculate)
    raise step.text.place.error(unknown_name("selector", word, WORDS))


def _root(item: Node | Edge | Variable) -> Node:
    return item.owner.root if isinstance(item, Variable) else item.root


def _inherits(each: Selection, step: SelectorStep, calculate: Calculator) -> bool:
    if isinstance(each.item, Variable):
        return False
    inner = step.inner[-1]
    if inner.kind == "generator":
        names = [name for name, _ in generate_names(inner.text, each.contexts, calculate)]
    elif inner.kind == "pattern":
        pattern = _compile(inner)
        return any(pattern.fullmatch(name) is not None for name in each.item.templates)
    else:
        names = [inner.text.text]
    return any(name in each.item.templates for name in names)


def _recurse(step: SelectorStep, found: list[Selection], calculate: Calculator) -> list[Selection]:
    result: list[Selection] = []
    while found:
        known = {id(each.item) for each in result}
        found = [
            each for each in _apply(step.inner, found, calculate) if id(each.item) not in known
        ]
        result += found
    return _unique(result)


def _unique(found: Iterable[Selection]) -> list[Selection]:
    unique: dict[tuple[int, int], Selection] = {}
    for each in found:
        unique.setdefault((id(each.item), id(each.contexts)), each)
    return list(unique.values())
