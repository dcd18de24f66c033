"""Worker threads for large batches; native code runs without the interpreter lock."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

from homodyn.errors import KernelError


def thread_count() -> int:
    """Threads a batch may use: those of the machine, or ``HOMODYN_THREADS`` if fewer."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    value = os.environ.get("HOMODYN_THREADS", "")
    if not value:
        return available or 1
    if not value.isdigit() or int(value) < 1:
        raise KernelError(f"HOMODYN_THREADS is {value!r}; it must be a whole number of at least 1")
    return min(int(value), available or 1)


@lru_cache(maxsize=4)
def pool(size: int) -> ThreadPoolExecutor:
    """A pool that lives as long as the process."""
    return ThreadPoolExecutor(max_workers=size, thread_name_prefix="homodyn")


if hasattr(os, "register_at_fork"):
    # Threads do not survive a fork: the child needs a pool of its own.
    os.register_at_fork(after_in_child=pool.cache_clear)
