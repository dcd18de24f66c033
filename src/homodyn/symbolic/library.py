"""A loaded library: calls its function and distributes batches over threads."""

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
PlainArray = np.ndarray

MIN_INSTRUCTIONS_PER_THREAD = 400_000
"""Instructions times states that repay the use of another thread (about 50 microseconds)."""


def load_library(content: bytes) -> ctypes.CDLL:
    """Load a shared library from its bytes, through a private copy.

    A library that changes on disk while it is in use would crash the process.
    """
    with tempfile.TemporaryDirectory(prefix="homodyn-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "kernel.so"
        path.write_bytes(content)
        return ctypes.CDLL(str(path))


class _SingleStateBuffers:
    """Arrays for one state at fixed addresses, which saves address look-ups per call."""

    def __init__(self, inputs: Sequence[Port], outputs: Sequence[Port], memory: int) -> None:
        self.inputs = [np.zeros(port.shape) for port in inputs]
        self.outputs = [np.zeros(port.shape) for port in outputs]
        self.places = [(array, array.shape) for array in self.inputs]
        self._memory = np.zeros(memory // 8 + 8)
        aligned = -(-address(self._memory) // 64) * 64
        self._call = np.array(
            [
                1,
                aligned,
                *[number for array in self.inputs for number in (address(array), 0)],
                *[address(array) for array in self.outputs],
            ],
            dtype=np.int64,
        )
        self.call = address(self._call)


class Library:
    """The ``run`` function of one shared library, called on addresses."""

    def __init__(
        self,
        content: bytes | ctypes.CDLL,
        inputs: Sequence[Port],
        outputs: Sequence[Port],
        cost: int,
    ) -> None:
        self._ports = (inputs, outputs)
        native = load_library(content) if isinstance(content, bytes) else content
        self._run = native.run
        self._run.restype = ctypes.c_int
        self._run.argtypes = [ctypes.c_void_p]
        self._memory = ctypes.c_long.in_dll(native, "one_group").value
        self._sizes = [port.size for port in outputs]
        self._cost = cost
        # Popping from and appending to a list is atomic, so threads never share buffers.
        self._buffers: list[_SingleStateBuffers] = []

    def run_single(self, inputs: Sequence[Any]) -> list[np.ndarray] | None:
        """Evaluate one state; None unless the inputs are float arrays of exactly its shapes."""
        try:
            buffers = self._buffers.pop()
        except IndexError:
            buffers = _SingleStateBuffers(*self._ports, self._memory)
        try:
            if len(inputs) != len(buffers.places):
                return None
            for (place, shape), given in zip(buffers.places, inputs, strict=True):
                if (
                    type(given) is not PlainArray
                    or given.shape != shape
                    or given.dtype is not FLOAT
                ):
                    return None
                place[...] = given
            self._run(buffers.call)
            return [array.copy() for array in buffers.outputs]
        finally:
            self._buffers.append(buffers)

    def run(self, count: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> None:
        """Evaluate ``count`` states: rows of the inputs (or their only row) into rows of outputs.

        Rows of inputs may have any distance; rows themselves and outputs are contiguous.
        """
        shares = 1
        if count * self._cost > MIN_INSTRUCTIONS_PER_THREAD:
            shares = min(thread_count(), count * self._cost // MIN_INSTRUCTIONS_PER_THREAD)
        strides = [array.strides[0] // 8 if len(array) > 1 else 0 for array in inputs]
        length = -(-count // shares)
        length += -length % 8
        calls = []
        for start in range(0, count, length):
            places = [min(length, count - start), 0]
            for array, stride in zip(inputs, strides, strict=True):
                places += (address(array) + 8 * start * stride, stride)
            for array, size in zip(outputs, self._sizes, strict=True):
                places.append(address(array) + 8 * start * size)
            calls.append(np.array(places, dtype=np.int64))
        # The first share runs in this thread; `calls` keeps its arrays alive until all are done.
        others = [pool(shares).submit(self._run, address(call)) for call in calls[1:]]
        failed = self._run(address(calls[0]))
        if any([failed, *[other.result() for other in others]]):
            raise MemoryError("no memory for the work array of a kernel")


def address(array: np.ndarray) -> int:
    """Address of the data of an array."""
    return int(array.__array_interface__["data"][0])
