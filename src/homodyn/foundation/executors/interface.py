"""The interface of executors, its errors, and the results of its tasks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from typing import Any, Generic, Self, TypeVar

from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record

T = TypeVar("T")


class ExecutorError(HomodynError):
    """An executor that cannot be created, or a function that it cannot be given."""


class WorkerLost(HomodynError):
    """The process or machine that ran a task ended before the task did.

    Attributes:
        node: Name of the node, empty where it is not known.
    """

    def __init__(self, message: str, node: str = "") -> None:
        super().__init__(message)
        self.node = node


@record(eq=True)
class TaskResult(Record, Generic[T]):
    """What became of one task of `Executor.map_unordered`.

    Attributes:
        index: Position of its item.
        value: What the function returned; None where it failed.
        error: Why it failed; None where it succeeded.
    """

    index: int
    value: T | None
    error: Exception | None = None


class Executor(ABC):
    """A place where tasks run.

    Implement `submit`, `capacity` and `shutdown`; the other methods have defaults that suit
    executors of one machine. The contract:

    - `submit` never blocks for longer than the task itself and never raises what the task raises:
      every failure arrives through the future.
    - A future raises the exception of the function, `WorkerLost` when the worker ended before
      the task did, or ``CancelledError``. After `WorkerLost` the same task may be submitted again.
    - ``future.cancel()`` withdraws a task that has not started and returns whether it did. A task
      that runs is not interrupted.
    - One lost worker affects only the task it was running.
    - `shutdown` may be called several times; the executor accepts no tasks afterwards.

    Attributes:
        name: Short name for messages.
    """

    name: str = "executor"

    @property
    @abstractmethod
    def capacity(self) -> int:
        """Number of tasks that can run at the same time now; at least 1."""

    @property
    def queue_size(self) -> int:
        """Number of tasks to keep submitted so that no worker waits."""
        return self.capacity

    @abstractmethod
    def submit(
        self,
        function: Callable[..., T],
        /,
        *arguments: Any,
        cost: float = 1.0,
        avoid: Collection[str] = (),
    ) -> Future[T]:
        """Run a function on a worker.

        Args:
            function: The function; lambdas and functions of scripts and notebooks are accepted.
            *arguments: Its positional arguments.
            cost: Expected duration (s), for executors that share workers between clients.
            avoid: Nodes that must not run the task, as long as there are others.

        Returns:
            A future of the value.
        """

    @abstractmethod
    def shutdown(self, *, cancel: bool = False) -> None:
        """Release the workers.

        Args:
            cancel: Do not wait for running tasks, and cancel those that wait.
        """

    def nodes(self) -> set[str]:
        """Names of the nodes, where there can be several; empty on a single machine."""
        return set()

    def messages(self) -> list[str]:
        """Sentences about the workers since the last call."""
        return []

    def map(self, function: Callable[..., T], items: Iterable[Any]) -> Iterator[T]:
        """Values of a function of one argument, in the order of the items.

        Args:
            function: The function.
            items: Its arguments.

        Yields:
            The values; the first failure is raised when its turn comes.
        """
        futures = [self.submit(function, item) for item in items]
        try:
            for future in futures:
                yield future.result()
        finally:
            for future in futures:
                future.cancel()

    def map_unordered(
        self, function: Callable[..., T], items: Iterable[Any], *, attempts: int = 2
    ) -> Iterator[TaskResult[T]]:
        """Results of a function of one argument as they complete; failures do not stop the rest.

        Args:
            function: The function.
            items: Its arguments.
            attempts: How often a task runs whose worker is lost before it counts as failed.

        Yields:
            One result per item.
        """
        pending: dict[Future[T], tuple[int, Any, int]] = {}
        try:
            for index, item in enumerate(items):
                pending[self.submit(function, item)] = (index, item, 1)
            while pending:
                completed, _ = wait(pending, return_when=FIRST_COMPLETED)
                for future in completed:
                    index, item, attempt = pending.pop(future)
                    try:
                        yield TaskResult(index, future.result())
                    except WorkerLost as error:
                        if attempt >= attempts:
                            yield TaskResult(index, None, error)
                        else:
                            pending[self.submit(function, item)] = (index, item, attempt + 1)
                    except CancelledError:
                        yield TaskResult(index, None, WorkerLost("the task was cancelled"))
                    except Exception as error:
                        yield TaskResult(index, None, error)
        finally:
            for future in pending:
                future.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *details: object) -> None:
        self.shutdown(cancel=kind is not None)
