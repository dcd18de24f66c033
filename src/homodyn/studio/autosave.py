"""Autosave of unsaved work, and its recovery after a crash.

Each process writes into its own folder and holds a lock file beside it, which the system releases
when the process ends. A folder whose lock is free contains work that no process has open.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO

import platformdirs

from homodyn.studio.document import StudioDocument
from homodyn.studio.session import Session
from homodyn.studio.session_store import SessionWriter, is_session_folder, read_session

AUTOSAVE_DELAY_S = 2.0
"""Time (s) without changes after which unsaved work is written."""
LOCK_SUFFIX = ".lock"


def default_home() -> Path:
    """Folder of unsaved work: ``HOMODYN_STATE``, else the state folder of the platform."""
    variable = os.environ.get("HOMODYN_STATE")
    base = Path(variable) if variable else Path(platformdirs.user_state_dir("homodyn"))
    return base / "studio"


@dataclass(frozen=True)
class RecoverableWork:
    """Unsaved work of an earlier process: its folder, and when it was last written."""

    folder: Path
    when: datetime

    def read(self) -> StudioDocument:
        """The document that was open."""
        return read_session(self.folder)

    def delete(self) -> None:
        """Delete the work."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.with_suffix(LOCK_SUFFIX).unlink(missing_ok=True)


def find_recoverable_work(home: Path) -> list[RecoverableWork]:
    """Unsaved work that no running process has open, the newest first."""
    found = []
    for folder in home.iterdir() if home.is_dir() else ():
        # Another process may delete the folder meanwhile.
        with contextlib.suppress(FileNotFoundError):
            if is_session_folder(folder) and not _is_locked(folder.with_suffix(LOCK_SUFFIX)):
                when = datetime.fromtimestamp(max(p.stat().st_mtime for p in folder.iterdir()))
                found.append(RecoverableWork(folder, when))
    return sorted(found, key=lambda work: work.when, reverse=True)


class Autosave:
    """Writes the unsaved work of a session into a folder below ``home`` while it runs."""

    def __init__(self, session: Session, home: Path, delay: float = AUTOSAVE_DELAY_S) -> None:
        self.session = session
        self.home = home
        self.delay = delay
        self.folder = home / f"{datetime.now():%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
        self._writer = SessionWriter(self.folder)
        self._problem = ""
        self._written = -1
        """Version of the session that is on disk."""
        self._ended = threading.Event()
        self._lock: IO[str] | None = None
        self._writing = threading.Lock()
        self._thread = threading.Thread(target=self._run, daemon=True, name="autosave")

    def start(self) -> None:
        """Acquire the lock and start the thread."""
        self.home.mkdir(parents=True, exist_ok=True)
        self._lock = open(self.folder.with_suffix(LOCK_SUFFIX), "a+", encoding="utf-8")  # noqa: SIM115
        _acquire_lock(self._lock)
        self._thread.start()

    def stop(self) -> Path | None:
        """Write the last state and end.

        Returns:
            The folder, if it contains unsaved work.
        """
        self._ended.set()
        self._thread.join(timeout=30.0)
        self.write()
        if self._lock is not None:
            self._lock.close()
            self.folder.with_suffix(LOCK_SUFFIX).unlink(missing_ok=True)
        return self.folder if self.folder.exists() else None

    def write(self) -> None:
        """Write the unsaved work of the session, or remove the folder if all is saved."""
        with self._writing:
            self._write()

    def _write(self) -> None:
        view = self.session.view()
        if view.version == self._written:
            return
        try:
            if view.unsaved:
                # A part that failed is tried again with the next change.
                self._report("; ".join(self._writer.write(view.document)))
            elif self.folder.exists():
                shutil.rmtree(self.folder)
                self._writer = SessionWriter(self.folder)
            self._written = view.version
        except OSError as error:
            # A full disk must not end the studio; the work is written when there is space again.
            self._report(error.strerror or type(error).__name__)

    def _report(self, problem: str) -> None:
        """Print why work is not kept, once while the reason stays the same."""
        if problem and problem != self._problem:
            print(
                f"homodyn: unsaved work is not kept in {self.folder}: {problem}; save your work",
                file=sys.stderr,
            )
        self._problem = problem

    def _run(self) -> None:
        previous = -1
        while not self._ended.wait(self.delay):
            version = self.session.view().version
            # During a drag the version increases between two polls.
            if version == previous:
                self.write()
            previous = version


def _is_locked(path: Path) -> bool:
    """Whether a running process holds the lock."""
    with _open_existing(path) as file:
        if file is None:
            return False
        try:
            _acquire_lock(file)
        except OSError:
            return True
        return False


@contextlib.contextmanager
def _open_existing(path: Path) -> Iterator[IO[str] | None]:
    try:
        file = open(path, "r+", encoding="utf-8")  # noqa: SIM115
    except FileNotFoundError:
        yield None
        return
    with file:
        yield file


def _acquire_lock(file: IO[str]) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
