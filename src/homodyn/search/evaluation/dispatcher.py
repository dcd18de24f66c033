"""Evaluation of one generation, robust against workers that fail."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, field

import numpy as np

from homodyn.errors import SearchError
from homodyn.foundation.executors import WorkerLost
from homodyn.foundation.text import count_of
from homodyn.search.evaluation.candidate_executor import CandidateExecutor
from homodyn.search.evaluation.node_health import NodeHealth
from homodyn.search.evaluation.outcomes import CandidateBatch, EvaluationOutcomes, EvaluationStatus
from homodyn.search.evaluation.resource_limits import HARD_LIMIT_GRACE_S
from homodyn.search.stopwatch import Stopwatch

TARGET_TASK_TIME_S = 0.25
"""Duration of a task that groups many small candidates: long compared with sending it."""
MAX_CRASHES_PER_CANDIDATE = 2
"""Crashes of the worker with one candidate alone after which the candidate has failed."""
_POLL_INTERVAL_S = 0.5
_CANDIDATE_ERRORS = {
    EvaluationStatus.FAILED,
    EvaluationStatus.MEMORY,
    EvaluationStatus.INVALID,
    EvaluationStatus.NOT_FINITE,
}

Complete = Callable[[CandidateBatch, EvaluationOutcomes, int], None]
"""Receives candidates, their outcomes and the number of attempts."""


@dataclass
class _Submission:
    """Candidates that were submitted, where they may not run, and their earlier outcomes."""

    tasks: CandidateBatch
    avoid: frozenset[str] = frozenset()
    crashes: int = 0
    earlier: EvaluationOutcomes | None = None
    nodes: frozenset[str] = frozenset()
    lost_on: str = ""
    """Node whose worker ended with these candidates before."""
    stopwatch: Stopwatch = field(default_factory=Stopwatch)


class Dispatcher:
    """Sends the candidates of each generation to an executor and returns their outcomes.

    Args:
        executor: Where candidates are evaluated.
        vectorized: Whether many candidates are evaluated in one call.
        group: Candidates per task; chosen by their duration when None.
        estimate: Expected duration of a candidate (s), until it is measured.
        time_limit: Limit of one evaluation (s).
        objectives: Number of objectives.
        note: Receives sentences about the run.
    """

    def __init__(
        self,
        executor: CandidateExecutor,
        *,
        vectorized: bool,
        group: int | None,
        estimate: float | None,
        time_limit: float | None,
        objectives: int,
        note: Callable[[str], None],
    ) -> None:
        self.executor = executor
        self.nodes = NodeHealth()
        self._vectorized = vectorized
        self._group = group
        self._mean = estimate
        self._time_limit = time_limit
        self._objectives = objectives
        self._note = note

    def run(
        self,
        tasks: CandidateBatch,
        population: int,
        stopwatch: Stopwatch,
        complete: Complete,
    ) -> bool:
        """Evaluate candidates.

        Args:
            tasks: The candidates.
            population: Size of the generation.
            stopwatch: Time limit of the run.
            complete: Receives the outcomes.

        Returns:
            Whether all candidates were evaluated within the time limit.
        """
        waiting = deque(_Submission(part) for part in self._parts(tasks, population))
        running: dict[Future[EvaluationOutcomes], _Submission] = {}
        try:
            while waiting or running:
                if stopwatch.expired:
                    return False
                while waiting and len(running) < self.executor.queue_size and not stopwatch.expired:
                    submission = self._next(waiting)
                    running[self._submit(submission)] = submission
                done, _ = wait(running, min(_POLL_INTERVAL_S, stopwatch.remaining), FIRST_COMPLETED)
                for future in done:
                    self._receive(future, running.pop(future), waiting, complete)
                for sentence in self.executor.messages():
                    self._note(sentence)
                self._withdraw(running, waiting)
            return True
        finally:
            for future in running:
                future.cancel()

    def _parts(self, tasks: CandidateBatch, population: int) -> list[CandidateBatch]:
        """Blocks of candidates for vectorized evaluations, independent of timing.

        Rounding can depend on the number of rows that are computed together. Equal blocks give
        equal bits after an interruption.
        """
        if not len(tasks):
            return []
        if not self._vectorized:
            return [tasks]
        if self._group is not None:
            size = self._group
        elif self.executor.prefers_whole_generation:
            size = population
        else:
            size = max(16, -(-population // 64))
        block = tasks.members // size
        edges = np.flatnonzero(np.diff(block)) + 1
        return [tasks[part] for part in np.split(np.arange(len(tasks)), edges)]

    def _next(self, waiting: deque[_Submission]) -> _Submission:
        """The next task: short evaluations are grouped to reach the target duration."""
        submission = waiting.popleft()
        if self._vectorized or submission.crashes or submission.earlier is not None:
            return submission
        count = len(submission.tasks)
        if self._group is not None:
            size = self._group
        elif self._mean is None:
            size = 1
        else:
            capacity = self.executor.capacity
            share = -(-count // (2 * capacity)) if capacity > 1 else count
            size = max(1, min(int(TARGET_TASK_TIME_S / max(self._mean, 1e-9)), share))
        if size < count:
            waiting.appendleft(_Submission(submission.tasks[size:]))
            submission = _Submission(submission.tasks[:size])
        return submission

    def _submit(self, submission: _Submission) -> Future[EvaluationOutcomes]:
        avoid = submission.avoid | self.nodes.excluded
        submission.nodes = frozenset(self.executor.nodes() - avoid) if avoid else frozenset()
        submission.stopwatch = Stopwatch()
        cost = (self._mean or 1.0) * len(submission.tasks)
        return self.executor.submit(submission.tasks, cost=cost, avoid=avoid)

    def _withdraw(
        self,
        running: dict[Future[EvaluationOutcomes], _Submission],
        waiting: deque[_Submission],
    ) -> None:
        """Withdraw tasks that may only run on nodes that have left, to submit them again."""
        for future, submission in list(running.items()):
            nodes = submission.nodes
            if nodes and not nodes & self.executor.nodes() and not future.done():
                future.cancel()
                waiting.append(running.pop(future))

    def _receive(
        self,
        future: Future[EvaluationOutcomes],
        submission: _Submission,
        waiting: deque[_Submission],
        complete: Complete,
    ) -> None:
        try:
            outcomes = future.result()
        except WorkerLost as lost:
            self._resubmit(lost, submission, waiting, complete)
            return
        except SearchError:
            raise
        except (CancelledError, Exception) as error:
            problem = WorkerLost(f"{type(error).__name__}: {error}")
            self._resubmit(problem, submission, waiting, complete)
            return
        if outcomes.results.shape[1] != self._objectives:
            # A worker that cannot load the evaluator does not know the number of objectives.
            outcomes.results = np.full((len(submission.tasks), self._objectives), np.nan)
        seconds = float(outcomes.seconds.mean())
        self._mean = seconds if self._mean is None else 0.5 * (self._mean + seconds)
        if submission.earlier is not None:
            outcomes = self._merge_attempts(submission.earlier, outcomes)
        else:
            failed = np.isin(outcomes.status, [int(status) for status in _CANDIDATE_ERRORS])
            others = self.executor.nodes() - self.nodes.excluded - {outcomes.node}
            if failed.any() and others:
                self._retry_elsewhere(submission, outcomes, failed, waiting, complete)
                return
            if not failed.any():
                self.nodes.record_success(outcomes.node)
                if submission.lost_on and submission.lost_on != outcomes.node:
                    self._strike(submission.lost_on, "its worker ended")
        attempts = submission.crashes + 1 + (submission.earlier is not None)
        complete(submission.tasks, outcomes, attempts)

    def _retry_elsewhere(
        self,
        submission: _Submission,
        outcomes: EvaluationOutcomes,
        failed: np.ndarray,
        waiting: deque[_Submission],
        complete: Complete,
    ) -> None:
        """Evaluate failed candidates on another node, and complete the others."""
        rows = np.flatnonzero(failed)
        waiting.appendleft(
            _Submission(
                submission.tasks[rows],
                frozenset({outcomes.node}),
                submission.crashes,
                _select_rows(outcomes, rows),
            )
        )
        good = np.flatnonzero(~failed)
        if len(good):
            complete(submission.tasks[good], _select_rows(outcomes, good), submission.crashes + 1)

    def _merge_attempts(
        self, first: EvaluationOutcomes, second: EvaluationOutcomes
    ) -> EvaluationOutcomes:
        """Outcomes of attempts on two nodes: a candidate fails if both attempts fail."""
        good = second.status == EvaluationStatus.OK
        if good.any():
            self.nodes.record_success(second.node)
            self._strike(first.node, next(iter(first.messages.values()), "no reason given"))
        rows = np.flatnonzero(~good)
        second.results[rows] = first.results[rows]
        second.status[rows] = first.status[rows]
        second.messages.update({int(r): first.messages.get(int(r), "") for r in rows})
        return second

    def _strike(self, node: str, reason: str) -> None:
        """Count a failure against a node, and note when it is excluded."""
        if self.nodes.record_failure(node):
            self._note(
                f"node {node} is excluded: it failed on candidates that other nodes evaluate "
                f"({reason})"
            )

    def _resubmit(
        self,
        lost: WorkerLost,
        submission: _Submission,
        waiting: deque[_Submission],
        complete: Complete,
    ) -> None:
        """Submit candidates whose worker ended again, one per task, to find the cause."""
        reason, alone = str(lost), len(submission.tasks) == 1
        limit = self._time_limit
        elapsed = submission.stopwatch.elapsed
        if alone and limit is not None and elapsed >= limit + HARD_LIMIT_GRACE_S:
            message = f"longer than {limit:g} s; its process was ended"
            outcomes = EvaluationOutcomes.failures(
                1, self._objectives, EvaluationStatus.SLOW, message
            )
            complete(submission.tasks, outcomes, submission.crashes + 1)
            return
        if alone and submission.crashes + 1 >= MAX_CRASHES_PER_CANDIDATE:
            message = f"{reason}, {submission.crashes + 1} times with this candidate"
            outcomes = EvaluationOutcomes.failures(
                1, self._objectives, EvaluationStatus.CRASHED, message
            )
            complete(submission.tasks, outcomes, submission.crashes + 1)
            return
        count = len(submission.tasks)
        self._note(f"{reason}; {count_of(count, 'candidate')} submitted again")
        avoid = submission.avoid | {lost.node} if lost.node else submission.avoid
        for row in range(count):
            crashes = submission.crashes + 1 if alone else 0
            one = submission.tasks[row : row + 1]
            waiting.appendleft(_Submission(one, avoid, crashes, lost_on=lost.node))


def _select_rows(outcomes: EvaluationOutcomes, rows: np.ndarray) -> EvaluationOutcomes:
    """Some rows of outcomes."""
    return EvaluationOutcomes(
        outcomes.results[rows],
        outcomes.status[rows],
        outcomes.seconds[rows],
        {k: outcomes.messages[int(r)] for k, r in enumerate(rows) if int(r) in outcomes.messages},
        {k: outcomes.data[int(r)] for k, r in enumerate(rows) if int(r) in outcomes.data},
        outcomes.node,
    )
