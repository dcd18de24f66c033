"""File formats by extension: the base class of all formats, and the registry of one kind of them.

`homodyn.model.formats.ModelFormat` and `homodyn.capture.formats.RecordingFormat` are the interfaces
that users implement. They share what is here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from homodyn.errors import FormatError

F = TypeVar("F", bound="FileFormat")
Method = TypeVar("Method", bound=Callable[..., Any])


def optional_method(method: Method) -> Method:
    """Mark a method of an interface that a format may leave out.

    Args:
        method: A method that raises `FormatError`.

    Returns:
        The method itself; `FileFormat.supports` is False for it until a subclass overrides it.
    """
    method.is_optional = True  # type: ignore[attr-defined]
    return method


class FileFormat:
    """A file format, chosen by the extension of the file."""

    extensions: ClassVar[tuple[str, ...]] = ()
    """Extensions in lower case, with the dot: ``(".c3d",)``."""

    def recognizes(self, path: Path) -> bool:
        """Whether a file with one of the extensions is of this format.

        Several formats may share an extension, such as ``.xml``. Each then looks into the file.

        Args:
            path: A file that exists and has one of the extensions.

        Returns:
            True unless the format overrides the method.
        """
        return True

    def supports(self, method: str) -> bool:
        """Whether the format overrides a method of its interface.

        Args:
            method: Name of the method, such as ``"read"``.

        Returns:
            True where it does.
        """
        return not getattr(getattr(type(self), method), "is_optional", False)


class FormatRegistry(Generic[F]):
    """The formats of one kind of file, by extension; later ones take precedence.

    Args:
        examples: Extensions for the message on a format without one, such as ``(".c3d",)``.
    """

    def __init__(self, examples: tuple[str, ...]) -> None:
        self._examples = examples
        self._formats: list[F] = []

    def register(self, file_format: F) -> None:
        """Add a format; it takes precedence over earlier ones with the same extension.

        Args:
            file_format: The format.

        Raises:
            FormatError: It has no extension, or one without a dot or in capitals.
        """
        name = type(file_format).__name__
        if not file_format.extensions:
            raise FormatError(f"{name} has no extensions; set them, such as {self._examples!r}")
        for extension in file_format.extensions:
            if not extension.startswith(".") or extension != extension.lower():
                raise FormatError(
                    f"extension {extension!r} of {name} must begin with a dot and be in lower case"
                )
        self._formats.insert(0, file_format)

    def unregister(self, file_format: F) -> None:
        """Remove a format; earlier ones with the same extension apply again.

        Args:
            file_format: A registered format.
        """
        self._formats.remove(file_format)

    def by_extension(self) -> dict[str, F]:
        """The format that takes precedence, for each extension."""
        return {extension: one for one in reversed(self._formats) for extension in one.extensions}

    def extensions(self, method: str) -> list[str]:
        """Extensions of the formats that support a method, in the order of registration."""
        return list(
            dict.fromkeys(
                extension
                for one in reversed(self._formats)
                if one.supports(method)
                for extension in one.extensions
            )
        )

    def candidates(self, extension: str, method: str) -> list[F]:
        """Formats with an extension that support a method, in order of precedence."""
        return [
            one
            for one in self._formats
            if extension.lower() in one.extensions and one.supports(method)
        ]

    def find(self, path: Path, method: str, refusal: str) -> F:
        """The format of a file that supports a method, chosen by the extension alone.

        Args:
            path: The file; it need not exist.
            method: Name of the method.
            refusal: Beginning of the message if there is none.

        Returns:
            The format.

        Raises:
            FormatError: No format of that extension supports the method.
        """
        found = self.candidates(path.suffix, method)
        if not found:
            accepted = ", ".join(self.extensions(method))
            raise FormatError(f"{refusal} {path.suffix!r}; accepted: {accepted}", str(path))
        return found[0]
