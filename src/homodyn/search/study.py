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
from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    Engine,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    StaticPool,
    String,
    Table,
    Text,
    create_engine,
    event,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError

from homodyn.errors import SearchError
from homodyn.search.lock import held
from homodyn.search.outcome import Outcomes, Status

PATIENCE = 30.0
"""Seconds to wait for a database that another program has locked."""
FORMAT = 1
IDENTITY = {
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

_tables = MetaData()
_study = Table(
    "study",
    _tables,
    Column("id", Integer, primary_key=True),
    Column("name", String(200), unique=True, nullable=False),
    Column("format", Integer, nullable=False),
    Column("version", String(50)),
    Column("created", Double),
    Column("job", Text, nullable=False),
)
_generation = Table(
    "generation",
    _tables,
    Column("study", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("count", Integer),
    Column("random", Text),
    Column("best_member", Integer),
    Column("best_stage", SmallInteger),
    Column("best_value", Double),
    Column("mean_value", Double),
    Column("failed", Integer),
    Column("seconds", Double),
    Column("finished", Double),
)
_candidate = Table(
    "candidate",
    _tables,
    Column("study", Integer, primary_key=True),
    Column("generation", Integer, primary_key=True),
    Column("member", Integer, primary_key=True),
    Column("parameters", LargeBinary),
    Column("groups", LargeBinary),
    Column("objectives", LargeBinary),
    Column("status", SmallInteger),
    Column("stage", SmallInteger),
    Column("value", Double),
    Column("data", Text),
    Column("seconds", Double),
    Column("node", String(200)),
    Column("attempts", SmallInteger),
    Column("finished", Double),
    Column("message", Text),
    sqlite_with_rowid=False,
)
_note = Table(
    "note",
    _tables,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("study", Integer, nullable=False),
    Column("time", Double),
    Column("text", Text),
)


@dataclass(frozen=True)
class Recorded:
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


def database_url(place: str | Path | None) -> str:
    """The URL of a database: a file is SQLite, ``None`` is memory, a URL is itself."""
    if place is None:
        return "sqlite://"
    if "://" in str(place):
        url = str(place)
        # The driver that is current; the old one would be looked for otherwise.
        return url.replace("postgresql://", "postgresql+psycopg://", 1)
    return f"sqlite:///{Path(place)}"


def _engine(place: str | Path | None, patience: float | None) -> Engine:
    url = database_url(place)
    try:
        if not url.startswith("sqlite"):
            return create_engine(url, pool_pre_ping=True)
        options: dict[str, Any] = {"timeout": PATIENCE if patience is None else patience}
        if url == "sqlite://":
            # One connection for all threads: another would see another memory.
            options["check_same_thread"] = False
            return create_engine(url, connect_args=options, poolclass=StaticPool)
        engine = create_engine(url, connect_args=options)
    except Exception as error:
        raise SearchError(f"{url} is no database that can be opened: {error}") from None

    @event.listens_for(engine, "connect")
    def settle(connection: Any, record: Any) -> None:
        # Readers see the last commit while a run writes the next; a power cut loses at most the
        # last commits, which a resumed run computes again.
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = normal")

    return engine


@contextlib.contextmanager
def _told(place: Any) -> Iterator[None]:
    """What a database refuses, in a sentence."""
    try:
        yield
    except (OperationalError, DBAPIError) as error:
        reason = str(error.orig).strip()
        if "locked" in reason:
            advice = "another program holds it; nothing that was recorded is lost, resume later"
        elif "full" in reason or "disk I/O" in reason:
            advice = "is the disk full? Nothing that was recorded is lost: make room and resume"
        elif "readonly" in reason or "unable to open" in reason:
            advice = "is it a place that can be written?"
        elif "not a database" in reason or "malformed" in reason:
            advice = "this file is no study, or it is damaged"
        else:
            advice = "nothing that was recorded is lost"
        raise SearchError(f"the database {place} refuses: {reason}; {advice}") from error


def _pieces(rows: np.ndarray, count: int) -> list[bytes | None]:
    """The bytes of each row."""
    whole, size = rows.tobytes(), rows.itemsize * rows.shape[1]
    return [whole[k : k + size] for k in range(0, size * count, size)] if size else [b""] * count


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
        patience: float | None = None,
    ) -> Study:
        """The study of that name, made with the text of ``job`` if there is none yet."""
        engine = _engine(place, patience)
        shown = str(place or "in memory")
        with _told(shown):
            _tables.create_all(engine)
            with engine.connect() as connection:
                wanted = select(_study.c.id).where(_study.c.name == name)
                known = connection.execute(wanted).first() is not None
            if not known:
                row = {
                    "name": name,
                    "format": FORMAT,
                    "version": version,
                    "created": time.time(),
                    "job": job(),
                }
                # Two processes may do this at once: the second finds what the first made.
                with contextlib.suppress(IntegrityError), engine.begin() as connection:
                    connection.execute(insert(_study), [row])
        return cls._found(engine, shown, name)

    @classmethod
    def open(
        cls, place: str | Path, *, name: str | None = None, patience: float | None = None
    ) -> Study:
        """The study of that name, or the only one there is."""
        if "://" not in str(place) and not Path(place).is_file():
            raise SearchError(f"there is no study {place}; `homodyn search run` makes one")
        return cls._found(_engine(place, patience), str(place), name)

    @classmethod
    def _found(cls, engine: Engine, place: str, name: str | None) -> Study:
        with _told(place), engine.connect() as connection:
            rows = connection.execute(
                select(_study.c.id, _study.c.name, _study.c.job, _study.c.format)
            ).all()
        names = [row.name for row in rows]
        chosen = [row for row in rows if name is None or row.name == name]
        if len(chosen) != 1:
            wanted = "one study" if name is None else f"a study {name!r}"
            raise SearchError(f"{place} does not have {wanted}; it has {names}")
        (row,) = chosen
        if row.format != FORMAT:
            raise SearchError(f"{place} has format {row.format}; this version reads {FORMAT}")
        return cls(engine, place, row.id, row.name, row.job)

    @cached_property
    def _insert(self) -> str:
        """How the driver itself takes many candidates, several times faster than row by row."""
        mark = "?" if self._engine.dialect.paramstyle == "qmark" else "%s"
        names = [column.name for column in _candidate.columns]
        return (
            f"insert into candidate ({', '.join(names)}) values ({', '.join([mark] * len(names))})"
        )

    @cached_property
    def job(self) -> dict[str, Any]:
        """The job as it was when the study began."""
        found: dict[str, Any] = json.loads(self.job_text)
        return found

    def held(self) -> contextlib.AbstractContextManager[None]:
        """Hold the study for as long as it runs; refused when another process does."""
        return held(self._engine, self.name)

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
        with _told(self.place), self._engine.begin() as connection:
            mine = update(_study).where(_study.c.id == self._number)
            connection.execute(mine.values(job=changed))

    def record(
        self,
        generation: int,
        batches: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray, Outcomes, Any, int]],
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
                map(outcomes.messages.get, range(count)),
                strict=False,
            )
        with _told(self.place), self._engine.begin() as connection:
            if rows:
                connection.exec_driver_sql(self._insert, rows)
            if complete is not None:
                row = {"study": self._number, "number": generation, "finished": now, **complete}
                connection.execute(insert(_generation), [row])

    def note(self, text: str) -> None:
        """Keep a sentence about how the run goes."""
        with _told(self.place), self._engine.begin() as connection:
            row = {"study": self._number, "time": time.time(), "text": text}
            connection.execute(insert(_note), [row])

    # -- reading

    def notes(self) -> list[str]:
        """What was noted, oldest first."""
        wanted = select(_note.c.text).where(_note.c.study == self._number).order_by(_note.c.id)
        with _told(self.place), self._engine.connect() as connection:
            return [row.text for row in connection.execute(wanted)]

    def generations(self) -> list[Any]:
        """The rows of complete generations, in order."""
        wanted = select(_generation).where(_generation.c.study == self._number)
        with _told(self.place), self._engine.connect() as connection:
            return list(connection.execute(wanted.order_by(_generation.c.number)))

    def candidates(self, generation: int, until: int | None = None) -> Recorded:
        """What is recorded of a generation, or of several until the one before ``until``."""
        last = generation + 1 if until is None else until
        wanted = (
            select(_candidate)
            .where(_candidate.c.study == self._number)
            .where(_candidate.c.generation >= generation, _candidate.c.generation < last)
            .order_by(_candidate.c.generation, _candidate.c.member)
        )
        return self._recorded(wanted)

    def all_candidates(self, rows: int = 20_000) -> Iterator[Recorded]:
        """Everything recorded, in order and in pieces of about so many rows."""
        with _told(self.place), self._engine.connect() as connection:
            total, last = connection.execute(
                select(func.count(), func.max(_candidate.c.generation)).where(
                    _candidate.c.study == self._number
                )
            ).one()
        if not total:
            return
        step = max(1, rows * (last + 1) // total)
        for first in range(0, last + 1, step):
            piece = self.candidates(first, first + step)
            if len(piece):
                yield piece

    def best(self, count: int = 1) -> Recorded:
        """The best candidates, best first; among equals the earliest."""
        c, g = _candidate.c, _generation.c
        wanted = (
            select(_candidate)
            .where(c.study == self._number, c.status == int(Status.OK))
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
            with _told(self.place), self._engine.connect() as connection:
                numbers = list(connection.execute(led).scalars())
                open_after = connection.execute(last).scalar_one()
            wanted = wanted.where(c.generation.in_(numbers) | (c.generation > open_after))
        return self._recorded(wanted)

    def leaders(self) -> Recorded:
        """The best candidate of every complete generation, in order."""
        c, g = _candidate.c, _generation.c
        same = (c.study == g.study) & (c.generation == g.number) & (c.member == g.best_member)
        wanted = (
            select(_candidate)
            .join(_generation, same)
            .where(c.study == self._number, c.status == int(Status.OK))
            .order_by(c.generation)
        )
        return self._recorded(wanted)

    def _recorded(self, wanted: Any) -> Recorded:
        with _told(self.place), self._engine.connect() as connection:
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

        return Recorded(
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
        c = _candidate.c
        wanted = (
            select(c.generation, c.groups, func.count())
            .where(c.study == self._number)
            .group_by(c.generation, c.groups)
            .order_by(c.generation)
        )
        with _told(self.place), self._engine.connect() as connection:
            rows = connection.execute(wanted).all()
        return [(row[0], np.frombuffer(bytes(row[1]), dtype="<i4"), row[2]) for row in rows]

    def statuses(self) -> dict[Status, int]:
        """How many candidates ended in which way."""
        c = _candidate.c
        wanted = select(c.status, func.count()).where(c.study == self._number).group_by(c.status)
        with _told(self.place), self._engine.connect() as connection:
            return {Status(row[0]): row[1] for row in connection.execute(wanted)}

    def fingerprint(self) -> str:
        """A digest of all that identifies the study: equal for equal studies, to the bit."""
        digest = hashlib.sha256()
        for table in (_generation, _candidate):
            columns = [table.c[name] for name in IDENTITY[table.name]]
            wanted = select(*columns).where(table.c.study == self._number).order_by(*columns[:2])
            with _told(self.place), self._engine.connect() as connection:
                for row in connection.execution_options(yield_per=5000).execute(wanted):
                    digest.update(repr(tuple(row)).encode())
        return digest.hexdigest()
