"""Trigonometric expansion: sines of sums from the sines of the summands.

In n oscillators that are all coupled there are n (n - 1) sines of phase differences, but only n
sines and n cosines of phases:

    sin(a + b) = sin a cos b + cos a sin b,   cos(a + b) = cos a cos b - sin a sin b.

Loop-invariant summands come last, so that their sines are computed once for all steps. This pass
changes rounding.
"""

from __future__ import annotations

from collections.abc import Collection

from homodyn.symbolic.passes.loop_invariants import invariant_values
from homodyn.symbolic.passes.rewriter import Rewriter
from homodyn.symbolic.program import Instruction, Program

SINE_COST_FLOPS = 20
"""Cost of a sine, in sums and products."""

MAX_SUMMANDS = 4
"""Longest sum that is expanded."""

Summands = tuple[tuple[int, int], ...]
"""Values with their signs."""


def expand_trig_sums(program: Program, loop_ports: Collection[int]) -> Program:
    """Expand sines of sums where that saves work; the same program otherwise."""
    fixed = invariant_values(program, loop_ports)
    sums: dict[int, Summands] = {}
    for k, instruction in enumerate(program.instructions):
        if instruction.op in ("sin", "cos") and not fixed[k]:
            argument = instruction.arguments[0]
            sums.setdefault(argument, summands(program, argument, fixed, MAX_SUMMANDS))
    expandable = {u: terms for u, terms in sums.items() if 2 <= len(terms) <= MAX_SUMMANDS}
    atoms = {value for terms in expandable.values() for value, _ in terms if not fixed[value]}
    added = atoms - (set(sums) - set(expandable))
    if (
        SINE_COST_FLOPS * len(added) + sum(4 * len(t) - 6 for t in expandable.values())
        >= SINE_COST_FLOPS * len(expandable) / 2
    ):
        return program
    return _TrigExpansion(program, expandable, fixed).program()


def summands(program: Program, value: int, fixed: list[bool], max_count: int) -> Summands:
    """The summands of a value in program order, loop-invariant ones last.

    A sum of more than ``max_count`` summands is its own single summand.
    """
    found: list[tuple[int, int]] = []
    waiting = [(value, 1)]
    while waiting:
        if len(found) + len(waiting) > max_count + 1:
            return ((value, 1),)
        one, sign = waiting.pop()
        instruction = program.instructions[one]
        if instruction.op == "add" and not fixed[one]:
            waiting += [(a, sign) for a in reversed(instruction.arguments)]
        elif instruction.op == "sub" and not fixed[one]:
            a, b = instruction.arguments
            waiting += [(b, -sign), (a, sign)]
        elif instruction.op == "neg" and not fixed[one]:
            waiting.append((instruction.arguments[0], -sign))
        else:
            found.append((one, sign))
    return tuple(sorted(found, key=lambda term: fixed[term[0]]))


class _TrigExpansion(Rewriter):
    """Replaces sines and cosines of sums by those of their summands."""

    sort_operands = False

    def __init__(self, program: Program, sums: dict[int, Summands], fixed: list[bool]) -> None:
        super().__init__(program)
        self.sums, self.fixed = sums, fixed
        self.expanded: dict[Summands, tuple[int, int]] = {}

    def rewrite(self, k: int, instruction: Instruction) -> int:
        if instruction.op in ("sin", "cos"):
            terms = self.sums.get(self.source.instructions[k].arguments[0])
            if terms is not None:
                return self._sine_cosine(terms)[instruction.op == "cos"]
        return self.add(instruction)

    def _sine_cosine(self, terms: Summands) -> tuple[int, int]:
        """Sine and cosine of a sum."""
        if terms not in self.expanded:
            *first, (value, sign) = terms
            at = self.number[value]
            s, c = (self.do(op, at) for op in ("sin", "cos"))
            if sign < 0 and (self.fixed[value] or not first):
                # The sign of a loop invariant costs nothing, and sums keep the same form.
                s, sign = self.do("neg", s), 1
            if not first:
                self.expanded[terms] = s, c
            else:
                s0, c0 = self._sine_cosine(tuple(first))
                add, sub = ("add", "sub") if sign > 0 else ("sub", "add")
                sine = self._product_sum(add, (s0, c), (c0, s))
                cosine = self._product_sum(sub, (c0, c), (s0, s))
                self.expanded[terms] = sine, cosine
        return self.expanded[terms]

    def _product_sum(self, op: str, one: tuple[int, int], other: tuple[int, int]) -> int:
        a, b = (self.do("mul", *factors) for factors in (one, other))
        return self.do(op, a, b)
