"""Limits of time and memory on code that may not return.

A soft limit raises ``TimeLimit`` inside the evaluation: by a signal in a main thread, by an
exception sent to the thread elsewhere. Code that does not come back to Python hears neither; in a
worker process a hard limit then ends the process, and the candidate is known by that.
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
"""Seconds between the soft limit and the end of the process, beyond which nothing is waited for."""


class TimeLimit(BaseException):
    """The time limit of a candidate is over; no ``Exception``, so that nothing swallows it."""


@contextlib.contextmanager
def limit_time(seconds: float | None, *, hard: bool) -> Iterator[None]:
    """Run the block for at most so long; ``hard`` ends this process if it does not stop."""
    if seconds is None:
        yield
        return
    nowhere = None
    if hard:
        # The watchdog is a thread in C that needs nothing of Python, and says where it stood.
        nowhere = open(os.devnull, "w")  # noqa: SIM115
        faulthandler.dump_traceback_later(seconds + HARD_LIMIT_GRACE_S, exit=True, file=nowhere)
    try:
        main = threading.current_thread() is threading.main_thread()
        with (
            _by_signal(seconds)
            if main and hasattr(signal, "setitimer")
            else _by_async_exception(seconds)
        ):
            yield
    finally:
        if nowhere is not None:
            faulthandler.cancel_dump_traceback_later()
            nowhere.close()


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
    """Between two lines of Python: a thread cannot be interrupted by a signal."""
    thread = ctypes.c_ulong(threading.get_ident())
    over = threading.Lock()
    ended = False

    def send() -> None:
        with over:
            if not ended:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(TimeLimit))

    timer = threading.Timer(seconds, send)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with over:
            ended = True
        timer.cancel()


def limit_memory(megabytes: float | None) -> None:
    """Bound the memory this process may take from now on, beyond what it has."""
    if megabytes is None:
        return
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    wanted = _address_space_bytes() + int(megabytes * 2**20)
    if most != resource.RLIM_INFINITY:
        wanted = min(wanted, most)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, most))


def _address_space_bytes() -> int:
    """Bytes of address space this process has."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
