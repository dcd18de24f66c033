"""A compiled kernel in this process: loads the library and spreads a batch over threads."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

from homodyn.symbolic.threads import pool, thread_count

WORTH_A_THREAD = 400_000
"""Instructions times states that repay handing work to another thread (about 50 microseconds)."""


class Library:
    """The ``run`` function of one shared library, called on addresses."""

    def __init__(self, path: Path, inputs: int, output_sizes: Sequence[int], cost: int) -> None:
        self.path = path
        self._run = ctypes.CDLL(str(path)).run
        self._run.restype = ctypes.c_int
        addresses = [ctypes.c_void_p] * len(output_sizes)
        self._run.argtypes = [
            ctypes.c_long,
            *[kind for _ in range(inputs) for kind in (ctypes.c_void_p, ctypes.c_long)],
            *addresses,
        ]
        self._output_bytes = [8 * size for size in output_sizes]
        self._cost = cost

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
            raise MemoryError("no memory for the work array of a kernel")

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
