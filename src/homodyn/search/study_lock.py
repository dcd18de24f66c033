"""One process at a time runs a study; the lock ends with its process, however that ends."""

from __future__ import annotations

import contextlib
import os
import socket
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from homodyn.errors import SearchError
from homodyn.search.database import translate_database_errors


@contextlib.contextmanager
def lock_study(engine: Engine, name: str) -> Iterator[None]:
    """Hold the study of that name in that database; refuse when another process does."""
    if engine.dialect.name == "postgresql":
        with _in_database(engine, name):
            yield
    elif engine.url.database in (None, "", ":memory:"):
        yield
    else:
        with _lock_file_beside(Path(str(engine.url.database))):
            yield


def _refusal(holder: str) -> SearchError:
    return SearchError(
        f"the study is being run by {holder or 'another process'}; `homodyn search status` shows "
        "how far it is, and when it has ended `homodyn search resume` continues it"
    )


@contextlib.contextmanager
def _in_database(engine: Engine, name: str) -> Iterator[None]:
    number = zlib.crc32(f"homodyn search {name}".encode())
    with contextlib.ExitStack() as stack:
        with translate_database_errors(engine.url.render_as_string()):
            connection = stack.enter_context(engine.connect())
            taken = connection.execute(text(f"select pg_try_advisory_lock({number})")).scalar()
            connection.commit()
        if not taken:
            raise _refusal("")
        try:
            yield
        finally:
            # A connection that was lost took its lock with it.
            with contextlib.suppress(DBAPIError):
                connection.execute(text(f"select pg_advisory_unlock({number})"))
                connection.commit()


@contextlib.contextmanager
def _lock_file_beside(database: Path) -> Iterator[None]:
    """A lock on a file beside the database, which the system releases when the process ends.

    Not on the database itself: closing such a file would drop the locks SQLite has on it.
    """
    path = database.with_name(database.name + ".lock")
    file = _open_locked(path)
    try:
        file.seek(0)
        file.truncate()
        file.write(f"process {os.getpid()} on {socket.gethostname()}")
        file.flush()
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
        file.close()


def _open_locked(path: Path) -> IO[str]:
    while True:
        try:
            file = open(path, "a+", encoding="utf-8")  # noqa: SIM115
        except OSError as error:
            raise SearchError(f"{path} cannot be written: {error.strerror}") from None
        try:
            _take(file)
        except OSError:
            file.seek(0)
            holder = file.read().strip()
            file.close()
            raise _refusal(holder) from None
        # Whoever held it may have removed the file between opening and locking it.
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                return file
        file.close()


def _take(file: IO[str]) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
