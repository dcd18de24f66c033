"""Kernels derived from a kernel: Jacobians, Hessian-vector products and sparse Hessians.

They come from the same traced function by automatic differentiation, so they are exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np
from scipy.sparse import csr_array

from homodyn.errors import KernelError
from homodyn.symbolic.kernel import Kernel
from homodyn.symbolic.trace import Port, TracedFunction, build_graph


class SparseKernel(Kernel):
    """A kernel for a matrix of which only the entries that can differ from zero are computed.

    A call returns their values, shape (..., nonzeros); entry k stands at ``rows[k], columns[k]``.
    """

    def __init__(self, traced: TracedFunction, matrix: ca.SX) -> None:
        super().__init__(traced)
        rows, columns = matrix.sparsity().get_triplet()
        self.rows = np.array(rows, dtype=int)
        self.columns = np.array(columns, dtype=int)
        self.shape = (int(matrix.shape[0]), int(matrix.shape[1]))

    def dense(self, values: np.ndarray) -> np.ndarray:
        """The matrices that values stand for, shape (..., rows, columns)."""
        full = np.zeros((*np.shape(values)[:-1], *self.shape))
        full[..., self.rows, self.columns] = values
        return full

    def matrix(self, values: np.ndarray) -> csr_array:
        """The sparse matrix of one state."""
        return csr_array((values, (self.rows, self.columns)), shape=self.shape)


def jacobian(
    kernel: Kernel, of: str | None = None, wrt: str | Sequence[str] | None = None
) -> Kernel:
    """The derivative of one output (the first) towards inputs (the first): one array for each.

    An array has the shape of the output followed by that of the input.
    """
    symbols, outputs, output = _open(kernel, of)
    names = _names(kernel, wrt)
    ports, results = [], []
    for name in names:
        place = kernel.traced.port("input", name)
        source = kernel.inputs[place]
        derived = ca.jacobian(outputs[output], symbols[place])
        ports.append(
            Port(
                f"d{kernel.outputs[output].name}/d{source.name}",
                kernel.outputs[output].shape + source.shape,
            )
        )
        results.append(ca.vec(derived.T))
    return Kernel(_derived_function(kernel, f"jacobian of {kernel.name}", symbols, ports, results))


def sparse_jacobian(kernel: Kernel, of: str | None = None, wrt: str | None = None) -> SparseKernel:
    """The derivative of one output towards one input, only the entries that can be nonzero."""
    symbols, outputs, output = _open(kernel, of)
    place = kernel.traced.port("input", wrt)
    derived = ca.jacobian(outputs[output], symbols[place])
    return _sparse(kernel, f"sparse jacobian of {kernel.name}", symbols, kernel.inputs, derived)


def hessian(kernel: Kernel, of: str | None = None, wrt: str | None = None) -> SparseKernel:
    """The second derivative of ``multipliers . output`` towards one input, upper triangle only.

    A scalar output needs no multipliers; otherwise the kernel takes them as one more input.
    """
    symbols, inputs, weighted, place = _weighted_scalar(kernel, of, wrt)
    derived, _ = ca.hessian(weighted, symbols[place])
    upper = ca.triu(derived)
    return _sparse(kernel, f"hessian of {kernel.name}", symbols, inputs, upper)


def hessian_vector(kernel: Kernel, of: str | None = None, wrt: str | None = None) -> Kernel:
    """The Hessian of ``multipliers . output`` towards one input, times the input ``direction``."""
    symbols, inputs, weighted, place = _weighted_scalar(kernel, of, wrt)
    source = kernel.inputs[place]
    direction = ca.SX.sym("direction", source.size)
    gradient = ca.gradient(weighted, symbols[place])
    product = ca.jtimes(gradient, symbols[place], direction)
    ports = (*inputs, Port("direction", source.shape))
    return Kernel(
        TracedFunction(
            f"hessian-vector product of {kernel.name}",
            ports,
            (Port("product", source.shape),),
            build_graph(
                f"hessian-vector product of {kernel.name}",
                [*symbols, direction],
                [product],
                [port.name for port in ports],
            ),
        )
    )


def _open(kernel: Kernel, of: str | None) -> tuple[list[ca.SX], list[ca.SX], int]:
    symbols, outputs = kernel.traced.expressions()
    return symbols, outputs, kernel.traced.port("output", of)


def _names(kernel: Kernel, wrt: str | Sequence[str] | None) -> list[str]:
    if wrt is None:
        return [kernel.inputs[0].name]
    return [wrt] if isinstance(wrt, str) else list(wrt)


def _weighted_scalar(
    kernel: Kernel, of: str | None, wrt: str | None
) -> tuple[list[ca.SX], tuple[Port, ...], ca.SX, int]:
    """Symbols, their ports, the scalar to derive twice and the index of the input to derive by."""
    symbols, outputs, output = _open(kernel, of)
    place = kernel.traced.port("input", wrt)
    port = kernel.outputs[output]
    if port.shape == ():
        return symbols, kernel.inputs, outputs[output], place
    if any(known.name == "multipliers" for known in kernel.inputs):
        raise KernelError(f"kernel {kernel.name!r} has an input called multipliers already")
    multipliers = ca.SX.sym("multipliers", port.size)
    ports = (*kernel.inputs, Port("multipliers", port.shape))
    return [*symbols, multipliers], ports, ca.dot(multipliers, outputs[output]), place


def _derived_function(
    kernel: Kernel, name: str, symbols: list[ca.SX], ports: list[Port], results: list[ca.SX]
) -> TracedFunction:
    graph = build_graph(name, symbols, results, [port.name for port in kernel.inputs])
    return TracedFunction(name, kernel.inputs, tuple(ports), graph)


def _sparse(
    kernel: Kernel, name: str, symbols: list[ca.SX], inputs: tuple[Port, ...], matrix: ca.SX
) -> SparseKernel:
    graph = build_graph(name, symbols, [matrix.nz[:]], [port.name for port in inputs])
    port = Port("values", (matrix.nnz(),))
    return SparseKernel(TracedFunction(name, inputs, (port,), graph), matrix)
