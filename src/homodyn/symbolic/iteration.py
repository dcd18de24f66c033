"""A kernel applied to its own results many times over, for many states at once, in native code.

The kernel is a step: some of its outputs are, by name, the next values of inputs. The loop over
steps stands in C around the pieces of the kernel, with the states of a block kept in vectors from
the first step to the last; Python is called once for all steps of all lanes.
"""

from __future__ import annotations

import ctypes
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from homodyn.errors import KernelError
from homodyn.symbolic import cache
from homodyn.symbolic.angle_sums import angle_sums, fixed_values
from homodyn.symbolic.choices import choices
from homodyn.symbolic.compiler import CompileFailed, Compiler, build, find_compiler
from homodyn.symbolic.directions import directions
from homodyn.symbolic.emit import (
    PIECE,
    VERSION,
    Pieces,
    Source,
    emit,
    needed,
    offsets,
    preamble,
    zeros,
)
from homodyn.symbolic.hoist import hoisted
from homodyn.symbolic.interpreter import Interpreter
from homodyn.symbolic.kernel import Kernel
from homodyn.symbolic.library import address, loaded
from homodyn.symbolic.one_state import PACKED, emit_one
from homodyn.symbolic.program import Instruction, Program, fused, program_of, reachable, unfused
from homodyn.symbolic.pulled_sums import pulled_sums
from homodyn.symbolic.reciprocals import reciprocals
from homodyn.symbolic.schedule import scheduled
from homodyn.symbolic.threads import pool, thread_count
from homodyn.symbolic.trace import Port


@dataclass(frozen=True)
class Course:
    """What an iteration came to: the last states, and the recorded outputs by name.

    Arrays have one row for each lane; in records the steps follow.
    """

    states: dict[str, np.ndarray]
    records: dict[str, np.ndarray]


@dataclass(frozen=True)
class Shortcut:
    """A quick way through most steps: another output that is the next value of a state.

    It holds where the output ``when`` is not zero, and other states then stay as they are. Steps in
    which it holds for all lanes of a group take it alone; the bits are those of the long way.
    """

    state: str
    output: str
    when: str


class Iteration:
    """A kernel whose outputs named in ``states`` feed the inputs of the same name.

    ``stop`` names a state that is nonzero once its lane has come to rest in the sense that further
    steps change nothing; when all lanes of a block have, the rest of their steps is left out.
    ``packed`` is for kernels of many like parts: a single lane then runs on code of its own, in
    which those parts share the vectors that other lanes would fill, and sines of differences of
    few angles are made from the sines of those. ``shortcut`` is used by such kernels alone.
    """

    def __init__(
        self,
        kernel: Kernel,
        states: Sequence[str],
        stop: str | None = None,
        *,
        packed: bool = False,
        shortcut: Shortcut | None = None,
    ) -> None:
        self.kernel = kernel
        self.packed = packed
        self.shortcut = shortcut
        self.states = tuple(states)
        self.stop = stop
        for name in [*self.states, *([stop] if stop else [])]:
            source = kernel.inputs[kernel.traced.port("input", name)]
            target = kernel.outputs[kernel.traced.port("output", name)]
            if source.shape != target.shape:
                raise KernelError(
                    f"kernel {kernel.name!r}: state {name!r} goes in as {source.shape} and comes "
                    f"out as {target.shape}; a state must keep its shape"
                )

    def __call__(
        self,
        steps: int,
        inputs: Mapping[str, Any],
        *,
        sampled: Mapping[str, Any] | None = None,
        record: Sequence[str] = (),
        every: int = 1,
        threads: int | None = None,
        native: bool = True,
        look: bool = False,
        into: Mapping[str, np.ndarray] | None = None,
    ) -> Course:
        """Take ``steps`` steps in every lane.

        ``inputs`` holds arrays with or without a leading axis of lanes; ``sampled`` those that
        change with the step, whose rows, before the shape of one value, are used for an equal
        number of steps each. Outputs named in ``record`` are kept at step 0 and every ``every``-th.
        Without ``native`` the virtual machine takes the steps and nothing is built. With ``look``
        the last step only gives its outputs: the states returned are those before it. ``into`` has
        arrays for records, contiguous floats of their full shape.
        """
        kernel = self.kernel
        given = {**inputs, **(sampled or {})}
        names = [port.name for port in kernel.inputs]
        if set(given) != set(names):
            raise KernelError(
                f"iteration of {kernel.name!r} takes {', '.join(names)}; got {', '.join(given)}"
            )
        if steps < 0 or every < 1:
            raise KernelError(f"steps {steps} and every {every}: counts from 0 and from 1 on")
        rows = dict.fromkeys(names, 1)
        arrays: dict[str, np.ndarray] = {}
        lanes: set[int] = set()
        for port in kernel.inputs:
            array = np.asarray(given[port.name], dtype=float, order="C")
            depth = len(port.shape) + (port.name in (sampled or {}))
            lead = array.ndim - depth
            if lead not in (0, 1) or array.shape[array.ndim - len(port.shape) :] != port.shape:
                wanted = ", ".join(map(str, port.shape))
                raise KernelError(
                    f"iteration of {kernel.name!r}: input {port.name!r} has shape {array.shape}; "
                    f"(lanes,{' rows,' if depth > len(port.shape) else ''} {wanted}) is needed"
                )
            if depth > len(port.shape):
                rows[port.name] = array.shape[lead]
                if not array.shape[lead]:
                    raise KernelError(f"input {port.name!r} has no rows to take values from")
            if lead:
                lanes.add(array.shape[0])
            arrays[port.name] = array.reshape(array.shape[0] if lead else 1, rows[port.name], -1)
        if len(lanes - {1}) > 1:
            raise KernelError(
                f"iteration of {kernel.name!r}: inputs have different numbers of lanes: "
                f"{', '.join(map(str, sorted(lanes)))}"
            )
        count = max(lanes) if lanes else 1
        kept = -(-steps // every)
        outputs = {port.name: port for port in kernel.outputs}
        unknown = [name for name in record if name not in outputs]
        if unknown:
            raise KernelError(f"kernel {kernel.name!r} has no output {', '.join(unknown)}")
        given_places = into or {}
        records = {
            name: self._place(given_places.get(name), (count, kept, outputs[name].size))
            for name in record
        }
        finals = {name: np.empty((count, outputs[name].size)) for name in self.states}
        library = self._fitting(count, bool(sampled)) if native else None
        if count:
            if library is None:
                self._interpret(steps, every, arrays, records, finals, count, look)
            else:
                self._spread(library, steps, every, arrays, records, finals, count, threads, look)
        return Course(
            {name: array.reshape(count, *outputs[name].shape) for name, array in finals.items()},
            {
                name: array.reshape(count, kept, *outputs[name].shape)
                for name, array in records.items()
            },
        )

    def _place(self, given: np.ndarray | None, shape: tuple[int, int, int]) -> np.ndarray:
        """Where a record goes: a new array, or the one that was given if it fits."""
        if given is None:
            return np.empty(shape)
        if given.size != np.prod(shape) or given.dtype != float or not given.flags.c_contiguous:
            raise KernelError(
                f"iteration of {self.kernel.name!r}: a record of shape {shape} does not fit into "
                f"{given.shape} of {given.dtype}; contiguous floats are needed"
            )
        return given.reshape(shape)

    @property
    def compiled(self) -> bool:
        """Whether native code takes the steps; it is built at the first question."""
        return self.compile()

    def ready(self, lanes: int) -> bool:
        """Build what takes the steps of so many lanes; whether there is native code for them."""
        return self._fitting(lanes, False) is not None

    def compile(self, single: bool = False) -> bool:
        """Build native code now, for many lanes or for a single one; whether there is any."""
        return self._library("single" if single else "lanes") is not None

    # -- native code

    def _fitting(self, count: int, sampled: bool) -> Any:
        """The function for so many lanes; None without a compiler, or where that is asked for.

        A single lane has one of its own, of plain numbers: wide vectors with one lane in use take
        twice as long, and longer to build. One for many lanes that is there already will do. The
        bits of a lane are the same in all.
        """
        hoisted = " hoisted" if self.packed and not sampled else ""
        lanes, single = f"lanes{hoisted}", f"single{hoisted}"
        if count != 1:
            return self._library(lanes)
        packs = self._library("packs") if hoisted else None
        if packs is not None:
            return packs
        built = self._libraries.get(lanes) is not None and single not in self._libraries
        return self._library(lanes if built else single)

    @cached_property
    def _libraries(self) -> dict[str, Any]:
        """Exported functions by form: ``lanes``, ``single``, or ``packs`` where parts are alike.

        The first two also ``hoisted``: what does not change is computed once for all steps.
        """
        return {}

    def _library(self, form: str) -> Any:
        if form not in self._libraries:
            self._libraries[form] = self._built(form)
        return self._libraries[form]

    @cached_property
    def _program(self) -> Program:
        if not self.packed:
            return program_of(self.kernel.traced.graph)
        names = [port.name for port in self.kernel.inputs]
        changing = {names.index(name) for name in self.states}
        program = choices(directions(unfused(self.kernel.traced.graph)))
        program = reciprocals(program, fixed_values(program, changing))
        program = pulled_sums(program, changing)
        program = angle_sums(program, changing)
        return fused(program, fixed_values(program, changing))

    def _long_way(self, program: Program) -> Program:
        """The program without the results of the shortcut."""
        if self.shortcut is None:
            return program
        extra = {self.shortcut.output, self.shortcut.when}
        ports = {k for k, port in enumerate(self.kernel.outputs) if port.name in extra}
        kept = [one for one in program.results if one[0] not in ports]
        return reachable(list(program.instructions), kept)

    def _short_way(self, program: Program) -> Program | None:
        """What the shortcut needs, with its result in the place of the state."""
        if self.shortcut is None:
            return None
        names = [port.name for port in self.kernel.outputs]
        source, flag, target = (
            names.index(name)
            for name in (self.shortcut.output, self.shortcut.when, self.shortcut.state)
        )
        instructions = list(program.instructions)
        results = []
        for port, entry, value in program.results:
            if port in (source, flag):
                results.append((target if port == source else flag, entry, value))
        for k, given in enumerate(self.kernel.inputs):
            if given.name in self.states and given.name != self.shortcut.state:
                for entry in range(given.size):
                    results.append((names.index(given.name), entry, len(instructions)))
                    instructions.append(Instruction("input", (k, entry)))
        return reachable(instructions, results)

    def _written(self, form: str, lanes: int) -> Source | None:
        kernel = self.kernel
        long_way = self._long_way(self._program)
        if form == "packs":
            return emit_one(long_way, kernel.inputs, kernel.outputs, self.states, self.stop, lanes)
        width = 1 if form.startswith("single") else lanes
        if not form.endswith("hoisted"):
            return emit(long_way, kernel.inputs, kernel.outputs, width, self._driver)
        changing = {k for k, port in enumerate(kernel.inputs) if port.name in self.states}
        fixed = fixed_values(self._program, changing)
        program, before = hoisted(self._program, fixed, len(kernel.inputs))
        inputs = kernel.inputs
        files: list[tuple[str, str]] = []

        def apart(one: Program, outputs: tuple[Port, ...], name: str) -> Pieces:
            made = Pieces(
                scheduled(one), offsets(inputs), offsets(outputs), (), name, in_files=True
            )
            head = preamble(width, needed(one))
            files.extend((f"{name}{k}.c", head + made.text(k)) for k in range(made.count))
            return made

        once, short = None, None
        if before.results:
            ready = Port("ready", (len(before.results),))
            once = apart(before, (ready,), "ready")
            inputs = (*inputs, ready)
        quick = self._short_way(program)
        program = self._long_way(program)
        # Groups go through the pieces of a long program in blocks, which seldom agree on the way.
        if quick is not None and len(program) <= 3 * PIECE:
            short = apart(quick, kernel.outputs, "quick")
        driver = partial(self._driver, once=once, short=short)
        source = emit(program, inputs, kernel.outputs, width, driver)
        return Source((*source.files, *files))

    def _built(self, form: str) -> Any:
        """A library from the cache, or from what is written for the lanes of this processor."""
        if os.environ.get("HOMODYN_TIER", "") == "interpreted":
            return None
        compiler = find_compiler()
        if compiler is None:
            return None
        key = self._key(compiler, form)
        content = cache.find(key)
        if content is None:
            source = self._written(form, compiler.lanes)
            if source is None:
                return None
            try:
                content, _ = cache.keep(
                    key, lambda target: build(source, compiler, target, thread_count())
                )
            except (CompileFailed, OSError) as error:
                warnings.warn(
                    f"the steps of {self.kernel.name!r} run on the virtual machine: {error}",
                    stacklevel=2,
                )
                return None
        function = loaded(content).iterate
        function.restype = ctypes.c_int
        function.argtypes = [ctypes.c_void_p]
        return function

    def _key(self, compiler: Compiler, form: str) -> str:
        traced = self.kernel.traced
        ports = f"{form} {DRIVER} {self.states} {self.stop} {traced.inputs}{traced.outputs}"
        if self.packed:
            ports += f" packed {PACKED} {self.shortcut}"
        return cache.key_of(str(VERSION), compiler.identity, ports, traced.graph.serialize())

    def _spread(
        self,
        native: Any,
        steps: int,
        every: int,
        arrays: dict[str, np.ndarray],
        records: dict[str, np.ndarray],
        finals: dict[str, np.ndarray],
        count: int,
        threads: int | None,
        look: bool,
    ) -> None:
        """Lanes over threads; which thread takes a lane does not change its bits."""
        shares = max(1, min(threads or thread_count(), -(-count // 8)))
        length = -(-count // shares)
        length += -length % 8
        calls = []
        for start in range(0, count, length):
            call = [min(length, count - start), steps, every, int(look)]
            for port in self.kernel.inputs:
                array = arrays[port.name]
                size, rows = array.shape[2], array.shape[1]
                stride = rows * size if len(array) > 1 else 0
                hold = -(-steps // rows) if steps else 1
                call += [address(array) + 8 * start * stride, stride, size if rows > 1 else 0, hold]
            for port in self.kernel.outputs:
                kept = records.get(port.name)
                if kept is None or not kept.size:
                    call += [0, 0]
                else:
                    stride = kept.shape[1] * kept.shape[2]
                    call += [address(kept) + 8 * start * stride, stride]
            for name in self.states:
                final = finals[name]
                call.append(address(final) + 8 * start * final.shape[1])
            calls.append(np.array(call, dtype=np.int64))
        others = [pool(shares).submit(native, address(call)) for call in calls[1:]]
        failed = native(address(calls[0]))
        if any([failed, *[other.result() for other in others]]):
            raise MemoryError("no memory for the work array of an iteration")

    def _driver(
        self,
        inputs: tuple[Port, ...],
        outputs: tuple[Port, ...],
        pieces: Pieces,
        lanes: int,
        once: Pieces | None = None,
        short: Pieces | None = None,
    ) -> str:
        declared = pieces.declarations
        calls, block = pieces.calls, pieces.block(lanes)
        nx, nw, ny = pieces.extents
        if short is not None and self.shortcut is not None and pieces.count == 1:
            declared += short.declarations
            flag = [port.name for port in outputs].index(self.shortcut.when)
            block = ABREAST if lanes > 1 else 1
            calls = QUICK.format(nx=nx, nw=nw, ny=ny, flag=pieces.outputs[flag], calls=pieces.calls)
        ready = []
        if once is not None:
            inputs = inputs[:-1]
            declared += once.declarations
            place = f"x + g * {pieces.extents[0]}"
            ready = [
                f"ready{k}(1, {place}, spare, {place} + {pieces.inputs[len(inputs)]});"
                for k in range(once.count)
            ]
        names_in = [port.name for port in inputs]
        names_out = [port.name for port in outputs]
        after = 4 + 4 * len(inputs)
        arguments, loads, reloads, stores = [], [], [], []
        for k, port in enumerate(inputs):
            arguments.append(f"const double *in{k} = (const double *)a[{4 + 4 * k}];")
            arguments.append(
                f"long stride{k} = a[{5 + 4 * k}], row{k} = a[{6 + 4 * k}], "
                f"hold{k} = a[{7 + 4 * k}];"
            )
            if port.size:
                load = (
                    f"v_load_states(in{k} + s * stride{k} + (step / hold{k}) * row{k}, stride{k}, "
                    f"n, x + g * {nx} + {pieces.inputs[k]}, {port.size});"
                )
                loads.append(load)
                if port.name not in self.states:
                    reloads.append(f"if (row{k} && step % hold{k} == 0) {load}")
        for k, port in enumerate(outputs):
            arguments.append(f"double *out{k} = (double *)a[{after + 2 * k}];")
            arguments.append(f"long apart{k} = a[{after + 2 * k + 1}];")
            if port.size:
                stores.append(
                    f"if (out{k}) v_store_states(out{k} + s * apart{k} + row * {port.size}, "
                    f"apart{k}, n, y + g * {ny} + {pieces.outputs[k]}, {port.size});"
                )
        feeds, finals = [], []
        for k, name in enumerate(self.states):
            source, target = names_out.index(name), names_in.index(name)
            size = inputs[target].size
            arguments.append(f"double *final{k} = (double *)a[{after + 2 * len(outputs) + k}];")
            if size:
                place = f"x + g * {nx} + {pieces.inputs[target]}"
                feeds.append(
                    f"memcpy({place}, y + g * {ny} + {pieces.outputs[source]}, "
                    f"{size} * sizeof(vreal));"
                )
                finals.append(f"v_store_states(final{k} + s * {size}, {size}, n, {place}, {size});")
        halt = "0"
        if self.stop:
            at = pieces.inputs[names_in.index(self.stop)]
            halt = f"halted(groups, x + {at})"
        return DRIVER.format(
            block=block,
            declared=declared,
            nx=nx,
            nw=nw,
            ny=ny,
            zeros=zeros(pieces, "1"),
            arguments=_lines(arguments, 4),
            loads=_lines([*loads, *ready], 12),
            spare=once.extents[1] if once is not None else 0,
            reloads=_lines(reloads, 16),
            calls=calls,
            stores=_lines(stores, 20),
            feeds=_lines(feeds, 16),
            finals=_lines(finals, 12),
            halt=halt,
        )

    # -- the virtual machine

    def _interpret(
        self,
        steps: int,
        every: int,
        arrays: dict[str, np.ndarray],
        records: dict[str, np.ndarray],
        finals: dict[str, np.ndarray],
        count: int,
        look: bool,
    ) -> None:
        machine = Interpreter(self.kernel.traced)
        now = {
            name: np.ascontiguousarray(np.broadcast_to(array[:, 0], (count, array.shape[2])))
            for name, array in arrays.items()
        }
        results = [np.empty((count, port.size)) for port in self.kernel.outputs]
        by_name = dict(zip((port.name for port in self.kernel.outputs), results, strict=True))
        for step in range(steps):
            for name, array in arrays.items():
                if name not in self.states and array.shape[1] > 1:
                    row = step // -(-steps // array.shape[1])
                    now[name] = np.ascontiguousarray(
                        np.broadcast_to(array[:, row], (count, array.shape[2]))
                    )
            machine.run([now[port.name] for port in self.kernel.inputs], results)
            if step % every == 0:
                for name, kept in records.items():
                    kept[:, step // every] = by_name[name]
            if look and step == steps - 1:
                break
            for name in self.states:
                now[name] = by_name[name].copy()
        for name, final in finals.items():
            final[...] = now[name]


def _lines(statements: list[str], indent: int) -> str:
    return "\n".join(" " * indent + statement for statement in statements)


ABREAST = 4
"""Groups that take the shortcut in turns: the steps of one alone would wait for each other."""

QUICK = """\
            for (int g = 0; g < groups; g++)
                quick0(1, x + g * {nx}, w + g * {nw}, y + g * {ny});
            int all = groups;
            for (int g = 0; g < all; g++) {{
                if (!v_any(v_equal(y[g * {ny} + {flag}], v_set(0.0)))) continue;
                vreal *x0 = x, *w0 = w, *y0 = y;
                x += g * {nx}, w += g * {nw}, y += g * {ny}, groups = 1;
{calls}
                x = x0, w = w0, y = y0, groups = all;
            }}"""

DRIVER = """\
#include <stdlib.h>
#define BLOCK {block}
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
    vreal *memory = aligned_alloc(64, (vectors * sizeof(vreal) + 63) / 64 * 64);
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
    free(memory);
    return 0;
}}
"""
