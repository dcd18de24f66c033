"""A program written again, instruction by instruction, with some of them in another form."""

from __future__ import annotations

from homodyn.symbolic.program import (
    COMMUTATIVE,
    Instruction,
    Program,
    eliminate_dead_code,
    operands,
)


class Rewriter:
    """Copies a program; equal instructions are made once.

    Whoever extends it overrides `rewritten`, which is asked about every instruction with its
    arguments in the new numbers.
    """

    sort_operands = True
    """Whether a + b and b + a are made one; sums that are to be packed keep their order."""

    def __init__(self, program: Program) -> None:
        self.source = program
        self.instructions: list[Instruction] = []
        self.known: dict[Instruction, int] = {}
        self.number: dict[int, int] = {}

    def program(self) -> Program:
        """The new program, without what is no longer needed."""
        for k, instruction in enumerate(self.source.instructions):
            moved = tuple(self.number[a] for a in operands(instruction))
            if moved:
                instruction = Instruction(instruction.op, moved, instruction.payload)
            self.number[k] = self.rewrite(k, instruction)
        results = [(port, entry, self.number[v]) for port, entry, v in self.source.results]
        return eliminate_dead_code(self.instructions, results)

    def rewrite(self, k: int, instruction: Instruction) -> int:
        """The value that stands for the one of the old instruction ``k``."""
        return self.add(instruction)

    def add(self, instruction: Instruction) -> int:
        """The value of an instruction, or of an equal earlier one."""
        if self.sort_operands and instruction.op in COMMUTATIVE:
            instruction = Instruction(instruction.op, tuple(sorted(instruction.arguments)))
        found = self.known.get(instruction)
        if found is None:
            found = self.known[instruction] = len(self.instructions)
            self.instructions.append(instruction)
        return found

    def do(self, op: str, *arguments: int) -> int:
        """The value of an operation."""
        return self.add(Instruction(op, arguments))

    def constant(self, number: float) -> int:
        """A number."""
        return self.add(Instruction("const", (), number))
