"""Executors: where tasks run, behind one interface.

An `Executor` takes functions with their arguments and returns futures. `SerialExecutor` runs them
in this process, `ProcessExecutor` in worker processes of this machine, `DaskExecutor` on a
cluster. Searches and batch analyses use this interface only, so a class of your own that derives
from `Executor` works in both.

>>> from homodyn.foundation.executors import SerialExecutor
>>> with SerialExecutor() as executor:
...     print(list(executor.map(abs, [-1, 2])))
[1, 2]
"""

from homodyn.foundation.executors.dask_cluster import DaskExecutor
from homodyn.foundation.executors.interface import Executor, ExecutorError, TaskResult, WorkerLost
from homodyn.foundation.executors.process_pool import ProcessExecutor
from homodyn.foundation.executors.selection import (
    create_executor,
    is_cluster_address,
    unknown_place,
)
from homodyn.foundation.executors.serial import SerialExecutor

__all__ = [
    "DaskExecutor",
    "Executor",
    "ExecutorError",
    "ProcessExecutor",
    "SerialExecutor",
    "TaskResult",
    "WorkerLost",
    "create_executor",
    "is_cluster_address",
    "unknown_place",
]
