"""What is better: one objective, several in an order with conditions, or several as one number.

*Lexicographic* (van den Kieboom 2014, section 3.3.2): a candidate's *stage* is the number of
objectives, in order, whose condition it meets; it is judged by the next one. More stages are
better; at equal stages the objective decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator, model_validator

from homodyn.errors import SearchError
from homodyn.search.expression import Expression
from homodyn.search.validated_model import ValidatedModel

_CONDITION = re.compile(r"\s*(<=|>=|<|>)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*$")
FAILED_STAGE = -1
"""Stage of a candidate without a result: behind all that have one."""


class Objective(ValidatedModel):
    """A named figure that candidates are judged by; ``until`` such as "< 0.5" ends its stage."""

    positional: ClassVar[tuple[str, ...]] = ("name",)
    name: str = Field(min_length=1)
    maximize: bool = False
    until: str | None = None
    weight: float = 1.0
    unit: str = ""

    @field_validator("until")
    @classmethod
    def _readable(cls, until: str | None) -> str | None:
        if until is not None and not _CONDITION.match(until):
            raise ValueError(f"until must be like '< 0.5' or '>= 1', not {until!r}")
        return until

    def is_met(self, values: np.ndarray) -> np.ndarray:
        """Whether values end the stage."""
        found = _CONDITION.match(self.until or "")
        if found is None:
            return np.zeros(values.shape, dtype=bool)
        sign, limit = found[1], float(found[2])
        compare = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
        return np.asarray(compare[sign](values, limit))


@dataclass(frozen=True)
class Score:
    """How good candidates are: stages reached, then a value of which less is better."""

    stage: np.ndarray
    value: np.ndarray

    def __len__(self) -> int:
        return len(self.stage)

    def __getitem__(self, rows: Any) -> Score:
        return Score(self.stage[rows], self.value[rows])

    def better(self, other: Score) -> np.ndarray:
        """Where this score beats the other."""
        ahead = self.stage > other.stage
        return ahead | ((self.stage == other.stage) & (self.value < other.value))

    def order(self) -> np.ndarray:
        """Rows from best to worst; among equals the first row is first."""
        return np.lexsort((self.value, -self.stage))

    def best(self) -> int:
        """The row of the best; the first of equals."""
        top = np.flatnonzero(self.stage == self.stage.max())
        return int(top[np.argmin(self.value[top])])

    def ranks(self) -> np.ndarray:
        """0 for the best, equal numbers for equal scores."""
        order = self.order()
        sorted_ = self[order]
        steps = (sorted_.stage[1:] != sorted_.stage[:-1]) | (
            sorted_.value[1:] != sorted_.value[:-1]
        )
        ranks = np.empty(len(self), dtype=int)
        ranks[order] = np.concatenate(([0], np.cumsum(steps)))
        return ranks

    def where(self, chosen: np.ndarray, other: Score) -> Score:
        """This score in chosen rows, the other elsewhere."""
        return Score(
            np.where(chosen, self.stage, other.stage), np.where(chosen, self.value, other.value)
        )

    @classmethod
    def of(cls, values: Any) -> Score:
        """The score of plain numbers of which less is better; nan ranks last."""
        plain = np.asarray(values, dtype=float)
        lost = np.isnan(plain)
        return cls(np.where(lost, FAILED_STAGE, 0), np.where(lost, np.inf, plain))

    @classmethod
    def worst(cls, count: int) -> Score:
        """Scores that anything with a result beats."""
        return cls(np.full(count, FAILED_STAGE - 1), np.full(count, np.inf))


class Goal(ValidatedModel):
    """Objectives and how they make one order of candidates.

    ``combine``: "lexicographic" by stages, "sum" of weight * value, "product" of value ^ weight
    (negated weights or ``maximize`` turn the direction), or an ``expression`` of the names of the
    objectives, which is maximized or minimized as ``maximize`` says.
    """

    positional: ClassVar[tuple[str, ...]] = ("objectives",)
    objectives: tuple[Objective, ...] = Field(min_length=1)
    combine: Literal["lexicographic", "sum", "product"] = "lexicographic"
    expression: str = ""
    maximize: bool = False
    penalty: float | None = None

    @field_validator("objectives", mode="before")
    @classmethod
    def _from_names(cls, given: Any) -> Any:
        if isinstance(given, str):
            given = [given]
        return [{"name": each} if isinstance(each, str) else each for each in given]

    @model_validator(mode="after")
    def _check(self) -> Goal:
        faults = goal_errors(self.model_dump())
        if faults:
            raise ValueError("; ".join(told for _, told in faults))
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The objectives by name, in the order of the columns of results."""
        return tuple(objective.name for objective in self.objectives)

    @property
    def stages(self) -> int:
        """How many stages a candidate can have behind it."""
        staged = self.combine == "lexicographic" and not self.expression
        return len(self.objectives) - 1 if staged else 0

    def score(self, results: np.ndarray, failed: np.ndarray | None = None) -> Score:
        """Scores of results (rows: candidates, columns: objectives); failed rows rank last.

        With a ``penalty`` failed rows have that value instead, in the first stage.
        """
        results = np.asarray(results, dtype=float)
        if results.ndim != 2 or results.shape[1] != len(self.objectives):
            raise SearchError(
                f"results must have a column for each of {list(self.names)}, "
                f"not the shape {results.shape}"
            )
        with np.errstate(all="ignore"):
            stage, value = self._combine(results)
        lost = ~np.isfinite(value) if failed is None else failed | ~np.isfinite(value)
        if self.penalty is None:
            return Score(np.where(lost, FAILED_STAGE, stage), np.where(lost, np.inf, value))
        return Score(np.where(lost, 0, stage), np.where(lost, self.penalty, value))

    def _combine(self, results: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        first = np.zeros(len(results), dtype=int)
        if self.expression:
            columns = dict(zip(self.names, results.T, strict=True))
            value = np.broadcast_to(Expression(self.expression)(columns), len(results))
            return first, -value if self.maximize else value
        signs = np.array([-1.0 if objective.maximize else 1.0 for objective in self.objectives])
        weights = np.array([objective.weight for objective in self.objectives])
        if self.combine == "sum":
            return first, results @ (weights * signs)
        if self.combine == "product":
            return first, np.prod(results ** (weights * signs), axis=1)
        met = np.column_stack(
            [o.is_met(results[:, k]) for k, o in enumerate(self.objectives[:-1])]
            or [np.zeros((len(results), 0), dtype=bool)]
        )
        stage = np.cumprod(met, axis=1).sum(axis=1).astype(int)
        return stage, (results * signs)[np.arange(len(results)), stage]

    def to_score_value(self, figure: float) -> float:
        """The score value of a figure of the last stage, as it is measured."""
        if self.expression:
            turned = self.maximize
        else:
            turned = self.combine == "lexicographic" and self.objectives[-1].maximize
        return -figure if turned else figure

    def describe(self, stage: int, value: float) -> tuple[str, float]:
        """What a score says to a person: the objective it is about, and its figure as measured."""
        if self.expression:
            return self.expression, -value if self.maximize else value
        if self.combine != "lexicographic":
            return f"weighted {self.combine}", value
        objective = self.objectives[max(stage, 0)]
        return objective.name, -value if objective.maximize else value


def goal_errors(data: Mapping[str, Any]) -> list[tuple[tuple[str | int, ...], str]]:
    """What does not fit together in objectives and their combination, with places."""
    faults: list[tuple[tuple[str | int, ...], str]] = []
    found = data.get("objectives")
    objectives: Sequence[Any] = found if isinstance(found, list | tuple) else ()
    listed = [each for each in objectives if isinstance(each, Mapping)]
    names: list[str] = []
    for k, objective in enumerate(listed):
        name = str(objective.get("name"))
        if name in names:
            faults.append((("objectives", k, "name"), f"two objectives are named {name!r}"))
        names.append(name)
    expression = data.get("expression")
    if isinstance(expression, str) and expression:
        try:
            unknown = [name for name in Expression(expression).variables if name not in names]
        except SearchError as refusal:
            faults.append((("expression",), str(refusal)))
        else:
            if unknown:
                told = f"the expression needs {unknown}, which are no objectives; known: {names}"
                faults.append((("expression",), told))
    elif data.get("combine", "lexicographic") == "lexicographic":
        for k, objective in enumerate(listed[:-1]):
            if objective.get("until") is None:
                told = (
                    f"objective {objective.get('name')!r} needs until (such as '< 0.5'): "
                    "only the last objective of a lexicographic goal goes without"
                )
                faults.append((("objectives", k), told))
    return faults
