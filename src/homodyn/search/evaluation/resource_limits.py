"""Time and memory limits of code that may not return.

A soft time limit raises `TimeLimit` inside the evaluation: by a signal in the main thread, by an
asynchronous exception in other threads. Both need the interpreter; compiled code that does not
return to Python is not interrupted. In a worker process, a hard limit then ends the process.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import signal
import threading
from collections.abc import Iterator

HARD_LIMIT_GRACE_S = 2.0
"""Time between the soft limit and the end of the process."""


class TimeLimit(BaseException):
    """The time limit was reached; not an ``Exception``, so that user code does not catch it."""


@contextlib.contextmanager
def limit_time(seconds: float | None, *, hard: bool) -> Iterator[None]:
    """Limit the time of a block.

    Args:
        seconds: The limit (s); None for none.
        hard: Whether this process ends if the block does not stop at the limit.

    Raises:
        TimeLimit: The limit was reached.
    """
    if seconds is None:
        yield
        return
    null = None
    if hard:
        # The watchdog is a C thread that does not need the interpreter. It writes a traceback.
        null = open(os.devnull, "w")  # noqa: SIM115
        faulthandler.dump_traceback_later(seconds + HARD_LIMIT_GRACE_S, exit=True, file=null)
    try:
        main = threading.current_thread() is threading.main_thread()
        with (
            _by_signal(seconds)
            if main and hasattr(signal, "setitimer")
            else _by_async_exception(seconds)
        ):
            yield
    finally:
        if null is not None:
            faulthandler.cancel_dump_traceback_later()
            null.close()


@contextlib.contextmanager
def _by_signal(seconds: float) -> Iterator[None]:
    def stop(number: int, frame: object) -> None:
        raise TimeLimit

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)


@contextlib.contextmanager
def _by_async_exception(seconds: float) -> Iterator[None]:
    """Raise between two bytecodes: signals reach the main thread only."""
    thread = ctypes.c_ulong(threading.get_ident())
    lock = threading.Lock()
    ended = False

    def send() -> None:
        with lock:
            if not ended:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(TimeLimit))

    timer = threading.Timer(seconds, send)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with lock:
            ended = True
        timer.cancel()


def limit_memory(megabytes: float | None) -> None:
    """Limit the memory that this process may allocate in addition to what it has.

    Args:
        megabytes: The limit (MB); None for none.
    """
    if megabytes is None:
        return
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    _, hard_limit = resource.getrlimit(resource.RLIMIT_AS)
    limit = _address_space_bytes() + int(megabytes * 2**20)
    if hard_limit != resource.RLIM_INFINITY:
        limit = min(limit, hard_limit)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard_limit))


def _address_space_bytes() -> int:
    """Size of the address space of this process (bytes)."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
