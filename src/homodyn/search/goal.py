"""Goals: one objective, several objectives in order with conditions, or a combination of them.

*Lexicographic* goals (van den Kieboom 2014, section 3.3.2): the *stage* of a candidate is the
number of objectives, in order, whose condition it meets; its value is that of the next objective. A
higher stage is better; at equal stages the value decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field, field_validator, model_validator

from homodyn.errors import SearchError
from homodyn.foundation import Record, record
from homodyn.search.expression import Expression
from homodyn.search.validated_model import ValidatedModel

_CONDITION = re.compile(r"\s*(<=|>=|<|>)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*$")
FAILED_STAGE = -1
"""Stage of a failed candidate: worse than all others."""


class Objective(ValidatedModel):
    """One objective.

    Attributes:
        name: Name of the objective.
        maximize: Whether higher values are better.
        until: Condition that ends its stage of a lexicographic goal, such as ``"< 0.5"``.
        weight: Factor in a sum, or exponent in a product.
        unit: Unit of the values.
    """

    positional: ClassVar[tuple[str, ...]] = ("name",)
    name: str = Field(min_length=1)
    maximize: bool = False
    until: str | None = None
    weight: float = 1.0
    unit: str = ""

    @field_validator("until")
    @classmethod
    def _check_until(cls, until: str | None) -> str | None:
        if until is not None and not _CONDITION.match(until):
            raise ValueError(f"until must be like '< 0.5' or '>= 1', not {until!r}")
        return until

    def is_met(self, values: np.ndarray) -> np.ndarray:
        """Whether values meet the condition that ends the stage.

        Args:
            values: Values of the objective.

        Returns:
            Booleans of the same shape; False without a condition.
        """
        found = _CONDITION.match(self.until or "")
        if found is None:
            return np.zeros(values.shape, dtype=bool)
        sign, limit = found[1], float(found[2])
        compare = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
        return np.asarray(compare[sign](values, limit))


@record
class Score(Record):
    """Scores of candidates: a higher stage is better; at equal stages a lower value."""

    stage: np.ndarray
    """(candidates,), stages that are completed; negative for failed candidates."""
    value: np.ndarray
    """(candidates,), lower is better."""
    costs: np.ndarray | None = None
    """(candidates, objectives), lower is better, infinite for failed candidates; None where only
    the value is known. Optimizers of several objectives without an order use them."""

    def __len__(self) -> int:
        return len(self.stage)

    def __getitem__(self, rows: Any) -> Score:
        return Score(self.stage[rows], self.value[rows])

    def better(self, other: Score) -> np.ndarray:
        """Compare with another score.

        Args:
            other: Scores of as many candidates, or of one.

        Returns:
            (candidates,), True where this score is better.
        """
        higher = self.stage > other.stage
        return higher | ((self.stage == other.stage) & (self.value < other.value))

    def order(self) -> np.ndarray:
        """Indices of candidates from best to worst; equal candidates keep their order."""
        return np.lexsort((self.value, -self.stage))

    def best(self) -> int:
        """Index of the best candidate; the first of equal ones."""
        top = np.flatnonzero(self.stage == self.stage.max())
        return int(top[np.argmin(self.value[top])])

    def ranks(self) -> np.ndarray:
        """Ranks: 0 for the best candidate, equal ranks for equal scores."""
        order = self.order()
        sorted_ = self[order]
        steps = (sorted_.stage[1:] != sorted_.stage[:-1]) | (
            sorted_.value[1:] != sorted_.value[:-1]
        )
        ranks = np.empty(len(self), dtype=int)
        ranks[order] = np.concatenate(([0], np.cumsum(steps)))
        return ranks

    def where(self, chosen: np.ndarray, other: Score) -> Score:
        """Select from two scores.

        Args:
            chosen: (candidates,), where to take this score.
            other: The score elsewhere.

        Returns:
            The combined score.
        """
        return Score(
            np.where(chosen, self.stage, other.stage), np.where(chosen, self.value, other.value)
        )

    @classmethod
    def of(cls, values: ArrayLike) -> Score:
        """Scores of plain values.

        Args:
            values: (candidates,), lower is better; NaN for failed candidates, which rank last.

        Returns:
            The scores.
        """
        plain = np.asarray(values, dtype=float)
        failed = np.isnan(plain)
        return cls(np.where(failed, FAILED_STAGE, 0), np.where(failed, np.inf, plain))

    @classmethod
    def worst(cls, count: int) -> Score:
        """Scores that are worse than those of all candidates.

        Args:
            count: Number of candidates.

        Returns:
            The scores.
        """
        return cls(np.full(count, FAILED_STAGE - 1), np.full(count, np.inf))


class Goal(ValidatedModel):
    """Objectives and how they order candidates.

    Attributes:
        objectives: The objectives, or their names.
        combine: ``"lexicographic"`` by stages, ``"sum"`` of weight * value, or ``"product"`` of
            value ^ weight, with the sign of the weight changed for objectives to maximize.
        expression: Formula of the names of the objectives instead.
        maximize: Whether the expression is maximized.
        penalty: Value of failed candidates; they rank last by default.
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
        errors = goal_errors(self.model_dump())
        if errors:
            raise ValueError("; ".join(sentence for _, sentence in errors))
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the objectives, in the order of the columns of results."""
        return tuple(objective.name for objective in self.objectives)

    @property
    def stages(self) -> int:
        """Number of stages that a candidate can complete."""
        staged = self.combine == "lexicographic" and not self.expression
        return len(self.objectives) - 1 if staged else 0

    def score(self, results: np.ndarray, failed: np.ndarray | None = None) -> Score:
        """Scores of results.

        Args:
            results: (candidates, objectives).
            failed: (candidates,), True for failed candidates. They rank last, or have the
                ``penalty`` as their value in the first stage.

        Returns:
            The scores.

        Raises:
            SearchError: The results do not have one column per objective.
        """
        results = np.asarray(results, dtype=float)
        if results.ndim != 2 or results.shape[1] != len(self.objectives):
            raise SearchError(
                f"results have the shape {results.shape}; expected one column for each of "
                f"{list(self.names)}"
            )
        with np.errstate(all="ignore"):
            stage, value = self._combine(results)
        invalid = ~np.isfinite(value) if failed is None else failed | ~np.isfinite(value)
        costs = self.costs(results, invalid)
        if self.penalty is None:
            worst = np.where(invalid, np.inf, value)
            return Score(np.where(invalid, FAILED_STAGE, stage), worst, costs)
        return Score(np.where(invalid, 0, stage), np.where(invalid, self.penalty, value), costs)

    def costs(self, results: np.ndarray, failed: np.ndarray) -> np.ndarray:
        """The objectives that span a Pareto front, with signs so that lower is better.

        Objectives with a condition are those of earlier stages: they count as met.

        Args:
            results: (candidates, objectives).
            failed: (candidates,), True for failed candidates.

        Returns:
            (candidates, objectives without a condition); infinite for failed candidates.
        """
        open_ended = [k for k, one in enumerate(self.objectives) if one.until is None]
        signs = np.array([-1.0 if self.objectives[k].maximize else 1.0 for k in open_ended])
        return np.where(failed[:, None], np.inf, results[:, open_ended] * signs)

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
        """Score value of a result of the last stage.

        Args:
            figure: The result as it is measured.

        Returns:
            The value, lower is better.
        """
        if self.expression:
            negate = self.maximize
        else:
            negate = self.combine == "lexicographic" and self.objectives[-1].maximize
        return -figure if negate else figure

    def describe(self, stage: int, value: float) -> tuple[str, float]:
        """The objective that a score refers to, and its value as measured.

        Args:
            stage: Stage of the candidate.
            value: Score value.

        Returns:
            Name of the objective or of the combination, and its value.
        """
        if self.expression:
            return self.expression, -value if self.maximize else value
        if self.combine != "lexicographic":
            return f"weighted {self.combine}", value
        objective = self.objectives[max(stage, 0)]
        return objective.name, -value if objective.maximize else value


def goal_errors(data: Mapping[str, Any]) -> list[tuple[tuple[str | int, ...], str]]:
    """Inconsistencies between objectives and their combination.

    Args:
        data: The goal as plain data; values of a wrong type are skipped.

    Returns:
        Keys and indices that lead to each error, and a sentence.
    """
    errors: list[tuple[tuple[str | int, ...], str]] = []
    given = data.get("objectives")
    items: Sequence[Any] = given if isinstance(given, list | tuple) else ()
    objectives = [each for each in items if isinstance(each, Mapping)]
    names: list[str] = []
    for k, objective in enumerate(objectives):
        name = str(objective.get("name"))
        if name in names:
            errors.append((("objectives", k, "name"), f"two objectives are named {name!r}"))
        names.append(name)
    expression = data.get("expression")
    if isinstance(expression, str) and expression:
        try:
            unknown = [name for name in Expression(expression).variables if name not in names]
        except SearchError as error:
            errors.append((("expression",), str(error)))
        else:
            if unknown:
                message = f"the expression has unknown objectives {unknown}; known: {names}"
                errors.append((("expression",), message))
    elif data.get("combine", "lexicographic") == "lexicographic":
        for k, objective in enumerate(objectives[:-1]):
            if objective.get("until") is None:
                message = (
                    f"objective {objective.get('name')!r} needs until (such as '< 0.5'); only the "
                    "last objective of a lexicographic goal has none"
                )
                errors.append((("objectives", k), message))
    return errors
