"""Fast paths of scans: the step itself, specialized for assumptions that usually hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from homodyn.symbolic.passes.partial_evaluation import PartialEvaluator
from homodyn.symbolic.program import Instruction, Program, eliminate_dead_code
from homodyn.symbolic.trace import Port

FAST_PATH_VERSION = 1
"""Raised whenever the C of fast paths changes, so that older libraries are not used."""


class Assumption(NamedTuple):
    """Where the output ``flag`` is not zero, the entries of the output ``values`` are ``numbers``.

    Args:
        flag: Name of a scalar output of the step.
        values: Name of an output of the step.
        numbers: Its entries where the flag is not zero.
    """

    flag: str
    values: str
    numbers: tuple[float, ...]


@dataclass(frozen=True)
class FastPath:
    """A shorter program for most steps: the step, partially evaluated under assumptions.

    It is taken by vectors in all of whose lanes all flags are true or the batch element has
    stopped. A flag is evaluated under the assumptions before it. The bits are those of the general
    path.

    Args:
        assumptions: The assumptions, in the order in which their flags are evaluated.
    """

    assumptions: tuple[Assumption, ...]

    @property
    def output_names(self) -> set[str]:
        """Outputs of the step that only serve the fast path."""
        return {name for one in self.assumptions for name in (one.flag, one.values)}


class FastPathProgram(NamedTuple):
    """The program of the fast path, and corrections for stopped lanes.

    The program omits entries of states that do not change. ``at_rest`` lists, by port and entry,
    the results that it computes wrongly for stopped lanes: with their constant, or None where the
    state keeps its value.
    """

    program: Program
    at_rest: dict[tuple[int, int], float | None]


def derive_fast_path(
    program: Program,
    fast_path: FastPath,
    inputs: tuple[Port, ...],
    outputs: tuple[Port, ...],
    states: tuple[str, ...],
    stop: str | None,
) -> FastPathProgram:
    """The next states under all assumptions, of running and of stopped lanes.

    The first flag is replaced by the condition of the fast path. The state ``stop`` says which
    lanes have stopped.
    """
    names = [port.name for port in outputs]
    places = {port.name: k for k, port in enumerate(inputs)}
    values: dict[str, list[tuple[int, int]]] = {name: [] for name in names}
    for port, entry, value in sorted(program.results):
        values[names[port]].append((entry, value))
    numbers = {
        instruction.arguments: k
        for k, instruction in enumerate(program.instructions)
        if instruction.op == "input"
    }
    short = PartialEvaluator(program)
    stopped = None if stop is None else numbers.get((places[stop], 0))
    known = {} if stopped is None else {stopped: 0.0}
    truth: int | None = None
    for one in fast_path.assumptions:
        (flag,) = short.specialize(known, [value for _, value in values[one.flag]])
        truth = flag if truth is None else short.do("and", truth, flag)
        for (_, value), number in zip(values[one.values], one.numbers, strict=True):
            if program.instructions[value].op != "const":
                known[value] = number
    assert truth is not None
    rest = None if stopped is None else short.add(program.instructions[stopped])
    if rest is not None:
        truth = short.do("or", rest, truth)
    results = [(names.index(fast_path.assumptions[0].flag), 0, truth)]
    at_rest: dict[tuple[int, int], float | None] = {}
    for name in states:
        old = [value for _, value in values[name]]
        new = short.specialize(known, old)
        still = new if stopped is None else short.specialize({stopped: 1.0}, old)
        for (entry, _), a, b in zip(values[name], still, new, strict=True):
            place = (names.index(name), entry)
            own = Instruction("input", (places[name], entry))
            going, resting = short.instructions[b], short.instructions[a]
            given = known.get(numbers.get(own.arguments, -1))
            stays = going == own or (given is not None and going == _constant(given))
            if rest is not None and a != b and resting != own and resting.op != "const":
                # The value of stopped lanes must be computed, so the program selects.
                results.append((*place, short.do("choose", rest, a, b)))
                continue
            if not stays:
                results.append((*place, b))
            if resting != own and (stays or a != b):
                at_rest[place] = float(resting.payload)
            elif resting == own and not stays:
                at_rest[place] = None
    return FastPathProgram(eliminate_dead_code(short.instructions, results), at_rest)


def _constant(number: float) -> Instruction:
    return Instruction("const", (), number)
