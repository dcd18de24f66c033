"""Unsaved work goes to disk by itself, and is found again by the next studio after a crash.

Each process writes into a folder of its own under one home, and holds a lock beside it which the
system releases when the process ends, however that ends. A folder whose lock is free is work that
nobody has open any more.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import threading
import traceback
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
"""s without a change after which unsaved work is written."""
LOCK_SUFFIX = ".lock"


def default_home() -> Path:
    """Where unsaved work is kept: ``HOMODYN_STATE``, else the platform's folder for it."""
    named = os.environ.get("HOMODYN_STATE")
    base = Path(named) if named else Path(platformdirs.user_state_dir("homodyn"))
    return base / "studio"


@dataclass(frozen=True)
class RecoverableWork:
    """Work that a studio left behind: its folder, and when it was last written."""

    folder: Path
    when: datetime

    def read(self) -> StudioDocument:
        """What it holds."""
        return read_session(self.folder)

    def forget(self) -> None:
        """Remove it for good."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.with_suffix(LOCK_SUFFIX).unlink(missing_ok=True)


def find_recoverable_work(home: Path) -> list[RecoverableWork]:
    """Work under a home that no running studio holds, the newest first."""
    found = []
    for folder in home.iterdir() if home.is_dir() else ():
        if is_session_folder(folder) and not _is_locked(folder.with_suffix(LOCK_SUFFIX)):
            when = datetime.fromtimestamp(max(p.stat().st_mtime for p in folder.iterdir()))
            found.append(RecoverableWork(folder, when))
    return sorted(found, key=lambda left: left.when, reverse=True)


class Autosave:
    """Writes the unsaved work of a session into a folder under a home, while it runs."""

    def __init__(self, session: Session, home: Path, pause: float = AUTOSAVE_DELAY_S) -> None:
        self.session = session
        self.home = home
        self.pause = pause
        self.folder = home / f"{datetime.now():%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
        self._keeper = SessionWriter(self.folder)
        self._written = -1
        """Version that is on disk."""
        self._ended = threading.Event()
        self._lock: IO[str] | None = None
        self._writing = threading.Lock()
        self._thread = threading.Thread(target=self._run, daemon=True, name="autosave")

    def start(self) -> None:
        """Take the lock and begin."""
        self.home.mkdir(parents=True, exist_ok=True)
        self._lock = open(self.folder.with_suffix(LOCK_SUFFIX), "a+", encoding="utf-8")  # noqa: SIM115
        _acquire_lock(self._lock)
        self._thread.start()

    def stop(self) -> Path | None:
        """Write the last state and end; the folder, where there is unsaved work in it."""
        self._ended.set()
        self._thread.join(timeout=30.0)
        self.write()
        if self._lock is not None:
            self._lock.close()
            self.folder.with_suffix(LOCK_SUFFIX).unlink(missing_ok=True)
        return self.folder if self.folder.exists() else None

    def write(self) -> None:
        """Bring the folder to the session: its unsaved work, or nothing when all is saved."""
        with self._writing:
            self._write()

    def _write(self) -> None:
        view = self.session.view()
        if view.version == self._written:
            return
        try:
            if view.unsaved:
                self._keeper.write(view.document)
            elif self.folder.exists():
                shutil.rmtree(self.folder)
                self._keeper = SessionWriter(self.folder)
            self._written = view.version
        except OSError:
            # A full disk must not end the studio; the next change is tried again.
            traceback.print_exc()

    def _run(self) -> None:
        seen = -1
        while not self._ended.wait(self.pause):
            version = self.session.view().version
            # While somebody drags, the version rises from look to look.
            if version == seen:
                self.write()
            seen = version


def _is_locked(path: Path) -> bool:
    """Whether a running process holds a lock."""
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
