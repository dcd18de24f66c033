"""Graphs as C functions: shared blocks, expressions, and arrays with loops."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isinf, isnan
from textwrap import wrap

import casadi as ca

from homodyn.errors import NetworkError
from homodyn.network.c_blocks import BasicBlock, Item, Operand, call_order, outline
from homodyn.symbolic.passes.pipeline import lower_and_contract

INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
COMPARISONS = {"lt": "<", "le": "<=", "eq": "==", "ne": "!="}
_MATH_FUNCTIONS = """
    exp log pow sqrt sin cos tan asin acos atan sinh cosh tanh floor ceil fmod fabs fmin fmax
    atan2 hypot erf asinh acosh atanh log1p expm1 copysign remainder
"""
MATH_FUNCTIONS = {name: name for name in _MATH_FUNCTIONS.split()}
LINE_WIDTH = 100
MAX_INLINE_LENGTH = 60
"""Characters above which an expression is a statement of its own."""
MIN_LOOP_LENGTH = 4
"""Results above which a loop stores them."""


@dataclass(frozen=True)
class _GraphBody:
    """A graph as straight-line code."""

    body: BasicBlock
    places: list[tuple[int, int]]
    """Output and entry of each result."""
    sizes: tuple[int, ...]
    """Entries of each output."""


def number_text(value: float) -> str:
    """A number in C."""
    if isnan(value):
        return "NAN"
    if isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(value)


def _body(graph: ca.Function, inputs: tuple[str, ...], first_value: int) -> _GraphBody:
    """Operations and results of a graph; inputs and constants are C texts."""
    program = lower_and_contract(graph)
    operands: list[Operand] = []
    items: list[Item] = []
    for instruction in program.instructions:
        if instruction.op == "input":
            port, entry = instruction.arguments
            operands.append(f"{inputs[port]}[{entry}]")
        elif instruction.op == "const":
            number = number_text(float(instruction.payload))
            operands.append(f"({number})" if number.startswith("-") else number)
        else:
            arguments = tuple(operands[a] for a in instruction.arguments)
            operands.append(first_value + len(items))
            items.append(Item(instruction.op, arguments, (first_value + len(items),)))
    places = [(port, entry) for port, entry, _ in program.results]
    results = [operands[value] for _, _, value in program.results]
    sizes = tuple(graph.size1_out(port) for port in range(graph.n_out()))
    return _GraphBody(BasicBlock(items, results), places, sizes)


def graph_functions(graphs: Sequence[tuple[str, ca.Function, tuple[str, ...]]]) -> list[str]:
    """Graphs as static functions of arrays, after the blocks that they share.

    Args:
        graphs: Name, graph and names of the inputs of each function.

    Returns:
        C texts of the blocks and of the functions.

    Raises:
        NetworkError: An operation has no C form.
    """
    parts: list[_GraphBody] = []
    for _, graph, inputs in graphs:
        parts.append(_body(graph, inputs, sum(len(part.body.items) for part in parts)))
    bodies, blocks = outline([part.body for part in parts])
    texts = [_block_text(index, blocks[index]) for index in call_order(blocks)]
    for (name, _, inputs), part, body in zip(graphs, parts, bodies, strict=True):
        outputs = [f"out{k}" for k in range(len(part.sizes))]
        arguments = [
            *(f"const double *{one}" for one in inputs),
            *(f"double *{one}" for one in outputs),
        ]
        lines, names = _statements(body)
        used = "\n".join([*lines, *names])
        unused = [f"    (void){one};" for one in inputs if not re.search(rf"\b{one}\[", used)]
        stores = _stores(part, names)
        text = "\n".join([*unused, *lines, *stores])
        signature = "\n".join(_wrap_statement(f"static void {name}({', '.join(arguments)})"))
        texts.append(f"{signature}\n{{\n{text}\n}}\n")
    return texts


def _block_text(index: int, block: BasicBlock) -> str:
    lines, names = _statements(block)
    places = [(0, k) for k in range(len(names))]
    stores = _stores(_GraphBody(block, places, (len(names),)), names)
    body = "\n".join([*lines, *stores])
    return f"static void block{index}(const double *in0, double *out0)\n{{\n{body}\n}}\n"


def _statements(body: BasicBlock) -> tuple[list[str], list[str]]:
    """Statements of a body, and the C texts of its results; values get new numbers.

    A value that one other operation uses is part of its expression.
    """
    names: dict[int, str] = {}
    lines = []
    calls = count = 0
    uses = Counter(operand for item in body.items for operand in item.operands)
    stored = {operand for item in body.items if item.block is not None for operand in item.operands}
    stored.update(body.results)

    def text_of(operand: Operand) -> str:
        return names[operand] if isinstance(operand, int) else operand

    for item in body.items:
        operands = [text_of(operand) for operand in item.operands]
        if item.block is None:
            (value,) = item.values
            text = _operation(item.op, operands)
            if uses[value] == 1 and value not in stored and len(text) <= MAX_INLINE_LENGTH:
                names[value] = f"({text})"
                continue
            names[value] = f"v{count}"
            count += 1
            lines += _wrap_statement(f"    const double {names[value]} = {text};")
            continue
        given, found = f"given{calls}", f"found{calls}"
        calls += 1
        names.update({value: f"{found}[{k}]" for k, value in enumerate(item.values)})
        lines += array_lines(f"const double {given}[]", operands)
        lines.append(f"    double {found}[{len(item.values)}];")
        lines.append(f"    block{item.block}({given}, {found});")
    return lines, [text_of(result) for result in body.results]


def array_lines(declaration: str, entries: Iterable[str], indent: int = 4) -> list[str]:
    """The declaration of an initialized array, on several lines where it is long."""
    return _wrap_statement(f"{' ' * indent}{declaration} = {{{', '.join(entries)}}};")


def _wrap_statement(statement: str) -> list[str]:
    """A statement on several lines where it is long."""
    return wrap(statement, LINE_WIDTH, subsequent_indent=8 * " ", break_long_words=False)


def _stores(part: _GraphBody, names: list[str]) -> list[str]:
    """Statements that write the results; zeros are cleared at once, many others in a loop."""
    lines = []
    for port, size in enumerate(part.sizes):
        stored = {
            entry: name
            for (at, entry), name in zip(part.places, names, strict=True)
            if at == port and name != "0.0"
        }
        if len(stored) < size:
            lines.append(f"    memset(out{port}, 0, {size} * sizeof *out{port});")
        if len(stored) < MIN_LOOP_LENGTH:
            lines += [f"    out{port}[{entry}] = {name};" for entry, name in stored.items()]
            continue
        lines += array_lines(f"const double results{port}[]", stored.values())
        place = "k"
        if list(stored) != list(range(len(stored))):
            lines += array_lines(f"static const int places{port}[]", map(str, stored))
            place = f"places{port}[k]"
        lines.append(f"    for (int k = 0; k < {len(stored)}; k++)")
        lines.append(f"        out{port}[{place}] = results{port}[k];")
    return lines


def _operation(op: str, a: list[str]) -> str:
    if op in INFIX:
        return f"{a[0]} {INFIX[op]} {a[1]}"
    if op in COMPARISONS:
        return f"{a[0]} {COMPARISONS[op]} {a[1]}"
    if op in MATH_FUNCTIONS:
        return f"{MATH_FUNCTIONS[op]}({', '.join(a)})"
    forms = {
        "neg": "-{0}",
        "not": "{0} == 0",
        "and": "{0} != 0 && {1} != 0",
        "or": "{0} != 0 || {1} != 0",
        "sign": "({0} > 0) - ({0} < 0)",
        "if_else_zero": "{0} != 0 ? {1} : 0",
        "fma": "fma({0}, {1}, {2})",
        "fms": "fma({0}, {1}, -{2})",
        "fnma": "fma(-{0}, {1}, {2})",
    }
    if op not in forms:
        raise NetworkError(f"the operation {op} has no C form")
    return forms[op].format(*a)
