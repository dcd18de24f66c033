"""Functions that run in worker processes and on the workers of a cluster."""

from __future__ import annotations

import pickle
import socket
from functools import lru_cache

import cloudpickle

from homodyn.errors import SearchError
from homodyn.search.evaluation.evaluator import Evaluator
from homodyn.search.evaluation.outcomes import CandidateBatch, EvaluationOutcomes, EvaluationStatus
from homodyn.search.evaluation.resource_limits import limit_memory

_payload = b""


def pack_evaluator(evaluator: Evaluator) -> bytes:
    """Serialize an evaluator; functions of scripts and notebooks are sent by value.

    Args:
        evaluator: The evaluator.

    Returns:
        The bytes.

    Raises:
        SearchError: It cannot be serialized.
    """
    try:
        return bytes(cloudpickle.dumps(evaluator))
    except Exception as error:
        raise SearchError(
            f"the evaluation cannot be sent to other processes ({error}); put the function into a "
            "file and name it as 'file.py:name', or use where='serial'"
        ) from None


@lru_cache(maxsize=4)
def _unpack(payload: bytes) -> Evaluator:
    evaluator = pickle.loads(payload)
    assert isinstance(evaluator, Evaluator)
    return evaluator


def initialize_worker(payload: bytes, memory_limit: float | None) -> None:
    """Prepare a worker process: its evaluator, and its memory limit (MB)."""
    global _payload
    _payload = payload
    limit_memory(memory_limit)


def evaluate_in_process(tasks: CandidateBatch) -> EvaluationOutcomes:
    """Evaluate candidates in a worker process that was initialized."""
    return _evaluate(_payload, tasks, socket.gethostname(), hard=True)


def evaluate_on_cluster(payload: bytes, tasks: CandidateBatch) -> EvaluationOutcomes:
    """Evaluate candidates on a worker of a Dask cluster."""
    from distributed import get_worker

    return _evaluate(payload, tasks, str(get_worker().name), hard=True)


def evaluate_payload(payload: bytes, tasks: CandidateBatch) -> EvaluationOutcomes:
    """Evaluate candidates on any executor; a time limit does not end its process."""
    return _evaluate(payload, tasks, socket.gethostname(), hard=False)


def _evaluate(
    payload: bytes, tasks: CandidateBatch, node: str, *, hard: bool
) -> EvaluationOutcomes:
    try:
        evaluator = _unpack(payload)
    except Exception as error:
        message = f"the evaluation cannot be loaded here: {type(error).__name__}: {error}"
        outcomes = EvaluationOutcomes.failures(len(tasks), 1, EvaluationStatus.FAILED, message)
    else:
        outcomes = evaluator(tasks, hard=hard)
    outcomes.node = node
    return outcomes
