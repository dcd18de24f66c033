"""C code of a packed scan of a single state, whose similar parts share the lanes of vectors.

Inputs and outputs are contiguous doubles. Loop invariants are computed once, before the first step,
and stored as vectors.
"""

from __future__ import annotations

from homodyn.symbolic.codegen import (
    INFIX_OPERATORS,
    PIECE_INSTRUCTIONS,
    CSource,
    elementary_functions,
    literal,
    preamble,
)
from homodyn.symbolic.passes.loop_invariants import invariant_values
from homodyn.symbolic.program import Program
from homodyn.symbolic.slp_packing import Packing, Vector, pack_program
from homodyn.symbolic.trace import Port, offsets

SLP_CODEGEN_VERSION = 31
"""Raised whenever the C generated here changes, so that older libraries are not used."""

MAX_VECTOR_OPS_PER_INSTRUCTION = 0.6
"""Vector operations per instruction of the program, up to which packing pays."""


def generate_packed(
    program: Program,
    inputs: tuple[Port, ...],
    outputs: tuple[Port, ...],
    states: tuple[str, ...],
    stop: str | None,
    lanes: int,
) -> CSource | None:
    """C for ``int iterate(a)``, as `Scan` calls it; None where packing saves little."""
    names = [port.name for port in inputs]
    changing = {names.index(name) for name in states}
    fixed = invariant_values(program, changing)
    try:
        step, stores = pack_program(program, fixed, lanes)
        prologue = Packing(
            program,
            [instruction.op in ("input", "const") for instruction in program.instructions],
            lanes,
            [False] * len(fixed),
        )
        constants = [vector for vector in step.vectors if vector.kind == "fixed"]
        ready = [prologue.vector(vector.lanes) for vector in constants]
    except RecursionError:
        return None
    moving = sum(not given for given in step.given)
    if step.work > MAX_VECTOR_OPS_PER_INSTRUCTION * moving:
        return None
    places = {vector: k for k, vector in enumerate(constants)}
    at, to = offsets(inputs), offsets(outputs)
    kept = [(f"f[{k}] = {{0}};", vector) for k, vector in enumerate(ready)]
    before = _VectorText("ready", prologue, at, {}, kept)
    writes = [
        (target, vector)
        for port, entries, vector in stores
        for target in _targets([to[port] + entry for entry in entries])
    ]
    during = _VectorText("step", step, at, places, writes)
    head = preamble(lanes, elementary_functions(program)) + ACCESS_MACROS
    bodies = [f"{head}{text}" for part in (before, during) for text in part.pieces]
    files = [(f"piece{k}.c", text) for k, text in enumerate(bodies)]
    driver = _driver(inputs, outputs, states, stop, before, during, len(constants))
    return CSource((("kernel.c", preamble(lanes, set()) + driver), *files))


ACCESS_MACROS = """
typedef double v_loose __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
#if LANES == 1
#define AT(p) (*(p))
#define PICK(...) (__VA_ARGS__)
#define LANE(t, k) (t)
#else
#define AT(p) ((vreal)*(const v_loose *)(p))
#define PICK(...) ((vreal){__VA_ARGS__})
#define LANE(t, k) ((t)[k])
#endif
#define PUT(p, n, t) memcpy(p, &(t), 8 * (n))
"""


def _targets(places: list[int]) -> list[str]:
    """Statements that store the lanes of a vector: adjacent places at once, else one by one."""
    if places == list(range(places[0], places[0] + len(places))):
        return [f"PUT(y + {places[0]}, {len(places)}, {{0}});"]
    return [f"y[{place}] = LANE({{0}}, {lane});" for lane, place in enumerate(places)]


class _VectorText:
    """The vectors of a packing as C functions that follow one another."""

    def __init__(
        self,
        name: str,
        packing: Packing,
        at: list[int],
        fixed: dict[Vector, int],
        writes: list[tuple[str, Vector]],
    ) -> None:
        self.name, self.packing, self.at, self.fixed = name, packing, at, fixed
        self.writes: dict[Vector, list[str]] = {}
        for target, vector in writes:
            self.writes.setdefault(vector, []).append(target)
        vectors = packing.vectors
        self.home = {vector: k // PIECE_INSTRUCTIONS for k, vector in enumerate(vectors)}
        self.number = {vector: k for k, vector in enumerate(vectors)}
        self.count = max(self.home.values(), default=-1) + 1
        self.slots: dict[Vector, int] = {}
        for vector in vectors:
            for source in vector.sources:
                if source is not None and source[0] not in fixed:
                    self.slots.setdefault(source[0], len(self.slots))
            for argument in vector.arguments:
                if self.home[argument] != self.home[vector] and argument not in fixed:
                    self.slots.setdefault(argument, len(self.slots))
        self.pairs = self._pairs()
        self.pieces = [self._piece(k) for k in range(self.count)]

    def signature(self, k: int) -> str:
        return f"void {self.name}{k}(const double *x, vreal *f, vreal *w, double *y)"

    def _pairs(self) -> dict[Vector, Vector]:
        """Sines and cosines of the same vector; both are computed where the first is needed."""
        seen: dict[tuple[Vector, int], Vector] = {}
        pairs = {}
        for vector in self.packing.vectors:
            if vector.kind in ("sin", "cos"):
                key = (vector.arguments[0], self.home[vector])
                if key in seen and seen[key].kind != vector.kind:
                    pairs[vector], pairs[seen[key]] = seen[key], vector
                seen[key] = vector
        return pairs

    def _piece(self, k: int) -> str:
        lines = [
            f"{self.signature(k)}",
            "{",
        ]
        present: set[Vector] = set()
        for vector in self.packing.vectors[k * PIECE_INSTRUCTIONS : (k + 1) * PIECE_INSTRUCTIONS]:
            for argument in vector.arguments:
                if argument not in present and argument not in self.fixed:
                    lines.append(
                        f"const vreal t{self.number[argument]} = {self._reload(argument)};"
                    )
                    present.add(argument)
            lines += self._statements(vector, present)
        return "\n".join([*lines, "}\n"])

    def _operand(self, vector: Vector) -> str:
        """A vector as an operand; invariant ones are read in place, since registers are few."""
        return f"f[{self.fixed[vector]}]" if vector in self.fixed else f"t{self.number[vector]}"

    def _reload(self, vector: Vector) -> str:
        """A vector of an earlier function, or an invariant one."""
        if vector in self.fixed:
            return f"f[{self.fixed[vector]}]"
        return f"w[{self.slots[vector]}]"

    def _statements(self, vector: Vector, present: set[Vector]) -> list[str]:
        if vector in self.fixed:
            # Read where it is used; only results that never change are stored from here.
            if vector not in self.writes:
                return []
            text = [f"const vreal t{self.number[vector]} = {self._reload(vector)};"]
            present.add(vector)
            return text + self._store_statements(vector)
        if vector in present:
            return self._store_statements(vector)
        present.add(vector)
        partner = self.pairs.get(vector)
        number = self.number[vector]
        if partner is not None:
            present.add(partner)
            both = {vector.kind: number, partner.kind: self.number[partner]}
            text = [
                f"vreal t{both['sin']}, t{both['cos']}; "
                f"v_sincos({self._operand(vector.arguments[0])}, &t{both['sin']}, &t{both['cos']});"
            ]
        else:
            text = [f"const vreal t{number} = {self._expression(vector)};"]
        return text + self._store_statements(vector)

    def _store_statements(self, vector: Vector) -> list[str]:
        number = self.number[vector]
        lines = [f"w[{self.slots[vector]}] = t{number};"] if vector in self.slots else []
        return lines + [write.format(f"t{number}") for write in self.writes.get(vector, ())]

    def _expression(self, vector: Vector) -> str:
        kind = vector.kind
        if kind == "load":
            return f"AT(x + {self._entry(vector.lanes[0])})"
        if kind == "spread":
            return f"v_set({self._scalar(vector.lanes[0], vector.sources[0])})"
        if kind in ("pick", "fixed"):
            sources = vector.sources or (None,) * len(vector.lanes)
            if len(vector.lanes) == 1:
                return f"v_set({self._scalar(vector.lanes[0], sources[0])})"
            numbers = [self._scalar(v, s) for v, s in zip(vector.lanes, sources, strict=True)]
            # Unused lanes repeat the last number, so that functions stay on their usual path.
            numbers += numbers[-1:] * (self.packing.width - len(numbers))
            return f"PICK({', '.join(numbers)})"
        a = [self._operand(argument) for argument in vector.arguments]
        if kind in INFIX_OPERATORS:
            return f"{a[0]} {INFIX_OPERATORS[kind]} {a[1]}"
        if kind == "neg":
            return f"-{a[0]}"
        if kind == "fms":
            return f"v_fma({a[0]}, {a[1]}, -{a[2]})"
        if kind == "fnma":
            return f"v_fma(-{a[0]}, {a[1]}, {a[2]})"
        return f"v_{kind}({', '.join(a)})"

    def _entry(self, value: int) -> int:
        port, entry = self.packing.program.instructions[value].arguments
        return self.at[port] + entry

    def _scalar(self, value: int, source: tuple[Vector, int] | None) -> str:
        instruction = self.packing.program.instructions[value]
        if source is not None:
            vector, lane = source
            place = f"f + {self.fixed[vector]}" if vector in self.fixed else None
            place = place or f"w + {self.slots[vector]}"
            return f"((const double *)({place}))[{lane}]"
        if instruction.op == "const":
            return literal(float(instruction.payload))
        return f"x[{self._entry(value)}]"


def _driver(
    inputs: tuple[Port, ...],
    outputs: tuple[Port, ...],
    states: tuple[str, ...],
    stop: str | None,
    before: _VectorText,
    during: _VectorText,
    constants: int,
) -> str:
    at, to = offsets(inputs), offsets(outputs)
    after = 4 + 4 * len(inputs)
    names_in = [port.name for port in inputs]
    names_out = [port.name for port in outputs]
    loads = [
        f"memcpy(x + {at[k]}, (const double *)a[{4 + 4 * k}], {8 * port.size});"
        for k, port in enumerate(inputs)
        if port.size
    ]
    records = [
        f"if (a[{after + 2 * k}]) memcpy((double *)a[{after + 2 * k}] + row * {port.size}, "
        f"y + {to[k]}, {8 * port.size});"
        for k, port in enumerate(outputs)
        if port.size
    ]
    feeds, finals = [], []
    for k, name in enumerate(states):
        source, target = names_out.index(name), names_in.index(name)
        size = inputs[target].size
        if size:
            feeds.append(f"memcpy(x + {at[target]}, y + {to[source]}, {8 * size});")
            where = f"(double *)a[{after + 2 * len(outputs) + k}]"
            finals.append(f"memcpy({where}, x + {at[target]}, {8 * size});")
    halt = f"x[{at[names_in.index(stop)]}] != 0.0" if stop else "0"

    def calls(part: _VectorText) -> list[str]:
        return [f"{part.name}{k}(x, f, w, y);" for k in range(part.count)]

    def lines(statements: list[str], indent: int) -> str:
        return "\n".join(" " * indent + one for one in statements)

    declared = [f"{part.signature(k)};" for part in (before, during) for k in range(part.count)]
    work = max(len(before.slots), len(during.slots), 1)
    return DRIVER.format(
        declared=lines(declared, 0),
        vectors=max(constants, 1) + work,
        constants=max(constants, 1),
        nx=at[-1],
        ny=to[-1],
        loads=lines(loads, 4),
        ready=lines(calls(before), 4),
        step=lines(calls(during), 8),
        records=lines(records, 12),
        feeds=lines(feeds, 8),
        finals=lines(finals, 4),
        halt=halt,
    )


DRIVER = """\
#include <stdlib.h>
{declared}

__attribute__((visibility("default"))) int iterate(const long long *a)
{{
    long steps = a[1], every = a[2], look = a[3];
    long bytes = {vectors} * sizeof(vreal) + ({nx} + {ny} + 2 * LANES) * sizeof(double);
    vreal *f = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!f) return 1;
    memset(f, 0, bytes);
    vreal *w = f + {constants};
    double *x = (double *)(f + {vectors}), *y = x + {nx} + LANES;
{loads}
{ready}
    for (long step = 0; step < steps; step++) {{
        int last = {halt};
{step}
        for (long k = step; k < (last ? steps : step + 1); k++) {{
            if (k % every) continue;
            long row = k / every;
            (void)row;
{records}
        }}
        if (look && step == steps - 1) break;
{feeds}
        if (last) break;
    }}
{finals}
    free(f);
    return 0;
}}
"""
