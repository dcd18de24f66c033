"""Work that takes seconds: done beside the page, told as it goes, and stopped when asked."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from homodyn.errors import HomodynError


class TaskCancelled(Exception):
    """The work was stopped by who asked for it."""


@dataclass
class BackgroundTask:
    """One piece of work: what it is called, how far it is, and how it ended."""

    name: str
    on_update: Callable[[BackgroundTask], None]
    """Hears of every step, and of the end."""
    stage: str = ""
    share: float = 0.0
    """Done so far, 0 to 1; 0 throughout where nobody knows."""
    error: str = ""
    """One sentence when it did not come to its end."""
    done: threading.Event = field(default_factory=threading.Event)
    cancelled: threading.Event = field(default_factory=threading.Event)
    abandoned: threading.Event = field(default_factory=threading.Event)
    """Set when nobody is there any more to hear of it."""

    def tell(self, stage: str, share: float | None = None) -> None:
        """Say what begins and how much is done; ends the work here when it was cancelled."""
        if self.cancelled.is_set():
            raise TaskCancelled
        self.stage = stage
        if share is not None:
            self.share = share
        self.on_update(self)

    def cancel(self) -> None:
        """Ask it to stop at the next step."""
        self.cancelled.set()

    def abandon(self) -> None:
        """Ask it to stop, and let it end in silence however it does."""
        self.abandoned.set()
        self.cancel()


class TaskRunner:
    """One piece of work at a time, in a thread of its own."""

    def __init__(self, on_update: Callable[[BackgroundTask], None]) -> None:
        self._on_update = on_update
        self._lock = threading.Lock()
        self.current: BackgroundTask | None = None

    def start(self, name: str, work: Callable[[BackgroundTask], None]) -> BackgroundTask:
        """Begin a piece of work, which must call `BackgroundTask.tell` now and then.

        Raises a `HomodynError` while another is going on.
        """
        with self._lock:
            if self.current is not None and not self.current.done.is_set():
                raise HomodynError(
                    f"{self.current.name} is still going on; wait for it, or cancel it"
                )
            task = self.current = BackgroundTask(name, self._on_update)
        threading.Thread(target=_run, args=(task, work), daemon=True, name=name).start()
        return task

    def end(self) -> None:
        """Abandon what is going on: who would hear of it goes away."""
        with self._lock:
            if self.current is not None:
                self.current.abandon()


def _run(task: BackgroundTask, work: Callable[[BackgroundTask], None]) -> None:
    try:
        task.tell("beginning")
        work(task)
    except TaskCancelled:
        task.error = "it was cancelled"
    except HomodynError as error:
        task.error = " ".join(str(error).split())
    except Exception as error:
        task.error = f"{type(error).__name__}: {error}"
        # Work that goes on while the program ends fails for reasons that are not its own.
        if not task.abandoned.is_set():
            raise
    finally:
        task.done.set()
        if not task.abandoned.is_set():
            task.on_update(task)
