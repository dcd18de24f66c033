"""Built libraries kept on disk between runs, keyed by what they were built from.

An entry is a folder that appears under its key in one rename, so a process that is killed, or two
that build the same library, leave either nothing or a whole entry. A checksum is verified before a
library is loaded; what does not fit it is thrown away and built again.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import platformdirs

LIBRARY = "kernel.so"
CHECKSUM = "sha256"
BUILDING = "building-"
STALE = 24 * 3600.0
"""Age (s) after which what a killed process left behind is swept away."""


def folder() -> Path:
    """Where libraries are kept: ``HOMODYN_CACHE``, else the platform's cache folder."""
    named = os.environ.get("HOMODYN_CACHE")
    return Path(named) if named else Path(platformdirs.user_cache_dir("homodyn"))


def key_of(*parts: str) -> str:
    """The key of a library: a hash of everything it depends on."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def find(key: str) -> Path | None:
    """The library of that key, verified; None when there is none. A damaged one is removed."""
    entry = folder() / key
    try:
        stated = (entry / CHECKSUM).read_text()
        content = (entry / LIBRARY).read_bytes()
    except OSError:
        # An entry is renamed into place whole: a part of one is damage.
        shutil.rmtree(entry, ignore_errors=True)
        return None
    if hashlib.sha256(content).hexdigest() != stated:
        shutil.rmtree(entry, ignore_errors=True)
        return None
    return entry / LIBRARY


def keep(key: str, build: Callable[[Path], None]) -> tuple[Path, str]:
    """Build a library into the cache; its path, and a remark when it could not be kept there.

    When the folder cannot be written (read-only, full), the library is built into a temporary
    folder that lives as long as the process.
    """
    try:
        root = folder()
        root.mkdir(parents=True, exist_ok=True)
        _sweep(root)
        place = Path(tempfile.mkdtemp(prefix=BUILDING, dir=root))
    except OSError as error:
        return _build_aside(build), f"the kernel cache cannot be used: {error}"
    try:
        build(place / LIBRARY)
        try:
            content = (place / LIBRARY).read_bytes()
            (place / CHECKSUM).write_text(hashlib.sha256(content).hexdigest())
            if _moved(place, root / key):
                return root / key / LIBRARY, ""
        except OSError as error:
            return _build_aside(build), f"the kernel cache cannot be used: {error}"
        winner = find(key)
        return (winner, "") if winner else (_build_aside(build), "the kernel cache cannot be used")
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _moved(place: Path, entry: Path) -> bool:
    """Whether the folder became the entry; not when another process was first."""
    try:
        place.rename(entry)
    except OSError:
        if entry.is_dir():
            return False
        raise
    return True


def _build_aside(build: Callable[[Path], None]) -> Path:
    place = Path(tempfile.mkdtemp(prefix="homodyn-"))
    _ASIDE.append(place)
    build(place / LIBRARY)
    return place / LIBRARY


class _Aside(list[Path]):
    """Temporary folders, removed when the interpreter ends."""

    def remove_all(self) -> None:
        for place in self:
            shutil.rmtree(place, ignore_errors=True)


_ASIDE = _Aside()
atexit.register(_ASIDE.remove_all)


def _sweep(root: Path) -> None:
    """Remove what processes that were killed while building have left."""
    for left in root.glob(f"{BUILDING}*"):
        try:
            if time.time() - left.stat().st_mtime > STALE:
                shutil.rmtree(left, ignore_errors=True)
        except OSError:
            continue


def usage() -> tuple[int, int]:
    """Number of libraries kept and their size in bytes."""
    libraries = list(folder().glob(f"*/{LIBRARY}"))
    return len(libraries), sum(library.stat().st_size for library in libraries)


def clear() -> tuple[int, int]:
    """Remove every library; returns how many there were and their size in bytes."""
    before = usage()
    root = folder()
    if root.is_dir():
        for entry in root.iterdir():
            if entry.is_dir() and (entry.name.startswith(BUILDING) or len(entry.name) == 64):
                shutil.rmtree(entry, ignore_errors=True)
    return before
