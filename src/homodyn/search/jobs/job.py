"""A job: space, goal, optimizer, evaluation, and where candidates are evaluated."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, TypedDict, Unpack

from pydantic import BeforeValidator, Discriminator, Field, SerializeAsAny, Tag, model_validator

from homodyn.errors import located_search_error
from homodyn.foundation.guarded_read import guarded_read
from homodyn.search.goal import Goal, Objective, goal_errors
from homodyn.search.optimizers.cmaes import CMAES
from homodyn.search.optimizers.ga import GA
from homodyn.search.optimizers.grid import Grid
from homodyn.search.optimizers.interface import OptimizerSettings, UnknownOptimizer
from homodyn.search.optimizers.mmpso import MMPSO
from homodyn.search.optimizers.nsga2 import NSGA2
from homodyn.search.optimizers.pso import PSO
from homodyn.search.optimizers.spsa import SPSA
from homodyn.search.space import LinearConstraint, Pool, SearchParameter, Space, space_errors
from homodyn.search.validated_model import ValidatedModel

ErrorPlace = tuple[tuple[str | int, ...], str]
"""Keys and indices that lead to an error, and a sentence."""
RESUMABLE_FIELDS = ("run", "iterations")
"""Fields that may differ when a study is resumed: where it runs, and how long."""
OLD_KEYS = {"optimiser": "optimizer", "maximise": "maximize", "neighbours": "neighbors"}
"""Earlier spellings of keys in files and databases."""


def _optimizer_kind(given: Any) -> str | None:
    """Tag of the built-in optimizer that a value describes, "custom" for any other."""
    kind = given.get("kind") if isinstance(given, Mapping) else getattr(given, "kind", None)
    if isinstance(given, OptimizerSettings):
        return kind if isinstance(given, _BUILT_IN.get(str(kind), ())) else "custom"
    if kind in OptimizerSettings.kinds and kind not in _BUILT_IN:
        return "custom"
    return str(kind) if kind is not None else None


def _custom_optimizer(given: Any) -> Any:
    """Settings of an optimizer that users define."""
    if isinstance(given, Mapping):
        return OptimizerSettings.kinds[given["kind"]].model_validate(given)
    return given


_BUILT_IN: dict[str, type[OptimizerSettings]] = {
    "pso": PSO,
    "mmpso": MMPSO,
    "ga": GA,
    "spsa": SPSA,
    "grid": Grid,
    "cma": CMAES,
    "nsga2": NSGA2,
}
AnyOptimizer = Annotated[
    Annotated[PSO, Tag("pso")]
    | Annotated[MMPSO, Tag("mmpso")]
    | Annotated[GA, Tag("ga")]
    | Annotated[SPSA, Tag("spsa")]
    | Annotated[Grid, Tag("grid")]
    | Annotated[CMAES, Tag("cma")]
    | Annotated[NSGA2, Tag("nsga2")]
    | Annotated[
        SerializeAsAny[OptimizerSettings], BeforeValidator(_custom_optimizer), Tag("custom")
    ],
    Discriminator(
        _optimizer_kind,
        custom_error_type="optimizer_kind",
        custom_error_message=f"kind must be one of {', '.join(_BUILT_IN)}",
    ),
]


class EvaluationSettings(ValidatedModel):
    """How candidates are evaluated: a Python function or kernel by its text, or a command.

    Attributes:
        python: ``"file.py:name"`` or ``"module:name"`` of a function or a kernel.
        program: Command of an external program instead.
        network: File of a network (.cdn) instead; parameters are its variables. ``settings`` has
            the ``duration`` and the time step ``dt`` of a run (s).
        formulas: Objectives of a network: formulas of its variables at the end of the run, by
            name. An objective without a formula is itself a variable.
        batch: Whether the function takes all candidates at once.
        time_limit: Limit of one evaluation (s).
        memory_limit: Limit of one evaluation beyond what the process has (MB).
        repeats: Evaluations per candidate.
        keep: Whether the worst or the mean of them counts.
        settings: Constants for the evaluation.
    """

    python: str | None = None
    program: tuple[str, ...] = ()
    network: str | None = None
    formulas: Mapping[str, str] = Field(default_factory=dict)
    batch: bool = False
    time_limit: float | None = Field(default=None, gt=0)
    memory_limit: float | None = Field(default=None, gt=0)
    repeats: int = Field(default=1, ge=1)
    keep: Literal["worst", "mean"] = "worst"
    settings: Mapping[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check(self) -> EvaluationSettings:
        if self.python is not None and self.program:
            raise ValueError("either python or program, not both")
        if self.network is not None and (self.python is not None or self.program):
            raise ValueError("a network evaluates candidates alone: leave python and program out")
        if self.formulas and self.network is None:
            raise ValueError("formulas are those of a network: name one")
        if self.program and self.batch:
            raise ValueError("a program takes one candidate at a time: leave batch out")
        return self


class Seeding(ValidatedModel):
    """Earlier solutions to begin from: given, or the best of other studies.

    They are the first candidates; the other candidates are copies in which parameters are drawn
    again with a probability.

    Attributes:
        solutions: Values of parameters and pools by name.
        studies: Databases of other studies.
        best: Number of solutions taken from each of them.
        mutation: Probability that a copy draws a parameter again.
    """

    solutions: tuple[Mapping[str, float | str], ...] = ()
    studies: tuple[str, ...] = ()
    best: int = Field(default=3, ge=1)
    mutation: float = Field(default=0.1, ge=0, le=1)


class ExecutionSettings(ValidatedModel):
    """Where candidates are evaluated.

    Attributes:
        where: ``"serial"``, ``"pool"``, ``"auto"`` (in this process until candidates prove slow,
            then in a pool), or the address of a Dask scheduler.
        workers: Processes of the pool; one per processor by default.
        group: Candidates per task; chosen by their duration by default.
        priority: Share of a cluster relative to other studies.
        estimate: Expected duration of a candidate (s), until it is measured.
    """

    where: str = "pool"
    workers: int | None = Field(default=None, ge=1)
    group: int | None = Field(default=None, ge=1)
    priority: float = Field(default=1.0, gt=0)
    estimate: float | None = Field(default=None, gt=0)


class Job(ValidatedModel):
    """Everything about a search except the function that evaluates candidates.

    Attributes:
        parameters: What is varied.
        objectives: What is measured.
        name: Name of the study.
        pools: Mutually exclusive groups of parameters.
        constraints: Linear constraints on parameters.
        combine: How several objectives make one order.
        expression: Formula of the objectives instead.
        maximize: Whether the expression is maximized.
        penalty: Value of failed candidates; they rank last by default.
        optimizer: Settings of the optimizer.
        iterations: Number of generations.
        target: Value of the last objective at which the search ends.
        seed: Seed of all random numbers.
        evaluate: How candidates are evaluated.
        seeding: Earlier solutions to begin from.
        run: Where candidates are evaluated.
    """

    positional: ClassVar[tuple[str, ...]] = ("parameters", "objectives")
    parameters: tuple[SearchParameter, ...] = Field(alias="parameter")
    objectives: tuple[Objective, ...] = Field(alias="objective", min_length=1)
    name: str = Field(default="search", min_length=1, max_length=200)
    pools: tuple[Pool, ...] = Field(default=(), alias="pool")
    constraints: tuple[LinearConstraint, ...] = Field(default=(), alias="constraint")
    combine: Literal["lexicographic", "sum", "product"] = "lexicographic"
    expression: str = ""
    maximize: bool = False
    penalty: float | None = None
    optimizer: AnyOptimizer = Field(default_factory=PSO)
    iterations: int = Field(default=100, ge=1)
    target: float | None = None
    seed: int = Field(default=0, ge=0)
    evaluate: EvaluationSettings = Field(default_factory=EvaluationSettings)
    seeding: Seeding = Field(default_factory=Seeding)
    run: ExecutionSettings = Field(default_factory=ExecutionSettings)

    @model_validator(mode="before")
    @classmethod
    def _accept_old_keys(cls, data: Any) -> Any:
        return modernize_keys(data) if isinstance(data, Mapping) else data

    @model_validator(mode="after")
    def _check(self) -> Job:
        errors = job_errors(self.model_dump(by_alias=True))
        if not errors:
            stages = self.goal.stages
            reasons = self.optimizer.compatibility_errors(self.space, stages, self.iterations)
            errors = [(("optimizer",), reason) for reason in reasons]
        if errors:
            raise ValueError("; ".join(sentence for _, sentence in errors))
        return self

    @cached_property
    def space(self) -> Space:
        """The space that is searched."""
        return Space(parameters=self.parameters, pools=self.pools, constraints=self.constraints)

    @cached_property
    def goal(self) -> Goal:
        """How candidates are ranked."""
        return Goal(
            objectives=self.objectives,
            combine=self.combine,
            expression=self.expression,
            maximize=self.maximize,
            penalty=self.penalty,
        )

    def text(self) -> str:
        """The job as JSON: equal texts for equal jobs; groups keep their order."""
        return json.dumps(self.model_dump(mode="json", by_alias=True))


class JobKeywords(TypedDict, total=False):
    """Fields of `Job` besides the space, the goal and the optimizer, as keywords."""

    name: str
    iterations: int
    target: float | None
    seed: int
    evaluate: EvaluationSettings | Mapping[str, Any]
    seeding: Seeding | Mapping[str, Any]
    run: ExecutionSettings | Mapping[str, Any]


def create_job(
    space: Space,
    goal: Goal,
    optimizer: OptimizerSettings | None = None,
    **fields: Unpack[JobKeywords],
) -> Job:
    """A job from a space and a goal.

    Args:
        space: The space to search.
        goal: How candidates are ranked.
        optimizer: Settings of the optimizer; a particle swarm by default.
        **fields: Other fields of `Job`.

    Returns:
        The job.

    Raises:
        SearchError: A field is wrong, or the parts are inconsistent.
    """
    others: dict[str, Any] = dict(fields)
    if optimizer is not None:
        others["optimizer"] = optimizer
    return Job(
        parameter=space.parameters,
        pool=space.pools,
        constraint=space.constraints,
        objective=goal.objectives,
        combine=goal.combine,
        expression=goal.expression,
        maximize=goal.maximize,
        penalty=goal.penalty,
        **others,
    )


def modernize_keys(data: Mapping[str, Any]) -> dict[str, Any]:
    """Replace earlier spellings of keys.

    Args:
        data: A job as plain data.

    Returns:
        The job with the current spellings.
    """

    def rename_keys(table: Any) -> Any:
        if not isinstance(table, Mapping):
            return table
        return {OLD_KEYS.get(str(key), key): value for key, value in table.items()}

    job = rename_keys(data)
    if isinstance(job.get("optimizer"), Mapping):
        job["optimizer"] = rename_keys(job["optimizer"])
    for name in ("objective", "objectives"):
        if isinstance(job.get(name), list | tuple):
            job[name] = [rename_keys(objective) for objective in job[name]]
    return dict(job)


def stored_job(data: Mapping[str, Any]) -> Job:
    """The job that a study recorded.

    Args:
        data: The job as plain data.

    Returns:
        The job, also when its optimizer is not defined in this program.

    Raises:
        SearchError: The data are not a job, because the study is damaged.
    """
    with guarded_read(what="recorded job", error_type=located_search_error):
        job = modernize_keys(data)
        optimizer = job.get("optimizer")
        if isinstance(optimizer, Mapping) and optimizer.get("kind") not in OptimizerSettings.kinds:
            job["optimizer"] = UnknownOptimizer(**optimizer)
        return Job.model_validate(job)


def job_errors(data: Mapping[str, Any]) -> list[ErrorPlace]:
    """Inconsistencies of a job.

    Args:
        data: The job as plain data. Values of a wrong type are skipped, so that all errors of a
            file can be reported at once.

    Returns:
        Keys and indices, as in job files, that lead to each error, and a sentence.
    """
    short = {"parameters": "parameter", "pools": "pool", "constraints": "constraint"}
    short["objectives"] = "objective"
    plain = {name: data.get(alias, data.get(name)) for name, alias in short.items()}
    plain.update({key: data[key] for key in ("combine", "expression") if key in data})
    errors = space_errors(plain) + goal_errors(plain)
    return [
        ((short.get(str(place[0]), place[0]), *place[1:]), sentence) for place, sentence in errors
    ]


def differences(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Differences between two jobs in fields that must not change when a study is resumed.

    Args:
        earlier: The job that the study began with, as plain data.
        now: The job to continue with, as plain data.

    Returns:
        One sentence per difference.
    """
    sentences = []
    for key in sorted(set(earlier) | set(now)):
        if key in RESUMABLE_FIELDS or key == "seeding":
            continue
        a, b = dict(_leaves(earlier.get(key), key)), dict(_leaves(now.get(key), key))
        for place in sorted(set(a) | set(b)):
            if a.get(place) != b.get(place):
                sentences.append(f"{place} was {a.get(place)!r} and is {b.get(place)!r}")
    if not sentences and json.dumps(earlier.get("pool")) != json.dumps(now.get("pool")):
        sentences.append("the groups of a pool have another order")
    return sentences


def _leaves(value: Any, place: str) -> list[tuple[str, Any]]:
    match value:
        case dict():
            return [leaf for key, each in value.items() for leaf in _leaves(each, f"{place}.{key}")]
        case list():
            return [leaf for k, each in enumerate(value) for leaf in _leaves(each, f"{place}.{k}")]
        case _:
            return [(place, value)]
