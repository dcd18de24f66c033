"""Files that a network text names: where they are looked for, and which may be read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from homodyn.errors import NetworkError
from homodyn.network.source import SourceLocation

LIBRARY_FOLDER = Path(__file__).parent / "library"
"""Network texts that come with Homodyn; files are looked for here last."""


@dataclass(frozen=True)
class SearchPath:
    """Where files are taken from: beside the text that names them, the model's folder, the library.

    Other places are refused unless ``outside``.
    """

    folder: Path | None
    allow_outside: bool = False

    def resolve(self, name: str, place: SourceLocation) -> Path:
        """The file that a text means by a name."""
        beside = Path(place.source.path).parent if place.source.path else None
        for folder in (beside, self.folder, LIBRARY_FOLDER):
            if folder is None:
                continue
            try:
                path = (folder / name).resolve()
                if not path.is_file():
                    continue
            except (OSError, ValueError):
                continue
            homes = [home.resolve() for home in (self.folder, LIBRARY_FOLDER) if home is not None]
            if not self.allow_outside and not any(path.is_relative_to(home) for home in homes):
                raise place.error(
                    f"{name!r} is outside the folder of the model; "
                    "pass allow_outside=True to load to permit that"
                )
            return path
        raise place.error(f"no file {name!r} beside the model nor in the library")


def read_text(path: Path) -> str:
    """The text of a file in UTF-8."""
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise NetworkError(
            f"byte {error.start} is not UTF-8; network texts are", str(path), 1, 1
        ) from None
    except OSError as error:
        raise NetworkError(f"cannot be read: {error.strerror}", str(path), 1, 1) from None
