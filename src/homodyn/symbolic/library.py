"""A compiled kernel in this process: loads the library and spreads a batch over threads."""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.symbolic.threads import pool, thread_count
from homodyn.symbolic.trace import Port

FLOAT = np.dtype(float)
NO_MEMORY = "no memory for the work array of a kernel"

WORTH_A_THREAD = 400_000
"""Instructions times states that repay handing work to another thread (about 50 microseconds)."""


def loaded(content: bytes) -> ctypes.CDLL:
    """A shared library from its bytes, through a copy that nobody else changes or removes.

    A library that is changed on disk while it is in use would take the process down.
    """
    with tempfile.TemporaryDirectory(prefix="homodyn-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "kernel.so"
        path.write_bytes(content)
        return ctypes.CDLL(str(path))


class _Stage:
    """Arrays for one state at fixed addresses: quicker to fill than asking others for theirs."""

    def __init__(self, inputs: Sequence[Port], outputs: Sequence[Port]) -> None:
        self.inputs = [np.zeros(port.shape) for port in inputs]
        self.outputs = [np.zeros(port.shape) for port in outputs]
        self.arguments = [
            1,
            *[number for array in self.inputs for number in (array.ctypes.data, 0)],
            *[array.ctypes.data for array in self.outputs],
        ]


class Library:
    """The ``run`` function of one shared library, called on addresses."""

    def __init__(
        self, content: bytes, inputs: Sequence[Port], outputs: Sequence[Port], cost: int
    ) -> None:
        self._ports = (inputs, outputs)
        self._run = loaded(content).run
        self._run.restype = ctypes.c_int
        self._run.argtypes = [
            ctypes.c_long,
            *[kind for _ in inputs for kind in (ctypes.c_void_p, ctypes.c_long)],
            *[ctypes.c_void_p for _ in outputs],
        ]
        self._output_bytes = [8 * port.size for port in outputs]
        self._cost = cost
        # Taking from and giving back to a list is atomic, so threads never share a stage.
        self._stages: list[_Stage] = []

    def run_one(self, inputs: Sequence[Any]) -> list[np.ndarray] | None:
        """Evaluate one state; None unless the inputs are float arrays of exactly its shapes."""
        try:
            stage = self._stages.pop()
        except IndexError:
            stage = _Stage(*self._ports)
        try:
            if len(inputs) != len(stage.inputs):
                return None
            for place, given in zip(stage.inputs, inputs, strict=True):
                if (
                    type(given) is not np.ndarray
                    or given.shape != place.shape
                    or given.dtype is not FLOAT
                ):
                    return None
                place[...] = given
            if self._run(*stage.arguments):
                raise MemoryError(NO_MEMORY)
            return [array.copy() for array in stage.outputs]
        finally:
            self._stages.append(stage)

    def run(self, count: int, inputs: list[int], outputs: list[int]) -> None:
        """Evaluate ``count`` states.

        ``inputs`` alternates addresses with the distance in doubles from one state to the next;
        ``outputs`` are addresses of contiguous arrays.
        """
        shares = 1
        if count * self._cost > WORTH_A_THREAD:
            shares = min(thread_count(), count * self._cost // WORTH_A_THREAD)
        if shares <= 1:
            failed = self._run(count, *inputs, *outputs)
        else:
            failed = self._run_shared(count, inputs, outputs, shares)
        if failed:
            raise MemoryError(NO_MEMORY)

    def _run_shared(self, count: int, inputs: list[int], outputs: list[int], shares: int) -> bool:
        """Equal runs of the batch, one a thread; the first runs here."""
        length = -(-count // shares)
        length += -length % 8
        jobs = []
        for start in range(0, count, length):
            moved = list(inputs)
            for k in range(0, len(inputs), 2):
                moved[k] += 8 * start * inputs[k + 1]
            ends = [
                address + start * size
                for address, size in zip(outputs, self._output_bytes, strict=True)
            ]
            jobs.append((min(length, count - start), *moved, *ends))
        others = [pool(shares).submit(self._run, *job) for job in jobs[1:]]
        failed = self._run(*jobs[0])
        return any([failed, *[other.result() for other in others]])
