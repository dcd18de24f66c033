"""What does not change from step to step, taken out of a program that is repeated."""

from __future__ import annotations

from homodyn.symbolic.program import Instruction, Program, eliminate_dead_code, operands


def hoist_loop_invariants(
    program: Program, fixed: list[bool], port: int
) -> tuple[Program, Program]:
    """The program that is left, and the one to run once before it.

    Results of the second are entries of one more input ``port`` of the first. Inputs and constants
    are had where they are needed and stay.
    """
    instructions = program.instructions
    taken = [
        still and instruction.op not in ("input", "const")
        for still, instruction in zip(fixed, instructions, strict=True)
    ]
    wanted: dict[int, int] = {}
    for k, instruction in enumerate(instructions):
        if not taken[k]:
            for a in operands(instruction):
                if taken[a]:
                    wanted.setdefault(a, len(wanted))
    for _, _, value in program.results:
        if taken[value]:
            wanted.setdefault(value, len(wanted))
    changed = [
        Instruction("input", (port, wanted[k])) if k in wanted else instruction
        for k, instruction in enumerate(instructions)
    ]
    before = eliminate_dead_code(
        list(instructions), [(0, entry, value) for value, entry in wanted.items()]
    )
    return eliminate_dead_code(changed, list(program.results)), before
