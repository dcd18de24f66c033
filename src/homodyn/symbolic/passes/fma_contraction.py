"""FMA contraction: a product that feeds one sum is fused with it and rounded once.

This pass changes rounding. It runs here and not in the C compiler, so that the choice does not
depend on the compiler or the vector width.
"""

from __future__ import annotations

from collections.abc import Sequence

from homodyn.symbolic.program import Instruction, Program, eliminate_dead_code, operands


def contract_fma(program: Program, invariant: Sequence[bool] = ()) -> Program:
    """Products used once, by a sum or difference, fused with it into fma, fms or fnma.

    fma(a, b, c) = a b + c, fms(a, b, c) = a b - c, fnma(a, b, c) = c - a b, each rounded once.

    Args:
        program: Any program.
        invariant: For each value, whether it is loop-invariant; such products stay separate, for
            they are computed outside the loop.

    Returns:
        The program with fused operations.
    """
    instructions = list(program.instructions)
    uses = [0] * len(instructions)
    for instruction in instructions:
        for argument in operands(instruction):
            uses[argument] += 1
    for _, _, value in program.results:
        uses[value] += 1

    def factors_of(value: int) -> tuple[int, ...] | None:
        instruction = instructions[value]
        fuses = instruction.op == "mul" and uses[value] == 1
        fuses = fuses and not (invariant and invariant[value])
        return instruction.arguments if fuses else None

    for k, instruction in enumerate(instructions):
        if instruction.op not in ("add", "sub"):
            continue
        a, b = instruction.arguments
        if a == b:
            continue
        late, early = (b, a) if b > a else (a, b)
        for value in (late, early):
            factors = factors_of(value)
            if factors is None:
                continue
            other = a if value == b else b
            names = {"add": "fma", "sub": "fnma" if value == b else "fms"}
            instructions[k] = Instruction(names[instruction.op], (*factors, other))
            break
    return eliminate_dead_code(instructions, program.results)
