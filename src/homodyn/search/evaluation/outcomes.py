"""Batches of candidates, and the outcomes of their evaluation."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from homodyn.foundation.text import count_of


class EvaluationStatus(IntEnum):
    """How an evaluation ended; only ``OK`` has objectives, all others rank last."""

    OK = 0
    FAILED = 1
    SLOW = 2
    MEMORY = 3
    NOT_FINITE = 4
    INVALID = 5
    CRASHED = 6

    @property
    def sentence(self) -> str:
        """The status as a sentence."""
        return _SENTENCES[self]


_SENTENCES = {
    EvaluationStatus.OK: "evaluated",
    EvaluationStatus.FAILED: "the evaluation raised an error",
    EvaluationStatus.SLOW: "the time limit was reached",
    EvaluationStatus.MEMORY: "the memory limit was reached",
    EvaluationStatus.NOT_FINITE: "an objective was infinite or not a number",
    EvaluationStatus.INVALID: "the result did not have the required objectives",
    EvaluationStatus.CRASHED: "the process that evaluated it ended, in every attempt",
}


@dataclass(frozen=True, repr=False)
class CandidateBatch:
    """Candidates to evaluate.

    Attributes:
        members: (candidates,), numbers in the generation.
        values: (candidates, parameters), NaN where a subspace lacks a parameter.
        groups: (candidates, pools), group numbers.
        seeds: (candidates, repeats), seeds of stochastic evaluations. A candidate that is evaluated
            again has the same seeds and gives the same result.
        generation: Number of the generation.
    """

    members: np.ndarray
    values: np.ndarray
    groups: np.ndarray
    seeds: np.ndarray
    generation: int = 0

    def __repr__(self) -> str:
        """Number of candidates and generation."""
        return f"CandidateBatch: {count_of(len(self), 'candidate')} of generation {self.generation}"

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, rows: slice | np.ndarray) -> CandidateBatch:
        return CandidateBatch(
            self.members[rows],
            self.values[rows],
            self.groups[rows],
            self.seeds[rows],
            self.generation,
        )


@dataclass
class EvaluationOutcomes:
    """Outcomes of a batch of candidates.

    Attributes:
        results: (candidates, objectives), NaN for failed candidates.
        status: (candidates,), `EvaluationStatus`.
        seconds: (candidates,), duration (s).
        messages: Reasons of failures, by row.
        data: Other results as JSON, by row.
        node: Name of the node that evaluated the candidates.
    """

    results: np.ndarray
    status: np.ndarray
    seconds: np.ndarray
    messages: dict[int, str] = field(default_factory=dict)
    data: dict[int, str] = field(default_factory=dict)
    node: str = ""

    def __repr__(self) -> str:
        """Number of candidates and failures."""
        failed = int(np.count_nonzero(self.status))
        return f"EvaluationOutcomes: {count_of(len(self.status), 'candidate')}, {failed} failed"

    @classmethod
    def blank(cls, count: int, objectives: int) -> EvaluationOutcomes:
        """Outcomes without results, to be filled in.

        Args:
            count: Number of candidates.
            objectives: Number of objectives.

        Returns:
            The outcomes.
        """
        return cls(
            np.full((count, objectives), np.nan),
            np.full(count, EvaluationStatus.OK, dtype=np.int8),
            np.zeros(count),
        )

    @classmethod
    def failures(
        cls, count: int, objectives: int, status: EvaluationStatus, message: str
    ) -> EvaluationOutcomes:
        """Outcomes of candidates that failed for one reason.

        Args:
            count: Number of candidates.
            objectives: Number of objectives.
            status: How they ended.
            message: The reason.

        Returns:
            The outcomes.
        """
        rows = cls.blank(count, objectives)
        rows.status[:] = status
        rows.messages = dict.fromkeys(range(count), message)
        return rows


def evaluation_seeds(seed: int, generation: int, members: np.ndarray, repeats: int) -> np.ndarray:
    """Seeds of stochastic evaluations: splitmix64 of the position of each evaluation in the study.

    Args:
        seed: Seed of the study.
        generation: Number of the generation.
        members: (candidates,), numbers in the generation.
        repeats: Evaluations per candidate.

    Returns:
        (candidates, repeats), integers of 63 bits.
    """
    with np.errstate(over="ignore"):
        mixed = np.zeros((), dtype=np.uint64)
        for part in (
            np.uint64(seed & (2**64 - 1)),
            np.uint64(generation),
            members.astype(np.uint64)[:, None],
            np.arange(repeats, dtype=np.uint64)[None],
        ):
            mixed = (mixed ^ part) + np.uint64(0x9E3779B97F4A7C15)
            mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            mixed = mixed ^ (mixed >> np.uint64(31))
    return mixed >> np.uint64(1)
