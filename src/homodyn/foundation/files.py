"""Files and folders: reading with a size limit, writing complete or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from homodyn.errors import FormatError


def read_bytes(path: Path, max_bytes: int, what: str = "file") -> bytes:
    """Read a file whose size is limited.

    Args:
        path: The file.
        max_bytes: Size above which it is refused.
        what: Kind of file, for the message.

    Returns:
        The content.

    Raises:
        FormatError: It does not exist, is a folder, is too large or cannot be read.
    """
    check_readable(path, max_bytes, what)
    try:
        return path.read_bytes()
    except OSError as error:
        raise FormatError(f"it cannot be read: {error.strerror}", str(path)) from error


def check_readable(path: Path, max_bytes: int, what: str = "file") -> None:
    """Refuse what is not a file of limited size.

    Args:
        path: The file.
        max_bytes: Size above which it is refused.
        what: Kind of file, for the message.

    Raises:
        FormatError: It does not exist, is a folder, or is too large.
    """
    try:
        if path.is_dir():
            raise FormatError("this is a folder; a file is expected", str(path))
        size = path.stat().st_size
    except FileNotFoundError:
        raise FormatError("there is no such file", str(path)) from None
    except OSError as error:
        raise FormatError(f"it cannot be read: {error.strerror}", str(path)) from error
    if size > max_bytes:
        raise FormatError(
            f"{_megabytes(size)} is too large for a {what}; the limit is {_megabytes(max_bytes)}",
            str(path),
        )


@contextmanager
def atomic_file(path: str | Path) -> Iterator[Path]:
    """Write a file that appears complete or not at all.

    The temporary file takes its final name, with the permissions of a new file or those of the file
    it replaces, when the block ends without an exception; otherwise it is removed. Content and name
    are on the disk before the function returns, so that a power failure loses nothing.

    Args:
        path: The file to write; an existing file is replaced.

    Yields:
        The path of a temporary file in the same folder, with the same suffix.

    Raises:
        FormatError: The file cannot be written.
    """
    path = Path(path)
    try:
        handle, name = tempfile.mkstemp(
            prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent
        )
    except OSError as error:
        raise FormatError(f"it cannot be written: {error.strerror}", str(path)) from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
        os.chmod(temporary, mode)
        sync(temporary)
        os.replace(temporary, path)
        sync(path.parent)
    except OSError as error:
        raise FormatError(f"it cannot be written: {error.strerror}", str(path)) from error
    finally:
        temporary.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Wait until a file, or the list of names in a folder, is on the disk.

    ``HOMODYN_FSYNC=off`` turns it off, for temporary results on slow disks.

    Args:
        path: A file or a folder.

    Raises:
        OSError: The disk reports an error.
    """
    if os.environ.get("HOMODYN_FSYNC", "") == "off":
        return
    is_folder = path.is_dir()
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        if is_folder:  # Windows does not open folders.
            return
        raise
    try:
        os.fsync(handle)
    except OSError as error:
        # Some file systems have nothing to synchronize for a folder.
        if not (is_folder and error.errno in (errno.EINVAL, errno.ENOTSUP, errno.EBADF)):
            raise
    finally:
        os.close(handle)


def sync_tree(folder: Path) -> None:
    """Wait until all files and names in a folder are on the disk.

    Args:
        folder: The folder.

    Raises:
        OSError: The disk reports an error.
    """
    for path in sorted(folder.rglob("*"), reverse=True):
        if not path.is_symlink():
            sync(path)
    sync(folder)


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file that appears complete or not at all.

    Args:
        path: The file to write; an existing file is replaced.
        content: Its bytes.

    Raises:
        FormatError: The file cannot be written.
    """
    with atomic_file(path) as temporary:
        temporary.write_bytes(content)


def write_text(path: str | Path, text: str) -> None:
    """Write text as UTF-8 into a file that appears complete or not at all.

    Args:
        path: The file to write; an existing file is replaced.
        text: Its content. Line ends are written as they are.

    Raises:
        FormatError: The file cannot be written, or the text is not valid Unicode.
    """
    try:
        content = text.encode("utf-8")
    except UnicodeError as error:
        raise FormatError(f"it cannot be written: {error}", str(path)) from error
    write_bytes(path, content)


@contextmanager
def atomic_folder(
    folder: str | Path,
    *,
    overwrite: bool = False,
    is_replaceable: Callable[[Path], bool] | None = None,
) -> Iterator[Path]:
    """Write a folder that appears complete or not at all.

    The temporary folder takes its final name when the block ends without an exception; otherwise it
    is removed. All files are on the disk before it takes its name. An empty folder of that name is
    always replaced.

    Args:
        folder: The folder to write; missing parents are created.
        overwrite: Replace an existing folder.
        is_replaceable: Returns whether an existing folder may be replaced, so that a folder with
            other content is never lost; any folder may be replaced if left out.

    Yields:
        The path of an empty temporary folder in the same parent folder.

    Raises:
        FormatError: The folder exists and may not be replaced, or it cannot be written.
    """
    folder = Path(folder)
    if folder.exists() and not _is_empty_folder(folder):
        if not overwrite:
            raise FormatError(
                "it exists already; choose another folder, or replace it with --overwrite",
                str(folder),
            )
        if not folder.is_dir() or (is_replaceable is not None and not is_replaceable(folder)):
            raise FormatError(
                "it does not contain a result of this kind, so it is not replaced; choose another "
                "folder",
                str(folder),
            )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as scratch:
            complete = Path(scratch) / "new"
            complete.mkdir()
            yield complete
            sync_tree(complete)
            if folder.exists():
                os.replace(folder, Path(scratch) / "old")
            os.replace(complete, folder)
            sync(folder.parent)
    except OSError as error:
        raise FormatError(f"it cannot be written: {error.strerror}", str(folder)) from error


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())


def _megabytes(size: int) -> str:
    return f"{size / 2**30:.1f} GB" if size >= 2**30 else f"{max(1, size // 2**20)} MB"


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
