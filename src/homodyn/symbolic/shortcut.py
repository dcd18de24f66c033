"""The short way through a repeated step: the step itself, with what is then known decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from homodyn.symbolic.assuming import Assuming
from homodyn.symbolic.program import Instruction, Program, reachable
from homodyn.symbolic.trace import Port


class Assumption(NamedTuple):
    """Where the output ``flag`` is not zero, entries of the output ``values`` are ``numbers``."""

    flag: str
    values: str
    numbers: tuple[float, ...]


@dataclass(frozen=True)
class Shortcut:
    """A quick way through most steps: the step itself, with what is known then decided beforehand.

    It is taken by groups in all of whose lanes all flags hold, or that have come to rest. A flag is
    worked out under the assumptions before it. The bits are those of the long way.
    """

    assumptions: tuple[Assumption, ...]

    @property
    def outputs(self) -> set[str]:
        """Outputs of the step that only tell of the shortcut."""
        return {name for one in self.assumptions for name in (one.flag, one.values)}


def short_way(
    program: Program,
    shortcut: Shortcut,
    inputs: tuple[Port, ...],
    outputs: tuple[Port, ...],
    states: tuple[str, ...],
    stop: str | None,
) -> Program:
    """The next states under all assumptions, but for entries that stay what they are.

    Whether the short way can be taken stands in the place of the first flag. Lanes that have come
    to rest, as the state ``stop`` tells, do what the step does with them.
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
    short = Assuming(program)
    at_rest = None if stop is None else numbers.get((places[stop], 0))
    known = {} if at_rest is None else {at_rest: 0.0}
    truth: int | None = None
    for one in shortcut.assumptions:
        (flag,) = short.under(known, [value for _, value in values[one.flag]])
        truth = flag if truth is None else short.do("and", truth, flag)
        for (_, value), number in zip(values[one.values], one.numbers, strict=True):
            if program.instructions[value].op != "const":
                known[value] = number
    assert truth is not None
    rest = None if at_rest is None else short.add(program.instructions[at_rest])
    if rest is not None:
        truth = short.do("or", rest, truth)
    # What is known to be a number may as well stay the input that has it.
    same = {
        (short.add(program.instructions[value]), short.constant(number))
        for value, number in known.items()
        if program.instructions[value].op == "input"
    }
    results = [(names.index(shortcut.assumptions[0].flag), 0, truth)]
    for name in states:
        old = [value for _, value in values[name]]
        new = short.under(known, old)
        still = new if at_rest is None else short.under({at_rest: 1.0}, old)
        for (entry, _), a, b in zip(values[name], still, new, strict=True):
            value = a
            if rest is not None and a != b and (a, b) not in same:
                value = short.do("choose", rest, a, b)
            if short.instructions[value] != Instruction("input", (places[name], entry)):
                results.append((names.index(name), entry, value))
    return reachable(short.instructions, results)
