"""The worker threads that share a large batch; native code runs with the interpreter unlocked."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

from homodyn.errors import KernelError


def thread_count() -> int:
    """Threads a batch may use: those of the machine, or ``HOMODYN_THREADS`` if fewer."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    asked = os.environ.get("HOMODYN_THREADS", "")
    if not asked:
        return available or 1
    if not asked.isdigit() or int(asked) < 1:
        raise KernelError(f"HOMODYN_THREADS is {asked!r}; it may be a whole number from 1 upwards")
    return min(int(asked), available or 1)


@lru_cache(maxsize=4)
def pool(size: int) -> ThreadPoolExecutor:
    """A pool that lives as long as the process."""
    return ThreadPoolExecutor(max_workers=size, thread_name_prefix="homodyn")


if hasattr(os, "register_at_fork"):
    # Threads do not survive a fork: the child must make its own pool.
    os.register_at_fork(after_in_child=pool.cache_clear)
