"""What became of candidates: statuses, objectives, time, and what was said about failures."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np


class EvaluationStatus(IntEnum):
    """How an evaluation ended; only ``OK`` has objectives, the others get the penalty."""

    OK = 0
    FAILED = 1
    SLOW = 2
    MEMORY = 3
    NOT_FINITE = 4
    INVALID = 5
    CRASHED = 6

    @property
    def sentence(self) -> str:
        """The status for a person."""
        return _SENTENCES[self]


_SENTENCES = {
    EvaluationStatus.OK: "evaluated",
    EvaluationStatus.FAILED: "the evaluation raised an error",
    EvaluationStatus.SLOW: "the time limit was reached",
    EvaluationStatus.MEMORY: "the memory limit was reached",
    EvaluationStatus.NOT_FINITE: "an objective was infinite or not a number",
    EvaluationStatus.INVALID: "the answer did not have the objectives that were asked for",
    EvaluationStatus.CRASHED: "the process that evaluated it ended, every time it was tried",
}


@dataclass(frozen=True)
class CandidateBatch:
    """Candidates to evaluate: their numbers in the generation, values, groups and seeds.

    ``seeds`` has a column a repeat; evaluations that use chance take theirs from there, so that a
    candidate that is evaluated again gives the same.
    """

    members: np.ndarray
    values: np.ndarray
    groups: np.ndarray
    seeds: np.ndarray
    generation: int = 0

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
    """What became of tasks, row by row; messages and data only for the rows that have some."""

    results: np.ndarray
    status: np.ndarray
    seconds: np.ndarray
    messages: dict[int, str] = field(default_factory=dict)
    data: dict[int, str] = field(default_factory=dict)
    node: str = ""

    @classmethod
    def blank(cls, count: int, objectives: int) -> EvaluationOutcomes:
        """Rows to be filled in."""
        return cls(
            np.full((count, objectives), np.nan),
            np.full(count, EvaluationStatus.OK, dtype=np.int8),
            np.zeros(count),
        )

    @classmethod
    def failures(
        cls, count: int, objectives: int, status: EvaluationStatus, message: str
    ) -> EvaluationOutcomes:
        """Rows without results, for one reason."""
        rows = cls.blank(count, objectives)
        rows.status[:] = status
        rows.messages = dict.fromkeys(range(count), message)
        return rows


def evaluation_seeds(seed: int, generation: int, members: np.ndarray, repeats: int) -> np.ndarray:
    """A number for the chance in every evaluation, by splitmix64 of where it stands in the study.

    Unsigned 63 bits, rows as ``members`` and columns as repeats.
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
