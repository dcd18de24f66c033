"""Kernels whose graph is long to derive: while their library is cached, it is never derived.

The second derivatives of a body take longer to write down than to evaluate a thousand times. Here
a kernel is known by a short text (the function it is derived from) and a recipe. The library holds
what a caller must know besides the numbers: sizes, and where in a matrix the numbers belong.

Without a library the graph is derived and CasADi's virtual machine serves. Once that has taken a
while, the graph is handed to another process (`later`), and native code takes over in the midst of
the work as soon as it is there.
"""

from __future__ import annotations

import ctypes
import os
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakValueDictionary

import casadi as ca
import numpy as np

from homodyn.symbolic import build_queue, cache
from homodyn.symbolic.codegen import CODEGEN_VERSION, CSource, generate
from homodyn.symbolic.compiler import COMPILER_FLAGS, CompileFailed, Compiler, build, find_compiler
from homodyn.symbolic.interpreter import Interpreter
from homodyn.symbolic.library import Library, load_library
from homodyn.symbolic.program import lower_and_contract
from homodyn.symbolic.threads import thread_count
from homodyn.symbolic.trace import Port, TracedFunction

LIBRARY_LAYOUT_VERSION = 2
"""Raised whenever what a library tells about itself, or how it is compiled, changes."""

QUICK_BUILD_FLAGS = tuple("-O1" if flag == "-O2" else flag for flag in COMPILER_FLAGS)
"""Long straight-line code is compiled in two thirds of the time."""

INTERPRETED_SECONDS_BEFORE_BUILD = 0.1
"""Seconds on the virtual machine after which native code is wanted."""

METADATA_TEMPLATE = """\
const long long about_size = {size};
const long long about[] = {{{numbers}}};
"""


@dataclass(frozen=True, eq=False)
class DerivedGraph:
    """A graph of flat columns, and the rows and columns (2, n) of the entries of a matrix."""

    graph: ca.Function
    entries: np.ndarray


class LazyKernel:
    """A function of rows of numbers, one row for each state, known by text and recipe."""

    def __init__(
        self,
        name: str,
        text: Sequence[str],
        inputs: Sequence[Port],
        derive: Callable[[], DerivedGraph],
    ) -> None:
        self.name = name
        self.inputs = tuple(inputs)
        self._text = tuple(text)
        self._derive = derive
        self._native: tuple[Library, list[int], np.ndarray] | None = None
        self._spent = 0.0
        self._asked = False
        self._awaited = False
        self._looked = False

    @cached_property
    def derived(self) -> DerivedGraph:
        """The graph itself, which takes its time."""
        known = _derived.get(self.identity)
        if known is None:
            known = _derived[self.identity] = self._derive()
        return known

    @cached_property
    def entries(self) -> np.ndarray:
        """(2, n): rows and columns of the entries."""
        self._look()
        return self._native[2] if self._native else self.derived.entries

    @property
    def compiled(self) -> bool:
        """Whether native code serves, or is at hand."""
        self._look()
        return self._native is not None

    def __call__(self, *arguments: np.ndarray) -> list[np.ndarray]:
        """Evaluate rows of inputs (count, size) into rows of outputs."""
        count = max(len(given) for given in arguments)
        if self._native is None:
            self._look()
        if self._native is not None:
            library, sizes, _ = self._native
            rows = [np.ascontiguousarray(given, dtype=float) for given in arguments]
            results = [np.empty((count, size)) for size in sizes]
            library.run(count, rows, results)
            return results
        began = time.perf_counter()
        graph = self.derived.graph
        results = [np.zeros((count, graph.numel_out(k))) for k in range(graph.n_out())]
        self._interpreter.run(list(arguments), results)
        self._spent += time.perf_counter() - began
        if self._spent > INTERPRETED_SECONDS_BEFORE_BUILD and not self._asked:
            self._asked = True
            self._awaited = self._ask()
        return results

    def compile(self) -> LazyKernel:
        """Build native code now, if there is a compiler and none was built before."""
        self._look()
        compiler = find_compiler()
        if self._native is None and compiler is not None and _tier() != "interpreted":
            job = build_queue.BuildJob(
                self._key(compiler), self.derived.graph, self.inputs, self._about()
            )
            try:
                self._load(build_job(job, compiler, thread_count()))
            except (CompileFailed, OSError) as error:
                warnings.warn(f"{self.name!r} stays on the virtual machine: {error}", stacklevel=2)
        return self

    @cached_property
    def _interpreter(self) -> Interpreter:
        return Interpreter(
            TracedFunction(self.name, self.inputs, self._outputs(), self.derived.graph)
        )

    def _outputs(self) -> tuple[Port, ...]:
        graph = self.derived.graph
        return tuple(Port(f"output{k}", (graph.numel_out(k),)) for k in range(graph.n_out()))

    def _about(self) -> list[int]:
        graph, places = self.derived.graph, self.derived.entries
        sizes = [graph.numel_out(k) for k in range(graph.n_out())]
        head = [graph.n_instructions(), len(sizes), *sizes, places.shape[1]]
        return [*head, *places.reshape(-1).tolist()]

    def _look(self) -> None:
        """Take native code that is there; once, and again while it is being built."""
        if self._native is not None or (self._looked and not self._awaited):
            return
        if _tier() == "interpreted":
            return
        compiler = find_compiler()
        if compiler is None:
            self._looked = True
            return
        if not (cache.folder() / self._key(compiler)).is_dir():
            self._looked = True
            if _tier() == "compiled":
                self.compile()
            return
        content = cache.find(self._key(compiler))
        if content is not None:
            self._load(content)
        self._looked = True

    def _load(self, content: bytes) -> None:
        native = load_library(content)
        size = ctypes.c_longlong.in_dll(native, "about_size").value
        about = np.array((ctypes.c_longlong * size).in_dll(native, "about"), dtype=int)
        cost, outputs = int(about[0]), int(about[1])
        sizes = [int(n) for n in about[2 : 2 + outputs]]
        places = about[3 + outputs :].reshape(2, -1)
        ports = [Port(f"output{k}", (n,)) for k, n in enumerate(sizes)]
        self._native = (Library(native, self.inputs, ports, cost), sizes, places)

    @property
    def identity(self) -> tuple[str, ...]:
        """Equal for kernels that compute the same."""
        return (str(self.inputs), *self._text)

    def _key(self, compiler: Compiler) -> str:
        if compiler.identity not in self._keys:
            parts = (str(CODEGEN_VERSION), str(LIBRARY_LAYOUT_VERSION), compiler.identity)
            self._keys[compiler.identity] = cache.make_key(*parts, *self.identity)
        return self._keys[compiler.identity]

    @cached_property
    def _keys(self) -> dict[str, str]:
        return {}

    def _ask(self) -> bool:
        """Have it built by another process; False where nobody will."""
        compiler = find_compiler()
        if compiler is None or _tier() == "interpreted":
            return False
        job = build_queue.BuildJob(
            self._key(compiler), self.derived.graph, self.inputs, self._about()
        )
        return build_queue.submit(job)


_derived: WeakValueDictionary[tuple[str, ...], DerivedGraph] = WeakValueDictionary()
"""What kernels that are alive have derived: others that compute the same need not do so again."""


def build_job(job: build_queue.BuildJob, compiler: Compiler, threads: int) -> bytes:
    """The library of a job, built and kept."""
    graph = job.graph
    outputs = tuple(Port(f"output{k}", (graph.numel_out(k),)) for k in range(graph.n_out()))
    source = generate(lower_and_contract(graph), job.inputs, outputs, compiler.lanes)
    numbers = ", ".join(map(str, job.metadata))
    told = METADATA_TEMPLATE.format(size=len(job.metadata), numbers=numbers)
    whole = CSource((*source.files, ("about.c", told)))
    content, remark = cache.store(
        job.key, lambda target: build(whole, compiler, target, threads, QUICK_BUILD_FLAGS)
    )
    if remark:
        warnings.warn(remark, stacklevel=2)
    return content


def _tier() -> str:
    return os.environ.get("HOMODYN_TIER", "")
