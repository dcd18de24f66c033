"""Lock of a study: one process at a time runs it; the lock ends with the process."""

from __future__ import annotations

import contextlib
import os
import socket
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO
from urllib.parse import unquote

from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from homodyn.errors import SearchError
from homodyn.search.studies.database import translate_database_errors


@contextlib.contextmanager
def lock_study(engine: Engine, name: str) -> Iterator[None]:
    """Lock a study.

    Args:
        engine: Its database.
        name: Its name.

    Raises:
        SearchError: Another process is running it.
    """
    if engine.dialect.name == "postgresql":
        with _in_database(engine, name):
            yield
    elif engine.url.database in (None, "", ":memory:"):
        yield
    elif str(engine.url.database).startswith("file:"):
        # Studies on read-only media are opened by such a URL; see `open_database`.
        path = str(engine.url.database).removeprefix("file:")
        raise SearchError(f"{unquote(path)} is read-only; copy it to a folder that can be written")
    else:
        with _lock_file(Path(str(engine.url.database))):
            yield


def _locked_error(owner: str) -> SearchError:
    return SearchError(
        f"the study is being run by {owner or 'another process'}; `homodyn search status` shows "
        "its progress, and `homodyn search resume` continues it afterwards"
    )


@contextlib.contextmanager
def _in_database(engine: Engine, name: str) -> Iterator[None]:
    number = zlib.crc32(f"homodyn search {name}".encode())
    with contextlib.ExitStack() as stack:
        with translate_database_errors(engine.url.render_as_string()):
            connection = stack.enter_context(engine.connect())
            locked = connection.execute(text(f"select pg_try_advisory_lock({number})")).scalar()
            connection.commit()
        if not locked:
            raise _locked_error("")
        try:
            yield
        finally:
            # A lost connection has released its lock.
            with contextlib.suppress(DBAPIError):
                connection.execute(text(f"select pg_advisory_unlock({number})"))
                connection.commit()


@contextlib.contextmanager
def _lock_file(database: Path) -> Iterator[None]:
    """Lock a file next to the database; the system releases the lock when the process ends.

    A lock on the database itself would interfere with the locks of SQLite.
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
            _lock(file)
        except OSError:
            file.seek(0)
            owner = file.read().strip()
            file.close()
            raise _locked_error(owner) from None
        # The previous owner may have removed the file between opening and locking.
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                return file
        file.close()


def _lock(file: IO[str]) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
