"""SLP packing: similar instructions of one state packed into vectors.

In a batch each state has a lane of its own. A single state leaves all lanes but one idle, unless
its similar parts share them (superword-level parallelism): the oscillators of a network, the feet
of a body. Packs are found from the results downwards: eight results of the same
operation become one vector operation, if its arguments can be packed too; otherwise lanes are
gathered one by one. All values of a pack have the same depth in the program, so that no pack
depends on itself. The bits stay the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from homodyn.symbolic.program import EXPENSIVE_OPERATIONS, Program, operands

Lanes = tuple[int, ...]
"""The values in the lanes of a vector; a single value fills all of them."""

SWAPPABLE_OPERATIONS = {"add", "mul", "fma", "fms", "fnma", "fmin", "fmax", "and", "or", "eq", "ne"}
"""Operations whose first two arguments may be exchanged."""


@dataclass(frozen=True, eq=False)
class Vector:
    """The values of the lanes, and how they are computed.

    ``kind`` is ``load`` (adjacent inputs), ``fixed`` (loop-invariant), ``spread`` (one number in
    all lanes), ``pick`` (a gather) or an operation on ``arguments``. ``sources`` are the vectors
    and lanes that the numbers of a spread or pick come from; None is an input or a constant.
    """

    kind: str
    lanes: Lanes
    arguments: tuple[Vector, ...] = ()
    sources: tuple[tuple[Vector, int] | None, ...] = ()

    @property
    def computed(self) -> bool:
        """Whether it is the result of an operation."""
        return self.kind not in ("load", "spread", "pick", "fixed")


class Packing:
    """The vectors of a program, in an order in which they can be computed.

    Values flagged in ``given`` are not computed: inputs, constants and loop invariants.
    """

    def __init__(self, program: Program, given: list[bool], lanes: int, fixed: list[bool]) -> None:
        self.program, self.given, self.width, self.fixed = program, given, lanes, fixed
        self.depth = self._depths()
        self.vectors: list[Vector] = []
        self._known: dict[Lanes, Vector] = {}
        self._home: dict[int, tuple[Vector, int]] = {}

    def _depths(self) -> list[int]:
        depth: list[int] = []
        for k, instruction in enumerate(self.program.instructions):
            below = [depth[a] for a in operands(instruction)]
            depth.append(0 if self.given[k] else 1 + max(below, default=0))
        return depth

    def pack_expensive(self) -> None:
        """Pack expensive operations of one kind and depth."""
        groups: dict[tuple[int, str], list[int]] = {}
        for k, instruction in enumerate(self.program.instructions):
            if instruction.op in EXPENSIVE_OPERATIONS and not self.given[k]:
                groups.setdefault((self.depth[k], instruction.op), []).append(k)
        for (_, op), values in sorted(groups.items()):
            if len(values) > 1:
                if op in ("sin", "cos"):
                    # In the order of their arguments, sines and cosines of the same ones pair up.
                    values.sort(key=lambda k: self.program.instructions[k].arguments)
                for lanes in chunks(values, self.width):
                    self.vector(lanes)

    def order_by_depth(self) -> None:
        """Order vectors by depth, so that similar sums are accumulated in turns.

        That hides latency, and their common operands are loaded once. Loads come right before
        their first use.
        """
        ordered: dict[Vector, None] = {}
        for vector in sorted(
            (one for one in self.vectors if one.computed), key=lambda v: self.depth[v.lanes[0]]
        ):
            self._place_with_sources(vector, ordered)
        for vector in self.vectors:
            self._place_with_sources(vector, ordered)
        self.vectors = list(ordered)

    def _place_with_sources(self, vector: Vector, ordered: dict[Vector, None]) -> None:
        waiting = [(vector, False)]
        while waiting:
            one, ready = waiting.pop()
            if one in ordered:
                continue
            if ready:
                ordered[one] = None
                continue
            waiting.append((one, True))
            sources = [source[0] for source in one.sources if source is not None]
            waiting += [(before, False) for before in (*sources, *one.arguments)]

    def vector(self, lanes: Lanes) -> Vector:
        """The vector with these values, created at the first request."""
        if len(set(lanes)) == 1:
            lanes = lanes[:1]
        found = self._known.get(lanes)
        if found is None:
            found = self._known[lanes] = self._create(lanes)
            self.vectors.append(found)
            if found.computed:
                for lane, value in enumerate(lanes):
                    self._home.setdefault(value, (found, lane))
        return found

    def _create(self, lanes: Lanes) -> Vector:
        instructions = self.program.instructions
        if all(self.fixed[v] or instructions[v].op == "const" for v in lanes):
            return Vector("fixed", lanes)
        if len(lanes) == 1:
            return self._broadcast(lanes)
        if all(self.given[v] for v in lanes):
            if self._are_adjacent_inputs(lanes):
                return Vector("load", lanes)
            return Vector("pick", lanes, (), tuple(self._place(v) for v in lanes))
        alike = len({(instructions[v].op, self.depth[v]) for v in lanes}) == 1
        if alike and not self.given[lanes[0]] and not set(lanes) <= self._home.keys():
            return Vector(instructions[lanes[0]].op, lanes, self._arguments(lanes))
        return Vector("pick", lanes, (), tuple(self._place(v) for v in lanes))

    def _broadcast(self, lanes: Lanes) -> Vector:
        value = lanes[0]
        if self.given[value] or value in self._home:
            return Vector("spread", lanes, (), (self._home.get(value),))
        instruction = self.program.instructions[value]
        arguments = tuple(self.vector((a,)) for a in instruction.arguments)
        return Vector(instruction.op, lanes, arguments)

    def _place(self, value: int) -> tuple[Vector, int] | None:
        """The vector and lane that hold a number; None for inputs and constants."""
        if self.fixed[value]:
            return self.vector((value,)), 0
        if self.given[value]:
            return None
        if value not in self._home:
            self.vector((value,))
        return self._home[value]

    def _are_adjacent_inputs(self, lanes: Lanes) -> bool:
        """Whether all values are adjacent inputs."""
        if any(self.program.instructions[v].op != "input" or self.fixed[v] for v in lanes):
            return False
        port, first = self.program.instructions[lanes[0]].arguments
        return all(
            self.program.instructions[v].arguments == (port, first + k) for k, v in enumerate(lanes)
        )

    def _arguments(self, lanes: Lanes) -> tuple[Vector, ...]:
        """The arguments of an operation, exchanged where that makes lanes similar."""
        instructions = self.program.instructions
        rows = [list(instructions[v].arguments) for v in lanes]
        if instructions[lanes[0]].op in SWAPPABLE_OPERATIONS:
            expected = [self._signature(a) for a in rows[0][:2]]
            for row in rows[1:]:
                straight = [self._signature(a) for a in row[:2]]
                if straight != expected and straight[::-1] == expected:
                    row[:2] = row[1::-1]
        return tuple(self.vector(column) for column in zip(*rows, strict=True))

    def _signature(self, value: int) -> tuple[object, ...]:
        """What two values must have in common to share a vector."""
        instruction = self.program.instructions[value]
        if self.fixed[value]:
            return ("fixed",)
        if instruction.op == "input":
            return ("input", instruction.arguments[0])
        return (instruction.op, self.depth[value])

    @property
    def work(self) -> float:
        """Number of vector operations; gathered numbers count half."""
        picked = sum(len(set(v.lanes)) for v in self.vectors if v.kind == "pick")
        return sum(v.computed for v in self.vectors) + 0.5 * picked


def chunks(values: list[int], width: int) -> Iterable[Lanes]:
    """Values in groups of at most ``width``."""
    for start in range(0, len(values), width):
        yield tuple(values[start : start + width])


def pack_program(
    program: Program, fixed: list[bool], lanes: int
) -> tuple[Packing, list[tuple[int, tuple[int, ...], Vector]]]:
    """The vectors of a program, and its stores: output port, entries, vector."""
    given = [
        fixed[k] or instruction.op in ("input", "const")
        for k, instruction in enumerate(program.instructions)
    ]
    packing = Packing(program, given, lanes, fixed)
    packing.pack_expensive()
    stores = []
    for port, entries, values in _similar_results(program, packing):
        for start in range(0, len(values), lanes):
            part = tuple(values[start : start + lanes])
            stores.append((port, tuple(entries[start : start + lanes]), packing.vector(part)))
    packing.order_by_depth()
    return packing, stores


def _similar_results(program: Program, packing: Packing) -> list[tuple[int, list[int], list[int]]]:
    """Similar results of a port, with their entries.

    They need not be adjacent: nodes with two states each interleave them.
    """
    groups: dict[object, tuple[int, list[int], list[int]]] = {}
    for port, entry, value in sorted(program.results):
        key = (port, packing._signature(value))
        _, entries, values = groups.setdefault(key, (port, [], []))
        entries.append(entry)
        values.append(value)
    return list(groups.values())
