"""Divisions by loop invariants become products; others stay."""

from homodyn.symbolic.passes.strength_reduction import reduce_strength
from homodyn.symbolic.program import Instruction, Program
from support.programs import operation_counts

# Values: 0 varies, 1 and 2 are invariant.
INPUTS = tuple(Instruction("input", (0, k)) for k in range(3))


def evaluate(program, inputs):
    values = []
    for instruction in program.instructions:
        if instruction.op == "input":
            values.append(inputs[instruction.arguments[1]])
        elif instruction.op == "const":
            values.append(instruction.payload)
        else:
            a, b = (values[k] for k in instruction.arguments)
            values.append(a / b if instruction.op == "div" else a * b)
    return [values[value] for _, _, value in sorted(program.results)]


def test_only_varying_quotients_with_an_invariant_divisor_change():
    program = Program(
        (
            *INPUTS,
            Instruction("div", (0, 1)),  # varying by invariant
            Instruction("div", (1, 0)),  # by a varying value
            Instruction("div", (2, 1)),  # computed outside the loop already
        ),
        ((0, 0, 3), (0, 1, 4), (0, 2, 5)),
    )
    fixed = [False, True, True, False, False, True]
    found = reduce_strength(program, fixed)
    # The reciprocal is a division too, outside the loop.
    assert operation_counts(found)["mul"] == 1
    assert operation_counts(found)["div"] == 3
    # Powers of two have exact reciprocals, so that no rounding differs.
    assert evaluate(found, (3.0, 8.0, 0.5)) == evaluate(program, (3.0, 8.0, 0.5))


def test_quotients_by_the_same_value_share_one_reciprocal():
    program = Program(
        (
            *INPUTS,
            Instruction("div", (0, 1)),
            Instruction("mul", (0, 0)),
            Instruction("div", (4, 1)),
        ),
        ((0, 0, 3), (0, 1, 5)),
    )
    found = reduce_strength(program, [False, True, True, False, False, False])
    assert operation_counts(found)["div"] == 1
    assert evaluate(found, (3.0, 4.0, 1.0)) == [0.75, 2.25]
