"""Lowering: the instructions of a CasADi expression graph.

Equal instructions are computed once, signs move outwards, doubles and squares become sums and
products. This pass keeps the bits, except for the sign of an exact zero.
"""

from __future__ import annotations

import casadi as ca

from homodyn.errors import KernelError
from homodyn.symbolic.builder import ProgramBuilder
from homodyn.symbolic.program import Instruction, Program, eliminate_dead_code

_ALIASES = {"constpow": "pow"}

_NAMES = """
    add sub mul div neg exp log pow constpow sqrt sq twice sin cos tan asin acos atan
    lt le eq ne not and or floor ceil fmod fabs sign copysign if_else_zero erf fmin fmax inv
    sinh cosh tanh asinh acosh atanh atan2 log1p expm1 hypot remainder erfinv
"""
OPERATIONS = {getattr(ca, f"OP_{name.upper()}"): name for name in _NAMES.split()}
"""Operations of CasADi graphs that have a compiled form, by CasADi's number."""


def lower_graph(graph: ca.Function) -> Program:
    """The program of an expression graph, with products and sums not yet fused.

    Args:
        graph: A CasADi function over SX columns.

    Returns:
        The program; its ports are the inputs and outputs of the graph.

    Raises:
        KernelError: The graph contains an operation without a compiled form.
    """
    builder = ProgramBuilder()
    work: dict[int, int] = {}
    results: list[tuple[int, int, int]] = []
    rows = [graph.sparsity_out(k).row() for k in range(graph.n_out())]
    inputs = [graph.sparsity_in(k).row() for k in range(graph.n_in())]
    for k in range(graph.n_instructions()):
        code = graph.instruction_id(k)
        if code == ca.OP_CONST:
            work[graph.instruction_output(k)[0]] = builder.constant(graph.instruction_constant(k))
        elif code == ca.OP_INPUT:
            port, entry = graph.instruction_input(k)
            source = Instruction("input", (port, inputs[port][entry]))
            work[graph.instruction_output(k)[0]] = builder.add(source)
        elif code == ca.OP_OUTPUT:
            port, entry = graph.instruction_output(k)
            results.append((port, rows[port][entry], work[graph.instruction_input(k)[0]]))
        else:
            arguments = [work[slot] for slot in graph.instruction_input(k)]
            work[graph.instruction_output(k)[0]] = _operation(builder, code, arguments)
    return eliminate_dead_code(builder.instructions, results)


def _operation(builder: ProgramBuilder, code: int, arguments: list[int]) -> int:
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
    return builder.do(_ALIASES.get(op, op), *arguments)
