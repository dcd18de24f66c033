"""Evaluation of candidates on an executor."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import Future
from functools import partial

from homodyn.errors import SearchError
from homodyn.foundation.executors import (
    DaskExecutor,
    Executor,
    ExecutorError,
    ProcessExecutor,
    SerialExecutor,
    is_cluster_address,
    unknown_place,
)
from homodyn.search.evaluation.evaluator import Evaluator
from homodyn.search.evaluation.outcomes import CandidateBatch, EvaluationOutcomes
from homodyn.search.evaluation.worker import (
    evaluate_in_process,
    evaluate_on_cluster,
    evaluate_payload,
    initialize_worker,
    pack_evaluator,
)

AUTO_POOL_THRESHOLD_S = 0.02
"""Time per candidate above which ``where="auto"`` starts worker processes."""

Evaluate = Callable[[CandidateBatch], EvaluationOutcomes]


class CandidateExecutor:
    """Evaluates batches of candidates on an executor.

    Args:
        executor: Where they are evaluated.
        evaluate: Function of one batch, in a form that the executor accepts.
        prefers_whole_generation: Whether a vectorized evaluation takes a generation in one call.
        owned: Whether `close` shuts the executor down.
    """

    def __init__(
        self,
        executor: Executor,
        evaluate: Evaluate,
        *,
        prefers_whole_generation: bool = False,
        owned: bool = True,
    ) -> None:
        self.executor = executor
        self.evaluate = evaluate
        self.prefers_whole_generation = prefers_whole_generation
        self._owned = owned

    @property
    def capacity(self) -> int:
        """Number of batches that can be evaluated at the same time."""
        return self.executor.capacity

    @property
    def queue_size(self) -> int:
        """Number of batches to keep submitted."""
        return self.executor.queue_size

    def submit(
        self, tasks: CandidateBatch, *, cost: float, avoid: Collection[str]
    ) -> Future[EvaluationOutcomes]:
        """Evaluate a batch that takes about ``cost`` seconds, not on the nodes to avoid."""
        try:
            return self.executor.submit(self.evaluate, tasks, cost=cost, avoid=avoid)
        except ExecutorError as error:
            raise SearchError(str(error)) from None

    def nodes(self) -> set[str]:
        """Names of the nodes."""
        return self.executor.nodes()

    def messages(self) -> list[str]:
        """Sentences about the workers since the last call."""
        return self.executor.messages()

    def close(self, *, cancel: bool = False) -> None:
        """Release the workers; with ``cancel`` do not wait for running evaluations."""
        if self._owned:
            self.executor.shutdown(cancel=cancel)


class AutoCandidateExecutor(CandidateExecutor):
    """Evaluates in this process until candidates prove slow, then in worker processes."""

    def __init__(self, evaluator: Evaluator, workers: int | None) -> None:
        super().__init__(
            SerialExecutor(), partial(_evaluate_here, evaluator), prefers_whole_generation=True
        )
        self._evaluator = evaluator
        self._worker_count = workers

    def submit(
        self, tasks: CandidateBatch, *, cost: float, avoid: Collection[str]
    ) -> Future[EvaluationOutcomes]:
        """Evaluate a batch; switch to worker processes when its candidates were slow."""
        future = super().submit(tasks, cost=cost, avoid=avoid)
        if isinstance(self.executor, SerialExecutor):
            seconds = float(future.result().seconds.mean())
            if seconds > AUTO_POOL_THRESHOLD_S and self._worker_count != 1:
                self.executor = _process_executor(self._evaluator, self._worker_count)
                self.evaluate = evaluate_in_process
        return future


def create_candidate_executor(
    where: str | Executor,
    evaluator: Evaluator,
    *,
    workers: int | None = None,
    priority: float = 1.0,
    study: str = "",
) -> CandidateExecutor:
    """The executor of candidates for a place.

    Args:
        where: ``"auto"``, ``"serial"``, ``"pool"``, the address of a Dask scheduler, or an executor
            of the caller, which stays open.
        evaluator: How candidates are evaluated.
        workers: Processes of the pool; one per processor by default.
        priority: Share of a cluster relative to other studies.
        study: Name of the study, for the dashboard of a cluster.

    Returns:
        The executor.

    Raises:
        SearchError: There is no such place, or the evaluation cannot be sent to it.
    """
    if isinstance(where, Executor):
        payload = pack_evaluator(evaluator)
        return CandidateExecutor(where, partial(evaluate_payload, payload), owned=False)
    try:
        if where == "auto" and not (evaluator.program or evaluator.limited):
            return AutoCandidateExecutor(evaluator, workers)
        if where == "serial":
            return CandidateExecutor(
                SerialExecutor(), partial(_evaluate_here, evaluator), prefers_whole_generation=True
            )
        if where in ("pool", "auto"):
            return CandidateExecutor(_process_executor(evaluator, workers), evaluate_in_process)
        if is_cluster_address(where):
            payload = pack_evaluator(evaluator)
            executor = DaskExecutor(where, priority=priority, label=f"search-{study}")
            return CandidateExecutor(executor, partial(evaluate_on_cluster, payload))
    except ExecutorError as error:
        raise SearchError(str(error)) from None
    raise SearchError(unknown_place(where))


def _process_executor(evaluator: Evaluator, workers: int | None) -> ProcessExecutor:
    memory_limit = evaluator.memory_limit if not evaluator.program else None
    return ProcessExecutor(
        workers,
        initializer=initialize_worker,
        initializer_arguments=(pack_evaluator(evaluator), memory_limit),
        preload=("homodyn.search.evaluation.worker",),
    )


def _evaluate_here(evaluator: Evaluator, tasks: CandidateBatch) -> EvaluationOutcomes:
    outcomes = evaluator(tasks)
    outcomes.node = "here"
    return outcomes
