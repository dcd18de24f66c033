"""Strength reduction: a division by a loop invariant becomes a product with its reciprocal.

This pass changes rounding: such a quotient is rounded twice instead of once.
"""

from __future__ import annotations

from homodyn.symbolic.passes.rewriter import Rewriter
from homodyn.symbolic.program import Instruction, Program


def reduce_strength(program: Program, fixed: list[bool]) -> Program:
    """Replace divisions by loop-invariant values (flags ``fixed``) by products."""
    return _StrengthReduction(program, fixed).program()


class _StrengthReduction(Rewriter):
    def __init__(self, program: Program, fixed: list[bool]) -> None:
        super().__init__(program)
        self.fixed = fixed

    def rewrite(self, k: int, instruction: Instruction) -> int:
        old = self.source.instructions[k]
        if instruction.op == "div" and self.fixed[old.arguments[1]] and not self.fixed[k]:
            a, b = instruction.arguments
            return self.do("mul", a, self.do("div", self.constant(1.0), b))
        return self.add(instruction)
