"""The passes in the order in which they run.

`KERNEL_PASSES` is the order for kernels and plain scans, `SCAN_PASSES` that for scans with
``packed=True``. Each pass states whether it keeps the bits of the results. "Keeps the bits" leaves
out the sign of an exact zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import casadi as ca

from homodyn.errors import KernelError
from homodyn.symbolic.passes.atan2_elimination import eliminate_atan2
from homodyn.symbolic.passes.fma_contraction import contract_fma
from homodyn.symbolic.passes.input_trig import Angles, extract_input_trig
from homodyn.symbolic.passes.loop_invariants import hoist_loop_invariants, invariant_values
from homodyn.symbolic.passes.lowering import lower_graph
from homodyn.symbolic.passes.scheduling import schedule
from homodyn.symbolic.passes.select import form_selects
from homodyn.symbolic.passes.strength_reduction import reduce_strength
from homodyn.symbolic.passes.trig_expansion import expand_trig_sums
from homodyn.symbolic.passes.trig_factoring import factor_trig_sums
from homodyn.symbolic.program import Program


@dataclass(frozen=True)
class CompilationUnit:
    """What passes transform: a program, and the code that runs before it."""

    program: Program
    input_count: int
    """Input ports of the program, those that passes added included."""
    loop_ports: frozenset[int] = frozenset()
    """Input ports that change from step to step of a scan."""
    prologue: Program | None = None
    """Runs once before the loop; its results are the entries of an added input port."""
    angles: Angles = ()
    """Inputs whose sines and cosines are the entries of an added input port."""

    def with_program(self, program: Program) -> CompilationUnit:
        """The unit with another program."""
        return replace(self, program=program)

    def to_text(self, inputs: Sequence[str], outputs: Sequence[str]) -> str:
        """The prologue, if there is one, and the program, with the names of their ports."""
        names = list(inputs)
        text = ""
        if self.prologue is not None:
            text = f"prologue:\n{self.prologue.to_text(names, ['invariant'])}\nbody:\n"
            names.append("invariant")
        if self.angles:
            angles = ", ".join(f"{names[port]}[{entry}]" for port, entry in self.angles)
            text += f"sine and cosine of {angles}:\n"
            names.append("sincos")
        return text + self.program.to_text(names, outputs)


@dataclass(frozen=True)
class Pass:
    """One transformation of a compilation unit."""

    name: str
    summary: str
    keeps_bits: bool
    """False where results are rounded differently afterwards."""
    run: Callable[[CompilationUnit], CompilationUnit]


LOWERING = "lowering"
"""Name of the first stage, which makes the program out of the graph."""


def _on_program(transform: Callable[[Program], Program]) -> Callable[..., CompilationUnit]:
    return lambda unit: unit.with_program(transform(unit.program))


def _reduce_strength(unit: CompilationUnit) -> CompilationUnit:
    invariant = invariant_values(unit.program, unit.loop_ports)
    return unit.with_program(reduce_strength(unit.program, invariant))


def _contract_fma(unit: CompilationUnit) -> CompilationUnit:
    invariant = invariant_values(unit.program, unit.loop_ports) if unit.loop_ports else ()
    return unit.with_program(contract_fma(unit.program, invariant))


def _hoist(unit: CompilationUnit) -> CompilationUnit:
    invariant = invariant_values(unit.program, unit.loop_ports)
    body, prologue = hoist_loop_invariants(unit.program, invariant, unit.input_count)
    if not prologue.results:
        return unit.with_program(body)
    return replace(unit, program=body, prologue=prologue, input_count=unit.input_count + 1)


def _extract_input_trig(unit: CompilationUnit) -> CompilationUnit:
    program, angles = extract_input_trig(unit.program, unit.input_count)
    added = 1 if angles else 0
    return replace(unit, program=program, angles=angles, input_count=unit.input_count + added)


ATAN2_ELIMINATION = Pass(
    "atan2_elimination",
    "sin and cos of atan2(y, x) become y / r and x / r",
    False,
    _on_program(eliminate_atan2),
)
SELECT = Pass(
    "select",
    "two conditional terms of a sum become one select; signs move out of conditions",
    True,
    _on_program(form_selects),
)
STRENGTH_REDUCTION = Pass(
    "strength_reduction",
    "a division by a loop-invariant value becomes a product with its reciprocal",
    False,
    _reduce_strength,
)
TRIG_FACTORING = Pass(
    "trig_factoring",
    "a common angle is factored out of sums of sines",
    False,
    lambda unit: unit.with_program(factor_trig_sums(unit.program, unit.loop_ports)),
)
TRIG_EXPANSION = Pass(
    "trig_expansion",
    "sines of sums are expanded where few angles make many sums",
    False,
    lambda unit: unit.with_program(expand_trig_sums(unit.program, unit.loop_ports)),
)
FMA_CONTRACTION = Pass(
    "fma_contraction",
    "a product that feeds one sum is fused with it and rounded once",
    False,
    _contract_fma,
)
LOOP_INVARIANTS = Pass(
    "loop_invariants",
    "values that do not change from step to step move into a prologue",
    True,
    _hoist,
)
INPUT_TRIG = Pass(
    "input_trig",
    "sines and cosines of inputs are computed before the program",
    True,
    _extract_input_trig,
)
SCHEDULING = Pass(
    "scheduling",
    "instructions are reordered so that few values are live at once",
    True,
    _on_program(schedule),
)

BACK_END_PASSES = (INPUT_TRIG, SCHEDULING)
"""Run by code generation on every program."""

KERNEL_PASSES = (FMA_CONTRACTION, *BACK_END_PASSES)
"""The order for kernels, after lowering."""

SCAN_PASSES = (
    ATAN2_ELIMINATION,
    SELECT,
    STRENGTH_REDUCTION,
    TRIG_FACTORING,
    TRIG_EXPANSION,
    FMA_CONTRACTION,
    LOOP_INVARIANTS,
    *BACK_END_PASSES,
)
"""The order for scans with ``packed=True``, after lowering."""


def lower(graph: ca.Function, loop_ports: Iterable[int] = ()) -> CompilationUnit:
    """The first stage: the unit of an expression graph, before any pass."""
    return CompilationUnit(lower_graph(graph), graph.n_in(), frozenset(loop_ports))


def run_passes(
    unit: CompilationUnit, passes: Iterable[Pass], last: Pass | None = None
) -> CompilationUnit:
    """The unit after passes in order, up to and including ``last``."""
    for one in passes:
        unit = one.run(unit)
        if one is last:
            break
    return unit


def stages(unit: CompilationUnit, passes: Iterable[Pass]) -> Iterator[tuple[str, CompilationUnit]]:
    """The unit after lowering and after each pass, with the names of these stages."""
    yield LOWERING, unit
    for one in passes:
        unit = one.run(unit)
        yield one.name, unit


def unit_after(unit: CompilationUnit, passes: Iterable[Pass], name: str) -> CompilationUnit:
    """The unit after the pass of that name.

    Raises:
        KernelError: No pass has that name; the message lists those that run.
    """
    passes = tuple(passes)
    for stage, state in stages(unit, passes):
        if stage == name:
            return state
    known = ", ".join([LOWERING, *(one.name for one in passes)])
    raise KernelError(f"no pass is called {name!r}; the passes are, in order: {known}")


def lower_and_contract(graph: ca.Function) -> Program:
    """The program of a kernel before code generation: lowering, then FMA contraction."""
    return FMA_CONTRACTION.run(lower(graph)).program
