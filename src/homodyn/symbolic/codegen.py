"""C code of programs: one SIMD lane per state, cut into pieces that compile in linear time.

Every value is a vector that holds the same quantity of several states. Values that are needed in a
later piece go through a work array with reused slots, so it stays small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isnan

from homodyn.symbolic.passes.pipeline import BACK_END_PASSES, CompilationUnit, run_passes
from homodyn.symbolic.passes.scheduling import split_points
from homodyn.symbolic.program import Instruction, Program
from homodyn.symbolic.trace import Port, offsets

PIECE_INSTRUCTIONS = 1200
"""Instructions per C function: compile times grow faster than linearly beyond a thousand."""

SHORT_PROGRAM_INSTRUCTIONS = 12_000
"""Programs up to this length have pieces three times as long: faster, and still built soon."""

MAX_BLOCK_GROUPS = 8
"""Largest number of groups of states that run through a piece before the next piece."""

MAX_BLOCK_BYTES = 400_000
"""Memory of a block of groups: a part of the second-level cache of usual processors."""

CODEGEN_VERSION = 6
"""Raised whenever the C of a program changes, so that older libraries are not used."""

INFIX_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
VECTOR_COMPARISONS = {"lt": "v_less", "le": "v_less_equal", "eq": "v_equal", "ne": "v_unequal"}

PREAMBLE = """\
#define LANES {lanes}
{needs}#include "vector.h"
#include "elementary.h"
"""


@dataclass(frozen=True)
class CSource:
    """C files by name; the first holds the entry point, each compiles on its own."""

    files: tuple[tuple[str, str], ...]


def generate(
    program: Program,
    inputs: tuple[Port, ...],
    outputs: tuple[Port, ...],
    lanes: int,
    entry: Entry | None = None,
) -> CSource:
    """C for ``int run(a)`` with a = count, memory, in0, stride0, ..., out0, ... as integers.

    Inputs are addresses of doubles with the distance from one state to the next, outputs addresses
    of contiguous arrays. ``memory`` is the address of ``one_group`` bytes that were zero when first
    used, for a single group, or 0; it returns 1 when it finds no memory itself. ``entry`` writes
    another function around the same pieces instead.
    """
    unit = run_passes(CompilationUnit(program, len(inputs)), BACK_END_PASSES)
    pieces = Pieces(unit.program, offsets(inputs), offsets(outputs), unit.angles)
    functions = elementary_functions(unit.program)
    head = preamble(lanes, functions)
    bodies = [pieces.text(k) for k in range(pieces.count)]
    driver = input_trig_function(pieces) + (entry or kernel_entry)(inputs, outputs, pieces, lanes)
    used = {"sincos"} if unit.angles else set()
    if pieces.count == 1:
        head = preamble(lanes, functions | used)
        return CSource((("kernel.c", head + bodies[0] + driver),))
    files = [("kernel.c", preamble(lanes, used) + driver)]
    files += [(f"piece{k}.c", head + body) for k, body in enumerate(bodies)]
    return CSource(tuple(files))


def preamble(lanes: int, functions: set[str]) -> str:
    """The head of every file: the lanes, and the elementary functions that it calls."""
    needs = "".join(f"#define HOMODYN_NEED_{name.upper()}\n" for name in sorted(functions))
    return PREAMBLE.format(lanes=lanes, needs=needs)


def input_trig_function(pieces: Pieces) -> str:
    """A function that puts sines and cosines of inputs behind the inputs of every group."""
    if not pieces.angles:
        return ""
    places = ", ".join(str(pieces.inputs[port] + entry) for port, entry in pieces.angles)
    nx, first = pieces.extents[0], pieces.inputs[-1]
    return f"""\
static void angles(int groups, vreal *x)
{{
    static const int which[] = {{{places}}};
    for (; groups > 0; groups--, x += {nx})
        for (int k = 0; k < {len(pieces.angles)}; k++)
            v_sincos(x[which[k]], x + {first} + 2 * k, x + {first} + 2 * k + 1);
}}

"""


INLINE_OPERATIONS = {"const", "input", "fma", "fms", "fnma", "neg", *INFIX_OPERATORS}


def elementary_functions(program: Program) -> set[str]:
    """Names of the elementary functions that the program calls."""
    names = {instruction.op for instruction in program.instructions} - INLINE_OPERATIONS
    return {"sincos" if name in ("sin", "cos") else name for name in names}


class Pieces:
    """The program cut into runs of instructions, with the traffic between them."""

    def __init__(
        self,
        program: Program,
        inputs: list[int],
        outputs: list[int],
        angles: tuple[tuple[int, int], ...],
        name: str = "piece",
        in_files: bool = False,
    ) -> None:
        self.name = name
        self.instructions, self.results = program.instructions, program.results
        self.inputs, self.outputs, self.angles = inputs, outputs, angles
        self.strides: tuple[int, int, int] | None = None
        """Lengths of the arrays of a group where these pieces share them with others."""
        self.marks = split_points(
            program,
            3 * PIECE_INSTRUCTIONS
            if len(program) <= SHORT_PROGRAM_INSTRUCTIONS
            else PIECE_INSTRUCTIONS,
        )
        self.count = len(self.marks) - 1
        self.in_files = in_files or self.count > 1
        """Whether each piece has a file of its own."""
        self.home = [k for k in range(self.count) for _ in range(self.marks[k], self.marks[k + 1])]
        self.stores: dict[int, list[int]] = {}
        for port, entry, value in program.results:
            self.stores.setdefault(value, []).append(outputs[port] + entry)
        self.slots, self.work = self._allocate()
        self.pairs = _sine_cosine_pairs(program.instructions, self.home)

    @property
    def extents(self) -> tuple[int, int, int]:
        """Lengths of the input, work and output arrays of a group, in vectors."""
        if self.strides is not None:
            return self.strides
        read = self.inputs[-1] + 2 * len(self.angles)
        return max(read, 1), max(self.work, 1), max(self.outputs[-1], 1)

    def _local(self, value: int) -> bool:
        """Whether a value is rematerialized in every piece that needs it: inputs and constants."""
        return self.instructions[value].op in ("input", "const")

    def _allocate(self) -> tuple[dict[int, int], int]:
        """A work slot for each value used in a later piece, freed after its last use."""
        last: dict[int, int] = {}
        for k, instruction in enumerate(self.instructions):
            if instruction.op == "input":
                continue
            for argument in instruction.arguments:
                if not self._local(argument) and self.home[argument] != self.home[k]:
                    last[argument] = self.home[k]
        ending: dict[int, list[int]] = {}
        slots: dict[int, int] = {}
        free: list[int] = []
        total = 0
        crossing = sorted(last)
        position = 0
        for piece in range(self.count):
            while position < len(crossing) and self.home[crossing[position]] == piece:
                value = crossing[position]
                if free:
                    slots[value] = free.pop()
                else:
                    slots[value] = total
                    total += 1
                ending.setdefault(last[value], []).append(slots[value])
                position += 1
            free += ending.pop(piece, [])
        return slots, total

    @property
    def declarations(self) -> str:
        """Prototypes of the pieces, where they are in files of their own."""
        if not self.in_files:
            return ""
        return "".join(f"{self.signature(k)};\n" for k in range(self.count))

    @property
    def calls(self) -> str:
        """Statements that run ``groups`` groups at x, w, y through all pieces."""
        lines = ["angles(groups, x);"] if self.angles else []
        lines += [f"{self.name}{k}(groups, x, w, y);" for k in range(self.count)]
        return "\n".join(f"        {line}" for line in lines)

    def block(self, lanes: int) -> int:
        """Groups that run through a piece in a row: many, as long as their values stay in cache."""
        if self.count == 1:
            return 1
        return max(1, min(MAX_BLOCK_GROUPS, MAX_BLOCK_BYTES // (8 * lanes * sum(self.extents))))

    def signature(self, k: int) -> str:
        return f"void {self.name}{k}(int groups, const vreal *x, vreal *w, vreal *y)"

    def text(self, k: int) -> str:
        """A function for one group, and one that runs it over a block of them.

        They are separate because compilers are slow on loops around thousands of statements.
        """
        nx, nw, ny = self.extents
        lines = [
            f"static __attribute__((noinline)) void {self.name}_group{k}"
            "(const vreal *restrict x, vreal *restrict w, vreal *restrict y)",
            "{",
        ]
        lines += self.statements(k)
        lines += [
            "}",
            f"{'' if self.in_files else 'static '}{self.signature(k)}",
            "{",
            f"    for (; groups > 0; groups--, x += {nx}, w += {nw}, y += {ny})",
            f"        {self.name}_group{k}(x, w, y);",
            "}\n",
        ]
        return "\n".join(lines)

    def statements(self, k: int) -> list[str]:
        """The body of the function for one group."""
        start, stop = self.marks[k], self.marks[k + 1]
        lines: list[str] = []
        present: set[int] = set()
        masked: set[int] = set()
        for number in range(start, stop):
            if self.instructions[number].op != "input":
                for argument in self.instructions[number].arguments:
                    if argument < start and argument not in present:
                        lines.append(self._fetch(argument))
                        present.add(argument)
            lines += self.instruction_text(number, masked)
        return lines

    def instruction_text(self, number: int, masked: set[int]) -> list[str]:
        """The statement of an instruction, and those that store its value where it is needed."""
        lines = [self._masked_statement(number, self.instructions[number], masked)]
        if number in self.slots:
            lines.append(f"w[{self.slots[number]}] = t{number};")
        lines += [f"y[{place}] = t{number};" for place in self.stores.get(number, ())]
        return lines

    def mask(self, value: int, masked: set[int]) -> str:
        """A truth value as a mask."""
        return f"m{value}" if value in masked else f"v_unequal(t{value}, v_set(0.0))"

    def _fetch(self, value: int) -> str:
        if self._local(value):
            return self._statement(value, self.instructions[value])
        return f"const vreal t{value} = w[{self.slots[value]}];"

    def _masked_statement(self, number: int, instruction: Instruction, masked: set[int]) -> str:
        """A statement; truth values also exist as masks, which conditions use directly.

        The C compiler drops whichever of the two forms is not used.
        """
        op, a = instruction.op, instruction.arguments
        if op in VECTOR_COMPARISONS:
            mask = f"{VECTOR_COMPARISONS[op]}(t{a[0]}, t{a[1]})"
        elif op in ("and", "or"):
            one, other = (self.mask(value, masked) for value in a)
            mask = f"{one} {'&' if op == 'and' else '|'} {other}"
        elif op == "not" and a[0] in masked:
            mask = f"~m{a[0]}"
        elif op == "choose" and a[0] in masked:
            return f"const vreal t{number} = v_select(m{a[0]}, t{a[1]}, t{a[2]});"
        elif op == "if_else_zero" and a[0] in masked:
            return f"const vreal t{number} = v_from_bits((vbits)m{a[0]} & v_bits(t{a[1]}));"
        else:
            return self._statement(number, instruction)
        masked.add(number)
        return f"const vint m{number} = {mask}; const vreal t{number} = v_truth(m{number});"

    def _statement(self, number: int, instruction: Instruction) -> str:
        op, a = instruction.op, instruction.arguments
        if op == "input":
            right = f"x[{self.inputs[a[0]] + a[1]}]"
        elif op == "const":
            right = f"v_set({literal(float(instruction.payload))})"
        elif op in INFIX_OPERATORS:
            right = f"t{a[0]} {INFIX_OPERATORS[op]} t{a[1]}"
        elif op == "neg":
            right = f"-t{a[0]}"
        elif op == "fms":
            right = f"v_fma(t{a[0]}, t{a[1]}, -t{a[2]})"
        elif op == "fnma":
            right = f"v_fma(-t{a[0]}, t{a[1]}, t{a[2]})"
        elif number in self.pairs:
            partner = self.pairs[number]
            if partner < number:
                return ""
            sine, cosine = (number, partner) if op == "sin" else (partner, number)
            return f"vreal t{sine}, t{cosine}; v_sincos(t{a[0]}, &t{sine}, &t{cosine});"
        else:
            right = f"v_{op}({', '.join(f't{value}' for value in a)})"
        return f"const vreal t{number} = {right};"


def _sine_cosine_pairs(instructions: tuple[Instruction, ...], home: list[int]) -> dict[int, int]:
    """Sines and cosines of the same value within one piece, each with the number of the other."""
    seen: dict[tuple[int, int], tuple[str, int]] = {}
    pairs: dict[int, int] = {}
    for k, instruction in enumerate(instructions):
        if instruction.op in ("sin", "cos"):
            key = (instruction.arguments[0], home[k])
            if key in seen:
                other = seen[key][1]
                pairs[k], pairs[other] = other, k
            else:
                seen[key] = (instruction.op, k)
    return pairs


Entry = Callable[[tuple[Port, ...], tuple[Port, ...], Pieces, int], str]
"""Writes the exported function of a library around the pieces of its program."""


def literal(number: float) -> str:
    """A double as C text, exact to the bit."""
    if isnan(number):
        return '__builtin_nan("")'
    if number in (inf, -inf):
        return f"{'-' if number < 0 else ''}__builtin_inf()"
    return number.hex()


def kernel_entry(
    inputs: tuple[Port, ...], outputs: tuple[Port, ...], pieces: Pieces, lanes: int
) -> str:
    """The exported function: blocks of groups in, pieces one after another, blocks out.

    A piece runs over all groups of a block before the next one does, so that its machine code is
    fetched once for many states: straight-line code is longer than the instruction cache.
    """
    lines = []
    for k in range(len(inputs)):
        lines.append(f"const double *in{k} = (const double *)a[{2 + 2 * k}];")
        lines.append(f"long stride{k} = a[{3 + 2 * k}];")
    for k in range(len(outputs)):
        lines.append(f"double *out{k} = (double *)a[{2 + 2 * len(inputs) + k}];")
    arguments = "".join(f"    {line}\n" for line in lines)
    nx, nw, ny = pieces.extents
    loads = "\n".join(
        f"            v_load_states(in{k} + s * stride{k}, stride{k}, n, "
        f"x + g * {nx} + {pieces.inputs[k]}, {port.size});"
        for k, port in enumerate(inputs)
        if port.size
    )
    stores = "\n".join(
        f"            v_store_states(out{k} + s * {port.size}, {port.size}, n, "
        f"y + g * {ny} + {pieces.outputs[k]}, {port.size});"
        for k, port in enumerate(outputs)
        if port.size
    )
    return f"""\
#include <stdlib.h>
#define BLOCK {pieces.block(lanes)}
{pieces.declarations}
__attribute__((visibility("default"))) const long one_group = {nx + nw + ny} * sizeof(vreal);

__attribute__((visibility("default"))) int run(const long long *a)
{{
    long count = a[0];
    vreal *memory = (vreal *)a[1];
{arguments}
    long total = (count + LANES - 1) / LANES;
    int block = total < BLOCK ? (int)total : BLOCK;
    if (!a[1]) memory = aligned_alloc(64, (block * one_group + 63) / 64 * 64);
    if (!memory) return 1;
    vreal *x = memory, *w = x + block * {nx}, *y = w + block * {nw};
{constant_zero_stores(pieces)}    for (long start = 0; start < total; start += block) {{
        int groups = total - start < block ? (int)(total - start) : block;
        for (int g = 0; g < groups; g++) {{
            long s = (start + g) * LANES;
            int n = count - s < LANES ? (int)(count - s) : LANES;
{loads}
        }}
{pieces.calls}
        for (int g = 0; g < groups; g++) {{
            long s = (start + g) * LANES;
            int n = count - s < LANES ? (int)(count - s) : LANES;
{stores}
        }}
    }}
    if (!a[1]) free(memory);
    return 0;
}}
"""


def constant_zero_stores(pieces: Pieces, condition: str = "!a[1]") -> str:
    """Statements that set, once, the entries of the results that no instruction stores."""
    stored = {place for places in pieces.stores.values() for place in places}
    never = [place for place in range(pieces.outputs[-1]) if place not in stored]
    if not never:
        return ""
    listed = ", ".join(map(str, never))
    return f"""\
    static const int never[] = {{{listed}}};
    for (int g = 0; {condition} && g < block; g++)
        for (int k = 0; k < {len(never)}; k++) y[g * {pieces.extents[2]} + never[k]] = v_set(0.0);
"""
