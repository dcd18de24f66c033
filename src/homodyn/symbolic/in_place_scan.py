"""A scan that advances arrays in place, a few steps per call.

Between calls, inputs and states can be read and changed. The arguments of the native function are
prepared once, so that a call costs about a microsecond besides its steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from homodyn.symbolic.library import address
from homodyn.symbolic.scan import Scan, ScanCall
from homodyn.symbolic.threads import pool, thread_count


class InPlaceScan:
    """Inputs, states and recorded outputs of a scan as arrays that stay where they are.

    Args:
        scan: The scan.
        inputs: Values of all inputs by name at the start, (*shape) or (batch, *shape).
        count: Batch size.
        record: Names of outputs to record in the last step of each call.
        threads: Threads to use; None: all. The bits do not depend on it.
    """

    def __init__(
        self,
        scan: Scan,
        inputs: Mapping[str, Any],
        count: int,
        record: Sequence[str] = (),
        threads: int | None = None,
    ) -> None:
        self.scan, self.count = scan, count
        kernel = scan.kernel
        self.arrays = {
            port.name: np.array(
                np.broadcast_to(np.asarray(inputs[port.name], dtype=float), (count, *port.shape)),
                order="C",
            )
            for port in kernel.inputs
        }
        """Inputs and states by name, (batch, *shape): contents may be changed between calls."""
        outputs = {port.name: port for port in kernel.outputs}
        self.records = {name: np.zeros((count, *outputs[name].shape)) for name in record}
        """Outputs of the last step by name, (batch, *shape)."""
        self._native = scan.native_function(count)
        self._threads = threads or thread_count()
        self._prepared_steps = 1
        self._quiet = self._prepare({})
        self._recording = self._prepare(self.records) if record else self._quiet

    def _prepare(self, records: dict[str, np.ndarray]) -> list[tuple[np.ndarray, int]]:
        """Arguments of the native function and their addresses."""
        flat = {
            name: array.reshape(self.count, 1, -1) if array.size else np.zeros((self.count, 1, 0))
            for name, array in self.arrays.items()
        }
        finals = {name: flat[name][:, 0] for name in self.scan.states}
        kept = {name: array.reshape(self.count, 1, -1) for name, array in records.items()}
        call = ScanCall(1, 1, False, flat, kept, finals, self.count)
        calls = self.scan.argument_arrays(call, self._threads)
        self._arrays_in_use = (flat, finals, kept)
        return [(each, address(each)) for each in calls]

    def step(self, steps: int = 1) -> None:
        """Take steps; the records are those of the last one.

        Args:
            steps: Number of steps, at least 1.
        """
        if self._native is None:
            self._interpret(steps)
            return
        if self._recording is not self._quiet and steps > 1:
            self._run(self._quiet, steps - 1)
            steps = 1
        self._run(self._recording, steps)

    def _run(self, calls: list[tuple[np.ndarray, int]], steps: int) -> None:
        native = self._native
        if steps != self._prepared_steps:
            for arguments, _ in (*self._quiet, *self._recording):
                arguments[1] = steps
            self._prepared_steps = steps
        if len(calls) == 1:
            failed = native(calls[0][1])
        else:
            others = [pool(len(calls)).submit(native, where) for _, where in calls[1:]]
            failed = any([native(calls[0][1]), *[other.result() for other in others]])
        if failed:
            raise MemoryError("no memory for the work array of a scan")

    def _interpret(self, steps: int) -> None:
        """Take the steps on CasADi's virtual machine."""
        if steps > 1:
            self._advance(steps - 1, ())
        self._advance(1, tuple(self.records))

    def _advance(self, steps: int, record: Sequence[str]) -> None:
        result = self.scan(steps, self.arrays, record=record, native=False)
        for name, values in result.states.items():
            self.arrays[name][...] = values
        for name in record:
            self.records[name][...] = result.records[name][:, -1]
