"""How kernels run on this machine: compiler, vector lanes, threads, cache."""

from __future__ import annotations

from pathlib import Path

from homodyn.foundation import Record, record
from homodyn.symbolic import cache
from homodyn.symbolic.compiler import find_compiler
from homodyn.symbolic.threads import thread_count


@record(eq=True)
class Machine(Record):
    """How kernels run on this machine; without a compiler, on CasADi's virtual machine."""

    compiler: str | None
    """Path of the C compiler."""
    compiler_version: str | None
    instruction_set: str
    """Vector instruction set, such as "AVX2"."""
    lanes: int
    """States computed at once."""
    fma: bool
    """Whether the processor fuses products with sums."""
    threads: int
    """Threads that a batch may use."""
    cache: Path
    """Folder of built libraries."""


def machine() -> Machine:
    """How kernels run on this machine.

    Returns:
        Compiler, instruction set, lanes, threads and cache folder.

    Raises:
        KernelError: ``HOMODYN_LANES`` or ``HOMODYN_THREADS`` has an invalid value.
    """
    found = find_compiler()
    return Machine(
        compiler=found.path if found else None,
        compiler_version=found.version if found else None,
        instruction_set=found.instruction_set if found else "CasADi virtual machine",
        lanes=found.lanes if found else 1,
        fma=found.fma if found else False,
        threads=thread_count(),
        cache=cache.folder(),
    )
