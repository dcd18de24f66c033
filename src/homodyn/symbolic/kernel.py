"""A traced function as a callable on numpy arrays of any batch shape, in two tiers.

A kernel works immediately, on CasADi's virtual machine. Once the requested work would repay a
compiler run, it is compiled in the background to native code with one SIMD lane per state;
``compile`` builds that code at once. The guide page "The kernel compiler" describes all stages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from homodyn.errors import KernelError
from homodyn.symbolic import cache
from homodyn.symbolic.codegen import CODEGEN_VERSION, CSource, generate
from homodyn.symbolic.compiler import Compiler, find_compiler
from homodyn.symbolic.interpreter import Interpreter
from homodyn.symbolic.library import Library
from homodyn.symbolic.native_code import NativeCode, forced_tier
from homodyn.symbolic.passes.pipeline import (
    KERNEL_PASSES,
    SCHEDULING,
    lower,
    lower_and_contract,
    unit_after,
)
from homodyn.symbolic.program import port_names
from homodyn.symbolic.solver_loop_codegen import LOOP_CODEGEN_VERSION, generate_with_loop
from homodyn.symbolic.trace import Port, Shape, TracedFunction, trace

INTERPRETED_SECONDS_PER_INSTRUCTION = 6e-9
"""Approximate time of one instruction on the virtual machine."""

COMPILE_SECONDS_PER_INSTRUCTION = 4e-4
"""Approximate time of the C compiler for one instruction."""

LOOKUP_SECONDS_PER_INSTRUCTION = 1e-6
"""Approximate time, per instruction, to look for a library in the cache."""

FLOAT = np.dtype(float)


class _KernelCode(NativeCode[Library]):
    """Native code of a traced function, one SIMD lane per state."""

    def __init__(self, traced: TracedFunction) -> None:
        super().__init__(f"kernel {traced.name!r}")
        self.traced = traced

    def make_key(self, compiler: Compiler) -> str:
        """The cache key."""
        ports = f"{self.traced.inputs}{self.traced.outputs}"
        graph = self.traced.graph.serialize()
        if self.traced.loop is not None:
            ports += f" loop {LOOP_CODEGEN_VERSION}"
        return cache.make_key(str(CODEGEN_VERSION), compiler.identity, ports, graph)

    def make_source(self, compiler: Compiler) -> CSource:
        """The C source."""
        traced = self.traced
        if traced.loop is not None:
            return generate_with_loop(traced, compiler.lanes)
        program = lower_and_contract(traced.graph)
        return generate(program, traced.inputs, traced.outputs, compiler.lanes)

    def load(self, content: bytes) -> Library:
        """The loaded library."""
        traced = self.traced
        return Library(content, traced.inputs, traced.outputs, traced.instructions)


class Kernel:
    """A function of named arrays, evaluated over any leading batch shape.

    Create kernels with `kernel`.

    Args:
        traced: The traced function.
        mapping: Whether calls return a dictionary by output name.
    """

    def __init__(self, traced: TracedFunction, *, mapping: bool = False) -> None:
        self.traced = traced
        self.name = traced.name
        self._mapping = mapping
        self._single = len(traced.outputs) == 1 and not mapping
        self._shapes = [port.shape for port in traced.inputs]
        self._state_shapes = tuple(port.shape for port in traced.outputs)
        self._looked_up = False
        self._requested_seconds = 0.0
        self._native = _KernelCode(traced)

    @property
    def inputs(self) -> tuple[Port, ...]:
        """The inputs, in the order of the arguments."""
        return self.traced.inputs

    @property
    def outputs(self) -> tuple[Port, ...]:
        """The outputs, in the order they are returned."""
        return self.traced.outputs

    @property
    def compiled(self) -> bool:
        """Whether native code evaluates the calls."""
        return self._native.library is not None

    @cached_property
    def instructions(self) -> int:
        """Number of instructions of an evaluation on the virtual machine."""
        return self.traced.instructions

    def __repr__(self) -> str:
        ports = ", ".join(f"{port.name}{list(port.shape)}" for port in self.inputs)
        results = ", ".join(f"{port.name}{list(port.shape)}" for port in self.outputs)
        tier = "compiled" if self.compiled else "interpreted"
        return f"Kernel {self.name}({ports}) -> {results}: {self.instructions} instructions, {tier}"

    # -- calling

    def __call__(self, *arguments: Any, out: Any = None, **named: Any) -> Any:
        """Evaluate the kernel.

        Args:
            arguments: One array per input, in the order of ``inputs``, each with the shape of the
                port behind any batch shape. Batch shapes broadcast.
            out: Arrays that receive the results: one array for one output, else a sequence in the
                order of ``outputs``; contiguous floats of the full shape. Reusing them saves
                allocations, which for large results cost more than the evaluation.
            named: Inputs by name.

        Returns:
            One array, a tuple of arrays, or a dictionary, as the traced function returned. Scalars
            of a single state are numpy scalars.

        Raises:
            KernelError: An input is missing, unknown, of the wrong shape or not real; batch shapes
                do not broadcast; or ``out`` does not fit.
        """
        if named:
            arguments = self._order_arguments(arguments, named)
        if out is None:
            result = self.run_single(arguments)
            if result is not None:
                return result
        return self._call_batch(arguments, out)

    def run_single(self, arguments: tuple[Any, ...]) -> Any:
        """The results of one state by native code; None unless it is ready and the arrays fit."""
        if self._native.library is None:
            return None
        results = self._native.library.run_single(arguments)
        return None if results is None else self._pack_results(results)

    def _call_batch(self, arguments: tuple[Any, ...], out: Any) -> Any:
        if len(arguments) != len(self._shapes):
            names = ", ".join(port.name for port in self.inputs)
            raise KernelError(
                f"kernel {self.name!r} takes {len(self._shapes)} arguments ({names}), "
                f"not {len(arguments)}"
            )
        arrays = [
            self._check_input(a, port) for a, port in zip(arguments, self.inputs, strict=True)
        ]
        batches = [
            array.shape[: array.ndim - len(shape)]
            for array, shape in zip(arrays, self._shapes, strict=True)
        ]
        try:
            batch = np.broadcast_shapes(*batches)
        except ValueError:
            shapes = ", ".join(
                f"{port.name} {shape}" for port, shape in zip(self.inputs, batches, strict=True)
            )
            raise KernelError(
                f"kernel {self.name!r}: the batch shapes do not broadcast: {shapes}"
            ) from None
        count = prod(batch)
        results = [
            given.reshape(count, port.size)
            for given, port in zip(self._result_arrays(out, batch), self.outputs, strict=True)
        ]
        if count:
            rows = [
                _rows(array, shape, batch, count)
                for array, shape in zip(arrays, self._shapes, strict=True)
            ]
            self._run(rows, results, count)
        shaped = [
            result.reshape(batch + shape)
            for result, shape in zip(results, self._state_shapes, strict=True)
        ]
        return self._pack_results(shaped)

    def _result_arrays(self, out: Any, batch: Shape) -> list[np.ndarray]:
        """Arrays for the results: new ones, or those of ``out`` after a check."""
        shapes = [batch + shape for shape in self._state_shapes]
        if out is None:
            return [np.empty(shape) for shape in shapes]
        given = [out] if self._single else list(out)
        fit = len(given) == len(shapes) and all(
            isinstance(array, np.ndarray)
            and array.shape == shape
            and array.dtype is FLOAT
            and array.flags.c_contiguous
            and array.flags.writeable
            for array, shape in zip(given, shapes, strict=True)
        )
        if not fit:
            expected = ", ".join(str(shape) for shape in shapes)
            raise KernelError(
                f"kernel {self.name!r}: out must be contiguous, writeable float arrays of the "
                f"shapes {expected}"
            )
        return given

    def _run(self, rows: list[np.ndarray], results: list[np.ndarray], count: int) -> None:
        library = self._native.library or self._library_for(count)
        if library is None:
            self._interpreter.run(rows, results)
            return
        library.run(count, rows, results)

    def _pack_results(self, results: list[np.ndarray]) -> Any:
        if self._single:
            return results[0] if results[0].ndim else results[0][()]
        values = [result if result.ndim else result[()] for result in results]
        if self._mapping:
            return dict(zip((port.name for port in self.outputs), values, strict=True))
        return tuple(values)

    def _order_arguments(
        self, arguments: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[Any, ...]:
        names = [port.name for port in self.inputs]
        missing = [name for name in names[len(arguments) :] if name not in named]
        unknown = [name for name in named if name not in names[len(arguments) :]]
        if missing or unknown:
            raise KernelError(
                f"kernel {self.name!r} takes {', '.join(names)}; "
                f"missing: {', '.join(missing) or 'none'}, "
                f"unknown or given twice: {', '.join(unknown) or 'none'}"
            )
        return (*arguments, *[named[name] for name in names[len(arguments) :]])

    def _check_input(self, argument: Any, port: Port) -> np.ndarray:
        """An argument as a float array whose last dimensions match the port."""
        array = np.asarray(argument)
        if array.dtype is not FLOAT:
            if not np.can_cast(array.dtype, FLOAT, casting="same_kind"):
                raise KernelError(
                    f"kernel {self.name!r}: input {port.name!r} is of type {array.dtype}, "
                    "real numbers are needed"
                )
            array = array.astype(float)
        depth = len(port.shape)
        if array.ndim < depth or array.shape[array.ndim - depth :] != port.shape:
            expected = ", ".join(["...", *map(str, port.shape)])
            raise KernelError(
                f"kernel {self.name!r}: input {port.name!r} has shape {array.shape}, "
                f"({expected}) is needed"
            )
        return array

    # -- tiers

    @cached_property
    def _interpreter(self) -> Interpreter:
        return Interpreter(self.traced)

    def _library_for(self, count: int) -> Library | None:
        """Native code if it is ready, or if this batch alone is worth building it now.

        One batch is always evaluated by one tier, so its bits do not depend on when a build ends.
        """
        forced = forced_tier()
        if not self._native.is_allowed:
            return None
        seconds = count * self.instructions * INTERPRETED_SECONDS_PER_INSTRUCTION
        self._requested_seconds += seconds
        lookup_seconds = self.instructions * LOOKUP_SECONDS_PER_INSTRUCTION
        if not forced and self._requested_seconds < lookup_seconds:
            return None
        if not self._looked_up and find_compiler() is not None:
            self._looked_up = True
            if self._native.look_up() is not None:
                return self._native.library
        build_seconds = self.instructions * COMPILE_SECONDS_PER_INSTRUCTION
        if forced == "compiled" or seconds > build_seconds or find_compiler() is None:
            return self._native.build()
        if self._requested_seconds > build_seconds:
            self._native.build_in_thread()
        return None

    def compile(self) -> Kernel:
        """Build native code now, if there is a compiler.

        Returns:
            The kernel itself.
        """
        self._native.build()
        return self

    def as_interpreted(self) -> Kernel:
        """The same function, evaluated by the virtual machine only.

        The two tiers differ in the last place. The bits of this kernel do not depend on what has
        been compiled before, as those of short calls otherwise may.

        Returns:
            A new kernel.
        """
        twin = Kernel(self.traced, mapping=self._mapping)
        twin._native.disable("interpretation was requested")
        return twin

    def dump(self, after: str = SCHEDULING.name) -> str:
        """The program between two passes, one line per instruction.

        Args:
            after: Name of the pass: "lowering", "fma_contraction", "input_trig" or "scheduling".

        Returns:
            The text of the program.

        Raises:
            KernelError: No pass has that name.
        """
        unit = unit_after(lower(self.traced.code_graph), KERNEL_PASSES, after)
        return unit.to_text(port_names(self.inputs), port_names(self.outputs))


def kernel(
    function: Callable[..., Any],
    inputs: Mapping[str, int | Shape] | None = None,
    *,
    outputs: Mapping[str, int | Shape] | None = None,
    name: str | None = None,
    **sizes: int | Shape,
) -> Kernel:
    """Trace a Python function over symbolic arrays into a kernel on numpy arrays.

    ``kernel(f, q=3, R=(3, 3), t=())`` names the inputs with their shapes for one state.

    Args:
        function: Takes CasADi columns and matrices and returns one, several, or a mapping from
            names to them.
        inputs: Shapes of the inputs by name: a number for a vector, a pair for a matrix, ``()`` for
            a scalar.
        outputs: Shapes of the outputs by name; inferred by default.
        name: Name for messages; that of the function by default.
        sizes: More inputs.

    Returns:
        The kernel.

    Raises:
        KernelError: The function uses symbols that are not among its inputs, returns something
            that is not an SX array, or outputs do not match.
    """
    shapes = {**(inputs or {}), **sizes}
    results: list[Any] = []

    def evaluate(*arguments: Any) -> Any:
        results.append(function(*arguments))
        return results[0]

    label = name or getattr(function, "__name__", "function").replace("<lambda>", "function")
    traced = trace(evaluate, shapes, outputs, label)
    return Kernel(traced, mapping=isinstance(results[0], Mapping))


def _rows(array: np.ndarray, shape: Shape, batch: Shape, count: int) -> np.ndarray:
    """An input as (count, size), or (1, size) when all states share it; copied only if necessary.

    Numbers within a row are adjacent; the distance of rows is any whole number of doubles.
    """
    own = array.shape[: array.ndim - len(shape)]
    size = prod(shape)
    if prod(own) == 1:
        return np.ascontiguousarray(array).reshape(1, size)
    if own != batch:
        return np.ascontiguousarray(np.broadcast_to(array, batch + shape)).reshape(count, size)
    inner = np.empty(shape).strides
    if len(own) == 1 and array.strides[1:] == inner and array.strides[0] % 8 == 0:
        return array.reshape(count, size) if array.flags.c_contiguous else _flat_rows(array, size)
    return np.ascontiguousarray(array).reshape(count, size)


def _flat_rows(array: np.ndarray, size: int) -> np.ndarray:
    return np.lib.stride_tricks.as_strided(
        array, (len(array), size), (array.strides[0], 8), writeable=False
    )
