"""Repeated parts of straight-line code as functions.

Unrolled programs repeat: the stages of a Runge-Kutta method, the links of a chain, equations that
are evaluated in several functions. `outline` finds the longest sequences of operations that occur
more than once with the same dependencies between them, and replaces each occurrence by a call of a
block. The operations and their order stay the same, and so do the bits of the results. This is
procedural abstraction (Debray, Evans, Muth, De Sutter 2000, Compiler Techniques for Code
Compaction).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

MIN_BLOCK_LENGTH = 12
"""Items below which a sequence is not made a block."""
MIN_SAVED_LINES = 10
LENGTH_STEP = 0.9
"""Factor between one tried length of a block and the next."""
OPERANDS_PER_LINE = 6
LINES_PER_CALL = 3
LINES_PER_BLOCK = 4

Operand = int | str
"""The number of an earlier value, or the C text of an input or a constant."""


@dataclass(frozen=True)
class Item:
    """An operation with one value, or a call of a block with several."""

    op: str
    operands: tuple[Operand, ...]
    values: tuple[int, ...]
    block: int | None = None
    """Index of the block that a call runs."""


@dataclass
class BasicBlock:
    """Items in order, and the operands that are results."""

    items: list[Item]
    results: list[Operand]
    input_count: int = 0
    """Inputs of a block, which its items name ``in0[0]``, ``in0[1]`` and so on."""


@dataclass
class _Outline:
    """Functions and blocks, and the number of the next value."""

    bodies: list[BasicBlock]
    functions: int
    next_value: int = field(default=0)


@dataclass(frozen=True)
class _Match:
    """Windows of the same length and structure: (body, first item) each."""

    length: int
    windows: tuple[tuple[int, int], ...]


def outline(functions: Sequence[BasicBlock]) -> tuple[list[BasicBlock], list[BasicBlock]]:
    """Replace repeated sequences of items by calls of blocks.

    Args:
        functions: The functions; their values have numbers that are unique among all of them.

    Returns:
        The functions with calls, and the blocks.
    """
    values = [value for body in functions for item in body.items for value in item.values]
    state = _Outline(list(functions), len(functions), max(values, default=-1) + 1)
    length = max((len(body.items) for body in functions), default=0)
    while length >= MIN_BLOCK_LENGTH:
        found = next((m for m in _matches(state.bodies, length) if _replace(state, m)), None)
        if found is None:
            length = int(length * LENGTH_STEP)
    return state.bodies[: state.functions], state.bodies[state.functions :]


def call_order(blocks: Sequence[BasicBlock]) -> list[int]:
    """Indices of blocks, each after those that it calls."""
    order: dict[int, None] = {}

    def visit(index: int) -> None:
        for item in blocks[index].items:
            if item.block is not None and item.block not in order:
                visit(item.block)
        order[index] = None

    for index in range(len(blocks)):
        if index not in order:
            visit(index)
    return list(order)


def _matches(bodies: Sequence[BasicBlock], length: int) -> Iterator[_Match]:
    """Disjoint windows of the same items with the same dependencies inside."""
    places = [(b, k) for b, body in enumerate(bodies) for k in range(len(body.items))]
    if len(places) < 2 * length:
        return
    tokens = [(bodies[b].items[k].op, bodies[b].items[k].block) for b, k in places]
    numbers = {token: n for n, token in enumerate(dict.fromkeys(tokens))}
    ranks = _window_ranks(np.array([numbers[token] for token in tokens]), length)
    groups: dict[int, list[int]] = {}
    for start, rank in enumerate(ranks.tolist()):
        if places[start][0] == places[start + length - 1][0]:
            groups.setdefault(rank, []).append(start)
    for starts in groups.values():
        if len(starts) < 2 or starts[-1] - starts[0] < length:
            continue
        alike: dict[tuple[object, ...], list[int]] = {}
        for start in starts:
            body, first = places[start]
            alike.setdefault(_structure(bodies[body].items[first : first + length]), []).append(
                start
            )
        for similar in alike.values():
            chosen: list[int] = []
            for start in similar:
                if not chosen or start >= chosen[-1] + length:
                    chosen.append(start)
            if len(chosen) > 1:
                yield _Match(length, tuple(places[start] for start in chosen))


def _window_ranks(tokens: np.ndarray, length: int) -> np.ndarray:
    """A number for each window of tokens; equal windows have equal numbers."""
    ranks, width = tokens, 1
    while width < length:
        step = min(width, length - width)
        pairs = np.stack([ranks[: len(ranks) - step], ranks[step:]], axis=1)
        ranks = np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1)
        width += step
    return ranks


def _structure(items: Sequence[Item]) -> tuple[object, ...]:
    """Where each operand comes from inside a window; None for operands from outside."""
    inside: dict[Operand, int] = {}
    pattern: list[object] = []
    for item in items:
        pattern += [inside.get(operand) for operand in item.operands]
        for value in item.values:
            inside[value] = len(inside)
    return tuple(pattern)


def _replace(state: _Outline, match: _Match) -> bool:
    """Make a block of the windows of a match, if that saves lines."""
    windows = [state.bodies[b].items[k : k + match.length] for b, k in match.windows]
    outputs = _outputs(state, match, windows)
    columns = _operand_columns(windows)
    inputs = list(dict.fromkeys(c for c in columns if c is not None and not _is_literal(c)))
    lines = LINES_PER_CALL + len(inputs) / OPERANDS_PER_LINE
    saved = (len(windows) - 1) * match.length - len(windows) * lines
    if not inputs or saved - len(outputs) - LINES_PER_BLOCK < MIN_SAVED_LINES:
        return False
    block = len(state.bodies) - state.functions
    state.bodies.append(_block(state, windows[0], columns, inputs, outputs))
    calls: dict[int, dict[int, Item]] = {}
    renamed: dict[int, dict[int, int]] = {}
    for number, ((b, k), items) in enumerate(zip(match.windows, windows, strict=True)):
        before = [value for item in items for value in item.values]
        values = tuple(range(state.next_value, state.next_value + len(outputs)))
        state.next_value += len(outputs)
        renamed.setdefault(b, {}).update(
            {before[place]: value for place, value in zip(outputs, values, strict=True)}
        )
        operands = tuple(column[number] for column in inputs)
        calls.setdefault(b, {})[k] = Item("call", operands, values, block)
    for b, starts in calls.items():
        state.bodies[b] = _with_calls(state.bodies[b], starts, match.length, renamed[b])
    return True


def _outputs(state: _Outline, match: _Match, windows: Sequence[Sequence[Item]]) -> list[int]:
    """Places of the values of a window that are used outside it, in any occurrence."""
    found: set[int] = set()
    for (b, k), items in zip(match.windows, windows, strict=True):
        places = {value: n for n, value in enumerate(v for item in items for v in item.values)}
        body = state.bodies[b]
        outside = [*body.items[:k], *body.items[k + match.length :]]
        uses = [*body.results, *(operand for item in outside for operand in item.operands)]
        found.update(places[use] for use in uses if isinstance(use, int) and use in places)
    return sorted(found)


def _operand_columns(
    windows: Sequence[Sequence[Item]],
) -> list[tuple[Operand, ...] | None]:
    """For each operand of a window, what it is in each occurrence; None for values inside."""
    inside = {value for item in windows[0] for value in item.values}
    every = [[operand for item in items for operand in item.operands] for items in windows]
    return [None if column[0] in inside else column for column in zip(*every, strict=True)]


def _is_literal(column: tuple[Operand, ...]) -> bool:
    """Whether an operand is the same constant in all occurrences."""
    first = column[0]
    return isinstance(first, str) and "[" not in first and len(set(column)) == 1


def _block(
    state: _Outline,
    items: Sequence[Item],
    columns: Sequence[tuple[Operand, ...] | None],
    inputs: Sequence[tuple[Operand, ...]],
    outputs: Sequence[int],
) -> BasicBlock:
    """The block of a window: its operands from outside become inputs."""
    names = {column: f"in0[{k}]" for k, column in enumerate(inputs)}
    values: dict[Operand, int] = {}
    remaining = iter(columns)
    body = []
    for item in items:
        operands = []
        for operand in item.operands:
            column = next(remaining)
            operands.append(values[operand] if column is None else names.get(column, operand))
        for value in item.values:
            values[value] = state.next_value
            state.next_value += 1
        body.append(
            Item(item.op, tuple(operands), tuple(values[v] for v in item.values), item.block)
        )
    created = list(values.values())
    return BasicBlock(body, [created[place] for place in outputs], len(inputs))


def _with_calls(
    body: BasicBlock, calls: dict[int, Item], length: int, renamed: dict[int, int]
) -> BasicBlock:
    """A body with calls at the first items of the windows, and their values renamed."""

    def operand_of(operand: Operand) -> Operand:
        return renamed.get(operand, operand) if isinstance(operand, int) else operand

    items: list[Item] = []
    k = 0
    while k < len(body.items):
        item = calls.get(k, body.items[k])
        operands = tuple(operand_of(operand) for operand in item.operands)
        items.append(Item(item.op, operands, item.values, item.block))
        k += length if k in calls else 1
    return BasicBlock(items, [operand_of(operand) for operand in body.results], body.input_count)
