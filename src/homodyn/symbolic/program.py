"""A traced graph as a list of instructions in single-assignment form, simplified to the bit.

Only rewritings that keep every rounding are made: equal instructions are computed once, signs move
outwards, doubles and squares become sums and products. Products that feed one sum are marked for
fusing; that is decided here, not by the C compiler, so that it does not vary with the vector width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

import casadi as ca

from homodyn.errors import KernelError

COMMUTATIVE = {"add", "mul", "eq", "ne", "and", "or", "fmin", "fmax"}
ALIASES = {"constpow": "pow"}

_NAMES = """
    add sub mul div neg exp log pow constpow sqrt sq twice sin cos tan asin acos atan
    lt le eq ne not and or floor ceil fmod fabs sign copysign if_else_zero erf fmin fmax inv
    sinh cosh tanh asinh acosh atanh atan2 log1p expm1 hypot remainder erfinv
"""
OPERATIONS = {getattr(ca, f"OP_{name.upper()}"): name for name in _NAMES.split()}
"""What CasADi can put into a graph, by its number."""


@dataclass(frozen=True)
class Instruction:
    """``op`` on earlier values; inputs and constants have no arguments but a payload."""

    op: str
    arguments: tuple[int, ...] = ()
    payload: float | int = 0


@dataclass(frozen=True)
class Program:
    """Instructions in order, and which value each output entry takes: (port, entry, value)."""

    instructions: tuple[Instruction, ...]
    results: tuple[tuple[int, int, int], ...]

    def __len__(self) -> int:
        return len(self.instructions)


class _Builder:
    """Adds instructions, returning the number of an equal earlier one where there is one."""

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self._known: dict[object, int] = {}

    def add(self, op: str, *arguments: int, payload: float | int = 0) -> int:
        if op in COMMUTATIVE and arguments[0] > arguments[1]:
            arguments = arguments[::-1]
        key = (op, arguments, payload.hex() if isinstance(payload, float) else payload)
        found = self._known.get(key)
        if found is None:
            found = len(self.instructions)
            self.instructions.append(Instruction(op, arguments, payload))
            self._known[key] = found
        return found

    def constant(self, number: float) -> int:
        return self.add("const", payload=float(number))

    def _negated(self, value: int) -> int | None:
        """What ``value`` is the negative of, if it was made by a negation."""
        instruction = self.instructions[value]
        return instruction.arguments[0] if instruction.op == "neg" else None

    def negate(self, value: int) -> int:
        inner = self._negated(value)
        if inner is not None:
            return inner
        instruction = self.instructions[value]
        if instruction.op == "const" and not isnan(float(instruction.payload)):
            return self.constant(-float(instruction.payload))
        if instruction.op == "sub":
            # Only the sign of an exact zero can differ from a negation.
            return self.add("sub", *instruction.arguments[::-1])
        return self.add("neg", value)

    def combine(self, op: str, a: int, b: int) -> int:
        """A binary operation with the signs of its arguments drawn out."""
        minus_a, minus_b = self._negated(a), self._negated(b)
        if op == "add":
            if minus_b is not None:
                return self.combine("sub", a, minus_b)
            if minus_a is not None:
                return self.combine("sub", b, minus_a)
        elif op == "sub":
            if minus_b is not None:
                return self.combine("add", a, minus_b)
            if minus_a is not None:
                return self.negate(self.combine("add", minus_a, b))
        elif op in ("mul", "div"):
            if minus_a is not None:
                return self.negate(self.combine(op, minus_a, b))
            if minus_b is not None:
                return self.negate(self.combine(op, a, minus_b))
        return self.add(op, a, b)


def lower_and_contract(graph: ca.Function) -> Program:
    """The instructions of an expression graph."""
    return contract_fma(lower_graph(graph))


def lower_graph(graph: ca.Function) -> Program:
    """The same with products and sums apart, for what rewrites them before they are joined."""
    builder = _Builder()
    work: dict[int, int] = {}
    entries: list[tuple[int, int, int]] = []
    rows = [graph.sparsity_out(k).row() for k in range(graph.n_out())]
    inputs = [graph.sparsity_in(k).row() for k in range(graph.n_in())]
    for k in range(graph.n_instructions()):
        code = graph.instruction_id(k)
        if code == ca.OP_CONST:
            work[graph.instruction_output(k)[0]] = builder.constant(graph.instruction_constant(k))
        elif code == ca.OP_INPUT:
            port, entry = graph.instruction_input(k)
            place = (port, inputs[port][entry])
            work[graph.instruction_output(k)[0]] = builder.add("input", *place)
        elif code == ca.OP_OUTPUT:
            port, entry = graph.instruction_output(k)
            entries.append((port, rows[port][entry], work[graph.instruction_input(k)[0]]))
        else:
            arguments = [work[slot] for slot in graph.instruction_input(k)]
            work[graph.instruction_output(k)[0]] = _operation(builder, code, arguments)
    return eliminate_dead_code(builder.instructions, entries)


def _operation(builder: _Builder, code: int, arguments: list[int]) -> int:
    if code in (ca.OP_ASSIGN, ca.OP_LIFT, ca.OP_PRINTME):
        return arguments[0]
    op = OPERATIONS.get(code)
    if op is None:
        raise KernelError(f"CasADi operation number {code} has no compiled form")
    if op == "neg":
        return builder.negate(arguments[0])
    if op == "twice":
        return builder.combine("add", arguments[0], arguments[0])
    if op == "sq":
        return builder.combine("mul", arguments[0], arguments[0])
    if op == "inv":
        return builder.combine("div", builder.constant(1.0), arguments[0])
    if op in ("add", "sub", "mul", "div"):
        return builder.combine(op, *arguments)
    return builder.add(ALIASES.get(op, op), *arguments)


def operands(instruction: Instruction) -> tuple[int, ...]:
    """The earlier values an instruction uses."""
    return () if instruction.op == "input" else instruction.arguments


def eliminate_dead_code(
    instructions: list[Instruction], entries: list[tuple[int, int, int]]
) -> Program:
    """The same without instructions that no output needs, renumbered."""
    needed = [False] * len(instructions)
    for _, _, value in entries:
        needed[value] = True
    for k in range(len(instructions) - 1, -1, -1):
        if needed[k]:
            for argument in operands(instructions[k]):
                needed[argument] = True
    number: dict[int, int] = {}
    kept: list[Instruction] = []
    for k, instruction in enumerate(instructions):
        if needed[k]:
            number[k] = len(kept)
            if instruction.op != "input":
                moved = tuple(number[a] for a in instruction.arguments)
                instruction = Instruction(instruction.op, moved, instruction.payload)
            kept.append(instruction)
    return Program(tuple(kept), tuple((p, e, number[v]) for p, e, v in entries))


def contract_fma(program: Program, fixed: Sequence[bool] = ()) -> Program:
    """Products used once, by a sum or difference, joined with it into fma, fms or fnma.

    fma(a, b, c) = a b + c, fms(a, b, c) = a b - c, fnma(a, b, c) = c - a b, each rounded once.
    Products that are ``fixed`` from step to step stay by themselves: they cost nothing there.
    """
    instructions = list(program.instructions)
    uses = [0] * len(instructions)
    for instruction in instructions:
        for argument in operands(instruction):
            uses[argument] += 1
    for _, _, value in program.results:
        uses[value] += 1

    def product(value: int) -> tuple[int, ...] | None:
        instruction = instructions[value]
        joins = instruction.op == "mul" and uses[value] == 1 and not (fixed and fixed[value])
        return instruction.arguments if joins else None

    for k, instruction in enumerate(instructions):
        if instruction.op not in ("add", "sub"):
            continue
        a, b = instruction.arguments
        if a == b:
            continue
        late, early = (b, a) if b > a else (a, b)
        for value in (late, early):
            factors = product(value)
            if factors is None:
                continue
            other = a if value == b else b
            names = {"add": "fma", "sub": "fnma" if value == b else "fms"}
            instructions[k] = Instruction(names[instruction.op], (*factors, other))
            break
    return eliminate_dead_code(instructions, list(program.results))
