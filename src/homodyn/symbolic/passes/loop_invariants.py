"""Loop-invariant code motion: what does not change from step to step is computed before the loop.

This pass keeps the bits.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from homodyn.symbolic.program import Instruction, Program, eliminate_dead_code, operands


def invariant_values(program: Program, loop_ports: Collection[int]) -> list[bool]:
    """For each value, whether it is loop-invariant.

    Args:
        program: One step of a loop.
        loop_ports: Input ports that change from step to step.

    Returns:
        One flag per instruction.
    """
    invariant: list[bool] = []
    for instruction in program.instructions:
        if instruction.op == "input":
            invariant.append(instruction.arguments[0] not in loop_ports)
        else:
            invariant.append(all(invariant[a] for a in instruction.arguments))
    return invariant


def hoist_loop_invariants(
    program: Program, invariant: Sequence[bool], port: int
) -> tuple[Program, Program]:
    """The program of the loop body, and the one to run once before the loop.

    Args:
        program: One step of a loop.
        invariant: The flags of `invariant_values`.
        port: Number of the new input port of the body. Its entries are the results of the prologue.

    Returns:
        Body and prologue. Inputs and constants are rematerialized where they are needed.
    """
    instructions = program.instructions
    hoisted = [
        steady and instruction.op not in ("input", "const")
        for steady, instruction in zip(invariant, instructions, strict=True)
    ]
    entries: dict[int, int] = {}
    for k, instruction in enumerate(instructions):
        if not hoisted[k]:
            for a in operands(instruction):
                if hoisted[a]:
                    entries.setdefault(a, len(entries))
    for _, _, value in program.results:
        if hoisted[value]:
            entries.setdefault(value, len(entries))
    body = [
        Instruction("input", (port, entries[k])) if k in entries else instruction
        for k, instruction in enumerate(instructions)
    ]
    prologue = eliminate_dead_code(
        instructions, [(0, entry, value) for value, entry in entries.items()]
    )
    return eliminate_dead_code(body, program.results), prologue
