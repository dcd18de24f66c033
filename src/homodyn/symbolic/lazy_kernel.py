"""Kernels whose graph takes long to derive: with a cached library the graph is never derived.

Writing down the second derivatives of a body takes longer than evaluating them a thousand times. A
lazy kernel is identified by a short text (the function it is derived from) and by a recipe for the
graph. Its library also contains metadata: the sizes of the outputs, and the rows and columns of
the matrix entries.

Without a library the graph is derived and CasADi's virtual machine evaluates it. When that has
taken a while, the graph is handed to a background process (`build_queue`), and native code takes
over as soon as it is ready.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakValueDictionary

import casadi as ca
import numpy as np

from homodyn.symbolic import build_queue, cache
from homodyn.symbolic.codegen import CODEGEN_VERSION, CSource
from homodyn.symbolic.compiler import Compiler, find_compiler
from homodyn.symbolic.interpreter import Interpreter
from homodyn.symbolic.library import Library, load_library
from homodyn.symbolic.native_code import NativeCode, forced_tier
from homodyn.symbolic.trace import Port, TracedFunction

LIBRARY_LAYOUT_VERSION = 2
"""Raised whenever the metadata of a library, or the compiler flags, change."""

INTERPRETED_SECONDS_BEFORE_BUILD = 0.1
"""Time on the virtual machine after which native code is requested."""


@dataclass(frozen=True, eq=False)
class DerivedGraph:
    """A graph of flat columns, and the rows and columns (2, n) of the entries of a matrix."""

    graph: ca.Function
    entries: np.ndarray


@dataclass(frozen=True, eq=False)
class _LoadedLibrary:
    library: Library
    sizes: list[int]
    entries: np.ndarray


class _LazyCode(NativeCode[_LoadedLibrary]):
    """Native code of a graph that is derived only when it must be built."""

    def __init__(
        self,
        name: str,
        text: tuple[str, ...],
        inputs: tuple[Port, ...],
        derive: Callable[[], DerivedGraph],
    ) -> None:
        super().__init__(repr(name), build_queue.QUICK_BUILD_FLAGS)
        self.identity = (str(inputs), *text)
        self._inputs, self._derive = inputs, derive

    @cached_property
    def derived(self) -> DerivedGraph:
        """The graph, shared with kernels that compute the same."""
        known = _derived_graphs.get(self.identity)
        if known is None:
            known = _derived_graphs[self.identity] = self._derive()
        return known

    def make_key(self, compiler: Compiler) -> str:
        """The cache key."""
        parts = (str(CODEGEN_VERSION), str(LIBRARY_LAYOUT_VERSION), compiler.identity)
        return cache.make_key(*parts, *self.identity)

    def job(self, compiler: Compiler) -> build_queue.BuildJob:
        """All that a build needs."""
        graph, entries = self.derived.graph, self.derived.entries
        sizes = [graph.numel_out(k) for k in range(graph.n_out())]
        head = [graph.n_instructions(), len(sizes), *sizes, entries.shape[1]]
        metadata = [*head, *entries.reshape(-1).tolist()]
        return build_queue.BuildJob(self.key(compiler), graph, self._inputs, metadata)

    def make_source(self, compiler: Compiler) -> CSource:
        """The C source with metadata."""
        return self.job(compiler).source(compiler)

    def load(self, content: bytes) -> _LoadedLibrary:
        """The loaded library with its metadata."""
        native = load_library(content)
        size = ctypes.c_longlong.in_dll(native, "about_size").value
        metadata = np.array((ctypes.c_longlong * size).in_dll(native, "about"), dtype=int)
        cost, outputs = int(metadata[0]), int(metadata[1])
        sizes = [int(n) for n in metadata[2 : 2 + outputs]]
        entries = metadata[3 + outputs :].reshape(2, -1)
        ports = [Port(f"output{k}", (n,)) for k, n in enumerate(sizes)]
        return _LoadedLibrary(Library(native, self._inputs, ports, cost), sizes, entries)


class LazyKernel:
    """A function of rows of numbers, one row per state, identified by a text.

    Args:
        name: Name for messages.
        text: Identifies the function: kernels of equal text and inputs compute the same.
        inputs: The input ports.
        derive: The recipe; called only when the graph is needed.
    """

    def __init__(
        self,
        name: str,
        text: Sequence[str],
        inputs: Sequence[Port],
        derive: Callable[[], DerivedGraph],
    ) -> None:
        self.name = name
        self.inputs = tuple(inputs)
        self._native = _LazyCode(name, tuple(text), self.inputs, derive)
        self._interpreted_seconds = 0.0
        self._requested = False
        self._awaited = False
        self._looked_up = False

    @property
    def derived(self) -> DerivedGraph:
        """The graph itself; deriving it takes time."""
        return self._native.derived

    @cached_property
    def entries(self) -> np.ndarray:
        """(2, n): rows and columns of the matrix entries."""
        library = self._look_up()
        return library.entries if library else self.derived.entries

    @property
    def compiled(self) -> bool:
        """Whether native code serves calls."""
        return self._look_up() is not None

    @property
    def identity(self) -> tuple[str, ...]:
        """Equal for kernels that compute the same."""
        return self._native.identity

    def __call__(self, *arguments: np.ndarray) -> list[np.ndarray]:
        """Evaluate rows of inputs (count, size) into rows of outputs.

        Args:
            arguments: One array per input; a single row is shared by all states.

        Returns:
            One array (count, size) per output.
        """
        count = max(len(given) for given in arguments)
        native = self._look_up()
        if native is not None:
            rows = [np.ascontiguousarray(given, dtype=float) for given in arguments]
            results = [np.empty((count, size)) for size in native.sizes]
            native.library.run(count, rows, results)
            return results
        start = time.perf_counter()
        graph = self.derived.graph
        results = [np.zeros((count, graph.numel_out(k))) for k in range(graph.n_out())]
        self._interpreter.run(list(arguments), results)
        self._interpreted_seconds += time.perf_counter() - start
        if self._interpreted_seconds > INTERPRETED_SECONDS_BEFORE_BUILD and not self._requested:
            self._requested = True
            self._awaited = self._request_build()
        return results

    def compile(self) -> LazyKernel:
        """Build native code now, if there is a compiler; returns the kernel itself."""
        if forced_tier() != "interpreted":
            self._native.build()
        return self

    @cached_property
    def _interpreter(self) -> Interpreter:
        graph = self.derived.graph
        outputs = tuple(Port(f"output{k}", (graph.numel_out(k),)) for k in range(graph.n_out()))
        return Interpreter(TracedFunction(self.name, self.inputs, outputs, graph))

    def _look_up(self) -> _LoadedLibrary | None:
        """Native code that is ready; the cache is read once, and again while a build is awaited."""
        native = self._native
        if native.library is not None or (self._looked_up and not self._awaited):
            return native.library
        if not native.is_allowed:
            return None
        self._looked_up = True
        if native.look_up() is None and forced_tier() == "compiled":
            native.build()
        return native.library

    def _request_build(self) -> bool:
        """Submit a job to the background process; False where it is turned off or impossible."""
        compiler = find_compiler()
        if compiler is None or not self._native.is_allowed:
            return False
        return build_queue.submit(self._native.job(compiler))


_derived_graphs: WeakValueDictionary[tuple[str, ...], DerivedGraph] = WeakValueDictionary()
"""Graphs of kernels that are alive, shared by kernels that compute the same."""
