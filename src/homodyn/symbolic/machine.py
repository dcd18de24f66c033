"""What this machine offers to kernels: compiler, vector lanes, threads, cache."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from homodyn.symbolic import cache
from homodyn.symbolic.compiler import find_compiler
from homodyn.symbolic.threads import thread_count


@dataclass(frozen=True)
class Machine:
    """How kernels run here; without a compiler they stay on CasADi's virtual machine."""

    compiler: str | None
    compiler_version: str | None
    instruction_set: str
    lanes: int
    fma: bool
    threads: int
    cache: Path


def machine() -> Machine:
    """A description of this machine."""
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
