"""Search path of the files that a network text names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from homodyn.errors import NetworkError
from homodyn.network.source import SourceLocation

LIBRARY_FOLDER = Path(__file__).parent / "library"
"""Network texts that come with Homodyn; the last folder of the search path."""


@dataclass(frozen=True)
class SearchPath:
    """Folders in which files are searched: that of the including file, ``folder``, the library."""

    folder: Path | None
    """Folder of the network file."""
    allow_outside: bool = False
    """Whether files outside ``folder`` and the library may be read."""

    def resolve(self, name: str, place: SourceLocation) -> Path:
        """Find a file.

        Args:
            name: Name in the text.
            place: Place of the name, for messages.

        Returns:
            Path of the file.

        Raises:
            NetworkError: There is no such file, or it may not be read.
        """
        including = Path(place.source.path).parent if place.source.path else None
        for folder in (including, self.folder, LIBRARY_FOLDER):
            if folder is None:
                continue
            try:
                path = (folder / name).resolve()
                if not path.is_file():
                    continue
            except (OSError, ValueError):
                continue
            allowed = [each.resolve() for each in (self.folder, LIBRARY_FOLDER) if each is not None]
            if not self.allow_outside and not any(path.is_relative_to(each) for each in allowed):
                raise place.error(
                    f"{name!r} is outside the folder of the network; "
                    "allow it with load(..., allow_outside=True)"
                )
            return path
        raise place.error(f"no file {name!r} in the folder of the network or in the library")


def read_text(path: Path) -> str:
    """Read a network file.

    Args:
        path: The file.

    Returns:
        Its text.

    Raises:
        NetworkError: The file cannot be read or is not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise NetworkError(
            f"byte {error.start} is not UTF-8; network files must be UTF-8", str(path), 1, 1
        ) from None
    except OSError as error:
        raise NetworkError(f"cannot be read: {error.strerror}", str(path), 1, 1) from None
