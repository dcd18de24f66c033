"""Tracing: a Python function over symbolic arrays becomes an expression graph with named ports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import casadi as ca
import numpy as np

from homodyn.errors import KernelError
from homodyn.symbolic.solver_loop import SolverLoop, collect_loops

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Port:
    """A named input or output with its shape for one state; () is a scalar."""

    name: str
    shape: Shape

    @property
    def size(self) -> int:
        """Numbers per state."""
        return prod(self.shape)


def offsets(ports: tuple[Port, ...]) -> list[int]:
    """Start of each port in a concatenated array, and the end of the last one."""
    places = [0]
    for port in ports:
        places.append(places[-1] + port.size)
    return places


@dataclass(frozen=True, eq=False)
class TracedFunction:
    """An expression graph with ports: flat columns in row-major order, sparse where zero."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    graph: ca.Function
    """The whole function, for the virtual machine."""
    loop: SolverLoop | None = None
    """The solver loop of the function."""
    stages: ca.Function | None = None
    """With a solver loop, the graph around it: the inputs and the result of the loop to the
    outputs, and to what enters the loop."""

    @property
    def code_graph(self) -> ca.Function:
        """The graph that native code is made of, without the iterations of a solver loop."""
        return self.graph if self.stages is None else self.stages

    @property
    def instructions(self) -> int:
        """Number of instructions of an evaluation on the virtual machine."""
        iterations = 0 if self.loop is None else self.loop.cost
        return int(self.code_graph.n_instructions()) + iterations

    def port(self, side: str, name: str | None) -> int:
        """Index of a port by name; the first when no name is given."""
        ports = self.inputs if side == "input" else self.outputs
        if name is None:
            return 0
        for index, port in enumerate(ports):
            if port.name == name:
                return index
        names = ", ".join(port.name for port in ports)
        raise KernelError(f"kernel {self.name!r} has no {side} {name!r}; it has {names}")

    def expressions(self) -> tuple[list[ca.SX], list[ca.SX]]:
        """New symbols for the inputs, and the outputs as expressions in them, all flat columns.

        Raises:
            KernelError: The function has a solver loop, which is no expression.
        """
        if self.loop is not None:
            raise KernelError(f"kernel {self.name!r} has a solver loop and no derivatives")
        symbols = [ca.SX.sym(port.name, port.size) for port in self.inputs]
        return symbols, list(self.graph.call(symbols))


def trace(
    function: Callable[..., Any],
    inputs: Mapping[str, int | Shape],
    outputs: Mapping[str, int | Shape] | None = None,
    name: str | None = None,
    given: Mapping[str, ca.SX] | None = None,
) -> TracedFunction:
    """Call a function with symbols and keep what it returns as a graph.

    Args:
        function: Returns one array, a tuple or list of arrays, or a mapping from names to arrays.
        inputs: Shapes of the inputs by name.
        outputs: Shapes of the outputs by name. By default a 1x1 result is a scalar, a column a
            vector, anything else a matrix.
        name: Name for messages; that of the function by default.
        given: Existing symbols for some of the inputs.

    Returns:
        The graph with its ports.

    Raises:
        KernelError: Outputs do not match, or the function uses symbols that are not inputs.
    """
    ports = tuple(Port(key, _as_shape(value)) for key, value in inputs.items())
    known = given or {}
    symbols = [
        known[port.name] if port.name in known else ca.SX.sym(port.name, port.size)
        for port in ports
    ]
    arguments = [_reshape_input(x, port.shape) for x, port in zip(symbols, ports, strict=True)]
    with collect_loops() as loops:
        returned = function(*arguments)
    label = name or getattr(function, "__name__", "function").replace("<lambda>", "function")
    named = _name_outputs(returned, outputs, label)
    results = []
    flat = []
    for key, value in named.items():
        value = _to_symbolic(value, f"output {key!r} of {label!r}")
        shape = _as_shape(outputs[key]) if outputs is not None else _infer_shape(value)
        if prod(shape) != value.numel():
            raise KernelError(
                f"output {key!r} of {label!r} has {value.shape[0]}x{value.shape[1]} entries "
                f"where the shape {shape} was declared"
            )
        results.append(Port(key, shape))
        flat.append(_flatten(value))
    names = [port.name for port in ports]
    if not loops:
        return TracedFunction(
            label, ports, tuple(results), build_graph(label, symbols, flat, names)
        )
    loop = loops[0]
    stages = build_graph(label, [*symbols, loop.result], [*flat, loop.start, loop.constants], names)
    graph = _graph_with_loop(label, symbols, flat, loop, names)
    return TracedFunction(label, ports, tuple(results), graph, loop, stages)


def _graph_with_loop(
    label: str, symbols: list[ca.SX], flat: list[ca.SX], loop: SolverLoop, names: list[str]
) -> ca.Function:
    """A function with a solver loop for the virtual machine."""
    before = build_graph(label, symbols, [loop.start, loop.constants], names)
    after = build_graph(label, [*symbols, loop.result], flat, names)
    given = [ca.MX.sym(f"x{k}", symbol.numel()) for k, symbol in enumerate(symbols)]
    result = loop.repeated_body()(*before.call(given))
    return ca.Function("kernel", given, after.call([*given, result]))


def build_graph(
    name: str, symbols: list[ca.SX], outputs: list[ca.SX], names: list[str]
) -> ca.Function:
    """The expression graph of flat columns; refuses symbols that are not among the inputs."""
    graph = ca.Function("kernel", symbols, outputs, {"allow_free": True})
    if graph.has_free():
        raise KernelError(
            f"{name!r} uses the symbols {', '.join(sorted(graph.get_free()))}, which are not among "
            f"its inputs {', '.join(names)}"
        )
    return graph


def _as_shape(value: int | Shape) -> Shape:
    if isinstance(value, (int, np.integer)):
        return (int(value),)
    return tuple(int(extent) for extent in value)


def _reshape_input(symbol: ca.SX, shape: Shape) -> ca.SX:
    """A flat row-major column as the matrix a function expects."""
    if len(shape) < 2:
        return symbol
    return ca.reshape(symbol, prod(shape[1:]), shape[0]).T


def _flatten(value: ca.SX) -> ca.SX:
    return value if value.shape[1] == 1 else ca.vec(value.T)


def _infer_shape(value: ca.SX) -> Shape:
    rows, columns = value.shape
    if columns == 1:
        return () if rows == 1 else (rows,)
    return (rows, columns)


def _to_symbolic(value: Any, what: str) -> ca.SX:
    if isinstance(value, ca.SX):
        return value
    if isinstance(value, ca.MX):
        raise KernelError(f"{what} is a CasADi MX; kernels are traced over SX arrays")
    try:
        return ca.SX(np.asarray(value, dtype=float))
    except (TypeError, ValueError):
        entries = np.atleast_1d(np.asarray(value, dtype=object))
        if entries.ndim > 2:
            raise KernelError(
                f"{what} has {entries.ndim} dimensions; at most 2 are supported"
            ) from None
        if entries.ndim == 1:
            return ca.vertcat(*entries)
        return ca.vertcat(*[ca.horzcat(*row) for row in entries])


def _name_outputs(
    returned: Any, outputs: Mapping[str, int | Shape] | None, label: str
) -> dict[str, Any]:
    if isinstance(returned, Mapping):
        named = dict(returned)
    elif isinstance(returned, (tuple, list)):
        names = list(outputs) if outputs else [f"output{k}" for k in range(len(returned))]
        if len(names) != len(returned):
            raise KernelError(f"{label!r} returned {len(returned)} arrays for {len(names)} outputs")
        named = dict(zip(names, returned, strict=True))
    else:
        named = {next(iter(outputs)) if outputs else "output": returned}
    if outputs is not None and set(named) != set(outputs):
        raise KernelError(f"{label!r} returned {', '.join(named)} for outputs {', '.join(outputs)}")
    return named
