"""Scans: a kernel applied to its own results step by step, for many batch elements at once.

The kernel is one step: outputs named in ``states`` are the next values of the inputs of the same
name. The loop over steps is C code around that of the kernel, and the states of a block of batch
elements stay in vectors from the first step to the last. Python is called once for all steps.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from homodyn.errors import KernelError
from homodyn.foundation.record import Record, record
from homodyn.symbolic import cache
from homodyn.symbolic.codegen import CODEGEN_VERSION, CSource
from homodyn.symbolic.compiler import Compiler
from homodyn.symbolic.fast_path import FAST_PATH_VERSION, FastPath
from homodyn.symbolic.interpreter import Interpreter
from homodyn.symbolic.kernel import Kernel
from homodyn.symbolic.library import address, load_library
from homodyn.symbolic.loop_codegen import DRIVER_TEMPLATE, LoopCodegen
from homodyn.symbolic.native_code import NativeCode
from homodyn.symbolic.passes.pipeline import SCHEDULING, Pass
from homodyn.symbolic.scalar_codegen import SLP_CODEGEN_VERSION
from homodyn.symbolic.solver_loop_codegen import LOOP_CODEGEN_VERSION
from homodyn.symbolic.threads import pool, thread_count


@record
class ScanResult(Record):
    """The result of a scan."""

    states: dict[str, np.ndarray]
    """Last value of each state, (batch, *shape)."""
    records: dict[str, np.ndarray]
    """Recorded outputs by name, (batch, records, *shape)."""


@dataclass(frozen=True, eq=False)
class ScanCall:
    """The checked arguments of one call, and the arrays that receive its results."""

    steps: int
    every: int
    peek_last_step: bool
    arrays: dict[str, np.ndarray]
    """Inputs by name, (batch or 1, rows, size)."""
    records: dict[str, np.ndarray]
    """Recorded outputs by name, (batch, records, size)."""
    finals: dict[str, np.ndarray]
    """Last states by name, (batch, size)."""
    count: int
    """Batch size."""


class _ScanCode(NativeCode[Any]):
    """Native code of a scan in one form: the function ``iterate`` of a library."""

    def __init__(self, codegen: LoopCodegen, form: str) -> None:
        super().__init__(f"the scan of {codegen.traced.name!r}")
        self._codegen, self._form = codegen, form

    def make_key(self, compiler: Compiler) -> str:
        """The cache key."""
        codegen, traced = self._codegen, self._codegen.traced
        ports = f"{traced.inputs}{traced.outputs}"
        text = f"{self._form} {DRIVER_TEMPLATE} {codegen.states} {codegen.stop} {ports}"
        if codegen.packed:
            text += f" packed {SLP_CODEGEN_VERSION} {codegen.fast_path}"
        if codegen.fast_path is not None:
            text += f" way {FAST_PATH_VERSION}"
        if traced.loop is not None:
            text += f" loop {LOOP_CODEGEN_VERSION}"
        graph = traced.graph.serialize()
        return cache.make_key(str(CODEGEN_VERSION), compiler.identity, text, graph)

    def make_source(self, compiler: Compiler) -> CSource | None:
        """The C source; None where packing saves too little."""
        return self._codegen.generate(self._form, compiler.lanes)

    def load(self, content: bytes) -> Any:
        """The exported function, which takes the address of its arguments."""
        function = load_library(content).iterate
        function.restype = ctypes.c_int
        function.argtypes = [ctypes.c_void_p]
        return function


class Scan:
    """A kernel whose outputs named in ``states`` feed the inputs of the same name.

    Args:
        kernel: One step.
        states: Names of the states: inputs that are outputs too, with equal shapes.
        stop: Name of a state that is nonzero once further steps change nothing. When all batch
            elements of a block have stopped, their remaining steps are skipped.
        packed: For kernels of many similar parts, such as networks of oscillators. Enables the
            passes of `homodyn.symbolic.SCAN_PASSES`, some of which change rounding, and SLP
            packing: similar parts of a single batch element share the lanes of a vector.
        fast_path: Assumptions under which most steps take a shorter program; only with ``packed``.

    Raises:
        KernelError: A state is no input and output of the kernel, or changes its shape, or a packed
            scan has a solver loop.
    """

    def __init__(
        self,
        kernel: Kernel,
        states: Sequence[str],
        stop: str | None = None,
        *,
        packed: bool = False,
        fast_path: FastPath | None = None,
    ) -> None:
        if packed and kernel.traced.loop is not None:
            raise KernelError(f"kernel {kernel.name!r} has a solver loop; packed scans take none")
        self.kernel = kernel
        self.packed = packed
        self.fast_path = fast_path
        self._codegen = LoopCodegen(kernel.traced, tuple(states), stop, packed, fast_path)
        self.states = tuple(states)
        self.stop = stop
        for name in [*self.states, *([stop] if stop else [])]:
            source = kernel.inputs[kernel.traced.port("input", name)]
            target = kernel.outputs[kernel.traced.port("output", name)]
            if source.shape != target.shape:
                raise KernelError(
                    f"kernel {kernel.name!r}: state {name!r} is {source.shape} as an input and "
                    f"{target.shape} as an output; a state must keep its shape"
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
        peek_last_step: bool = False,
        out: Mapping[str, np.ndarray] | None = None,
    ) -> ScanResult:
        """Take ``steps`` steps in every batch element.

        Args:
            steps: Number of steps.
            inputs: Values of the inputs by name, (*shape) or (batch, *shape).
            sampled: Inputs that change with the step, (rows, *shape) or (batch, rows, *shape). Each
                row is used for an equal number of steps (zero-order hold).
            record: Names of outputs to record.
            every: Record step 0 and every ``every``-th step.
            threads: Threads to use; all by default. The bits do not depend on it.
            native: Whether native code may take the steps; otherwise nothing is built.
            peek_last_step: Evaluate the outputs of the last step without advancing the states.
            out: Arrays for records by name, contiguous floats of their full shape.

        Returns:
            The last states and the records.

        Raises:
            KernelError: Inputs are missing, unknown or of the wrong shape, batch sizes differ, a
                recorded output does not exist, or an array of ``out`` does not fit.
        """
        if steps < 0 or every < 1:
            raise KernelError(f"steps is {steps} and every is {every}; at least 0 and 1 are needed")
        arrays, count = self._check_inputs(inputs, sampled or {})
        outputs = {port.name: port for port in self.kernel.outputs}
        unknown = [name for name in record if name not in outputs]
        if unknown:
            raise KernelError(f"kernel {self.kernel.name!r} has no output {', '.join(unknown)}")
        rows = -(-steps // every)
        arrays_of = out or {}
        records = {
            name: self._place(arrays_of.get(name), (count, rows, outputs[name].size))
            for name in record
        }
        finals = {name: np.empty((count, outputs[name].size)) for name in self.states}
        call = ScanCall(steps, every, peek_last_step, arrays, records, finals, count)
        library = self._library_for(count, bool(sampled)) if native else None
        if count:
            if library is None:
                self._interpret(call)
            else:
                self._run_threads(library, call, threads or thread_count())
        return ScanResult(
            {name: array.reshape(count, *outputs[name].shape) for name, array in finals.items()},
            {
                name: array.reshape(count, rows, *outputs[name].shape)
                for name, array in records.items()
            },
        )

    def _check_inputs(
        self, inputs: Mapping[str, Any], sampled: Mapping[str, Any]
    ) -> tuple[dict[str, np.ndarray], int]:
        """Inputs as arrays (batch or 1, rows, size) by name, and the batch size."""
        kernel = self.kernel
        given = {**inputs, **sampled}
        names = [port.name for port in kernel.inputs]
        if set(given) != set(names):
            raise KernelError(
                f"scan of {kernel.name!r} takes {', '.join(names)}; got {', '.join(given)}"
            )
        arrays: dict[str, np.ndarray] = {}
        batch_sizes: set[int] = set()
        for port in kernel.inputs:
            array = np.asarray(given[port.name], dtype=float, order="C")
            depth = len(port.shape) + (port.name in sampled)
            lead = array.ndim - depth
            if lead not in (0, 1) or array.shape[array.ndim - len(port.shape) :] != port.shape:
                expected = ", ".join(map(str, port.shape))
                raise KernelError(
                    f"scan of {kernel.name!r}: input {port.name!r} has shape {array.shape}; "
                    f"(batch,{' rows,' if depth > len(port.shape) else ''} {expected}) is needed"
                )
            rows = 1
            if depth > len(port.shape):
                rows = array.shape[lead]
                if not rows:
                    raise KernelError(f"input {port.name!r} has no rows")
            if lead:
                batch_sizes.add(array.shape[0])
            arrays[port.name] = array.reshape(array.shape[0] if lead else 1, rows, -1)
        if len(batch_sizes - {1}) > 1:
            raise KernelError(
                f"scan of {kernel.name!r}: inputs have different batch sizes: "
                f"{', '.join(map(str, sorted(batch_sizes)))}"
            )
        return arrays, max(batch_sizes) if batch_sizes else 1

    def _place(self, given: np.ndarray | None, shape: tuple[int, int, int]) -> np.ndarray:
        """The array of a record: a new one, or that of ``out`` if it fits."""
        if given is None:
            return np.empty(shape)
        if given.size != np.prod(shape) or given.dtype != float or not given.flags.c_contiguous:
            raise KernelError(
                f"scan of {self.kernel.name!r}: a record of shape {shape} does not fit into "
                f"{given.shape} of {given.dtype}; contiguous floats are needed"
            )
        return given.reshape(shape)

    @property
    def compiled(self) -> bool:
        """Whether native code takes the steps; it is built on first use."""
        return self.compile()

    def prepare(self, batch: int) -> bool:
        """Build the native code for a batch size now.

        Args:
            batch: Number of batch elements.

        Returns:
            Whether there is native code for it.
        """
        return self._library_for(batch, False) is not None

    def compile(self, single: bool = False) -> bool:
        """Build native code now.

        Args:
            single: For a single batch element instead of many.

        Returns:
            Whether there is native code.
        """
        return self._library("single" if single else "lanes") is not None

    # -- native code

    def _library_for(self, count: int, sampled: bool) -> Any:
        """The native function for a batch size; None where the virtual machine takes the steps.

        A single batch element has a function of its own on scalars: wide vectors with one lane in
        use take twice as long, and longer to build. A function for many that exists already is
        used instead. The bits of a batch element are the same in all.
        """
        hoisted = " hoisted" if self.packed and not sampled else ""
        lanes, single = f"lanes{hoisted}", f"single{hoisted}"
        if count != 1:
            return self._library(lanes)
        packs = self._library("packs") if hoisted else None
        if packs is not None:
            return packs
        known = self._native.get(lanes)
        built = known is not None and known.library is not None and single not in self._native
        return self._library(lanes if built else single)

    @cached_property
    def _native(self) -> dict[str, _ScanCode]:
        """Native code by form: ``lanes``, ``single``, or ``packs`` for SLP-packed single states.

        The first two also exist as ``hoisted``: loop invariants are computed once for all steps.
        """
        return {}

    def _library(self, form: str) -> Any:
        """The exported function of a form; None without a compiler or on the virtual machine."""
        if form not in self._native:
            self._native[form] = _ScanCode(self._codegen, form)
        native = self._native[form]
        return native.build() if native.is_allowed else None

    def dump(self, after: str = SCHEDULING.name) -> str:
        """The program of one step between two passes, one line per instruction.

        Args:
            after: Name of the pass, as listed in ``passes``.

        Returns:
            The text of the program, after that of the loop-invariant prologue.

        Raises:
            KernelError: No pass has that name.
        """
        return self._codegen.dump(after)

    @property
    def passes(self) -> tuple[Pass, ...]:
        """The passes that run after lowering, in order."""
        return self._codegen.passes

    def native_function(self, count: int) -> Any:
        """The native function for a batch size; None where the virtual machine takes the steps."""
        return self._library_for(count, False)

    def argument_arrays(self, call: ScanCall, threads: int) -> list[np.ndarray]:
        """Arguments of the native function, one array per thread; they hold addresses."""
        count, steps = call.count, call.steps
        shares = max(1, min(threads, -(-count // 8)))
        length = -(-count // shares)
        length += -length % 8
        calls = []
        for start in range(0, count, length):
            places = [min(length, count - start), steps, call.every, int(call.peek_last_step)]
            for port in self.kernel.inputs:
                array = call.arrays[port.name]
                size, rows = array.shape[2], array.shape[1]
                stride = rows * size if len(array) > 1 else 0
                hold = -(-steps // rows) if steps else 1
                first = address(array) + 8 * start * stride
                places += [first, stride, size if rows > 1 else 0, hold]
            for port in self.kernel.outputs:
                recorded = call.records.get(port.name)
                if recorded is None or not recorded.size:
                    places += [0, 0]
                else:
                    stride = recorded.shape[1] * recorded.shape[2]
                    places += [address(recorded) + 8 * start * stride, stride]
            for name in self.states:
                final = call.finals[name]
                places.append(address(final) + 8 * start * final.shape[1])
            calls.append(np.array(places, dtype=np.int64))
        return calls

    def _run_threads(self, native: Any, call: ScanCall, threads: int) -> None:
        """Distribute batch elements over threads; that does not change their bits."""
        calls = self.argument_arrays(call, threads)
        others = [pool(len(calls)).submit(native, address(each)) for each in calls[1:]]
        failed = native(address(calls[0]))
        if any([failed, *[other.result() for other in others]]):
            raise MemoryError("no memory for the work array of a scan")

    # -- the virtual machine

    def _interpret(self, call: ScanCall) -> None:
        """Take the steps on CasADi's virtual machine."""
        machine = Interpreter(self.kernel.traced)
        count, steps, arrays = call.count, call.steps, call.arrays
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
            if step % call.every == 0:
                for name, recorded in call.records.items():
                    recorded[:, step // call.every] = by_name[name]
            if call.peek_last_step and step == steps - 1:
                break
            for name in self.states:
                now[name] = by_name[name].copy()
        for name, final in call.finals.items():
            final[...] = now[name]
