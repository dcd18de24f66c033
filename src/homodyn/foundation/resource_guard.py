"""Limits of processor time and memory for pure Python code that processes untrusted texts.

A watchdog thread observes the thread that does the work. When a limit is exceeded, it raises an
exception in that thread, which arrives between two bytecodes. Code that spends its time inside one
call of a C library is not interrupted; such code belongs into a process of its own.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

CHECK_INTERVAL_S = 0.05


class ResourceLimitExceeded(Exception):
    """Work used more processor time or memory than it may.

    Args:
        resource: The resource with its limit, such as ``"20 s of processor time"``.
    """

    def __init__(self, resource: str) -> None:
        super().__init__(f"more than {resource}")
        self.resource = resource


class _Interruption(BaseException):
    """Raised in the observed thread; a base exception, so that no handler of the work stops it."""


@contextmanager
def limit_resources(cpu_s: float, memory_bytes: int) -> Iterator[None]:
    """Limit the work inside this context.

    Args:
        cpu_s: Processor time of this thread (s); elapsed time where the system does not tell.
        memory_bytes: Growth of the resident memory of the process (bytes), on Linux only.

    Raises:
        ResourceLimitExceeded: A limit was exceeded. The work was interrupted.
    """
    watchdog = _Watchdog(threading.get_ident(), cpu_s, memory_bytes)
    watchdog.start()
    try:
        try:
            yield
        finally:
            watchdog.stop()
    except _Interruption:
        pass
    except MemoryError:
        raise ResourceLimitExceeded("the memory of this machine") from None
    if watchdog.exceeded:
        raise ResourceLimitExceeded(watchdog.exceeded)


class _Watchdog:
    """Interrupts a thread when it exceeds a limit."""

    def __init__(self, thread: int, cpu_s: float, memory_bytes: int) -> None:
        self.exceeded = ""
        """The resource whose limit was exceeded."""
        self._worker = thread
        self._cpu_s, self._memory_bytes = cpu_s, memory_bytes
        self._clock = _thread_clock(thread)
        self._begin_s, self._begin_bytes = self._clock(), _resident_bytes()
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End; an interruption that has not arrived is withdrawn."""
        self._ended.set()
        with self._lock:
            if self.exceeded:
                _set_interruption(self._worker, None)

    def _run(self) -> None:
        while not self._ended.wait(CHECK_INTERVAL_S):
            if self._clock() - self._begin_s > self._cpu_s:
                self._interrupt(f"{self._cpu_s:g} s of processor time")
            elif _resident_bytes() - self._begin_bytes > self._memory_bytes:
                self._interrupt(f"{self._memory_bytes / 1e9:g} GB of memory")

    def _interrupt(self, resource: str) -> None:
        """Interrupt the thread, again and again, because destructors ignore exceptions."""
        with self._lock:
            if not self._ended.is_set():
                self.exceeded = self.exceeded or resource
                _set_interruption(self._worker, _Interruption)


def _set_interruption(thread: int, kind: type[BaseException] | None) -> None:
    argument = None if kind is None else ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), argument)


def _thread_clock(thread: int) -> Callable[[], float]:
    """The clock of the processor time of a thread."""
    if sys.platform == "linux":
        number = time.pthread_getcpuclockid(thread)
        return lambda: time.clock_gettime(number)
    return time.monotonic


def _resident_bytes() -> int:
    """Resident memory of this process; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0
    return pages * mmap.PAGESIZE
