"""An executor that runs tasks in the calling process."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import Future
from typing import Any, TypeVar

from homodyn.foundation.executors.interface import Executor

T = TypeVar("T")


class SerialExecutor(Executor):
    """Runs every task at once in this process and thread."""

    name = "serial"

    @property
    def capacity(self) -> int:
        """One."""
        return 1

    def submit(
        self,
        function: Callable[..., T],
        /,
        *arguments: Any,
        cost: float = 1.0,
        avoid: Collection[str] = (),
    ) -> Future[T]:
        """Run the function now; see `Executor.submit`."""
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    def shutdown(self, *, cancel: bool = False) -> None:
        """Nothing to release."""
