"""The memory of a search: a database with the job, every generation and every candidate.

SQLite in a file by default, PostgreSQL by URL for several users. A candidate is written once, when
its result is known; a generation when all of its candidates are. What identifies a study, the
columns in ``IDENTITY``, is the same for a run that was interrupted and one that was not, to the
bit; times, nodes, attempts and the words of messages tell how it went and may differ.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Engine, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from homodyn.errors import SearchError
from homodyn.search.database import (
    CANDIDATE,
    GENERATION,
    NOTE,
    STUDY,
    TABLES,
    display_name,
    open_database,
    translate_database_errors,
)
from homodyn.search.job import modernize_keys
from homodyn.search.outcomes import EvaluationOutcomes, EvaluationStatus
from homodyn.search.study_lock import lock_study

STUDY_FORMAT_VERSION = 1
IDENTITY_COLUMNS = {
    "candidate": (
        "generation",
        "member",
        "parameters",
        "groups",
        "objectives",
        "status",
        "stage",
        "value",
        "data",
    ),
    "generation": (
        "number",
        "count",
        "random",
        "best_member",
        "best_stage",
        "best_value",
        "mean_value",
        "failed",
    ),
}
"""Columns that an interrupted and an uninterrupted run agree on, to the bit."""


@dataclass(frozen=True)
class CandidateTable:
    """Candidates as they were recorded, by rows."""

    generation: np.ndarray
    member: np.ndarray
    values: np.ndarray
    groups: np.ndarray
    results: np.ndarray
    status: np.ndarray
    stage: np.ndarray
    value: np.ndarray
    seconds: np.ndarray
    node: tuple[str, ...]
    data: tuple[str | None, ...]
    message: tuple[str | None, ...]

    def __len__(self) -> int:
        return len(self.member)


def _pieces(rows: np.ndarray, count: int) -> list[bytes | None]:
    """The bytes of each row."""
    whole, size = rows.tobytes(), rows.itemsize * rows.shape[1]
    return [whole[k : k + size] for k in range(0, size * count, size)] if size else [b""] * count


def _writable(words: str) -> str:
    """A message as any database takes it: names of files may have bytes that are no characters."""
    return words.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")


class Study:
    """One study in a database."""

    def __init__(self, engine: Engine, place: str, number: int, name: str, job: str) -> None:
        self._engine = engine
        self.place = place
        self._number = number
        self.name = name
        self.job_text = job

    @classmethod
    def create(
        cls,
        place: str | Path | None,
        *,
        name: str,
        job: Callable[[], str],
        version: str = "",
        timeout: float | None = None,
    ) -> Study:
        """The study of that name, made with the text of ``job`` if there is none yet."""
        engine = open_database(place, timeout)
        seen = display_name(place)
        with translate_database_errors(seen):
            TABLES.create_all(engine)
            with engine.connect() as connection:
                wanted = select(STUDY.c.id).where(STUDY.c.name == name)
                known = connection.execute(wanted).first() is not None
            if not known:
                row = {
                    "name": name,
                    "format": STUDY_FORMAT_VERSION,
                    "version": version,
                    "created": time.time(),
                    "job": job(),
                }
                # Two processes may do this at once: the second finds what the first made.
                with contextlib.suppress(IntegrityError), engine.begin() as connection:
                    connection.execute(insert(STUDY), [row])
        return cls._select(engine, seen, name)

    @classmethod
    def open(
        cls, place: str | Path, *, name: str | None = None, timeout: float | None = None
    ) -> Study:
        """The study of that name, or the only one there is."""
        if "://" not in str(place) and not Path(place).is_file():
            raise SearchError(f"there is no study {place}; `homodyn search run` makes one")
        return cls._select(open_database(place, timeout), display_name(place), name)

    @classmethod
    def _select(cls, engine: Engine, place: str, name: str | None) -> Study:
        with translate_database_errors(place), engine.connect() as connection:
            rows = connection.execute(
                select(STUDY.c.id, STUDY.c.name, STUDY.c.job, STUDY.c.format)
            ).all()
        names = [row.name for row in rows]
        chosen = [row for row in rows if name is None or row.name == name]
        if len(chosen) != 1:
            wanted = "one study" if name is None else f"a study {name!r}"
            raise SearchError(f"{place} does not have {wanted}; it has {names}")
        (row,) = chosen
        if row.format != STUDY_FORMAT_VERSION:
            raise SearchError(
                f"{place} has format {row.format}; this version reads {STUDY_FORMAT_VERSION}"
            )
        return cls(engine, place, row.id, row.name, row.job)

    @cached_property
    def _insert(self) -> str:
        """How the driver itself takes many candidates, several times faster than row by row."""
        mark = "?" if self._engine.dialect.paramstyle == "qmark" else "%s"
        names = [column.name for column in CANDIDATE.columns]
        return (
            f"insert into candidate ({', '.join(names)}) values ({', '.join([mark] * len(names))})"
        )

    @cached_property
    def job(self) -> dict[str, Any]:
        """The job as it was when the study began."""
        return modernize_keys(json.loads(self.job_text))

    def lock(self) -> contextlib.AbstractContextManager[None]:
        """Hold the study for as long as it runs; refused when another process does."""
        return lock_study(self._engine, self.name)

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    # -- writing

    def extend(self, iterations: int, run: dict[str, Any]) -> None:
        """Note that the study is to go on for so many generations, and where."""
        self.job.update(iterations=iterations, run=run)
        changed = json.dumps(self.job)
        if changed == self.job_text:
            return
        self.job_text = changed
        with translate_database_errors(self.place), self._engine.begin() as connection:
            mine = update(STUDY).where(STUDY.c.id == self._number)
            connection.execute(mine.values(job=changed))

    def record(
        self,
        generation: int,
        batches: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray, EvaluationOutcomes, Any, int]],
        complete: dict[str, Any] | None = None,
    ) -> None:
        """Write candidates, and the generation when it is complete, all or nothing.

        A batch is (members, values, groups, outcomes, score, attempts).
        """
        now = time.time()
        rows: list[tuple[Any, ...]] = []
        for members, values, groups, outcomes, score, attempts in batches:
            count = len(members)
            results = _pieces(outcomes.results, count)
            messages = {row: _writable(words) for row, words in outcomes.messages.items()}
            for k in np.flatnonzero(outcomes.status).tolist():
                results[k] = None
            rows += zip(
                repeat(self._number),
                repeat(generation),
                members.tolist(),
                _pieces(values, count),
                _pieces(groups, count),
                results,
                outcomes.status.tolist(),
                score.stage.tolist(),
                score.value.tolist(),
                map(outcomes.data.get, range(count)),
                outcomes.seconds.tolist(),
                repeat(outcomes.node),
                repeat(attempts),
                repeat(now),
                map(messages.get, range(count)),
                strict=False,
            )
        with translate_database_errors(self.place), self._engine.begin() as connection:
            if rows:
                connection.exec_driver_sql(self._insert, rows)
            if complete is not None:
                row = {"study": self._number, "number": generation, "finished": now, **complete}
                connection.execute(insert(GENERATION), [row])

    def note(self, text: str) -> None:
        """Keep a sentence about how the run goes."""
        with translate_database_errors(self.place), self._engine.begin() as connection:
            row = {"study": self._number, "time": time.time(), "text": _writable(text)}
            connection.execute(insert(NOTE), [row])

    # -- reading

    def notes(self) -> list[str]:
        """What was noted, oldest first."""
        wanted = select(NOTE.c.text).where(NOTE.c.study == self._number).order_by(NOTE.c.id)
        with translate_database_errors(self.place), self._engine.connect() as connection:
            return [row.text for row in connection.execute(wanted)]

    def generations(self) -> list[Any]:
        """The rows of complete generations, in order."""
        wanted = select(GENERATION).where(GENERATION.c.study == self._number)
        with translate_database_errors(self.place), self._engine.connect() as connection:
            return list(connection.execute(wanted.order_by(GENERATION.c.number)))

    def candidates(self, generation: int, until: int | None = None) -> CandidateTable:
        """What is recorded of a generation, or of several until the one before ``until``."""
        last = generation + 1 if until is None else until
        wanted = (
            select(CANDIDATE)
            .where(CANDIDATE.c.study == self._number)
            .where(CANDIDATE.c.generation >= generation, CANDIDATE.c.generation < last)
            .order_by(CANDIDATE.c.generation, CANDIDATE.c.member)
        )
        return self._read_candidates(wanted)

    def all_candidates(self, rows: int = 20_000) -> Iterator[CandidateTable]:
        """Everything recorded, in order and in pieces of about so many rows."""
        with translate_database_errors(self.place), self._engine.connect() as connection:
            total, last = connection.execute(
                select(func.count(), func.max(CANDIDATE.c.generation)).where(
                    CANDIDATE.c.study == self._number
                )
            ).one()
        if not total:
            return
        step = max(1, rows * (last + 1) // total)
        for first in range(0, last + 1, step):
            piece = self.candidates(first, first + step)
            if len(piece):
                yield piece

    def best(self, count: int = 1) -> CandidateTable:
        """The best candidates, best first; among equals the earliest."""
        c, g = CANDIDATE.c, GENERATION.c
        wanted = (
            select(CANDIDATE)
            .where(c.study == self._number, c.status == int(EvaluationStatus.OK))
            .order_by(c.stage.desc(), c.value, c.generation, c.member)
            .limit(count)
        )
        if self.job["penalty"] is None:
            # The n best are in the n generations with the best leaders, or in one that is not
            # complete: were one elsewhere, n leaders would be better than it. (With a penalty a
            # leader may be a candidate that failed.)
            led = (
                select(g.number)
                .where(g.study == self._number)
                .order_by(g.best_stage.desc(), g.best_value, g.number)
                .limit(count)
            )
            last = select(func.coalesce(func.max(g.number), -1)).where(g.study == self._number)
            with translate_database_errors(self.place), self._engine.connect() as connection:
                numbers = list(connection.execute(led).scalars())
                open_after = connection.execute(last).scalar_one()
            wanted = wanted.where(c.generation.in_([*numbers, open_after + 1]))
        return self._read_candidates(wanted)

    def leaders(self) -> CandidateTable:
        """The best candidate of every complete generation, in order."""
        c, g = CANDIDATE.c, GENERATION.c
        same = (c.study == g.study) & (c.generation == g.number) & (c.member == g.best_member)
        wanted = (
            select(CANDIDATE)
            .join(GENERATION, same)
            .where(c.study == self._number, c.status == int(EvaluationStatus.OK))
            .order_by(c.generation)
        )
        return self._read_candidates(wanted)

    def _read_candidates(self, wanted: Any) -> CandidateTable:
        with translate_database_errors(self.place), self._engine.connect() as connection:
            rows = connection.execute(wanted).all()
        job = self.job
        size, pools = len(job["parameter"]), len(job["pool"])
        objectives = len(job["objective"])
        none = np.full(objectives, np.nan).tobytes()

        def stacked(name: str, kind: str, columns: int, default: bytes = b"") -> np.ndarray:
            joined = b"".join(bytes(getattr(row, name) or default) for row in rows)
            return np.frombuffer(joined, dtype=kind).reshape(len(rows), columns)

        def column(name: str, kind: Any) -> np.ndarray:
            return np.array([getattr(row, name) for row in rows], dtype=kind)

        return CandidateTable(
            column("generation", int),
            column("member", int),
            stacked("parameters", "<f8", size),
            stacked("groups", "<i4", pools),
            stacked("objectives", "<f8", objectives, none),
            column("status", np.int8),
            column("stage", int),
            column("value", float),
            column("seconds", float),
            tuple(row.node for row in rows),
            tuple(row.data for row in rows),
            tuple(row.message for row in rows),
        )

    def visits(self) -> list[tuple[int, np.ndarray, int]]:
        """How many candidates of each generation were in each subspace that was visited."""
        c = CANDIDATE.c
        wanted = (
            select(c.generation, c.groups, func.count())
            .where(c.study == self._number)
            .group_by(c.generation, c.groups)
            .order_by(c.generation)
        )
        with translate_database_errors(self.place), self._engine.connect() as connection:
            rows = connection.execute(wanted).all()
        return [(row[0], np.frombuffer(bytes(row[1]), dtype="<i4"), row[2]) for row in rows]

    def statuses(self) -> dict[EvaluationStatus, int]:
        """How many candidates ended in which way."""
        c = CANDIDATE.c
        wanted = select(c.status, func.count()).where(c.study == self._number).group_by(c.status)
        with translate_database_errors(self.place), self._engine.connect() as connection:
            return {EvaluationStatus(row[0]): row[1] for row in connection.execute(wanted)}

    def first_failure(self) -> str:
        """The message of the first candidate that failed; empty when none did."""
        c = CANDIDATE.c
        wanted = (
            select(c.message)
            .where(c.study == self._number, c.status != int(EvaluationStatus.OK))
            .order_by(c.generation, c.member)
            .limit(1)
        )
        with translate_database_errors(self.place), self._engine.connect() as connection:
            return str(connection.execute(wanted).scalar() or "")

    def fingerprint(self) -> str:
        """A digest of all that identifies the study: equal for equal studies, to the bit."""
        digest = hashlib.sha256()
        for table in (GENERATION, CANDIDATE):
            columns = [table.c[name] for name in IDENTITY_COLUMNS[table.name]]
            wanted = select(*columns).where(table.c.study == self._number).order_by(*columns[:2])
            with translate_database_errors(self.place), self._engine.connect() as connection:
                for row in connection.execution_options(yield_per=5000).execute(wanted):
                    digest.update(repr(tuple(row)).encode())
        return digest.hexdigest()
