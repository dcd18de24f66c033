"""The tables of studies, and their databases."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

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
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from homodyn.errors import SearchError, located_search_error
from homodyn.foundation.guarded_read import guarded_read

DATABASE_TIMEOUT_S = 30.0
"""How long to wait for a database that another program has locked."""

TABLES = MetaData()
STUDY = Table(
    "study",
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("name", String(200), unique=True, nullable=False),
    Column("format", Integer, nullable=False),
    Column("version", String(50)),
    Column("created", Double),
    Column("job", Text, nullable=False),
)
GENERATION = Table(
    "generation",
    TABLES,
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
CANDIDATE = Table(
    "candidate",
    TABLES,
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
NOTE = Table(
    "note",
    TABLES,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("study", Integer, nullable=False),
    Column("time", Double),
    Column("text", Text),
)


def database_url(place: str | Path | None) -> str:
    """The URL of a database.

    Args:
        place: A file (SQLite), a URL, or None for a database in memory.

    Returns:
        The URL for SQLAlchemy.
    """
    if place is None:
        return "sqlite://"
    if "://" in str(place):
        url = str(place)
        # SQLAlchemy would look for the older driver psycopg2.
        return url.replace("postgresql://", "postgresql+psycopg://", 1)
    return f"sqlite:///{Path(place)}"


def display_name(place: str | Path | None) -> str:
    """Name of a database in messages, without the password of a URL.

    Args:
        place: A file, a URL, or None.

    Returns:
        The name.
    """
    if place is None:
        return "in memory"
    if "://" not in str(place):
        return str(place)
    try:
        return make_url(str(place)).render_as_string()
    except ArgumentError:
        return "that URL"


def open_database(place: str | Path | None, timeout: float | None) -> Engine:
    """Open a database.

    Args:
        place: A file (SQLite), a URL, or None for a database in memory.
        timeout: How long to wait for other programs that have locked it (s); 30 s by default.

    Returns:
        The engine of SQLAlchemy.

    Raises:
        SearchError: The database cannot be opened.
    """
    url = database_url(place)
    try:
        if not url.startswith("sqlite"):
            return create_engine(url, pool_pre_ping=True)
        options: dict[str, Any] = {"timeout": DATABASE_TIMEOUT_S if timeout is None else timeout}
        if url == "sqlite://":
            # One connection for all threads: each connection has a database of its own.
            options["check_same_thread"] = False
            return create_engine(url, connect_args=options, poolclass=StaticPool)
        if is_read_only(str(place)):
            return create_engine(_read_only_url(Path(str(place))), connect_args=options)
        engine = create_engine(url, connect_args=options)
    except Exception as error:
        raise SearchError(
            f"{display_name(place)} cannot be opened as a database: {error}"
        ) from None

    @event.listens_for(engine, "connect")
    def configure(connection: Any, record: Any) -> None:
        # Readers see the last commit while a run writes the next. Every commit is on the disk when
        # it ends: one commit per generation costs little beside the generation.
        try:
            connection.execute("pragma journal_mode = wal")
            connection.execute("pragma synchronous = full")
        except BaseException:
            # A connection that is left open keeps its locks, and others would wait for them.
            connection.close()
            raise

    return engine


def is_read_only(place: str) -> bool:
    """Whether a database is a file that this process cannot write, or is on read-only media.

    Args:
        place: The file.

    Returns:
        False for a file that does not exist.
    """
    path = Path(place)
    return path.is_file() and not (
        os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)
    )


def _read_only_url(path: Path) -> str:
    """The URL that opens a file without writing anything beside it."""
    # Without a journal no other process writes, and SQLite needs no lock file.
    journal = path.with_name(f"{path.name}-wal")
    busy = journal.is_file() and journal.stat().st_size > 0
    mode = "mode=ro" if busy else "mode=ro&immutable=1"
    return f"sqlite:///file:{quote(str(path.absolute()))}?{mode}&uri=true"


@contextlib.contextmanager
def translate_database_errors(place: Any) -> Iterator[None]:
    """Translate errors of a database into a `SearchError` with advice.

    Args:
        place: Name of the database, for messages.

    Raises:
        SearchError: The database failed.
    """
    try:
        yield
    except DBAPIError as error:
        reason = str(error.orig).strip()
        if "locked" in reason:
            advice = "another program has locked it; recorded results are kept, resume later"
        elif "full" in reason or "disk I/O" in reason:
            advice = "is the disk full? Recorded results are kept: free some space and resume"
        elif "readonly" in reason or "unable to open" in reason:
            advice = "is the folder writable?"
        elif "not a database" in reason or "malformed" in reason:
            advice = "the file is not a study, or it is damaged"
        else:
            advice = "recorded results are kept"
        raise SearchError(f"the database {place} failed: {reason}; {advice}") from error


@contextlib.contextmanager
def guarded_study(place: str) -> Iterator[None]:
    """Convert failures while a study is read, such as cells of another type, to `SearchError`.

    Args:
        place: Name of the database, for messages.

    Raises:
        SearchError: The database failed, or what it contains is damaged.
    """
    with guarded_read(place, "study", located_search_error), translate_database_errors(place):
        yield
