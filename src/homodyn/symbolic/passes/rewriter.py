"""The base of passes that rewrite a program instruction by instruction."""

from __future__ import annotations

from homodyn.symbolic.builder import ProgramBuilder
from homodyn.symbolic.program import Instruction, Program, eliminate_dead_code, operands


class Rewriter(ProgramBuilder):
    """Copies a program; subclasses override `rewrite` to replace instructions on the way."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.source = program
        self.number: dict[int, int] = {}
        """New numbers of the values of the source."""

    def program(self) -> Program:
        """The new program, without dead code."""
        for k, instruction in enumerate(self.source.instructions):
            arguments = tuple(self.number[a] for a in operands(instruction))
            if arguments:
                instruction = Instruction(instruction.op, arguments, instruction.payload)
            self.number[k] = self.rewrite(k, instruction)
        results = [(port, entry, self.number[v]) for port, entry, v in self.source.results]
        return eliminate_dead_code(self.instructions, results)

    def rewrite(self, k: int, instruction: Instruction) -> int:
        """The value that replaces source value ``k``; arguments have their new numbers."""
        return self.add(instruction)
