"""Select formation: a choice between two values becomes one operation.

A graph writes "x where c, else y" as a sum of two terms of which one is zero: four operations
instead of one. The sign of "-x where c, else 0" moves into the sum it feeds. This pass keeps the
bits, except for the sign of an exact zero.
"""

from __future__ import annotations

from homodyn.symbolic.passes.rewriter import Rewriter
from homodyn.symbolic.program import Instruction, Program


def form_selects(program: Program) -> Program:
    """Form selects: ``choose c x y`` is x where c is true, else y."""
    return _SelectFormation(program).program()


class _SelectFormation(Rewriter):
    def rewrite(self, k: int, instruction: Instruction) -> int:
        if instruction.op == "add":
            a, b = (self.instructions[value] for value in instruction.arguments)
            if a.op == b.op == "if_else_zero":
                for one, other in ((a, b), (b, a)):
                    if self.instructions[other.arguments[0]] == Instruction(
                        "not", one.arguments[:1]
                    ):
                        return self._select(one.arguments[0], one.arguments[1], other.arguments[1])
            return self._add_or_subtract(*instruction.arguments)
        return self.add(instruction)

    def _add_or_subtract(self, a: int, b: int) -> int:
        """A sum, or a difference where a term has a sign to move out."""
        for one, other in ((a, b), (b, a)):
            part = self.instructions[other]
            if part.op == "if_else_zero":
                value = self.instructions[part.arguments[1]]
                if value.op == "neg":
                    positive = self.do("if_else_zero", part.arguments[0], value.arguments[0])
                    return self.do("sub", one, positive)
        return self.do("add", a, b)

    def _select(self, condition: int, x: int, y: int) -> int:
        return x if x == y else self.do("choose", condition, x, y)
