"""Programs: lists of instructions in single-assignment (SSA) form.

Every instruction defines one value, numbered by its place in the list, from values defined before
it. This is the form that all passes read and write and that code generation starts from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

COMMUTATIVE = {"add", "mul", "eq", "ne", "and", "or", "fmin", "fmax"}
"""Binary operations whose arguments may be exchanged without a change of bits."""

COMPARISONS = ("lt", "le", "eq", "ne")

EXPENSIVE_OPERATIONS = {
    *("sin", "cos", "tan", "exp", "log", "pow", "tanh", "sqrt", "atan2", "atan", "div")
}
"""Operations that take many times as long as a sum or a product."""


@dataclass(frozen=True)
class Instruction:
    """``op`` applied to earlier values; inputs and constants have a payload instead.

    The arguments of an input are its port and its entry in that port.
    """

    op: str
    arguments: tuple[int, ...] = ()
    payload: float | int = 0


@dataclass(frozen=True)
class Program:
    """Instructions in order, and the value of each output entry: (port, entry, value)."""

    instructions: tuple[Instruction, ...]
    results: tuple[tuple[int, int, int], ...]

    def __len__(self) -> int:
        return len(self.instructions)

    def to_text(self, inputs: Sequence[str] = (), outputs: Sequence[str] = ()) -> str:
        """One line per instruction and per output entry.

        Args:
            inputs: Names of the input ports; ports beyond them are called ``in<number>``.
            outputs: Names of the output ports, likewise.

        Returns:
            Text such as ``%2 = mul %0 %1``.
        """
        lines = [
            f"%{number} = {_instruction_text(instruction, inputs)}"
            for number, instruction in enumerate(self.instructions)
        ]
        lines += [
            f"{_port_name(outputs, port, 'out')}[{entry}] <- %{value}"
            for port, entry, value in self.results
        ]
        return "\n".join(lines)


def _instruction_text(instruction: Instruction, inputs: Sequence[str]) -> str:
    if instruction.op == "input":
        port, entry = instruction.arguments
        return f"input {_port_name(inputs, port, 'in')}[{entry}]"
    if instruction.op == "const":
        return f"const {float(instruction.payload)!r}"
    return " ".join([instruction.op, *(f"%{argument}" for argument in instruction.arguments)])


def _port_name(names: Sequence[str], port: int, prefix: str) -> str:
    return names[port] if port < len(names) else f"{prefix}{port}"


def operands(instruction: Instruction) -> tuple[int, ...]:
    """The earlier values an instruction uses."""
    return () if instruction.op == "input" else instruction.arguments


def eliminate_dead_code(
    instructions: Sequence[Instruction], results: Sequence[tuple[int, int, int]]
) -> Program:
    """The program of the instructions that some result needs, renumbered."""
    needed = [False] * len(instructions)
    for _, _, value in results:
        needed[value] = True
    for k in range(len(instructions) - 1, -1, -1):
        if needed[k]:
            for argument in operands(instructions[k]):
                needed[argument] = True
    number: dict[int, int] = {}
    live: list[Instruction] = []
    for k, instruction in enumerate(instructions):
        if needed[k]:
            number[k] = len(live)
            if instruction.op != "input":
                arguments = tuple(number[a] for a in instruction.arguments)
                instruction = Instruction(instruction.op, arguments, instruction.payload)
            live.append(instruction)
    return Program(tuple(live), tuple((p, e, number[v]) for p, e, v in results))


class NamedPort(Protocol):
    """Anything with a name, such as `homodyn.symbolic.trace.Port`."""

    @property
    def name(self) -> str:
        """Its name."""


def port_names(ports: Sequence[NamedPort]) -> list[str]:
    """Names of ports, in order."""
    return [port.name for port in ports]
