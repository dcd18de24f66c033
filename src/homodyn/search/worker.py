"""What runs where the work is done: in a process of the pool, or on a machine of the cluster."""

from __future__ import annotations

import os
import pickle
import socket
import threading
from functools import lru_cache
from multiprocessing import connection, parent_process

import cloudpickle

from homodyn.errors import SearchError
from homodyn.search.evaluation import Evaluator
from homodyn.search.limits import limit_memory
from homodyn.search.outcome import Outcomes, Status, Tasks

_payload = b""


def packed(evaluator: Evaluator) -> bytes:
    """An evaluator as bytes, with functions of scripts, notebooks and lambdas by their content."""
    try:
        return bytes(cloudpickle.dumps(evaluator))
    except Exception as error:
        raise SearchError(
            f"the evaluation cannot be sent to other processes ({error}); put it into a file and "
            "name it as 'file.py:name', or run where='serial'"
        ) from None


@lru_cache(maxsize=4)
def _unpacked(payload: bytes) -> Evaluator:
    evaluator = pickle.loads(payload)
    assert isinstance(evaluator, Evaluator)
    return evaluator


def begin(payload: bytes, memory_limit: float | None) -> None:
    """Prepare a process of the pool; it ends when the process that started it ends."""
    global _payload
    _payload = payload
    threading.Thread(target=_end_with_parent, daemon=True).start()
    limit_memory(memory_limit)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def work(tasks: Tasks) -> Outcomes:
    """Evaluate tasks in a process of the pool."""
    return _evaluated(_payload, tasks, socket.gethostname())


def work_on_cluster(payload: bytes, tasks: Tasks) -> Outcomes:
    """Evaluate tasks on a worker of a Dask cluster."""
    from distributed import get_worker

    return _evaluated(payload, tasks, str(get_worker().name))


def _evaluated(payload: bytes, tasks: Tasks, node: str) -> Outcomes:
    try:
        evaluator = _unpacked(payload)
    except Exception as error:
        told = f"the evaluation cannot be loaded here: {type(error).__name__}: {error}"
        outcomes = Outcomes.lost(len(tasks), 1, Status.FAILED, told)
    else:
        outcomes = evaluator(tasks, hard=True)
    outcomes.node = node
    return outcomes
