"""Input trigonometry: sines and cosines of inputs are computed before the program.

A call in the middle of straight-line code spills all registers. This pass keeps the bits.
"""

from __future__ import annotations

from homodyn.symbolic.program import Instruction, Program, eliminate_dead_code

Angles = tuple[tuple[int, int], ...]
"""Inputs, as (port, entry), whose sines and cosines a program takes."""


def extract_input_trig(program: Program, port: int) -> tuple[Program, Angles]:
    """The program with sines and cosines of inputs read from one more input.

    Args:
        program: Any program.
        port: Number of the new input port.

    Returns:
        The program, and the angles; sine and cosine of angle k are entries 2 k and 2 k + 1 of the
        new port.
    """
    angles: dict[tuple[int, int], int] = {}
    instructions = list(program.instructions)
    for k, instruction in enumerate(instructions):
        if instruction.op in ("sin", "cos"):
            source = program.instructions[instruction.arguments[0]]
            if source.op == "input":
                place = (source.arguments[0], source.arguments[1])
                number = angles.setdefault(place, len(angles))
                entry = 2 * number + (instruction.op == "cos")
                instructions[k] = Instruction("input", (port, entry))
    return eliminate_dead_code(instructions, program.results), tuple(angles)
