"""C code of traced functions with a solver loop: what comes before it, the loop, and the rest.

The three parts are pieces over one array per group of states:

    inputs | sines and cosines | shared values | constants of the loop | state | next state

The first part writes shared values (those that the last part needs), constants and the state before
the loop. Each turn of the loop computes the next state of the groups in which a flag is set.
"""

from __future__ import annotations

from dataclasses import dataclass

from homodyn.symbolic.codegen import (
    MAX_BLOCK_BYTES,
    MAX_BLOCK_GROUPS,
    CSource,
    Entry,
    Pieces,
    elementary_functions,
    input_trig_function,
    kernel_entry,
    preamble,
)
from homodyn.symbolic.passes.loop_invariants import invariant_values
from homodyn.symbolic.passes.pipeline import (
    INPUT_TRIG,
    SCHEDULING,
    CompilationUnit,
    lower_and_contract,
)
from homodyn.symbolic.passes.scheduling import schedule
from homodyn.symbolic.program import Instruction, Program, eliminate_dead_code, operands
from homodyn.symbolic.trace import TracedFunction, offsets

LOOP_CODEGEN_VERSION = 1
"""Raised whenever the C of solver loops changes, so that older libraries are not used."""

LOOP_TEMPLATE = """\
        for (int turn = 0, going = 1; going && turn < {maximum}; turn++) {{
            char active[BLOCK];
            going = 0;
            for (int g = 0; g < groups; g++)
                going += active[g] = v_any(v_unequal(x[g * {nx} + {flag}], v_set(0.0)));
            int all = groups;
            for (int g = 0; g < all; g++) {{
                /* All groups together, as long as most of them take part. */
                int together = 2 * going > all;
                if (together ? g : !active[g]) continue;
                vreal *x0 = x, *w0 = w;
                x += g * {nx}, w += g * {nw}, groups = together ? all : 1;
{calls}
                x = x0, w = w0, groups = all;
            }}
            for (int g = 0; g < all; g++)
                if (active[g])
                    memcpy(x + g * {nx} + {state}, x + g * {nx} + {following},
                           {size} * sizeof(vreal));
        }}"""


@dataclass(frozen=True)
class _Parts:
    """The programs of a function with a solver loop."""

    before: Program
    """Ports of its results: shared values, constants, state."""
    iteration: Program
    after: Program
    shared: int
    """Number of shared values."""


class LoopedPieces(Pieces):
    """The pieces of a function with a solver loop: those of its three parts."""

    def __init__(self, traced: TracedFunction) -> None:
        loop = traced.loop
        assert loop is not None
        self.maximum = loop.maximum
        self.outputs = offsets(traced.outputs)
        self.inputs = offsets(traced.inputs)
        parts = _split_at_loop(traced)
        unit = INPUT_TRIG.run(CompilationUnit(parts.before, len(traced.inputs)))
        before = SCHEDULING.run(unit).program
        self.angles = unit.angles
        n, m = loop.start.numel(), loop.constants.numel()
        self.state_size = n
        self.shared = self.inputs[-1] + 2 * len(self.angles)
        self.constants = self.shared + parts.shared
        self.state = self.constants + m
        self.following = self.state + n
        ends = [0, parts.shared, parts.shared + m, parts.shared + m + n]
        own = self.inputs[:-1]
        self.before = Pieces(before, self.inputs, ends, self.angles, "before", in_files=True)
        self.iteration = Pieces(
            schedule(parts.iteration), [self.state, self.constants], [0, n], (), "turn", True
        )
        self.after = Pieces(
            schedule(parts.after), [*own, self.state, self.shared], self.outputs, (), "after", True
        )
        self.parts = (self.before, self.iteration, self.after)
        self.count = sum(part.count for part in self.parts)
        self.stores = self.after.stores
        nx = self.following + n
        nw = max(1, *(part.work for part in self.parts))
        self.strides = (nx, nw, max(self.outputs[-1], 1))
        for part in self.parts:
            part.strides = self.strides if part is self.after else (nx, nw, nx)

    @property
    def declarations(self) -> str:
        """Prototypes of the pieces."""
        return "".join(part.declarations for part in self.parts)

    @property
    def calls(self) -> str:
        """Statements that run ``groups`` groups at x, w, y through all parts."""
        nx, nw, _ = self.extents
        lines = ["angles(groups, x);"] if self.angles else []
        lines += _part_calls(self.before, f"x + {self.shared}")
        loop = LOOP_TEMPLATE.format(
            maximum=self.maximum,
            nx=nx,
            nw=nw,
            flag=self.state + self.state_size - 1,
            calls="\n".join(
                f"                {line}" for line in _part_calls(self.iteration, self._next_state)
            ),
            state=self.state,
            following=self.following,
            size=self.state_size,
        )
        rest = [f"        {line}" for line in _part_calls(self.after, "y")]
        return "\n".join([*(f"        {line}" for line in lines), loop, *rest])

    @property
    def _next_state(self) -> str:
        return f"x + {self.following}"

    def block(self, lanes: int) -> int:
        """Groups that run through a piece in a row: many, as long as their values stay in cache."""
        return max(1, min(MAX_BLOCK_GROUPS, MAX_BLOCK_BYTES // (8 * lanes * sum(self.extents))))


def generate_with_loop(traced: TracedFunction, lanes: int, entry: Entry | None = None) -> CSource:
    """C for a function with a solver loop; entry points as in `codegen.generate`."""
    pieces = LoopedPieces(traced)
    inputs, outputs = traced.inputs, traced.outputs
    driver = input_trig_function(pieces) + (entry or kernel_entry)(inputs, outputs, pieces, lanes)
    used = {"sincos"} if pieces.angles else set()
    files = [("kernel.c", preamble(lanes, used) + driver)]
    for part in pieces.parts:
        program = Program(part.instructions, part.results)
        head = preamble(lanes, elementary_functions(program))
        files += [(f"{part.name}{k}.c", head + part.text(k)) for k in range(part.count)]
    return CSource(tuple(files))


def _part_calls(part: Pieces, results: str) -> list[str]:
    return [f"{part.name}{k}(groups, x, w, {results});" for k in range(part.count)]


def _split_at_loop(traced: TracedFunction) -> _Parts:
    """What does not depend on the result of the loop, one iteration, and what does."""
    loop, stages = traced.loop, traced.stages
    assert loop is not None
    assert stages is not None
    program = lower_and_contract(stages)
    loop_port, count = len(traced.inputs), len(traced.outputs)
    steady = invariant_values(program, [loop_port])
    instructions = program.instructions
    early = [
        flag and one.op not in ("input", "const")
        for flag, one in zip(steady, instructions, strict=True)
    ]
    outputs = [one for one in program.results if one[0] < count]
    late = _required_values(instructions, [value for _, _, value in outputs], early)
    entries: dict[int, int] = {}
    for k in late:
        for a in (k,) if early[k] else operands(instructions[k]):
            if early[a]:
                entries.setdefault(a, len(entries))
    # Outputs behind those of the function: the state before the loop, then the constants.
    entering = [(2 - port + count, e, value) for port, e, value in program.results if port >= count]
    crossing = [(0, entry, value) for value, entry in entries.items()]
    before = eliminate_dead_code(instructions, [*crossing, *entering])
    after = [
        Instruction("input", (loop_port + 1, entries[k])) if k in entries else one
        for k, one in enumerate(instructions)
    ]
    return _Parts(
        before,
        lower_and_contract(loop.body),
        eliminate_dead_code(after, outputs),
        len(entries),
    )


def _required_values(
    instructions: tuple[Instruction, ...], roots: list[int], early: list[bool]
) -> list[int]:
    """Values that the outputs need, down to those computed before the loop."""
    wanted = set(roots)
    for k in range(len(instructions) - 1, -1, -1):
        if k in wanted and not early[k]:
            wanted.update(operands(instructions[k]))
    return sorted(wanted)
