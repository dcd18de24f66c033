"""The first tier: a traced graph evaluated by CasADi's virtual machine, one state after another."""

from __future__ import annotations

import threading

import numpy as np

from homodyn.symbolic.trace import TracedFunction


class Interpreter:
    """A graph with its own buffers; calls are serialized."""

    def __init__(self, traced: TracedFunction) -> None:
        graph = traced.graph
        self._buffer, self._evaluate = graph.buffer()
        self._lock = threading.Lock()
        self._inputs = [np.zeros(max(port.size, 1)) for port in traced.inputs]
        self._results = [np.zeros(max(graph.nnz_out(k), 1)) for k in range(len(traced.outputs))]
        for k, array in enumerate(self._inputs):
            self._buffer.set_arg(k, memoryview(array.data))
        for k, array in enumerate(self._results):
            self._buffer.set_res(k, memoryview(array.data))
        self._sizes = [port.size for port in traced.inputs]
        self._rows = [
            np.array(graph.sparsity_out(k).row(), dtype=int) for k in range(len(traced.outputs))
        ]

    def run(self, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> None:
        """Evaluate rows of ``inputs`` into rows of ``outputs``, all two-dimensional."""
        count = len(outputs[0]) if outputs else 0
        with self._lock:
            for rows, output in zip(self._rows, outputs, strict=True):
                if len(rows) < output.shape[1]:
                    output[:] = 0.0
            for state in range(count):
                for array, given, size in zip(self._inputs, inputs, self._sizes, strict=True):
                    array[:size] = given[state if len(given) > 1 else 0]
                self._evaluate()
                for rows, output, result in zip(self._rows, outputs, self._results, strict=True):
                    output[state, rows] = result[: len(rows)]
