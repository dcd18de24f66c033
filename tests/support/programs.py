"""Programs of kernels in tests."""

from collections import Counter


def operation_counts(program):
    """Number of instructions of each operation."""
    return Counter(instruction.op for instruction in program.instructions)
