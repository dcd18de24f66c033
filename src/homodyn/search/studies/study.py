"""Studies: a database with the job, every generation and every candidate of a search.

The database is a SQLite file, or PostgreSQL by URL for several users. A candidate is written once,
when it is evaluated; a generation when all its candidates are. The columns `IDENTITY_COLUMNS` are
bit-identical for an interrupted and an uninterrupted run. Times, nodes, attempts and messages may
differ.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Engine, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from homodyn.errors import SearchError
from homodyn.foundation.time_series import require_pandas
from homodyn.search.evaluation.outcomes import EvaluationStatus
from homodyn.search.jobs.job import modernize_keys, stored_job
from homodyn.search.studies.candidate_rows import (
    RecordedBatch,
    candidate_rows,
    escape_text,
    table_of_rows,
)
from homodyn.search.studies.candidate_table import CandidateTable, candidate_columns
from homodyn.search.studies.database import (
    CANDIDATE,
    GENERATION,
    NOTE,
    STUDY,
    TABLES,
    display_name,
    guarded_study,
    open_database,
    translate_database_errors,
)
from homodyn.search.studies.study_lock import lock_study

if TYPE_CHECKING:
    import pandas as pd

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
"""Columns that are bit-identical for an interrupted and an uninterrupted run."""


def _create_tables(engine: Engine, name: str, job: Callable[[], str], version: str) -> None:
    """Create what is missing of the tables and of the study."""
    TABLES.create_all(engine)
    with engine.connect() as connection:
        query = select(STUDY.c.id).where(STUDY.c.name == name)
        exists = connection.execute(query).first() is not None
    if not exists:
        row = {
            "name": name,
            "format": STUDY_FORMAT_VERSION,
            "version": version,
            "created": time.time(),
            "job": job(),
        }
        # Two processes may do this at once; the second finds the study of the first.
        with contextlib.suppress(IntegrityError), engine.begin() as connection:
            connection.execute(insert(STUDY), [row])


class Study:
    """One study in a database; see `Study.open` and `homodyn.search.run`.

    Attributes:
        place: Name of the database, for messages.
        name: Name of the study.
        job_text: The job as JSON.
    """

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
        """Open a study, or create it if there is none of that name.

        Args:
            place: File or URL of the database; None for a database in memory.
            name: Name of the study.
            job: Returns the job as JSON, for a new study.
            version: Version of Homodyn, for a new study.
            timeout: How long to wait for other programs that have locked the database (s).

        Returns:
            The study.

        Raises:
            SearchError: The database cannot be opened or written.
        """
        engine = open_database(place, timeout)
        shown = display_name(place)
        try:
            with translate_database_errors(shown):
                _create_tables(engine, name, job, version)
            return cls._select(engine, shown, name)
        except BaseException:
            engine.dispose()
            raise

    @classmethod
    def open(
        cls, place: str | Path, *, name: str | None = None, timeout: float | None = None
    ) -> Study:
        """Open an existing study.

        Args:
            place: File or URL of the database.
            name: Name of the study; may be left out if the database has only one.
            timeout: How long to wait for other programs that have locked the database (s).

        Returns:
            The study.

        Raises:
            SearchError: There is no such study, or the database cannot be read.
        """
        if "://" not in str(place) and not Path(place).is_file():
            raise SearchError(f"there is no study {place}; `homodyn search run` creates one")
        engine = open_database(place, timeout)
        try:
            return cls._select(engine, display_name(place), name)
        except BaseException:
            engine.dispose()
            raise

    @classmethod
    def _select(cls, engine: Engine, place: str, name: str | None) -> Study:
        with translate_database_errors(place), engine.connect() as connection:
            rows = connection.execute(
                select(STUDY.c.id, STUDY.c.name, STUDY.c.job, STUDY.c.format)
            ).all()
        names = [row.name for row in rows]
        chosen = [row for row in rows if name is None or row.name == name]
        if len(chosen) != 1:
            expected = "exactly one study" if name is None else f"a study {name!r}"
            raise SearchError(f"{place} does not have {expected}; it has {names}")
        (row,) = chosen
        if row.format != STUDY_FORMAT_VERSION:
            raise SearchError(
                f"{place} has format {row.format}; this version of Homodyn reads format "
                f"{STUDY_FORMAT_VERSION}"
            )
        return cls(engine, place, row.id, row.name, row.job)

    @cached_property
    def _insert(self) -> str:
        """Statement for the driver itself, which inserts many rows several times faster."""
        mark = "?" if self._engine.dialect.paramstyle == "qmark" else "%s"
        names = [column.name for column in CANDIDATE.columns]
        return (
            f"insert into candidate ({', '.join(names)}) values ({', '.join([mark] * len(names))})"
        )

    @cached_property
    def job(self) -> dict[str, Any]:
        """The job as plain data."""
        try:
            return modernize_keys(json.loads(self.job_text))
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise SearchError(
                f"{self.place}: the job of the study {self.name!r} is damaged: {error}"
            ) from error

    def lock(self) -> contextlib.AbstractContextManager[None]:
        """Lock the study for a run.

        Returns:
            A context manager; entering it raises `SearchError` if another process runs the study.
        """
        return lock_study(self._engine, self.name)

    def close(self) -> None:
        """Close the database."""
        self._engine.dispose()

    # -- writing

    def extend(self, iterations: int, run: dict[str, Any]) -> None:
        """Record that the study continues.

        Args:
            iterations: Planned number of generations.
            run: Where candidates are evaluated, as plain data.
        """
        self.job.update(iterations=iterations, run=run)
        changed = json.dumps(self.job)
        if changed == self.job_text:
            return
        self.job_text = changed
        with translate_database_errors(self.place), self._engine.begin() as connection:
            statement = update(STUDY).where(STUDY.c.id == self._number)
            connection.execute(statement.values(job=changed))

    def record(
        self,
        generation: int,
        batches: Sequence[RecordedBatch],
        complete: dict[str, Any] | None = None,
    ) -> None:
        """Write candidates, and the generation if it is complete, in one transaction.

        Args:
            generation: Number of the generation.
            batches: The candidates and their outcomes.
            complete: Columns of the row of the generation; None while it is incomplete.

        Raises:
            SearchError: The database cannot be written.
        """
        now = time.time()
        rows = [
            row for batch in batches for row in candidate_rows(self._number, generation, batch, now)
        ]
        with translate_database_errors(self.place), self._engine.begin() as connection:
            if rows:
                connection.exec_driver_sql(self._insert, rows)
            if complete is not None:
                row = {"study": self._number, "number": generation, "finished": now, **complete}
                connection.execute(insert(GENERATION), [row])

    def note(self, text: str) -> None:
        """Record a sentence about the run.

        Args:
            text: The sentence.
        """
        with translate_database_errors(self.place), self._engine.begin() as connection:
            row = {"study": self._number, "time": time.time(), "text": escape_text(text)}
            connection.execute(insert(NOTE), [row])

    # -- reading

    def notes(self) -> list[str]:
        """Sentences about the runs, oldest first."""
        query = select(NOTE.c.text).where(NOTE.c.study == self._number).order_by(NOTE.c.id)
        with guarded_study(self.place), self._engine.connect() as connection:
            return [row.text for row in connection.execute(query)]

    def generations(self) -> list[Any]:
        """The rows of complete generations, in order."""
        query = select(GENERATION).where(GENERATION.c.study == self._number)
        with guarded_study(self.place), self._engine.connect() as connection:
            rows = list(connection.execute(query.order_by(GENERATION.c.number)))
        for row in rows:
            self._check_numbers(row)
        return rows

    def _check_numbers(self, row: Any) -> None:
        """Refuse a generation whose numbers are texts or missing, which SQLite does not."""
        for name, value in row._mapping.items():
            # A generation in which every candidate failed has no best one.
            is_optional = name.startswith("best_") or name == "mean_value"
            if name == "random" or (value is None and is_optional):
                continue
            if not isinstance(value, int | float):
                raise SearchError(
                    f"{self.place}: generation {row.number!r:.40} is damaged: its {name} is "
                    f"{value!r:.40}, a number is expected"
                )

    def candidates(self, generation: int, until: int | None = None) -> CandidateTable:
        """Recorded candidates of generations.

        Args:
            generation: Number of the first generation.
            until: Number after the last generation; by default one generation is read.

        Returns:
            The candidates, by generation and member.
        """
        last = generation + 1 if until is None else until
        query = (
            select(CANDIDATE)
            .where(CANDIDATE.c.study == self._number)
            .where(CANDIDATE.c.generation >= generation, CANDIDATE.c.generation < last)
            .order_by(CANDIDATE.c.generation, CANDIDATE.c.member)
        )
        return self._read_candidates(query)

    def all_candidates(self, rows: int = 20_000) -> Iterator[CandidateTable]:
        """All recorded candidates, in order and in parts.

        Args:
            rows: Approximate number of candidates per part.

        Yields:
            The candidates of some generations.
        """
        with guarded_study(self.place), self._engine.connect() as connection:
            total, last = connection.execute(
                select(func.count(), func.max(CANDIDATE.c.generation)).where(
                    CANDIDATE.c.study == self._number
                )
            ).one()
            generations = last + 1 if total else 0
            step = max(1, rows * generations // max(1, total))
        for first in range(0, generations, step):
            part = self.candidates(first, first + step)
            if len(part):
                yield part

    def to_pandas(self) -> pd.DataFrame:
        """All candidates as a data frame, one row per candidate; see `export` for the columns.

        Returns:
            The data frame; empty without candidates.

        Raises:
            HomodynError: pandas is not installed.
        """
        pandas = require_pandas()
        job = stored_job(self.job)
        parts = [pandas.DataFrame(candidate_columns(job, part)) for part in self.all_candidates()]
        return pandas.concat(parts, ignore_index=True) if parts else pandas.DataFrame()

    def best(self, count: int = 1) -> CandidateTable:
        """The best successfully evaluated candidates.

        Args:
            count: Maximum number of candidates.

        Returns:
            The candidates, best first; of equal candidates the earliest first.
        """
        c, g = CANDIDATE.c, GENERATION.c
        query = (
            select(CANDIDATE)
            .where(c.study == self._number, c.status == int(EvaluationStatus.OK))
            .order_by(c.stage.desc(), c.value, c.generation, c.member)
            .limit(count)
        )
        if self.job["penalty"] is None:
            # The n best candidates are in the n generations with the best leaders or in an
            # incomplete one: for any candidate elsewhere, these n leaders are better. With a
            # penalty, the leader of a generation may be a failed candidate.
            leading = (
                select(g.number)
                .where(g.study == self._number)
                .order_by(g.best_stage.desc(), g.best_value, g.number)
                .limit(count)
            )
            last = select(func.coalesce(func.max(g.number), -1)).where(g.study == self._number)
            with guarded_study(self.place), self._engine.connect() as connection:
                numbers = list(connection.execute(leading).scalars())
                open_after = connection.execute(last).scalar_one()
            query = query.where(c.generation.in_([*numbers, open_after + 1]))
        return self._read_candidates(query)

    def leaders(self) -> CandidateTable:
        """The best candidate of every complete generation, in order."""
        c, g = CANDIDATE.c, GENERATION.c
        is_leader = (c.study == g.study) & (c.generation == g.number) & (c.member == g.best_member)
        query = (
            select(CANDIDATE)
            .join(GENERATION, is_leader)
            .where(c.study == self._number, c.status == int(EvaluationStatus.OK))
            .order_by(c.generation)
        )
        return self._read_candidates(query)

    def _read_candidates(self, query: Any) -> CandidateTable:
        job = self.job
        with guarded_study(self.place), self._engine.connect() as connection:
            rows = connection.execute(query).all()
            sizes = (len(job[part]) for part in ("parameter", "pool", "objective"))
            return table_of_rows(rows, *sizes)

    def visits(self) -> list[tuple[int, np.ndarray, int]]:
        """Visited subspaces.

        Returns:
            Generation, group numbers of the subspace, and number of candidates.
        """
        c = CANDIDATE.c
        query = (
            select(c.generation, c.groups, func.count())
            .where(c.study == self._number)
            .group_by(c.generation, c.groups)
            .order_by(c.generation)
        )
        with guarded_study(self.place), self._engine.connect() as connection:
            rows = connection.execute(query).all()
            return [(row[0], np.frombuffer(bytes(row[1]), dtype="<i4"), row[2]) for row in rows]

    def statuses(self) -> dict[EvaluationStatus, int]:
        """Number of candidates by status."""
        c = CANDIDATE.c
        query = select(c.status, func.count()).where(c.study == self._number).group_by(c.status)
        with guarded_study(self.place), self._engine.connect() as connection:
            return {EvaluationStatus(row[0]): row[1] for row in connection.execute(query)}

    def first_failure(self) -> str:
        """Message of the first failed candidate; empty if none failed."""
        c = CANDIDATE.c
        query = (
            select(c.message)
            .where(c.study == self._number, c.status != int(EvaluationStatus.OK))
            .order_by(c.generation, c.member)
            .limit(1)
        )
        with guarded_study(self.place), self._engine.connect() as connection:
            return str(connection.execute(query).scalar() or "")

    def fingerprint(self) -> str:
        """Digest of the columns `IDENTITY_COLUMNS`: equal for bit-identical studies."""
        digest = hashlib.sha256()
        for table in (GENERATION, CANDIDATE):
            columns = [table.c[name] for name in IDENTITY_COLUMNS[table.name]]
            query = select(*columns).where(table.c.study == self._number).order_by(*columns[:2])
            with guarded_study(self.place), self._engine.connect() as connection:
                for row in connection.execution_options(yield_per=5000).execute(query):
                    digest.update(repr(tuple(row)).encode())
        return digest.hexdigest()
