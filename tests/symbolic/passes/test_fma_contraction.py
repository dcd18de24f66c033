"""Fused operations: the same exact value, fewer roundings, and products that must stay."""

from fractions import Fraction

import pytest

from homodyn.symbolic.passes.fma_contraction import contract_fma
from homodyn.symbolic.program import Instruction, Program, eliminate_dead_code
from support.programs import operation_counts

EXACT = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "fma": lambda a, b, c: a * b + c,
    "fms": lambda a, b, c: a * b - c,
    "fnma": lambda a, b, c: c - a * b,
}
INPUTS = tuple(Instruction("input", (0, k)) for k in range(4))
VALUES = tuple(map(Fraction, (3, 5, 7, 11)))


def exact_values(program):
    """Results of a program in exact arithmetic."""
    values = []
    for instruction in program.instructions:
        if instruction.op == "input":
            values.append(VALUES[instruction.arguments[1]])
        else:
            arguments = (values[k] for k in instruction.arguments)
            values.append(EXACT[instruction.op](*arguments))
    return [values[value] for _, _, value in sorted(program.results)]


def program_of(*instructions, results):
    outputs = tuple((0, k, value) for k, value in enumerate(results))
    return Program((*INPUTS, *instructions), outputs)


def without_dead_code(program):
    return eliminate_dead_code(program.instructions, program.results)


@pytest.mark.parametrize(
    ("operation", "arguments", "fused"),
    [
        ("add", (4, 2), "fma"),
        ("add", (2, 4), "fma"),
        ("sub", (4, 2), "fms"),
        ("sub", (2, 4), "fnma"),
    ],
)
def test_a_product_that_feeds_one_sum_is_fused_with_it(operation, arguments, fused):
    program = program_of(Instruction("mul", (0, 1)), Instruction(operation, arguments), results=[5])
    found = contract_fma(program)
    assert operation_counts(found)[fused] == 1
    assert not operation_counts(found)["mul"] + operation_counts(found)[operation]
    assert exact_values(found) == exact_values(program)


def test_one_of_two_products_is_fused():
    program = program_of(
        Instruction("mul", (0, 1)),
        Instruction("mul", (2, 3)),
        Instruction("sub", (4, 5)),
        results=[6],
    )
    found = contract_fma(program)
    counts = operation_counts(found)
    assert (counts["mul"], counts["fnma"], counts["sub"]) == (1, 1, 0)
    assert exact_values(found) == exact_values(program)


@pytest.mark.parametrize("extra", ["result", "operand"])
def test_a_product_with_another_use_stays(extra):
    instructions = [Instruction("mul", (0, 1)), Instruction("add", (4, 2))]
    if extra == "operand":
        instructions.append(Instruction("sub", (5, 4)))
    results = [5, 4] if extra == "result" else [6]
    program = program_of(*instructions, results=results)
    assert contract_fma(program) == without_dead_code(program)


def test_a_square_that_is_added_to_itself_stays():
    program = program_of(Instruction("mul", (0, 0)), Instruction("add", (4, 4)), results=[5])
    assert contract_fma(program) == without_dead_code(program)


def test_a_loop_invariant_product_stays_outside_the_loop():
    program = program_of(Instruction("mul", (0, 1)), Instruction("add", (4, 2)), results=[5])
    invariant = [True, True, False, False, True, False]
    assert operation_counts(contract_fma(program, invariant))["mul"] == 1
    assert operation_counts(contract_fma(program))["fma"] == 1
