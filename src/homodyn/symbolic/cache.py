"""Built libraries on disk, keyed by everything they were built from.

An entry is a folder that appears under its key in one rename. A process that is killed, or two that
build the same library, leave either nothing or a complete entry. A checksum is verified before a
library is loaded; a damaged entry is removed and built again.

A library is code that runs. The cache is used only if its folder and the entry belong to this user
and no other user can write them; otherwise libraries are built in a temporary folder.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import platformdirs

LIBRARY_FILE = "kernel.so"
CHECKSUM_FILE = "sha256"
BUILD_FOLDER_PREFIX = "building-"
UNUSABLE_CACHE_MESSAGE = "the kernel cache cannot be used"
STALE_BUILD_SECONDS = 24 * 3600.0
"""Age after which the remains of a killed build are removed."""


def folder() -> Path:
    """The folder of libraries.

    Returns:
        ``HOMODYN_CACHE``, else the cache folder of the platform.
    """
    named = os.environ.get("HOMODYN_CACHE")
    return Path(named) if named else Path(platformdirs.user_cache_dir("homodyn"))


def make_key(*parts: str) -> str:
    """The key of a library: a hash of everything it depends on.

    Args:
        parts: Texts, in order.

    Returns:
        64 hexadecimal digits.
    """
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def find(key: str) -> bytes | None:
    """The library of a key, verified; a damaged entry is removed.

    Args:
        key: What `make_key` returned.

    Returns:
        The bytes of the library; None when there is none.
    """
    root = folder()
    entry = root / key
    if distrust(root):
        return None
    try:
        if distrust(entry) or any(distrust(entry / name) for name in (CHECKSUM_FILE, LIBRARY_FILE)):
            return None
        stated = (entry / CHECKSUM_FILE).read_text()
        content = (entry / LIBRARY_FILE).read_bytes()
    except (OSError, UnicodeDecodeError):
        # Entries appear complete in one rename, so a partial one is damaged.
        shutil.rmtree(entry, ignore_errors=True)
        return None
    if hashlib.sha256(content).hexdigest() != stated:
        shutil.rmtree(entry, ignore_errors=True)
        return None
    return content


def store(key: str, build: Callable[[Path], None]) -> tuple[bytes, str]:
    """Build a library and store it.

    When the folder cannot be written (read-only, full) it is built in a temporary one.

    Args:
        key: Its key.
        build: Writes the library to a path.

    Returns:
        The bytes of the library, and a remark when it could not be stored, else "".
    """
    try:
        root = create_folder()
        if reason := distrust(root):
            return _build_in_temporary_folder(build), f"{UNUSABLE_CACHE_MESSAGE}: {reason}"
        _remove_stale_builds(root)
        place = Path(tempfile.mkdtemp(prefix=BUILD_FOLDER_PREFIX, dir=root))
    except OSError as error:
        return _build_in_temporary_folder(build), f"{UNUSABLE_CACHE_MESSAGE}: {error}"
    try:
        build(place / LIBRARY_FILE)
        try:
            content = (place / LIBRARY_FILE).read_bytes()
            (place / CHECKSUM_FILE).write_text(hashlib.sha256(content).hexdigest())
            for name in (LIBRARY_FILE, CHECKSUM_FILE):
                (place / name).chmod(0o600)
            _move(place, root / key)
        except OSError as error:
            return _build_in_temporary_folder(build), f"{UNUSABLE_CACHE_MESSAGE}: {error}"
        return content, ""
    finally:
        shutil.rmtree(place, ignore_errors=True)


def distrust(path: Path) -> str:
    """Why code in a file or folder might be that of another user.

    Args:
        path: A file or folder.

    Returns:
        A sentence; empty if it belongs to this user and no other user can write it, if it does not
        exist, or on systems without such permissions.
    """
    if not hasattr(os, "geteuid"):
        return ""
    try:
        state = path.lstat() if path.parent == folder() else path.stat()
    except OSError:
        return ""
    if state.st_uid != os.geteuid():
        return f"{path} belongs to another user"
    if not stat.S_ISLNK(state.st_mode) and state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"{path} can be written by other users; correct it with: chmod go-w {path}"
    return ""


def create_folder() -> Path:
    """Create the folder of libraries, for this user only.

    The default folder was created with the permissions of the user in earlier versions; the
    permission of others to write it is removed.

    Returns:
        The folder.

    Raises:
        OSError: It cannot be created.
    """
    root = folder()
    root.parent.mkdir(parents=True, exist_ok=True)
    root.mkdir(mode=0o700, exist_ok=True)
    if not os.environ.get("HOMODYN_CACHE") and distrust(root):
        with suppress(OSError):
            root.chmod(0o700)
    return root


def _move(place: Path, entry: Path) -> None:
    """Rename the folder to the entry, unless another process was first."""
    if distrust(entry):
        # Another user made an entry of this name; no process loads it.
        return
    try:
        place.rename(entry)
    except OSError:
        if not entry.is_dir():
            raise


def _build_in_temporary_folder(build: Callable[[Path], None]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="homodyn-") as place:
        build(Path(place) / LIBRARY_FILE)
        return (Path(place) / LIBRARY_FILE).read_bytes()


def _remove_stale_builds(root: Path) -> None:
    """Remove the remains of processes that were killed while building."""
    for left in root.glob(f"{BUILD_FOLDER_PREFIX}*"):
        try:
            if time.time() - left.stat().st_mtime > STALE_BUILD_SECONDS:
                shutil.rmtree(left, ignore_errors=True)
        except OSError:
            continue


def usage() -> tuple[int, int]:
    """Size of the cache.

    Returns:
        Number of libraries and their total size in bytes.
    """
    sizes = []
    for library in folder().glob(f"*/{LIBRARY_FILE}"):
        if library.parent.name.startswith(BUILD_FOLDER_PREFIX):
            continue  # Another process is building it, and will rename its folder.
        with suppress(FileNotFoundError):
            sizes.append(library.stat().st_size)
    return len(sizes), sum(sizes)


def clear() -> tuple[int, int]:
    """Remove every library.

    Returns:
        Number of libraries removed and their total size in bytes.
    """
    before = usage()
    root = folder()
    if root.is_dir():
        for entry in root.iterdir():
            if entry.is_dir() and (
                entry.name.startswith(BUILD_FOLDER_PREFIX) or len(entry.name) == 64
            ):
                shutil.rmtree(entry, ignore_errors=True)
    return before
