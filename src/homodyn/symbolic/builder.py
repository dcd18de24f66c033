"""The builder of programs: adds instructions, with value numbering."""

from __future__ import annotations

from math import isnan

from homodyn.symbolic.program import COMMUTATIVE, Instruction


class ProgramBuilder:
    """A growing list of instructions in which equal ones are computed once.

    This is local value numbering, also known as common-subexpression elimination. It keeps the
    bits: constants are compared by their bits, so 0.0 and -0.0 stay different.
    """

    sort_operands = True
    """Whether a + b and b + a are one value; passes before SLP packing keep the order of sums."""

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self._numbers: dict[tuple[str, tuple[int, ...], str | int], int] = {}

    def add(self, instruction: Instruction) -> int:
        """The value of an instruction, or of an equal earlier one."""
        op, arguments, payload = instruction.op, instruction.arguments, instruction.payload
        if self.sort_operands and op in COMMUTATIVE and arguments[0] > arguments[1]:
            arguments = arguments[::-1]
            instruction = Instruction(op, arguments, payload)
        key = (op, arguments, payload.hex() if isinstance(payload, float) else payload)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.instructions)
            self.instructions.append(instruction)
        return number

    def do(self, op: str, *arguments: int) -> int:
        """The value of an operation on earlier values."""
        return self.add(Instruction(op, arguments))

    def constant(self, number: float) -> int:
        """The value of a constant."""
        return self.add(Instruction("const", (), float(number)))

    def negate(self, value: int) -> int:
        """The negative of a value; a negation of a negation is removed."""
        inner = self._negated_operand(value)
        if inner is not None:
            return inner
        instruction = self.instructions[value]
        if instruction.op == "const" and not isnan(float(instruction.payload)):
            return self.constant(-float(instruction.payload))
        if instruction.op == "sub":
            # Only the sign of an exact zero can differ from a negation.
            return self.do("sub", *instruction.arguments[::-1])
        return self.do("neg", value)

    def combine(self, op: str, a: int, b: int) -> int:
        """A sum, difference, product or quotient, with negations of its arguments moved outside."""
        minus_a, minus_b = self._negated_operand(a), self._negated_operand(b)
        if op == "add":
            if minus_b is not None:
                return self.combine("sub", a, minus_b)
            if minus_a is not None:
                return self.combine("sub", b, minus_a)
        elif op == "sub":
            if minus_b is not None:
                return self.combine("add", a, minus_b)
            if minus_a is not None:
                return self.negate(self.combine("add", minus_a, b))
        elif op in ("mul", "div"):
            if minus_a is not None:
                return self.negate(self.combine(op, minus_a, b))
            if minus_b is not None:
                return self.negate(self.combine(op, a, minus_b))
        return self.do(op, a, b)

    def _negated_operand(self, value: int) -> int | None:
        """The operand of ``value`` if it is a negation, else None."""
        instruction = self.instructions[value]
        return instruction.arguments[0] if instruction.op == "neg" else None
