"""The loop of a search: propose, evaluate, record, update; in one run or in several.

A study records every candidate and its outcome. To resume, the optimizer receives all recorded
scores again and thereby reaches, bit by bit, the state it had. Candidates that it proposes again
must equal those that were recorded.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from homodyn.errors import SearchError
from homodyn.foundation.executors import Executor
from homodyn.foundation.options import change_options
from homodyn.foundation.text import count_of
from homodyn.search.evaluation.candidate_executor import create_candidate_executor
from homodyn.search.evaluation.dispatcher import Dispatcher
from homodyn.search.evaluation.evaluator import Evaluator
from homodyn.search.evaluation.outcomes import EvaluationStatus
from homodyn.search.generation_results import GenerationResults, candidates_differ_error
from homodyn.search.goal import Goal, Objective, Score
from homodyn.search.jobs.job import Job, JobKeywords, create_job, differences, stored_job
from homodyn.search.optimizers.interface import Optimizer, OptimizerSettings, initial_solutions
from homodyn.search.options import SearchKeywords, SearchOptions
from homodyn.search.space import Space
from homodyn.search.stopwatch import Stopwatch
from homodyn.search.studies.result import (
    SearchProgress,
    SearchResult,
    SearchStatus,
    best_solutions,
)
from homodyn.search.studies.study import Study
from homodyn.symbolic import Kernel

MAX_REPORTED_SUBSPACES = 5
"""Subspaces whose visits are reported while a search runs."""


class MinimizeKeywords(SearchKeywords, JobKeywords, total=False):
    """Fields of `SearchOptions` and of `Job` as keywords of `minimize`."""

    time_limit: float | None


def minimize(
    function: Callable[..., Any] | Kernel | str,
    space: Space | Mapping[str, tuple[float, float]],
    *,
    objectives: str | Objective | Sequence[str | Objective] | Goal = "value",
    optimizer: OptimizerSettings | None = None,
    batch: bool = False,
    options: SearchOptions | None = None,
    **changes: Unpack[MinimizeKeywords],
) -> SearchResult:
    """Search a space for the minimum of a function.

    Cheap functions run in this process. When a candidate takes longer than 20 ms, the remaining
    candidates are evaluated in worker processes. Functions of scripts, lambdas and closures are
    accepted, and a script needs no ``__main__`` guard.

    Args:
        function: Function of one candidate, a dictionary of its parameters, that returns a number
            or a dictionary of objectives; with ``batch`` a function of an array (candidates,
            parameters); a kernel; or ``"file.py:name"``.
        space: The space, or bounds by parameter name: ``{"x": (-2, 2)}``.
        objectives: Name of the value, objectives, or a `Goal`.
        optimizer: Settings of the optimizer; a particle swarm by default.
        batch: Whether the function takes all candidates at once.
        options: Database, executor, time limit and progress; the defaults when left out.
        **changes: Fields of `SearchOptions` to change, such as ``where="pool"`` or
            ``database="study.db"``; fields of `Job`, such as ``iterations``, ``seed``, ``target``
            and ``name``; and ``time_limit``, the limit of one evaluation (s).

    Returns:
        The best solution, and the study with every candidate.

    Raises:
        SearchError: An argument is wrong, or every candidate failed; the message has the first
            cause.
    """
    fields: dict[str, Any] = dict(changes)
    chosen = _take_options(options, fields)
    goal = objectives if isinstance(objectives, Goal) else Goal(objectives=_as_list(objectives))
    bounds: Any = space
    domain = space if isinstance(space, Space) else Space(parameters=bounds)
    evaluate = {"batch": batch, "time_limit": fields.pop("time_limit", None)}
    place = chosen.where if isinstance(chosen.where, str) else "serial" if batch else "auto"
    job = create_job(
        domain,
        goal,
        optimizer,
        evaluate={**evaluate, **fields.pop("evaluate", {})},
        run={"where": place, **fields.pop("run", {})},
        **fields,
    )
    executor = chosen.where if isinstance(chosen.where, Executor) else None
    return run(job, function, replace(chosen, where=executor))


def _take_options(options: SearchOptions | None, fields: dict[str, Any]) -> SearchOptions:
    """The options with those fields that belong to them, which are removed from ``fields``."""
    names = [name for name in SearchKeywords.__annotations__ if name in fields]
    return replace(options or SearchOptions(), **{name: fields.pop(name) for name in names})


def _as_list(objectives: Any) -> Any:
    return [objectives] if isinstance(objectives, str | Objective) else objectives


def run(
    job: Job,
    function: Callable[..., Any] | Kernel | str | None = None,
    options: SearchOptions | None = None,
    **changes: Unpack[SearchKeywords],
) -> SearchResult:
    """Run a job, or continue it from its database.

    Args:
        job: The job.
        function: Evaluates candidates instead of the function that the job names; see `minimize`.
        options: Database, executor, time limit and progress; the defaults when left out.
        **changes: Fields of `SearchOptions` to change, such as ``database="study.db"``.

    Returns:
        The best solution, and the study with every candidate.

    Raises:
        SearchError: The job cannot be run, the database has another job of that name, or every
            candidate failed; the message then has the first cause.
    """
    from homodyn import __version__

    chosen = change_options("run", options or SearchOptions(), changes)
    stopwatch = Stopwatch(chosen.stop_after)
    evaluator = _evaluator(job, function, chosen.folder)
    study = Study.create(
        chosen.database,
        name=job.name,
        job=lambda: _embed_seed_solutions(job).text(),
        version=__version__,
    )
    changed = differences(study.job, json.loads(job.text()))
    if changed:
        raise SearchError(
            f"{study.place} has another job named {job.name!r}: " + "; ".join(changed),
            tuple(changed),
        )
    with study.lock():
        study.extend(job.iterations, job.run.model_dump(mode="json"))
        return _Search(job, study, evaluator, stopwatch, chosen).run()


def _evaluator(
    job: Job, function: Callable[..., Any] | Kernel | str | None, folder: Path | None
) -> Evaluator:
    settings = job.evaluate
    call = function if function is not None else settings.python
    if call is None and not settings.program and settings.network is None:
        raise SearchError(
            "there is no function that evaluates candidates: pass one, or name it in the job as "
            "evaluate.python = 'file.py:name', evaluate.program = ['./simulator'] or "
            "evaluate.network = 'file.cdn'"
        )
    return Evaluator(
        job.space,
        job.goal,
        call=call,
        program=() if function is not None else tuple(settings.program),
        batch=settings.batch,
        folder=folder,
        settings=settings.settings,
        time_limit=settings.time_limit,
        memory_limit=settings.memory_limit,
        repeats=settings.repeats,
        keep=settings.keep,
        name=job.name,
        network=settings.network if function is None else None,
        formulas=settings.formulas,
    )


def _embed_seed_solutions(job: Job) -> Job:
    """The job with the solutions of other studies copied into it."""
    if not job.seeding.studies:
        return job
    solutions: list[Mapping[str, float | str]] = list(job.seeding.solutions)
    for place in job.seeding.studies:
        for solution in best_solutions(Study.open(place), job.seeding.best):
            solutions.append({**solution.parameters, **solution.structure})
    seeding = job.seeding.model_copy(update={"solutions": tuple(solutions), "studies": ()})
    return job.model_copy(update={"seeding": seeding})


class _Search:
    """The loop: replay what is recorded, then ask, evaluate, record and tell."""

    def __init__(
        self,
        job: Job,
        study: Study,
        evaluator: Evaluator,
        stopwatch: Stopwatch,
        options: SearchOptions,
    ) -> None:
        self.job, self.study, self.evaluator, self.stopwatch = job, study, evaluator, stopwatch
        self.options = options
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

    def run(self) -> SearchResult:
        self._replay()
        status = self._end_status()
        if status is not None:
            return self._result(status)
        settings = self.job.run
        vectorized = self._vectorized()
        executor = create_candidate_executor(
            self.options.where or settings.where,
            self.evaluator,
            workers=self.options.workers or settings.workers,
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
        try:
            while status is None and self._generation(dispatcher):
                status = self._end_status()
        except KeyboardInterrupt:
            self._note("interrupted by the user")
        finally:
            executor.close(cancel=status is None)
        return self._result(status or SearchStatus.STOPPED)

    def _vectorized(self) -> bool:
        """Whether one call evaluates many candidates.

        Raises:
            SearchError: The function cannot be loaded.
        """
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

    def _result(self, status: SearchStatus) -> SearchResult:
        if (
            status is not SearchStatus.STOPPED
            and self.evaluations
            and self.failed == self.evaluations
        ):
            cause = self.study.first_failure() or "no message"
            raise SearchError(
                f"all {count_of(self.evaluations, 'candidate')} failed; the first cause: {cause}"
            )
        best = best_solutions(self.study)
        return SearchResult(
            status,
            best[0] if best else None,
            self.optimizer.generation,
            self.evaluations,
            self.failed,
            self.stopwatch.elapsed,
            self.study.place,
            tuple(self.notes),
            self.study,
        )

    def _end_status(self) -> SearchStatus | None:
        """How the search has ended; None while it continues."""
        target = self.job.target
        last = self.best.stage[0] >= self.job.goal.stages
        if (
            target is not None
            and last
            and self._best_value() <= self.job.goal.to_score_value(target)
        ):
            return SearchStatus.TARGET
        if self.optimizer.generation >= self.job.iterations or self.optimizer.finished:
            return SearchStatus.FINISHED
        return None

    def _best_value(self) -> float:
        return float(self.best.value[0])

    def _replay(self) -> None:
        """Pass the scores of all complete generations to the optimizer again."""
        recorded_generations = self.study.generations()
        for row in recorded_generations:
            if self.optimizer.generation != row.number or self._end_status():
                break
            population = self.optimizer.ask()
            recorded = self.study.candidates(row.number)
            is_same = (
                len(recorded) == len(population)
                and recorded.values.tobytes() == population.values.tobytes()
                and recorded.groups.tobytes() == population.groups.tobytes()
                and row.random == self._random_state()
            )
            if not is_same:
                raise candidates_differ_error(self.study, row.number)
            failed = recorded.status != EvaluationStatus.OK
            costs = self.job.goal.costs(recorded.results, failed)
            score = Score(recorded.stage, recorded.value, costs)
            self._update(score, row.mean_value, row.failed)
        if recorded_generations and not self._end_status():
            self._note(f"resumed after {count_of(len(recorded_generations), 'generation')}")

    def _random_state(self) -> str:
        return json.dumps(self.optimizer.random.bit_generator.state, sort_keys=True, default=str)

    def _generation(self, dispatcher: Dispatcher) -> bool:
        """Evaluate one generation and record it; returns False if the time limit is reached."""
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
            self._note(f"all {failed} candidates of generation {number} failed; the first: {first}")
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
        """Report the progress.

        Args:
            population: Candidates of the current generation.
            evaluated: How many of them were evaluated.
            earlier: How many of those were evaluated before this run.
        """
        if self.options.progress is None:
            return
        stage, goal = int(self.best.stage[0]), self.job.goal
        name, best = goal.describe(stage, self._best_value())
        _, mean = goal.describe(stage, self.mean)
        seconds = self.stopwatch.elapsed
        left = self.optimizer.remaining(self.job.iterations, population) - evaluated
        new = self._new + evaluated - earlier
        self.options.progress(
            SearchProgress(
                generation=self.optimizer.generation,
                iterations=self.job.iterations,
                evaluations=self.evaluations + evaluated,
                failed=self.failed,
                stage=stage,
                stages=goal.stages,
                best=best,
                mean=mean,
                criterion=name,
                seconds=seconds,
                seconds_left=left * seconds / max(new, 1),
                evaluated=evaluated,
                population=population,
                subspaces=len(self._visits),
                visits=tuple(
                    (self.job.space.subspace_name(np.frombuffer(key, dtype=np.int32)), count)
                    for key, count in self._visits.most_common(MAX_REPORTED_SUBSPACES)
                ),
            )
        )
