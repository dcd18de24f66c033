"""Evaluation of candidates by a function, a kernel or a program.

No evaluation ends a search: an error, a time or memory limit, or a result that is not finite or has
the wrong shape becomes the status of that candidate.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from math import nan
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from homodyn.errors import SearchError
from homodyn.search.evaluation.network_evaluation import NetworkEvaluation, NetworkRuns
from homodyn.search.evaluation.outcomes import CandidateBatch, EvaluationOutcomes, EvaluationStatus
from homodyn.search.evaluation.program import (
    MAX_MESSAGE_CHARACTERS,
    OutOfMemory,
    ProgramError,
    run_program,
)
from homodyn.search.evaluation.resource_limits import TimeLimit, limit_time
from homodyn.search.goal import Goal, Score
from homodyn.search.space import Space
from homodyn.symbolic import Kernel

OPTIONAL_ARGUMENTS = ("structure", "seed", "settings")
"""Arguments that a function receives besides the parameters if it has them."""


class _InvalidResult(Exception):
    """A result without the required objectives."""


@dataclass(frozen=True, repr=False)
class Evaluator:
    """Evaluates batches of candidates; it is sent to the workers.

    Attributes:
        space: The search space.
        goal: The objectives.
        call: A function of one candidate (a dictionary of its parameters), with ``batch`` a
            function of an array (candidates, parameters), a `Kernel`, or the name of one of these:
            ``"file.py:name"`` or ``"module:name"``.
        program: Command of an external program instead.
        network: File of a network instead; see `NetworkEvaluation`.
        formulas: Formulas of the objectives of a network, by name.
        batch: Whether the function takes all candidates at once.
        folder: Folder of files; the current folder by default.
        settings: Constants for the evaluation.
        time_limit: Limit of one evaluation (s).
        memory_limit: Limit of one evaluation beyond what the process has (MB).
        repeats: Evaluations per candidate.
        keep: Whether the ``"worst"`` or the ``"mean"`` of the repeats counts.
        name: Name of the study.
    """

    space: Space
    goal: Goal
    call: Callable[..., Any] | Kernel | str | None = None
    program: tuple[str, ...] = ()
    batch: bool = False
    folder: Path | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    time_limit: float | None = None
    memory_limit: float | None = None
    repeats: int = 1
    keep: str = "worst"
    name: str = ""
    network: str | None = None
    formulas: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        """What evaluates the candidates."""
        return f"Evaluator: {' '.join(self.program) or self.network or repr(self.call)}"

    def __getstate__(self) -> dict[str, Any]:
        # Without cached properties: each machine imports the function itself.
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def function(self) -> Any:
        """The function or kernel, imported if it is given by name, or the network."""
        if self.network is not None and self.call is None:
            path = (self.folder or Path.cwd()) / self.network
            runs = NetworkRuns(path, self.formulas, self.settings)
            return NetworkEvaluation(runs, self.space, self.goal)
        return import_target(self.call, self.folder) if isinstance(self.call, str) else self.call

    @property
    def vectorized(self) -> bool:
        """Whether one call evaluates many candidates."""
        if self.program:
            return False
        return self.batch or isinstance(self.function, (Kernel, NetworkEvaluation))

    @property
    def limited(self) -> bool:
        """Whether the time or the memory of an evaluation is limited."""
        return self.time_limit is not None or self.memory_limit is not None

    @cached_property
    def _optional_arguments(self) -> tuple[str, ...]:
        """The optional arguments that the function has."""
        try:
            parameters = inspect.signature(self.function).parameters
        except (TypeError, ValueError):
            return ()
        return tuple(name for name in OPTIONAL_ARGUMENTS if name in parameters)

    def __call__(self, tasks: CandidateBatch, *, hard: bool = False) -> EvaluationOutcomes:
        """Evaluate candidates.

        Args:
            tasks: The candidates.
            hard: Whether a time limit may end this process.

        Returns:
            Their outcomes.
        """
        runs = [self._run(tasks, repeat, hard) for repeat in range(self.repeats)]
        return runs[0] if len(runs) == 1 else self._combine_repeats(runs)

    def _run(self, tasks: CandidateBatch, repeat: int, hard: bool) -> EvaluationOutcomes:
        try:
            vectorized = self.vectorized
        except (SystemExit, Exception) as error:
            message = f"{self.call!r} cannot be loaded: {_error_text(error)}"
            return EvaluationOutcomes.failures(
                len(tasks), len(self.goal.names), EvaluationStatus.FAILED, message
            )
        if vectorized:
            return self._run_batch(tasks, repeat, hard)
        outcomes = EvaluationOutcomes.blank(len(tasks), len(self.goal.names))
        results, seconds = [[nan] * len(self.goal.names)] * len(tasks), [0.0] * len(tasks)
        for row, parameters in enumerate(self._parameters(tasks)):
            start = perf_counter()
            try:
                results[row] = self._run_one(tasks, row, repeat, parameters, outcomes, hard)
            except (TimeLimit, SystemExit, Exception) as error:
                _record_failure(outcomes, row, error, self.time_limit)
            seconds[row] = perf_counter() - start
        outcomes.results[:], outcomes.seconds[:] = results, seconds
        return _mark_not_finite(outcomes)

    def _parameters(self, tasks: CandidateBatch) -> Iterator[dict[str, float]]:
        """The parameters of each candidate, by name."""
        names = self.space.names
        for values in tasks.values.tolist():
            named = dict(zip(names, values, strict=True))
            yield {k: v for k, v in named.items() if v == v} if self.space.pools else named

    def _run_one(
        self,
        tasks: CandidateBatch,
        row: int,
        repeat: int,
        parameters: dict[str, float],
        outcomes: EvaluationOutcomes,
        hard: bool,
    ) -> list[float]:
        if self.program:
            answer, data = self._run_program(tasks, row, repeat, parameters)
        else:
            data = {}
            optional = self._optional_values(tasks, row, repeat)
            if self.time_limit is None:
                answer = self.function(parameters, **optional)
            else:
                with limit_time(self.time_limit, hard=hard):
                    answer = self.function(parameters, **optional)
        objectives, more = self._read(answer)
        if data or more:
            outcomes.data[row] = json.dumps({**data, **more}, sort_keys=True, default=str)
        return objectives

    def _optional_values(self, tasks: CandidateBatch, row: int, repeat: int) -> dict[str, Any]:
        names = self._optional_arguments
        if not names:
            return {}
        values: dict[str, Any] = {"settings": dict(self.settings)}
        if "structure" in names:
            values["structure"] = self.space.structure(tasks.groups[row])
        if "seed" in names:
            values["seed"] = int(tasks.seeds[row, repeat])
        return {name: values[name] for name in names}

    def _run_program(
        self, tasks: CandidateBatch, row: int, repeat: int, parameters: dict[str, float]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        task = {
            "id": f"{tasks.generation}.{tasks.members[row]}.{repeat}",
            "dispatcher": self.name or Path(self.program[0]).name,
            "parameters": parameters,
            "structure": self.space.structure(tasks.groups[row]),
            "settings": dict(self.settings),
            "seed": int(tasks.seeds[row, repeat]),
        }
        return run_program(
            self.program,
            task,
            folder=self.folder,
            time_limit=self.time_limit,
            memory_limit=self.memory_limit,
        )

    def _read(self, answer: Any) -> tuple[list[float], dict[str, Any]]:
        """The objectives of a result, and the other entries of a dictionary."""
        names = self.goal.names
        if isinstance(answer, float) and len(names) == 1:
            return [answer], {}
        if isinstance(answer, Mapping):
            missing = [name for name in names if name not in answer]
            if missing:
                raise _InvalidResult(f"the result has {sorted(answer)} and lacks {missing}")
            rest = {name: answer[name] for name in answer if name not in names}
            return [float(answer[name]) for name in names], rest
        if answer is None:
            raise _InvalidResult("the result is None: does the function return a value?")
        flat = np.asarray(answer, dtype=float).ravel()
        if len(flat) != len(names):
            raise _InvalidResult(f"the result has {len(flat)} numbers for {len(names)} objectives")
        return flat.tolist(), {}

    def _run_batch(self, tasks: CandidateBatch, repeat: int, hard: bool) -> EvaluationOutcomes:
        start = perf_counter()
        outcomes = EvaluationOutcomes.blank(len(tasks), len(self.goal.names))
        limit = None if self.time_limit is None else self.time_limit * len(tasks)
        try:
            with limit_time(limit, hard=hard):
                answer = self._call_batch(tasks, repeat)
            outcomes.results[:] = self._read_batch(answer, len(tasks))
        except (TimeLimit, SystemExit, Exception) as error:
            if len(tasks) > 1 and not isinstance(error, _InvalidResult):
                return self._run_separately(tasks, repeat, hard)
            for row in range(len(tasks)):
                _record_failure(outcomes, row, error, limit)
        outcomes.seconds[:] = (perf_counter() - start) / len(tasks)
        return _mark_not_finite(outcomes)

    def _run_separately(self, tasks: CandidateBatch, repeat: int, hard: bool) -> EvaluationOutcomes:
        """Evaluate batches of one candidate, to find the one that fails."""
        parts = [self._run_batch(tasks[row : row + 1], repeat, hard) for row in range(len(tasks))]
        return EvaluationOutcomes(
            np.concatenate([part.results for part in parts]),
            np.concatenate([part.status for part in parts]),
            np.concatenate([part.seconds for part in parts]),
            {row: part.messages[0] for row, part in enumerate(parts) if part.messages},
        )

    def _call_batch(self, tasks: CandidateBatch, repeat: int) -> Any:
        if isinstance(self.function, Kernel):
            return _kernel_call(self.function, self.space.names, tasks.values)
        optional = {
            "structure": tasks.groups,
            "seed": tasks.seeds[:, repeat],
            "settings": dict(self.settings),
        }
        chosen = {name: optional[name] for name in self._optional_arguments}
        return self.function(tasks.values, **chosen)

    def _read_batch(self, answer: Any, count: int) -> np.ndarray:
        names = self.goal.names
        if isinstance(answer, Mapping):
            missing = [name for name in names if name not in answer]
            if missing:
                raise _InvalidResult(f"the result has {sorted(answer)} and lacks {missing}")
            answer = [answer[name] for name in names]
        if isinstance(answer, tuple | list) and len(answer) == len(names) and len(names) > 1:
            with contextlib.suppress(ValueError):
                answer = np.column_stack([np.asarray(each, dtype=float) for each in answer])
        rows = np.asarray(answer, dtype=float)
        if rows.shape == (count,) and len(names) == 1:
            rows = rows[:, None]
        if rows.shape != (count, len(names)):
            expected = f"({count},)" if len(names) == 1 else f"({count}, {len(names)})"
            raise _InvalidResult(f"the result has the shape {rows.shape}; expected {expected}")
        return rows

    def _combine_repeats(self, runs: Sequence[EvaluationOutcomes]) -> EvaluationOutcomes:
        """The worst, or the mean, of several evaluations of each candidate.

        A candidate that failed once has failed.
        """
        status = np.stack([run.status for run in runs])
        failed = status != EvaluationStatus.OK
        if self.keep == "mean":
            chosen = failed.argmax(axis=0)
            results = np.mean([run.results for run in runs], axis=0)
        else:
            scores = [
                self.goal.score(run.results, run.status != EvaluationStatus.OK) for run in runs
            ]
            chosen = np.zeros(len(runs[0].status), dtype=int)
            for repeat in range(1, len(runs)):
                stage = np.stack([s.stage for s in scores])[chosen, np.arange(len(chosen))]
                value = np.stack([s.value for s in scores])[chosen, np.arange(len(chosen))]
                worst = Score(stage, value)
                chosen = np.where(worst.better(scores[repeat]), repeat, chosen)
            chosen = np.where(failed.any(axis=0), failed.argmax(axis=0), chosen)
            results = np.stack([run.results for run in runs])[chosen, np.arange(len(chosen))]
        rows = np.arange(len(chosen))
        results = np.where(failed.any(axis=0)[:, None], np.nan, results)
        return EvaluationOutcomes(
            results,
            status[chosen, rows],
            np.sum([run.seconds for run in runs], axis=0),
            {r: runs[c].messages[r] for r, c in enumerate(chosen) if r in runs[c].messages},
            {r: runs[c].data[r] for r, c in enumerate(chosen) if r in runs[c].data},
        )


def _kernel_call(kernel: Kernel, names: Sequence[str], values: np.ndarray) -> Any:
    """Evaluate a kernel: of one array of all parameters, or of parameters by name."""
    ports = kernel.inputs
    if len(ports) == 1 and ports[0].name not in names:
        answer = kernel(np.ascontiguousarray(values))
    else:
        columns = [
            np.ascontiguousarray(values[:, names.index(port.name)]).reshape(-1, *port.shape)
            for port in ports
        ]
        answer = kernel(*columns)
    if isinstance(answer, Mapping):
        return {name: np.asarray(each).reshape(len(values)) for name, each in answer.items()}
    if isinstance(answer, tuple):
        return [np.asarray(each).reshape(len(values)) for each in answer]
    return np.asarray(answer)


def _mark_not_finite(outcomes: EvaluationOutcomes) -> EvaluationOutcomes:
    """Set the status of candidates whose results are not finite."""
    wrong = ~np.isfinite(outcomes.results).all(axis=1) & (outcomes.status == EvaluationStatus.OK)
    for row in np.flatnonzero(wrong):
        outcomes.messages[int(row)] = f"the objectives are {outcomes.results[row].tolist()}"
    outcomes.status[wrong] = EvaluationStatus.NOT_FINITE
    outcomes.results[outcomes.status != EvaluationStatus.OK] = np.nan
    return outcomes


def _record_failure(
    outcomes: EvaluationOutcomes, row: int, error: BaseException, limit: float | None
) -> None:
    match error:
        case TimeLimit():
            status, message = EvaluationStatus.SLOW, f"longer than {limit:g} s"
        case MemoryError() | OutOfMemory():
            status, message = EvaluationStatus.MEMORY, str(error) or "out of memory"
        case _InvalidResult():
            status, message = EvaluationStatus.INVALID, str(error)
        case ProgramError():
            status, message = EvaluationStatus.FAILED, str(error)
        case SystemExit():
            status, message = EvaluationStatus.FAILED, f"the evaluation called exit: {error}"
        case _:
            status, message = EvaluationStatus.FAILED, _error_text(error)
    outcomes.status[row], outcomes.messages[row] = status, message


def _error_text(error: BaseException) -> str:
    try:
        message = str(error)
    except Exception:
        message = "its message cannot be shown"
    return f"{type(error).__name__}: {message}"[:MAX_MESSAGE_CHARACTERS]


def import_target(text: str, folder: Path | None) -> Any:
    """Import a function or kernel by name.

    Args:
        text: ``"file.py:name"`` or ``"module:name"``.
        folder: Folder of the file; the current folder by default.

    Returns:
        The object.

    Raises:
        SearchError: The text has another form, or there is no such file or name.
    """
    place, colon, name = text.rpartition(":")
    if not colon or not place or not name:
        raise SearchError(f"{text!r} must be like 'file.py:name' or 'module:name'")
    if place.endswith(".py"):
        path = (folder or Path.cwd()) / place
        module_name = f"homodyn_search_{path.stem}"
        spec = importlib.util.spec_from_file_location(module_name, path)
        if spec is None or spec.loader is None or not path.is_file():
            raise SearchError(f"{text!r}: there is no file {path}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module
        # The file can import modules of its own folder.
        sys.path.insert(0, str(path.parent))
        try:
            spec.loader.exec_module(module)
        finally:
            sys.path.remove(str(path.parent))
    else:
        module = importlib.import_module(place)
    target: Any = module
    for part in name.split("."):
        if not hasattr(target, part):
            public = [each for each in dir(target) if not each.startswith("_")]
            raise SearchError(f"{text!r}: {place} has no {part!r}; it has {public}")
        target = getattr(target, part)
    return target
