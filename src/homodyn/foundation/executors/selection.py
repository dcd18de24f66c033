"""The executor of a name or an address."""

from __future__ import annotations

from homodyn.foundation.executors.dask_cluster import DaskExecutor
from homodyn.foundation.executors.interface import Executor, ExecutorError
from homodyn.foundation.executors.process_pool import ProcessExecutor
from homodyn.foundation.executors.serial import SerialExecutor


def create_executor(
    where: str,
    *,
    workers: int | None = None,
    threads: int | None = None,
    priority: float = 1.0,
) -> Executor:
    """The executor of a name.

    Args:
        where: ``"serial"``, ``"pool"``, or the address of a Dask scheduler (``tcp://host:8786``) or
            its scheduler file (``.json``).
        workers: Processes of the pool; one per processor by default.
        threads: Threads of numerical libraries in each process of the pool.
        priority: Share of a cluster relative to other clients.

    Returns:
        An executor; use it in a ``with`` statement.

    Raises:
        ExecutorError: The name is not one of these, or the cluster does not answer.
    """
    if where == "serial":
        return SerialExecutor()
    if where == "pool":
        return ProcessExecutor(workers, threads=threads)
    if is_cluster_address(where):
        return DaskExecutor(where, priority=priority)
    raise ExecutorError(unknown_place(where))


def is_cluster_address(where: str) -> bool:
    """Whether a text is the address or the scheduler file of a Dask cluster."""
    return "://" in where or where.endswith(".json")


def unknown_place(where: str) -> str:
    """The sentence for a name that is no executor."""
    return (
        f"where is {where!r}; it can be 'serial', 'pool', or the address of a Dask scheduler such "
        "as 'tcp://host:8786'"
    )
