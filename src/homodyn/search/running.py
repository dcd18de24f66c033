"""A search from its first candidate to its last, in one go or in many.

A study remembers what every candidate was and how it did. To resume, the optimiser is told all of
it again and so arrives, to the bit, where it was; candidates that it then proposes again must be
those that were recorded.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.errors import SearchError
from homodyn.search.evaluation import Evaluator
from homodyn.search.gathered import Gathered, other_candidates
from homodyn.search.generation import Dispatch
from homodyn.search.goal import Goal, Objective, Score
from homodyn.search.job import Job, differences, job_of
from homodyn.search.optimiser import Optimiser, beginning_of
from homodyn.search.outcome import Status
from homodyn.search.result import Progress, Result, solutions
from homodyn.search.sites import Clock, site
from homodyn.search.space import Space
from homodyn.search.study import Study

MOST_VISITED = 5
"""Subspaces whose visits are told while a search runs."""


def minimise(
    function: Callable[..., Any] | str,
    space: Space | Mapping[str, Any],
    *,
    objectives: Any = "value",
    optimiser: Any = None,
    batch: bool = False,
    where: str | None = None,
    database: str | Path | None = None,
    stop_after: float | None = None,
    progress: Callable[[Progress], None] | None = None,
    time_limit: float | None = None,
    **named: Any,
) -> Result:
    """Search for the least value of a function over a space.

    ``objectives`` is a name, objectives, or a ``Goal``; further names are fields of ``Job``. Batch
    functions run in this process unless ``where`` says otherwise, others in a pool.
    """
    goal = objectives if isinstance(objectives, Goal) else Goal(objectives=_listed(objectives))
    bounds: Any = space
    known = space if isinstance(space, Space) else Space(parameters=bounds)
    job = job_of(
        known,
        goal,
        optimiser,
        evaluate={"batch": batch, "time_limit": time_limit, **named.pop("evaluate", {})},
        run={"where": where or ("serial" if batch else "pool"), **named.pop("run", {})},
        **named,
    )
    return run(job, function, database=database, stop_after=stop_after, progress=progress)


def _listed(objectives: Any) -> Any:
    return [objectives] if isinstance(objectives, str | Objective) else objectives


def run(
    job: Job,
    function: Callable[..., Any] | str | None = None,
    *,
    database: str | Path | None = None,
    where: str | None = None,
    workers: int | None = None,
    folder: Path | None = None,
    stop_after: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Result:
    """Run a job, or continue it where the database says it was.

    ``function`` judges instead of what the job names. ``stop_after`` (s) ends the run in time, to
    be resumed; candidates that were being evaluated then are not blamed.
    """
    from homodyn import __version__

    clock = Clock(stop_after)
    evaluator = _evaluator(job, function, folder)
    study = Study.create(
        database, name=job.name, job=lambda: _settled(job).text(), version=__version__
    )
    told = differences(study.job, json.loads(job.text()))
    if told:
        raise SearchError(
            f"{study.place} has another job named {job.name!r}: " + "; ".join(told), tuple(told)
        )
    with study.held():
        study.extend(job.iterations, job.run.model_dump(mode="json"))
        return _Search(job, study, evaluator, clock, progress).run(where, workers)


def _evaluator(
    job: Job, function: Callable[..., Any] | str | None, folder: Path | None
) -> Evaluator:
    given = job.evaluate
    call = function if function is not None else given.python
    if call is None and not given.program:
        raise SearchError(
            "nobody judges the candidates: give a function, or name one in the job as "
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


def _settled(job: Job) -> Job:
    """The job with the solutions of other studies written into it: it needs them no more."""
    if not job.seeding.studies:
        return job
    found: list[Mapping[str, float | str]] = list(job.seeding.solutions)
    for place in job.seeding.studies:
        for solution in solutions(Study.open(place), job.seeding.best):
            found.append({**solution.parameters, **solution.structure})
    return job.model_copy(
        update={
            "seeding": job.seeding.model_copy(update={"solutions": tuple(found), "studies": ()})
        }
    )


class _Search:
    """The loop: replay what is known, then ask, evaluate, record, tell."""

    def __init__(
        self,
        job: Job,
        study: Study,
        evaluator: Evaluator,
        clock: Clock,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.job, self.study, self.evaluator, self.clock = job, study, evaluator, clock
        self.progress = progress
        seeding = Job.model_validate(study.job).seeding
        self.optimiser: Optimiser = job.optimiser.start(
            job.space,
            seed=job.seed,
            iterations=job.iterations,
            beginning=beginning_of(job.space, seeding.solutions, seeding.mutation),
        )
        self.evaluations = self.failed = 0
        self.best = Score.none(1)
        self.mean = float("nan")
        self.notes: list[str] = []
        self._visits: Counter[bytes] = Counter()
        self._new = 0

    def run(self, where: str | None, workers: int | None) -> Result:
        self._replay()
        status = self._ended()
        if status:
            return self._result(status)
        settings = self.job.run
        at_once = self._at_once()
        place = site(
            where or settings.where,
            self.evaluator,
            workers=workers or settings.workers,
            priority=settings.priority,
            study=self.job.name,
        )
        dispatch = Dispatch(
            place,
            at_once=at_once,
            group=settings.group,
            estimate=settings.estimate,
            time_limit=self.job.evaluate.time_limit,
            objectives=len(self.job.goal.names),
            note=self._note,
        )
        status = "stopped"
        try:
            while self._generation(dispatch):
                status = self._ended()
                if status:
                    break
                status = "stopped"
        except KeyboardInterrupt:
            self._note("interrupted by hand")
        finally:
            place.close(at_once=status == "stopped")
        return self._result(status)

    def _at_once(self) -> bool:
        """Whether candidates are evaluated together; a judge that cannot be loaded is told."""
        try:
            return self.evaluator.at_once
        except SearchError:
            raise
        except (SystemExit, Exception) as error:
            told = f"{type(error).__name__}: {error}"
            raise SearchError(f"{self.evaluator.call!r} cannot be loaded: {told}") from error

    def _note(self, sentence: str) -> None:
        self.notes.append(sentence)
        self.study.note(sentence)

    def _result(self, status: str) -> Result:
        best = solutions(self.study)
        return Result(
            status,
            self.study,
            best[0] if best else None,
            self.optimiser.generation,
            self.evaluations,
            self.failed,
            self.clock.elapsed,
            tuple(self.notes),
        )

    def _ended(self) -> str:
        """Why the search is over; empty while it is not."""
        target = self.job.target
        last = self.best.stage[0] >= self.job.goal.stages
        if target is not None and last and self._figure() <= self.job.goal.value_of(target):
            return "target"
        if self.optimiser.generation >= self.job.iterations or self.optimiser.finished:
            return "finished"
        return ""

    def _figure(self) -> float:
        return float(self.best.value[0])

    def _replay(self) -> None:
        """Tell the optimiser all complete generations again."""
        known = self.study.generations()
        for row in known:
            if self.optimiser.generation != row.number or self._ended():
                break
            people = self.optimiser.ask()
            recorded = self.study.candidates(row.number)
            same = (
                len(recorded) == len(people)
                and recorded.values.tobytes() == people.values.tobytes()
                and recorded.groups.tobytes() == people.groups.tobytes()
                and row.random == self._random()
            )
            if not same:
                raise other_candidates(self.study, row.number)
            self._learn(Score(recorded.stage, recorded.value), row.mean_value, row.failed)
        if known and not self._ended():
            self._note(f"resumed after {len(known)} generations")

    def _random(self) -> str:
        return json.dumps(self.optimiser.random.bit_generator.state, sort_keys=True, default=str)

    def _generation(self, dispatch: Dispatch) -> bool:
        """Evaluate one generation and record it; False when the time was up before."""
        clock = Clock()
        number = self.optimiser.generation
        people = self.optimiser.ask()
        gathered = Gathered(
            self.job, self.study, people, number, fresh=self._new > 0, told=self.tell_progress
        )
        whole = False
        try:
            whole = dispatch.run(gathered.missing(), len(people), self.clock, gathered.take)
        finally:
            if not whole:
                gathered.write(None)
        if not whole:
            return False
        score, status = gathered.score(), gathered.outcomes.status
        failed = int((status != Status.OK).sum())
        k = score.best()
        alike = (score.stage == score.stage[k]) & np.isfinite(score.value)
        mean = float(score.value[alike].mean()) if alike.any() else None
        gathered.write(
            {
                "count": len(people),
                "random": self._random(),
                "best_member": k,
                "best_stage": int(score.stage[k]),
                "best_value": float(score.value[k]),
                "mean_value": mean,
                "failed": failed,
                "seconds": clock.elapsed,
            }
        )
        if failed == len(people):
            first = gathered.outcomes.messages.get(0, "no message")
            self._note(f"all {failed} candidates of generation {number} failed, the first: {first}")
        self._new += len(people)
        self._learn(score, mean, failed)
        self.tell_progress(len(people))
        return True

    def _learn(self, score: Score, mean: float | None, failed: int) -> None:
        if self.job.pools:
            rows, counts = np.unique(self.optimiser.ask().groups, axis=0, return_counts=True)
            for row, count in zip(rows, counts.tolist(), strict=True):
                self._visits[row.tobytes()] += count
        self.optimiser.tell(score)
        self.evaluations += len(score)
        self.failed += failed
        self.mean = float("nan") if mean is None else mean
        k = score.best()
        if score[k : k + 1].better(self.best)[0]:
            self.best = score[k : k + 1]

    def tell_progress(self, population: int, evaluated: int = 0, earlier: int = 0) -> None:
        """Tell how far the search is, with what is evaluated of the generation under way.

        ``earlier`` of the evaluated were so before this run.
        """
        if self.progress is None:
            return
        stage, goal = int(self.best.stage[0]), self.job.goal
        name, best = goal.shown(stage, self._figure())
        _, mean = goal.shown(stage, self.mean)
        done, seconds = self.optimiser.generation, self.clock.elapsed
        left = self.optimiser.remaining(self.job.iterations, population) - evaluated
        new = self._new + evaluated - earlier
        self.progress(
            Progress(
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
                    for key, count in self._visits.most_common(MOST_VISITED)
                ),
            )
        )
