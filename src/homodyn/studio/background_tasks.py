"""Background tasks: work that takes seconds, with progress and cancellation."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from homodyn.errors import HomodynError


class TaskCancelled(Exception):
    """The task was cancelled."""


@dataclass
class BackgroundTask:
    """One task: its name, progress and outcome."""

    name: str
    on_update: Callable[[BackgroundTask], None]
    """Called at every progress report and at the end."""
    stage: str = ""
    share: float = 0.0
    """Completed share, 0 to 1; stays 0 if unknown."""
    error: str = ""
    """Why the task failed; empty otherwise."""
    done: threading.Event = field(default_factory=threading.Event)
    cancelled: threading.Event = field(default_factory=threading.Event)
    abandoned: threading.Event = field(default_factory=threading.Event)
    """Set when the studio has ended, so that the outcome is not reported."""

    def report(self, stage: str, share: float | None = None) -> None:
        """Report the current stage and the completed share.

        Raises:
            TaskCancelled: The task was cancelled.
        """
        if self.cancelled.is_set():
            raise TaskCancelled
        self.stage = stage
        if share is not None:
            self.share = share
        self.on_update(self)

    def cancel(self) -> None:
        """Stop the task at its next progress report."""
        self.cancelled.set()

    def abandon(self) -> None:
        """Cancel the task without a report of its outcome."""
        self.abandoned.set()
        self.cancel()


class TaskRunner:
    """Runs one task at a time, in its own thread."""

    def __init__(self, on_update: Callable[[BackgroundTask], None]) -> None:
        self._on_update = on_update
        self._lock = threading.Lock()
        self.current: BackgroundTask | None = None

    def start(self, name: str, work: Callable[[BackgroundTask], None]) -> BackgroundTask:
        """Start a task.

        Args:
            name: Name of the task for messages.
            work: The work, which must call `BackgroundTask.report` from time to time.

        Returns:
            The task.

        Raises:
            HomodynError: Another task is running.
        """
        with self._lock:
            if self.current is not None and not self.current.done.is_set():
                raise HomodynError(
                    f"{self.current.name} is still running; wait until it ends, or cancel it"
                )
            task = self.current = BackgroundTask(name, self._on_update)
        threading.Thread(target=_run, args=(task, work), daemon=True, name=name).start()
        return task

    def end(self) -> None:
        """Abandon the running task."""
        with self._lock:
            if self.current is not None:
                self.current.abandon()


def _run(task: BackgroundTask, work: Callable[[BackgroundTask], None]) -> None:
    try:
        task.report("starting")
        work(task)
    except TaskCancelled:
        task.error = "cancelled"
    except HomodynError as error:
        task.error = " ".join(str(error).split())
    except Exception as error:
        task.error = f"{type(error).__name__}: {error}"
        # Errors of an abandoned task are caused by the end of the program.
        if not task.abandoned.is_set():
            raise
    finally:
        task.done.set()
        if not task.abandoned.is_set():
            task.on_update(task)
