"""A search from its first candidate to its last, in one run or in several.

A study records every candidate and its outcome. To resume, the optimizer receives all recorded
scores again and thereby reaches, to the bit, the state it had; candidates that it proposes again
must equal those that were recorded.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.errors import SearchError
from homodyn.foundation.executors import Executor
from homodyn.foundation.text import count_of
from homodyn.search.dispatcher import Dispatcher
from homodyn.search.evaluation import Evaluator
from homodyn.search.executors import create_candidate_executor
from homodyn.search.generation_results import GenerationResults, candidates_differ_error
from homodyn.search.goal import Goal, Objective, Score
from homodyn.search.job import Job, create_job, differences, stored_job
from homodyn.search.optimizer import Optimizer, OptimizerSettings, initial_solutions
from homodyn.search.outcomes import EvaluationStatus
from homodyn.search.result import SearchProgress, SearchResult, best_solutions
from homodyn.search.space import Space
from homodyn.search.stopwatch import Stopwatch
from homodyn.search.study import Study
from homodyn.symbolic import Kernel

MAX_REPORTED_SUBSPACES = 5
"""Subspaces whose visits are reported while a search runs."""


def minimize(
    function: Callable[..., Any] | Kernel | str,
    space: Space | Mapping[str, tuple[float, float]],
    *,
    objectives: str | Objective | Sequence[str | Objective] | Goal = "value",
    optimizer: OptimizerSettings | None = None,
    batch: bool = False,
    where: str | Executor | None = None,
    database: str | Path | None = None,
    stop_after: float | None = None,
    progress: Callable[[SearchProgress], None] | None = None,
    **fields: Any,
) -> SearchResult:
    """Search a space for the smallest value of a function.

    Cheap functions run in this process. When a candidate takes longer than 20 ms, the rest is
    evaluated in worker processes; functions of scripts, lambdas and closures are accepted, and a
    script needs no guard.

    Args:
        function: Function of one candidate, a dictionary of its parameters, that returns a number
            or a dictionary of objectives; with ``batch`` a function of an array (candidates,
            parameters); a kernel; or ``"file.py:name"``.
        space: The space, or bounds by parameter name: ``{"x": (-2, 2)}``.
        objectives: Name of the value, objectives, or a `Goal`.
        optimizer: Settings of the optimizer; a particle swarm by default.
        batch: Whether the function takes all candidates at once.
        where: ``"serial"``, ``"pool"``, the address of a Dask scheduler, or an `Executor`; by
            default batch functions run in this process and others as described above.
        database: File or URL in which the study is recorded; memory by default.
        stop_after: Time (s) after which the run stops, to be resumed.
        progress: Called after every generation, and at intervals within a long one.
        **fields: Fields of `Job`, such as ``iterations``, ``seed``, ``target`` and ``name``;
            ``time_limit`` is short for the limit of one evaluation (s).

    Returns:
        The best solution, and the study with every candidate.

    Raises:
        SearchError: An argument is wrong, or every candidate failed; the message has the first
            cause.
    """
    goal = objectives if isinstance(objectives, Goal) else Goal(objectives=_as_list(objectives))
    bounds: Any = space
    known = space if isinstance(space, Space) else Space(parameters=bounds)
    evaluate = {"batch": batch, "time_limit": fields.pop("time_limit", None)}
    place = where if isinstance(where, str) else "serial" if batch else "auto"
    job = create_job(
        known,
        goal,
        optimizer,
        evaluate={**evaluate, **fields.pop("evaluate", {})},
        run={"where": place, **fields.pop("run", {})},
        **fields,
    )
    return run(
        job,
        function,
        database=database,
        where=where if isinstance(where, Executor) else None,
        stop_after=stop_after,
        progress=progress,
    )


def _as_list(objectives: Any) -> Any:
    return [objectives] if isinstance(objectives, str | Objective) else objectives


def run(
    job: Job,
    function: Callable[..., Any] | Kernel | str | None = None,
    *,
    database: str | Path | None = None,
    where: str | Executor | None = None,
    workers: int | None = None,
    folder: Path | None = None,
    stop_after: float | None = None,
    progress: Callable[[SearchProgress], None] | None = None,
) -> SearchResult:
    """Run a job, or continue it where the database says it was.

    Args:
        job: The job.
        function: Evaluates candidates instead of what the job names; see `minimize`.
        database: File or URL in which the study is recorded; memory by default.
        where: Overrides the job: ``"serial"``, ``"pool"``, ``"auto"``, the address of a Dask
            scheduler, or an `Executor`.
        workers: Overrides the number of processes of the pool.
        folder: Folder of files that the job names; the current folder by default.
        stop_after: Time (s) after which the run stops, to be resumed; candidates that are being
            evaluated then do not count as failed.
        progress: Called after every generation, and at intervals within a long one.

    Returns:
        The best solution, and the study with every candidate.

    Raises:
        SearchError: The job cannot be run, the database has another job of that name, or every
            candidate failed; the message then has the first cause.
    """
    from homodyn import __version__

    stopwatch = Stopwatch(stop_after)
    evaluator = _evaluator(job, function, folder)
    study = Study.create(
        database, name=job.name, job=lambda: _embed_seed_solutions(job).text(), version=__version__
    )
    changes = differences(study.job, json.loads(job.text()))
    if changes:
        raise SearchError(
            f"{study.place} has another job named {job.name!r}: " + "; ".join(changes),
            tuple(changes),
        )
    with study.lock():
        study.extend(job.iterations, job.run.model_dump(mode="json"))
        return _Search(job, study, evaluator, stopwatch, progress).run(where, workers)


def _evaluator(
    job: Job, function: Callable[..., Any] | Kernel | str | None, folder: Path | None
) -> Evaluator:
    given = job.evaluate
    call = function if function is not None else given.python
    if call is None and not given.program:
        raise SearchError(
            "nothing evaluates the candidates: give a function, or name one in the job as "
            "evaluate.python = 'file.py:name' or evaluate.program = ['./simulator']"
        )
    return Evaluator(
        job.space,
        job.goal,
        call=call,
        program=() if function is not None else tuple(given.program),
        batch=given.batch,
        folder=folder,
        settings=given.settings,
        time_limit=given.time_limit,
        memory_limit=given.memory_limit,
        repeats=given.repeats,
        keep=given.keep,
        name=job.name,
    )


def _embed_seed_solutions(job: Job) -> Job:
    """The job with the solutions of other studies written into it, so it needs them no more."""
    if not job.seeding.studies:
        return job
    solutions: list[Mapping[str, float | str]] = list(job.seeding.solutions)
    for place in job.seeding.studies:
        for solution in best_solutions(Study.open(place), job.seeding.best):
            solutions.append({**solution.parameters, **solution.structure})
    seeding = job.seeding.model_copy(update={"solutions": tuple(solutions), "studies": ()})
    return job.model_copy(update={"seeding": seeding})


class _Search:
    """The loop: replay what is recorded, then ask, evaluate, record, tell."""

    def __init__(
        self,
        job: Job,
        study: Study,
        evaluator: Evaluator,
        stopwatch: Stopwatch,
        progress: Callable[[SearchProgress], None] | None,
    ) -> None:
        self.job, self.study, self.evaluator, self.stopwatch = job, study, evaluator, stopwatch
        self.progress = progress
        seeding = stored_job(study.job).seeding
        self.optimizer: Optimizer = job.optimizer.start(
            job.space,
            seed=job.seed,
            iterations=job.iterations,
            initial=initial_solutions(job.space, seeding.solutions, seeding.mutation),
        )
        self.evaluations = self.failed = 0
        self.best = Score.worst(1)
        self.mean = float("nan")
        self.notes: list[str] = []
        self._visits: Counter[bytes] = Counter()
        self._new = 0

    def run(self, where: str | Executor | None, workers: int | None) -> SearchResult:
        self._replay()
        status = self._end_status()
        if status:
            return self._result(status)
        settings = self.job.run
        vectorized = self._vectorized()
        executor = create_candidate_executor(
            where or settings.where,
            self.evaluator,
            workers=workers or settings.workers,
            priority=settings.priority,
            study=self.job.name,
        )
        dispatcher = Dispatcher(
            executor,
            vectorized=vectorized,
            group=settings.group,
            estimate=settings.estimate,
            time_limit=self.job.evaluate.time_limit,
            objectives=len(self.job.goal.names),
            note=self._note,
        )
        status = "stopped"
        try:
            while self._generation(dispatcher):
                status = self._end_status()
                if status:
                    break
                status = "stopped"
        except KeyboardInterrupt:
            self._note("interrupted by hand")
        finally:
            executor.close(cancel=status == "stopped")
        return self._result(status)

    def _vectorized(self) -> bool:
        """Whether candidates are evaluated together; refuses a function that cannot be loaded."""
        try:
            return self.evaluator.vectorized
        except SearchError:
            raise
        except (SystemExit, Exception) as error:
            reason = f"{type(error).__name__}: {error}"
            raise SearchError(f"{self.evaluator.call!r} cannot be loaded: {reason}") from error

    def _note(self, sentence: str) -> None:
        self.notes.append(sentence)
        self.study.note(sentence)

    def _result(self, status: str) -> SearchResult:
        if status != "stopped" and self.evaluations and self.failed == self.evaluations:
            cause = self.study.first_failure() or "no message"
            raise SearchError(
                f"all {count_of(self.evaluations, 'candidate')} failed; the first cause: {cause}"
            )
        best = best_solutions(self.study)
        return SearchResult(
            status,
            self.study,
            best[0] if best else None,
            self.optimizer.generation,
            self.evaluations,
            self.failed,
            self.stopwatch.elapsed,
            tuple(self.notes),
        )

    def _end_status(self) -> str:
        """Why the search is over; empty while it is not."""
        target = self.job.target
        last = self.best.stage[0] >= self.job.goal.stages
        if (
            target is not None
            and last
            and self._best_value() <= self.job.goal.to_score_value(target)
        ):
            return "target"
        if self.optimizer.generation >= self.job.iterations or self.optimizer.finished:
            return "finished"
        return ""

    def _best_value(self) -> float:
        return float(self.best.value[0])

    def _replay(self) -> None:
        """Tell the optimizer the scores of all complete generations again."""
        recorded_generations = self.study.generations()
        for row in recorded_generations:
            if self.optimizer.generation != row.number or self._end_status():
                break
            population = self.optimizer.ask()
            recorded = self.study.candidates(row.number)
            same = (
                len(recorded) == len(population)
                and recorded.values.tobytes() == population.values.tobytes()
                and recorded.groups.tobytes() == population.groups.tobytes()
                and row.random == self._random_state()
            )
            if not same:
                raise candidates_differ_error(self.study, row.number)
            self._update(Score(recorded.stage, recorded.value), row.mean_value, row.failed)
        if recorded_generations and not self._end_status():
            self._note(f"resumed after {count_of(len(recorded_generations), 'generation')}")

    def _random_state(self) -> str:
        return json.dumps(self.optimizer.random.bit_generator.state, sort_keys=True, default=str)

    def _generation(self, dispatcher: Dispatcher) -> bool:
        """Evaluate one generation and record it; False when the time limit came first."""
        stopwatch = Stopwatch()
        number = self.optimizer.generation
        population = self.optimizer.ask()
        results = GenerationResults(
            self.job,
            self.study,
            population,
            number,
            fresh=self._new > 0,
            report=self.report_progress,
        )
        complete = False
        try:
            complete = dispatcher.run(
                results.missing(), len(population), self.stopwatch, results.add
            )
        finally:
            if not complete:
                results.write(None)
        if not complete:
            return False
        score, status = results.score(), results.outcomes.status
        failed = int((status != EvaluationStatus.OK).sum())
        k = score.best()
        same_stage = (score.stage == score.stage[k]) & np.isfinite(score.value)
        mean = float(score.value[same_stage].mean()) if same_stage.any() else None
        results.write(
            {
                "count": len(population),
                "random": self._random_state(),
                "best_member": k,
                "best_stage": int(score.stage[k]),
                "best_value": float(score.value[k]),
                "mean_value": mean,
                "failed": failed,
                "seconds": stopwatch.elapsed,
            }
        )
        if failed == len(population):
            first = results.outcomes.messages.get(0, "no message")
            self._note(f"all {failed} candidates of generation {number} failed, the first: {first}")
        self._new += len(population)
        self._update(score, mean, failed)
        self.report_progress(len(population))
        return True

    def _update(self, score: Score, mean: float | None, failed: int) -> None:
        if self.job.pools:
            rows, counts = np.unique(self.optimizer.ask().groups, axis=0, return_counts=True)
            for row, count in zip(rows, counts.tolist(), strict=True):
                self._visits[row.tobytes()] += count
        self.optimizer.tell(score)
        self.evaluations += len(score)
        self.failed += failed
        self.mean = float("nan") if mean is None else mean
        k = score.best()
        if score[k : k + 1].better(self.best)[0]:
            self.best = score[k : k + 1]

    def report_progress(self, population: int, evaluated: int = 0, earlier: int = 0) -> None:
        """Report the progress, including ``evaluated`` candidates of the current generation.

        ``earlier`` of them were evaluated before this run.
        """
        if self.progress is None:
            return
        stage, goal = int(self.best.stage[0]), self.job.goal
        name, best = goal.describe(stage, self._best_value())
        _, mean = goal.describe(stage, self.mean)
        done, seconds = self.optimizer.generation, self.stopwatch.elapsed
        left = self.optimizer.remaining(self.job.iterations, population) - evaluated
        new = self._new + evaluated - earlier
        self.progress(
            SearchProgress(
                done,
                self.job.iterations,
                self.evaluations + evaluated,
                self.failed,
                stage,
                goal.stages,
                best,
                mean,
                name,
                seconds,
                left * seconds / max(new, 1),
                evaluated,
                population,
                len(self._visits),
                tuple(
                    (self.job.space.subspace_name(np.frombuffer(key, dtype=np.int32)), count)
                    for key, count in self._visits.most_common(MAX_REPORTED_SUBSPACES)
                ),
            )
        )
