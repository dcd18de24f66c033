"""Kernels derived from a kernel: Jacobians, Hessian-vector products and sparse Hessians.

They are exact: automatic differentiation of the same traced function.
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
    """A kernel for a sparse matrix: only structurally nonzero entries are computed.

    A call returns their values, (..., nonzeros); entry k is at ``rows[k], columns[k]``.

    Args:
        traced: The traced function of the values.
        matrix: The symbolic matrix, for its sparsity.
    """

    def __init__(self, traced: TracedFunction, matrix: ca.SX) -> None:
        super().__init__(traced)
        rows, columns = matrix.sparsity().get_triplet()
        self.rows = np.array(rows, dtype=int)
        self.columns = np.array(columns, dtype=int)
        self.shape = (int(matrix.shape[0]), int(matrix.shape[1]))

    def dense(self, values: np.ndarray) -> np.ndarray:
        """Dense matrices of values.

        Args:
            values: What a call returned, (..., nonzeros).

        Returns:
            (..., rows, columns).
        """
        full = np.zeros((*np.shape(values)[:-1], *self.shape))
        full[..., self.rows, self.columns] = values
        return full

    def matrix(self, values: np.ndarray) -> csr_array:
        """The sparse matrix of one state.

        Args:
            values: What a call returned for one state, (nonzeros,).

        Returns:
            A SciPy array in CSR format.
        """
        return csr_array((values, (self.rows, self.columns)), shape=self.shape)


def jacobian(
    kernel: Kernel, of: str | None = None, wrt: str | Sequence[str] | None = None
) -> Kernel:
    """The derivative of an output with respect to one or more inputs.

    Args:
        kernel: The kernel to differentiate.
        of: Name of the output; the first by default.
        wrt: Names of the inputs; the first by default.

    Returns:
        A kernel with the same inputs and one output per name in ``wrt``. Each has the shape of the
        output followed by that of the input.

    Raises:
        KernelError: The kernel has no input or output of that name.
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
    """The derivative of an output with respect to an input, structurally nonzero entries only.

    Args:
        kernel: The kernel to differentiate.
        of: Name of the output; the first by default.
        wrt: Name of the input; the first by default.

    Returns:
        A kernel for the values of the entries.

    Raises:
        KernelError: The kernel has no input or output of that name.
    """
    symbols, outputs, output = _open(kernel, of)
    place = kernel.traced.port("input", wrt)
    derived = ca.jacobian(outputs[output], symbols[place])
    return _sparse(kernel, f"sparse jacobian of {kernel.name}", symbols, kernel.inputs, derived)


def hessian(kernel: Kernel, of: str | None = None, wrt: str | None = None) -> SparseKernel:
    """The Hessian of ``multipliers . output`` with respect to an input, upper triangle only.

    Args:
        kernel: The kernel to differentiate twice.
        of: Name of the output; the first by default.
        wrt: Name of the input; the first by default.

    Returns:
        A kernel for the values of the entries. Unless the output is a scalar, it takes
        ``multipliers`` as one more input.

    Raises:
        KernelError: The kernel has no input or output of that name.
    """
    symbols, inputs, weighted, place = _weighted_scalar(kernel, of, wrt)
    derived, _ = ca.hessian(weighted, symbols[place])
    upper = ca.triu(derived)
    return _sparse(kernel, f"hessian of {kernel.name}", symbols, inputs, upper)


def hessian_vector(kernel: Kernel, of: str | None = None, wrt: str | None = None) -> Kernel:
    """The product of the Hessian of ``multipliers . output`` with a vector.

    Args:
        kernel: The kernel to differentiate twice.
        of: Name of the output; the first by default.
        wrt: Name of the input; the first by default.

    Returns:
        A kernel with one more input, ``direction``, and for outputs that are no scalars
        ``multipliers`` before it.

    Raises:
        KernelError: The kernel has no input or output of that name.
    """
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
    """Symbols, their ports, the scalar to differentiate and the index of the input."""
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
