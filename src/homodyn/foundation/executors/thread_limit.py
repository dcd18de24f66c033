"""A limit on the threads of processes that are started."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

THREAD_VARIABLES = (
    "HOMODYN_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
)
"""Environment variables that limit the threads of a process."""


@contextlib.contextmanager
def thread_limit(threads: int | None) -> Iterator[None]:
    """Limit the threads of processes that start inside this context.

    Args:
        threads: Threads of each process; None sets no limit.
    """
    if threads is None:
        yield
        return
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ |= {name: str(threads) for name in THREAD_VARIABLES}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
