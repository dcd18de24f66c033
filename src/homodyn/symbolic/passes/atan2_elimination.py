"""Elimination of atan2: sine and cosine of the direction of a point, without the angle.

    sin(atan2(y, x)) = y / r,   cos(atan2(y, x)) = x / r,   r = sqrt(x^2 + y^2),

and 0 and 1 where r is 0. Distances must lie between 1e-154 and 1e154, so that their squares are
finite and nonzero. This pass changes rounding.
"""

from __future__ import annotations

from homodyn.symbolic.passes.rewriter import Rewriter
from homodyn.symbolic.program import Instruction, Program

RADIUS_GUARD = 1e-300
"""Added to distances to keep their reciprocal finite; changes no distance but zero."""


def eliminate_atan2(program: Program) -> Program:
    """Replace sines and cosines of atan2 by quotients."""
    if not any(instruction.op == "atan2" for instruction in program.instructions):
        return program
    return _Atan2Elimination(program).program()


class _Atan2Elimination(Rewriter):
    def rewrite(self, k: int, instruction: Instruction) -> int:
        if instruction.op in ("sin", "cos"):
            angle = self.instructions[instruction.arguments[0]]
            sign = 1
            if angle.op == "neg":
                sign, angle = -1, self.instructions[angle.arguments[0]]
            if angle.op == "atan2":
                y, x = angle.arguments
                return self._share(instruction.op, y, x, sign)
        if instruction.op == "mul" and instruction.arguments[0] == instruction.arguments[1]:
            return self._square(instruction.arguments[0])
        return self.add(instruction)

    def _share(self, op: str, y: int, x: int, sign: int) -> int:
        radius = self.do("sqrt", self.do("add", self._square(x), self._square(y)))
        at_origin = self.do("not", radius)
        inverse = self.do(
            "div", self.constant(1.0), self.do("add", radius, self.constant(RADIUS_GUARD))
        )
        if op == "cos":
            return self.do("add", self.do("mul", x, inverse), at_origin)
        share = self.do("mul", y, inverse)
        return share if sign > 0 else self.do("neg", share)

    def _square(self, value: int) -> int:
        """A square; (a - b)^2 and (b - a)^2 have the same bits and become one value."""
        instruction = self.instructions[value]
        if instruction.op == "sub" and instruction.arguments[0] > instruction.arguments[1]:
            value = self.do("sub", *instruction.arguments[::-1])
        return self.do("mul", value, value)
