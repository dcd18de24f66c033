"""A search as a whole: space, goal, optimiser, evaluation, and where it runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from homodyn.errors import SearchError
from homodyn.search.cmaes import CMAES
from homodyn.search.described import Described
from homodyn.search.ga import GA
from homodyn.search.goal import Goal, Objective, goal_faults
from homodyn.search.grid import Grid
from homodyn.search.mmpso import MMPSO
from homodyn.search.pso import PSO
from homodyn.search.space import Constraint, Parameter, Pool, Space, space_faults
from homodyn.search.spsa import SPSA

AnyOptimiser = Annotated[PSO | MMPSO | GA | SPSA | Grid | CMAES, Field(discriminator="kind")]
Fault = tuple[tuple[str | int, ...], str]
FREE = ("run", "iterations")
"""What may differ when a study is resumed: where it runs, and how long."""


class Evaluate(Described):
    """Who judges candidates: a Python function or kernel by its text, or a command.

    Limits are for one evaluation: seconds, and megabytes beyond what the process has. A candidate
    is evaluated ``repeats`` times, of which the worst or the mean counts.
    """

    python: str | None = None
    program: tuple[str, ...] = ()
    batch: bool = False
    time_limit: float | None = Field(default=None, gt=0)
    memory_limit: float | None = Field(default=None, gt=0)
    repeats: int = Field(default=1, ge=1)
    keep: Literal["worst", "mean"] = "worst"
    settings: Mapping[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check(self) -> Evaluate:
        if self.python is not None and self.program:
            raise ValueError("either python or program, not both")
        if self.program and self.batch:
            raise ValueError("a program takes one candidate at a time: leave batch out")
        return self


class Seeding(Described):
    """Earlier solutions to begin from: given, or the best of other studies.

    The first candidates are these; the others are copies of which each parameter is redrawn with
    the probability ``mutation``.
    """

    solutions: tuple[Mapping[str, float | str], ...] = ()
    studies: tuple[str, ...] = ()
    best: int = Field(default=3, ge=1)
    mutation: float = Field(default=0.1, ge=0, le=1)


class Run(Described):
    """Where candidates are evaluated: "serial", "pool", or the address of a Dask scheduler.

    ``group`` is how many candidates one task has (chosen by their time when left out); ``priority``
    is the study's share of a cluster beside others; ``estimate`` how long a candidate takes (s),
    until that is measured.
    """

    where: str = "pool"
    workers: int | None = Field(default=None, ge=1)
    group: int | None = Field(default=None, ge=1)
    priority: float = Field(default=1.0, gt=0)
    estimate: float | None = Field(default=None, gt=0)


class Job(Described):
    """Everything about a search but the function that judges."""

    positional: ClassVar[tuple[str, ...]] = ("parameters", "objectives")
    name: str = Field(default="search", min_length=1, max_length=200)
    parameters: tuple[Parameter, ...] = Field(alias="parameter")
    pools: tuple[Pool, ...] = Field(default=(), alias="pool")
    constraints: tuple[Constraint, ...] = Field(default=(), alias="constraint")
    objectives: tuple[Objective, ...] = Field(alias="objective", min_length=1)
    combine: Literal["lexicographic", "sum", "product"] = "lexicographic"
    expression: str = ""
    maximise: bool = False
    penalty: float | None = None
    optimiser: AnyOptimiser = Field(default_factory=PSO)
    iterations: int = Field(default=100, ge=1)
    target: float | None = None
    seed: int = Field(default=0, ge=0)
    evaluate: Evaluate = Field(default_factory=Evaluate)
    seeding: Seeding = Field(default_factory=Seeding)
    run: Run = Field(default_factory=Run)

    @model_validator(mode="after")
    def _check(self) -> Job:
        faults = job_faults(self.model_dump(by_alias=True))
        if not faults:
            stages = self.goal.stages
            told = self.optimiser.faults(self.space, stages, self.iterations)
            faults = [(("optimiser",), each) for each in told]
        if faults:
            raise ValueError("; ".join(told for _, told in faults))
        return self

    @cached_property
    def space(self) -> Space:
        """What is searched."""
        return Space(parameters=self.parameters, pools=self.pools, constraints=self.constraints)

    @cached_property
    def goal(self) -> Goal:
        """What is better."""
        return Goal(
            objectives=self.objectives,
            combine=self.combine,
            expression=self.expression,
            maximise=self.maximise,
            penalty=self.penalty,
        )

    def text(self) -> str:
        """The job as JSON, the same text for the same job; groups keep their order."""
        return json.dumps(self.model_dump(mode="json", by_alias=True))


def job_of(space: Space, goal: Goal, optimiser: Any = None, **named: Any) -> Job:
    """A job from a space and a goal; other fields of ``Job`` by name."""
    return Job(
        parameter=space.parameters,
        pool=space.pools,
        constraint=space.constraints,
        objective=goal.objectives,
        combine=goal.combine,
        expression=goal.expression,
        maximise=goal.maximise,
        penalty=goal.penalty,
        **({} if optimiser is None else {"optimiser": optimiser}),
        **named,
    )


def job_faults(data: Mapping[str, Any]) -> list[Fault]:
    """What does not fit together in a job, with places in its own words.

    ``data`` is plain and may be damaged elsewhere, so that all faults can be told at once.
    """
    short = {"parameters": "parameter", "pools": "pool", "constraints": "constraint"}
    short["objectives"] = "objective"
    plain = {name: data.get(alias, data.get(name)) for name, alias in short.items()}
    plain.update({key: data[key] for key in ("combine", "expression") if key in data})
    faults = space_faults(plain) + goal_faults(plain)
    return [((short.get(str(place[0]), place[0]), *place[1:]), told) for place, told in faults]


def differences(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """How a job differs from the one a study began with, where that is not free."""
    told = []
    for key in sorted(set(earlier) | set(now)):
        if key in FREE or key == "seeding":
            continue
        a, b = dict(_leaves(earlier.get(key), key)), dict(_leaves(now.get(key), key))
        for place in sorted(set(a) | set(b)):
            if a.get(place) != b.get(place):
                told.append(f"{place} was {a.get(place)!r} and is {b.get(place)!r}")
    if not told and json.dumps(earlier.get("pool")) != json.dumps(now.get("pool")):
        told.append("the groups of a pool have another order")
    return told


def _leaves(value: Any, place: str) -> list[tuple[str, Any]]:
    match value:
        case dict():
            return [leaf for key, each in value.items() for leaf in _leaves(each, f"{place}.{key}")]
        case list():
            return [leaf for k, each in enumerate(value) for leaf in _leaves(each, f"{place}.{k}")]
        case _:
            return [(place, value)]


def read_job(path: str | Path) -> Job:
    """The job in a TOML or XML file."""
    from homodyn.search.job_toml import read_toml_job
    from homodyn.search.job_xml import read_xml_job

    place = Path(path)
    match place.suffix.lower():
        case ".toml":
            return read_toml_job(place)
        case ".xml":
            return read_xml_job(place)
        case suffix:
            raise SearchError(f"{place}: a job is a .toml or .xml file, not {suffix or 'this'}")
