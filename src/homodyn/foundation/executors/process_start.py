"""How worker processes start: without running the script again, and never longer than it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterator
from multiprocessing import connection, parent_process
from pathlib import Path
from typing import Any


def initialize_worker(initializer: Callable[..., None] | None, arguments: tuple[Any, ...]) -> None:
    """Prepare a worker process."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if initializer is not None:
        initializer(*arguments)


def _end_with_parent() -> None:
    """End this process when the one that uses it is gone, however that ended.

    The sentinel is a pipe whose other end closes with the parent. A third process that inherited
    that end would keep it open, so the process id of the parent is checked too.
    """
    parent = parent_process()
    if parent is None:
        return
    while not connection.wait([parent.sentinel], PARENT_CHECK_INTERVAL_S):
        if parent.pid is not None and not is_process_alive(parent.pid):
            break
    os._exit(1)


def is_process_alive(process_id: int) -> bool:
    """Whether a process of this user exists and has not ended.

    Args:
        process_id: Its number.

    Returns:
        False for a process that ended, also before its exit code is read.
    """
    if sys.platform == "win32":
        return True
    try:
        os.kill(process_id, 0)
        state = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]
    except ProcessLookupError:
        return False
    except (OSError, IndexError):
        return True
    return state not in ("Z", "X")


PARENT_CHECK_INTERVAL_S = 5.0

_main_module_lock = threading.Lock()


@contextlib.contextmanager
def hidden_main_module() -> Iterator[None]:
    """Start processes that do not run the script of this process again.

    Python's ``multiprocessing`` imports the main module in every child, which in a script without a
    guard would start processes without end. Tasks bring what they need by value instead.
    """
    main = sys.modules.get("__main__")
    with _main_module_lock:
        hidden: dict[str, Any] = {
            name: main.__dict__[name]
            for name in ("__file__", "__spec__")
            if main is not None and name in main.__dict__
        }
        if main is not None:
            main.__dict__.pop("__file__", None)
            main.__dict__["__spec__"] = None
        try:
            yield
        finally:
            if main is not None:
                main.__dict__.pop("__spec__", None)
                main.__dict__.update(hidden)


def start_fork_server(preload: tuple[str, ...]) -> None:
    """Start the process that workers are forked from, with modules already imported.

    It imports before it learns where this process looks for modules, so the environment says so.
    """
    from multiprocessing import forkserver

    multiprocessing.set_forkserver_preload(list(preload))
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(path or os.getcwd() for path in sys.path)
    try:
        forkserver.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before
