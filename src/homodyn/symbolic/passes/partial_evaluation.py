"""Partial evaluation: a program specialized for known values of some of its conditions.

A long program whose conditions are mostly known has a short form for that case. The short form is
derived from the long one, so both round alike: selects with a known condition become one of their
sides. This keeps the bits, except for the sign of an exact zero.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from homodyn.symbolic.passes.rewriter import Rewriter
from homodyn.symbolic.program import Instruction, operands

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "lt": operator.lt,
    "le": operator.le,
    "eq": operator.eq,
    "ne": operator.ne,
}


class PartialEvaluator(Rewriter):
    """Specializes parts of a program, each under its own assumptions, into one program."""

    def specialize(self, known: Mapping[int, float], values: Iterable[int]) -> list[int]:
        """New numbers of source ``values``, given that the values in ``known`` are constants."""
        targets = list(values)
        needed = set()
        waiting = list(targets)
        while waiting:
            value = waiting.pop()
            if value not in needed:
                needed.add(value)
                if value not in known:
                    waiting += operands(self.source.instructions[value])
        number: dict[int, int] = {}
        for k in sorted(needed):
            if k in known:
                number[k] = self.constant(known[k])
                continue
            instruction = self.source.instructions[k]
            arguments = tuple(number[a] for a in operands(instruction))
            if arguments:
                instruction = Instruction(instruction.op, arguments, instruction.payload)
            number[k] = self.rewrite(k, instruction)
        return [number[value] for value in targets]

    def rewrite(self, k: int, instruction: Instruction) -> int:
        """Simplify an instruction whose arguments may have become constant."""
        op, a = instruction.op, instruction.arguments
        if op == "input":
            return self.add(instruction)
        given = [self._constant_value(value) for value in a]
        if op == "not" and given[0] is not None:
            return self.constant(float(not given[0]))
        if op in COMPARISONS and None not in given:
            return self.constant(float(COMPARISONS[op](*given)))
        if op in ("choose", "if_else_zero") and given[0] is not None:
            otherwise = a[2] if op == "choose" else self.constant(0.0)
            return a[1] if given[0] else otherwise
        if op in ("and", "or", "add") and given != [None, None]:
            known, other = (given[0], a[1]) if given[0] is not None else (given[1], a[0])
            if op == "add" and known == 0:
                return other
            if op != "add":
                decided = bool(known) == (op == "or")
                return self.constant(float(op == "or")) if decided else self._truth(other)
        if op == "sub" and given[1] == 0:
            return a[0]
        return self.add(instruction)

    def _constant_value(self, value: int) -> float | None:
        instruction = self.instructions[value]
        return float(instruction.payload) if instruction.op == "const" else None

    def _truth(self, value: int) -> int:
        """0 or 1, as ``and`` and ``or`` give them."""
        instruction = self.instructions[value]
        if instruction.op in ("and", "or", "not", *COMPARISONS):
            return value
        if instruction.op == "const":
            return self.constant(float(bool(instruction.payload)))
        return self.do("ne", value, self.constant(0.0))
