"""C code of scans: the loop over steps around the pieces of a kernel.

Scans with ``packed=True`` go through more passes first. The fast path of a step is derived from the
general path, so that both give the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial

from homodyn.symbolic.codegen import (
    PIECE_INSTRUCTIONS,
    CSource,
    Pieces,
    constant_zero_stores,
    elementary_functions,
    generate,
    literal,
    preamble,
)
from homodyn.symbolic.fast_path import FastPath, derive_fast_path
from homodyn.symbolic.passes.pipeline import (
    BACK_END_PASSES,
    FMA_CONTRACTION,
    KERNEL_PASSES,
    LOOP_INVARIANTS,
    SCAN_PASSES,
    CompilationUnit,
    Pass,
    lower,
    run_passes,
    unit_after,
)
from homodyn.symbolic.passes.scheduling import schedule
from homodyn.symbolic.predicated_codegen import PredicatedPieces
from homodyn.symbolic.program import Program, eliminate_dead_code, port_names
from homodyn.symbolic.scalar_codegen import generate_packed
from homodyn.symbolic.solver_loop_codegen import generate_with_loop
from homodyn.symbolic.trace import Port, TracedFunction, offsets


class LoopCodegen:
    """Generates C for a traced step whose outputs named in ``states`` are inputs of the next."""

    def __init__(
        self,
        traced: TracedFunction,
        states: tuple[str, ...],
        stop: str | None,
        packed: bool,
        fast_path: FastPath | None,
    ) -> None:
        self.traced, self.states, self.stop = traced, states, stop
        self.packed, self.fast_path = packed, fast_path
        self.inputs, self.outputs = traced.inputs, traced.outputs

    @cached_property
    def passes(self) -> tuple[Pass, ...]:
        """The passes that run after lowering, in order."""
        if not self.packed:
            return KERNEL_PASSES
        if self.fast_path is None:
            return SCAN_PASSES
        split = Pass(
            "fast_path",
            "outputs that only serve the fast path are removed from the general path",
            True,
            lambda unit: unit.with_program(self._general_path(unit.program)),
        )
        return (*SCAN_PASSES[: -len(BACK_END_PASSES)], split, *BACK_END_PASSES)

    @cached_property
    def _lowered(self) -> CompilationUnit:
        ports = [k for k, port in enumerate(self.inputs) if port.name in self.states]
        return lower(self.traced.code_graph, ports if self.packed else ())

    @cached_property
    def unit(self) -> CompilationUnit:
        """One step after all passes that rewrite arithmetic."""
        return run_passes(self._lowered, self.passes, last=FMA_CONTRACTION)

    def dump(self, after: str) -> str:
        """The program of one step after the pass of that name."""
        unit = unit_after(self._lowered, self.passes, after)
        return unit.to_text(port_names(self.inputs), port_names(self.outputs))

    def _general_path(self, program: Program) -> Program:
        """The program without the outputs that only serve the fast path."""
        if self.fast_path is None:
            return program
        names = self.fast_path.output_names
        ports = {k for k, port in enumerate(self.outputs) if port.name in names}
        kept = [one for one in program.results if one[0] not in ports]
        return eliminate_dead_code(program.instructions, kept)

    def generate(self, form: str, lanes: int) -> CSource | None:
        """The files of a form: ``lanes``, ``single``, both also ``hoisted``, or ``packs``.

        Returns None for ``packs`` where packing saves too little.
        """
        if self.traced.loop is not None:
            width = 1 if form.startswith("single") else lanes
            return generate_with_loop(self.traced, width, self._driver)
        general = self._general_path(self.unit.program)
        if form == "packs":
            return generate_packed(
                general, self.inputs, self.outputs, self.states, self.stop, lanes
            )
        width = 1 if form.startswith("single") else lanes
        if not form.endswith("hoisted"):
            return generate(general, self.inputs, self.outputs, width, self._driver)
        unit = LOOP_INVARIANTS.run(self.unit)
        program = unit.program
        inputs = self.inputs
        files: list[tuple[str, str]] = []

        def separate_files(one: Program, outputs: tuple[Port, ...], name: str) -> Pieces:
            # A step of a single lane is too short for branches to pay.
            kind = PredicatedPieces if name == "quick" and width > 1 else Pieces
            pieces = kind(schedule(one), offsets(inputs), offsets(outputs), (), name, in_files=True)
            head = preamble(width, elementary_functions(one))
            files.extend((f"{name}{k}.c", head + pieces.text(k)) for k in range(pieces.count))
            return pieces

        once, short = None, None
        if unit.prologue is not None:
            ready = Port("ready", (len(unit.prologue.results),))
            once = separate_files(unit.prologue, (ready,), "ready")
            inputs = (*inputs, ready)
        quick = None
        if self.fast_path is not None:
            quick = derive_fast_path(
                program, self.fast_path, self.inputs, self.outputs, self.states, self.stop
            )
        program = self._general_path(program)
        # Groups go through the pieces of a long program in blocks, which seldom agree on a path.
        at_rest: dict[tuple[int, int], float | None] = {}
        if quick is not None and len(program) <= 3 * PIECE_INSTRUCTIONS:
            short, at_rest = separate_files(quick.program, self.outputs, "quick"), quick.at_rest
        driver = partial(self._driver, once=once, short=short, at_rest=at_rest)
        source = generate(program, inputs, self.outputs, width, driver)
        return CSource((*source.files, *files))

    def _driver(
        self,
        inputs: tuple[Port, ...],
        outputs: tuple[Port, ...],
        pieces: Pieces,
        lanes: int,
        once: Pieces | None = None,
        short: Pieces | None = None,
        at_rest: Mapping[tuple[int, int], float | None] | None = None,
    ) -> str:
        """The exported function ``iterate`` around the pieces of a step.

        ``once`` computes loop invariants before the first step. ``short`` is the fast path, and
        ``at_rest`` its corrections for stopped lanes.
        """
        declared = pieces.declarations
        changed: list[tuple[int, int]] = []
        calls, block = pieces.calls, pieces.block(lanes)
        nx, nw, ny = pieces.extents
        if short is not None and self.fast_path is not None and pieces.count == 1:
            declared += short.declarations
            block = FAST_PATH_GROUPS if lanes > 1 else 1
            changed, unchanged = self._state_moves(short, pieces)
            calls = self._fast_path_calls(pieces, short, unchanged, at_rest or {})
        ready = []
        if once is not None:
            inputs = inputs[:-1]
            declared += once.declarations
            place = f"x + g * {nx}"
            ready = [
                f"ready{k}(1, {place}, spare, {place} + {pieces.inputs[len(inputs)]});"
                for k in range(once.count)
            ]
        loads, reloads = self._load_statements(inputs, pieces)
        feeds, finals = self._state_statements(inputs, outputs, pieces)
        if changed:
            copied = _copy_statements("x", nx, "y", ny, changed)
            feeds = ["if (taken[g]) {", copied, "} else {", *feeds, "}"]
        halt = "0"
        if self.stop:
            at = pieces.inputs[[port.name for port in inputs].index(self.stop)]
            halt = f"step % {STOP_CHECK_STEPS} == 0 && halted(groups, x + {at})"
        return DRIVER_TEMPLATE.format(
            block=block,
            declared=declared,
            nx=nx,
            nw=nw,
            ny=ny,
            zeros=constant_zero_stores(pieces, "1"),
            arguments=_lines(self._argument_statements(inputs, outputs), 4),
            loads=_lines([*loads, *ready], 12),
            spare=once.extents[1] if once is not None else 0,
            reloads=_lines(reloads, 16),
            calls=calls,
            stores=_lines(_store_statements(outputs, pieces), 20),
            feeds=_lines(feeds, 16),
            finals=_lines(finals, 12),
            halt=halt,
        )

    def _argument_statements(
        self, inputs: tuple[Port, ...], outputs: tuple[Port, ...]
    ) -> list[str]:
        """Declarations of the addresses and strides in the argument array."""
        lines = []
        after = 4 + 4 * len(inputs)
        for k in range(len(inputs)):
            lines.append(f"const double *in{k} = (const double *)a[{4 + 4 * k}];")
            lines.append(
                f"long stride{k} = a[{5 + 4 * k}], row{k} = a[{6 + 4 * k}], "
                f"hold{k} = a[{7 + 4 * k}];"
            )
        for k in range(len(outputs)):
            lines.append(f"double *out{k} = (double *)a[{after + 2 * k}];")
            lines.append(f"long apart{k} = a[{after + 2 * k + 1}];")
        for k in range(len(self.states)):
            lines.append(f"double *final{k} = (double *)a[{after + 2 * len(outputs) + k}];")
        return lines

    def _load_statements(
        self, inputs: tuple[Port, ...], pieces: Pieces
    ) -> tuple[list[str], list[str]]:
        """Loads of all inputs before the first step, and of sampled ones before later steps."""
        loads, reloads = [], []
        for k, port in enumerate(inputs):
            if not port.size:
                continue
            load = (
                f"v_load_states(in{k} + s * stride{k} + (step / hold{k}) * row{k}, stride{k}, "
                f"n, x + g * {pieces.extents[0]} + {pieces.inputs[k]}, {port.size});"
            )
            loads.append(load)
            if port.name not in self.states:
                reloads.append(f"if (row{k} && step % hold{k} == 0) {load}")
        return loads, reloads

    def _state_statements(
        self, inputs: tuple[Port, ...], outputs: tuple[Port, ...], pieces: Pieces
    ) -> tuple[list[str], list[str]]:
        """Copies of the states from outputs to inputs, and stores of the last states."""
        names_in = [port.name for port in inputs]
        names_out = [port.name for port in outputs]
        nx, _, ny = pieces.extents
        feeds, finals = [], []
        for k, name in enumerate(self.states):
            source, target = names_out.index(name), names_in.index(name)
            size = inputs[target].size
            if size:
                place = f"x + g * {nx} + {pieces.inputs[target]}"
                feeds.append(
                    f"memcpy({place}, y + g * {ny} + {pieces.outputs[source]}, "
                    f"{size} * sizeof(vreal));"
                )
                finals.append(f"v_store_states(final{k} + s * {size}, {size}, n, {place}, {size});")
        return feeds, finals

    def _fast_path_calls(
        self,
        pieces: Pieces,
        short: Pieces,
        unchanged: list[tuple[int, int]],
        at_rest: Mapping[tuple[int, int], float | None],
    ) -> str:
        """Statements that take the fast path, and the general one where an assumption fails."""
        assert self.fast_path is not None
        nx, nw, ny = pieces.extents
        flag = port_names(self.outputs).index(self.fast_path.assumptions[0].flag)
        rests, resting = self._stopped_lanes(at_rest, pieces)
        one_by_one = SINGLE_GROUP_TEMPLATE.format(nx=nx, nw=nw, ny=ny)
        return FAST_PATH_TEMPLATE.format(
            nx=nx,
            nw=nw,
            ny=ny,
            flag=pieces.outputs[flag],
            calls=pieces.calls,
            quick=ALL_GROUPS_TEMPLATE if short.extents == pieces.extents else one_by_one,
            recorded=" || ".join(
                f"out{k}" for k, port in enumerate(self.outputs) if port.name in self.states
            ),
            left=_copy_statements("y", ny, "x", nx, [(b, a) for a, b in unchanged]),
            rests=rests,
            resting=resting,
        )

    def _stopped_lanes(
        self, at_rest: Mapping[tuple[int, int], float | None], pieces: Pieces
    ) -> tuple[str, str]:
        """The condition that some lanes of a group have stopped, and the statements for those."""
        if not at_rest or self.stop is None:
            return "0", ""
        nx, _, ny = pieces.extents
        names_in = [port.name for port in self.inputs]
        stop = f"v_unequal(x[g * {nx} + {pieces.inputs[names_in.index(self.stop)]}], v_set(0.0))"
        lines = [f"vint rest = {stop};"]
        for (port, entry), number in at_rest.items():
            there = f"y[g * {ny} + {pieces.outputs[port] + entry}]"
            own = pieces.inputs[names_in.index(self.outputs[port].name)] + entry
            still = f"x[g * {nx} + {own}]" if number is None else f"v_set({literal(number)})"
            lines.append(f"{there} = v_select(rest, {still}, {there});")
        return f"v_any({stop})", " ".join(lines)

    def _state_moves(
        self, short: Pieces, pieces: Pieces
    ) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Places of states among inputs and outputs: those the fast path changes, and the rest."""
        names_in = [port.name for port in self.inputs]
        names_out = [port.name for port in self.outputs]
        stored = {place for places in short.stores.values() for place in places}
        changed: list[tuple[int, int]] = []
        left: list[tuple[int, int]] = []
        for name in self.states:
            source, target = names_out.index(name), names_in.index(name)
            for entry in range(self.inputs[target].size):
                pair = (pieces.inputs[target] + entry, pieces.outputs[source] + entry)
                (changed if pair[1] in stored else left).append(pair)
        return changed, left


def _store_statements(outputs: tuple[Port, ...], pieces: Pieces) -> list[str]:
    """Stores of the recorded outputs of a step."""
    ny = pieces.extents[2]
    return [
        f"if (out{k}) v_store_states(out{k} + s * apart{k} + row * {port.size}, "
        f"apart{k}, n, y + g * {ny} + {pieces.outputs[k]}, {port.size});"
        for k, port in enumerate(outputs)
        if port.size
    ]


def _copy_statements(
    to: str, stride: int, source: str, other: int, pairs: list[tuple[int, int]]
) -> str:
    """Statements that copy single vectors of a group."""
    return " ".join(f"{to}[g * {stride} + {a}] = {source}[g * {other} + {b}];" for a, b in pairs)


def _lines(statements: list[str], indent: int) -> str:
    return "\n".join(" " * indent + statement for statement in statements)


FAST_PATH_GROUPS = 4
"""Groups that take the fast path in turns, which hides the latency between steps."""

ALL_GROUPS_TEMPLATE = "            quick0(groups, x, w, y);"
SINGLE_GROUP_TEMPLATE = """\
            for (int g = 0; g < groups; g++)
                quick0(1, x + g * {nx}, w + g * {nw}, y + g * {ny});"""
"""Groups of the fast path, whose arrays may be shorter than those of the general path."""

STOP_CHECK_STEPS = 16
"""Steps between checks whether all lanes have stopped."""

FAST_PATH_TEMPLATE = """\
{quick}
            int all = groups;
            char taken[BLOCK];
            for (int g = 0; g < all; g++) {{
                taken[g] = !v_any(v_equal(y[g * {ny} + {flag}], v_set(0.0)));
                if (taken[g]) {{
                    int rests = {rests};
                    if (rests || {recorded}) {{ {left} }}
                    if (rests) {{
                        {resting}
                        taken[g] = 0;
                    }}
                    continue;
                }}
                vreal *x0 = x, *w0 = w, *y0 = y;
                x += g * {nx}, w += g * {nw}, y += g * {ny}, groups = 1;
{calls}
                x = x0, w = w0, y = y0, groups = all;
            }}"""

DRIVER_TEMPLATE = """\
#include <stdlib.h>
#define BLOCK {block}
/* Calls of few steps reuse the memory of their thread: new pages cost more than a step. */
#define KEPT_BYTES (1l << 20)
static _Thread_local vreal *kept;
static _Thread_local long kept_bytes;
static vreal *kept_memory(long bytes)
{{
    if (bytes > kept_bytes) {{
        free(kept);
        kept = aligned_alloc(64, bytes);
        kept_bytes = kept ? bytes : 0;
    }}
    return kept;
}}
{declared}
static __attribute__((unused)) int halted(int groups, const vreal *x)
{{
    for (; groups > 0; groups--, x += {nx})
        if (v_any(v_equal(*x, v_set(0.0)))) return 0;
    return 1;
}}

__attribute__((visibility("default"))) int iterate(const long long *a)
{{
    long count = a[0], steps = a[1], every = a[2], look = a[3];
{arguments}
    long total = (count + LANES - 1) / LANES;
    int block = total < BLOCK ? (int)total : BLOCK;
    long one_group = {nx} + {nw} + {ny};
    long vectors = block * one_group + {spare};
    long bytes = (vectors * (long)sizeof(vreal) + 63) / 64 * 64;
    vreal *memory = bytes <= KEPT_BYTES ? kept_memory(bytes) : aligned_alloc(64, bytes);
    if (!memory) return 1;
    vreal *x = memory, *w = x + block * {nx}, *y = w + block * {nw}, *spare = y + block * {ny};
    (void)spare;
{zeros}
    for (long start = 0; start < total; start += block) {{
        int groups = total - start < block ? (int)(total - start) : block;
        long step = 0;
        for (int g = 0; g < groups; g++) {{
            long s = (start + g) * LANES;
            int n = count - s < LANES ? (int)(count - s) : LANES;
{loads}
        }}
        for (; step < steps; step++) {{
            for (int g = 0; step > 0 && g < groups; g++) {{
                long s = (start + g) * LANES;
                int n = count - s < LANES ? (int)(count - s) : LANES;
                (void)s, (void)n;
{reloads}
            }}
            int last = {halt};
{calls}
            /* Lanes that all stand still give what they give now until the end. */
            for (long k = step; k < (last ? steps : step + 1); k++) {{
                if (k % every) continue;
                long row = k / every;
                for (int g = 0; g < groups; g++) {{
                    long s = (start + g) * LANES;
                    int n = count - s < LANES ? (int)(count - s) : LANES;
                    (void)row, (void)s, (void)n;
{stores}
                }}
            }}
            if (look && step == steps - 1) break;
            for (int g = 0; g < groups; g++) {{
{feeds}
            }}
            if (last) break;
        }}
        for (int g = 0; g < groups; g++) {{
            long s = (start + g) * LANES;
            int n = count - s < LANES ? (int)(count - s) : LANES;
{finals}
        }}
    }}
    if (memory != kept) free(memory);
    return 0;
}}
"""
