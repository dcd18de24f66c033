"""File formats of models: the interface to implement one, and the registry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from homodyn.errors import FormatError
from homodyn.foundation.file_formats import FileFormat, FormatRegistry, optional_method
from homodyn.foundation.record import Record, record
from homodyn.model.formats.format_limits import FormatLimits, limit_losses
from homodyn.model.model import Model


@record
class LoadOptions(Record):
    """Options of `homodyn.load` that a format receives."""

    base: str | None = None
    """Joint between the world and the root, for formats that set ``accepts_base``."""
    as_measured: bool | None = None
    """Accept inertias that no rigid body can have; None: the format decides."""


@record
class SaveOptions(Record):
    """Options of `homodyn.save` that a format receives."""

    like: Path | None = None
    """File whose other fields are kept, for formats that set ``accepts_like``."""


class ModelFormat(FileFormat):
    """A file format of models, chosen by the extension of the file.

    Derive from it, set ``name`` and ``extensions``, override `read`, `write` or both, and pass an
    instance to `register_format`. `homodyn.load`, `homodyn.save` and ``homodyn model convert`` then
    accept the extension. A method that is not overridden is refused with a message that lists the
    extensions which support it. Formats that share an extension also override `recognizes`.

    Contract: models are in meters, kilograms, seconds, newtons and radians. `read` raises
    `FormatError` for a malformed file and lets the `ModelError` of an invalid model pass. `write`
    raises `FormatError` for a model that the format cannot express without changing its motion, and
    leaves no partial file behind (see `homodyn.foundation.write_text`). What only loses information
    is left out and listed by `losses`.
    """

    name: ClassVar[str] = ""
    """Name of the format in messages: ``"URDF"``."""
    limits: ClassVar[FormatLimits] = FormatLimits()
    """What files of this format cannot contain."""
    accepts_base: ClassVar[bool] = False
    """Whether `read` uses ``options.base``."""
    accepts_like: ClassVar[bool] = False
    """Whether `write` uses ``options.like``."""

    @optional_method
    def read(self, path: Path, options: LoadOptions) -> Model:
        """Read a model.

        Args:
            path: The file.
            options: Options of the call of `homodyn.load`.

        Returns:
            The model.

        Raises:
            FormatError: The file is missing or malformed, or the format cannot be read.
            ModelError: The file describes an invalid model.
        """
        raise FormatError(f"{self.name} files cannot be read", str(path))

    @optional_method
    def write(self, model: Model, path: Path, options: SaveOptions) -> None:
        """Write a model.

        Args:
            model: The model.
            path: The file; an existing one is replaced.
            options: Options of the call of `homodyn.save`.

        Raises:
            FormatError: The format cannot express the model, or cannot be written.
        """
        raise FormatError(f"{self.name} files cannot be written", str(path))

    def losses(self, model: Model) -> Iterator[str]:
        """What a file of this format loses of a model.

        Args:
            model: The model.

        Yields:
            One sentence per kind of loss, by default those that follow from ``limits``.
        """
        yield from limit_losses(model, self.name, self.limits)


_REGISTRY: FormatRegistry[ModelFormat] = FormatRegistry((".urdf",))

EXPANSION_HINTS = {
    ".xacro": "xacro is a template of URDF; expand it first: xacro in.xacro > out.urdf",
}
"""What to do with files that other programs make models of, by extension."""


def register_format(file_format: ModelFormat) -> None:
    """Make a format available to `homodyn.load` and `homodyn.save`.

    A later registration of the same extension takes precedence over an earlier one.

    Args:
        file_format: An instance of a class derived from `ModelFormat`.

    Raises:
        FormatError: The format has no extension, or one without a dot or in capitals.
    """
    _REGISTRY.register(file_format)


def registered_formats() -> Mapping[str, ModelFormat]:
    """All registered formats.

    Returns:
        Formats by extension; where several share one, that which was registered last.
    """
    return _REGISTRY.by_extension()


def format_to_read(path: Path) -> ModelFormat:
    """The format of a model file, by its extension and, where formats share it, its content.

    Args:
        path: The file.

    Returns:
        The format.

    Raises:
        FormatError: No format reads such files, or none recognizes the content.
    """
    suffix = path.suffix.lower()
    if suffix in EXPANSION_HINTS:
        raise FormatError(EXPANSION_HINTS[suffix], str(path))
    _REGISTRY.find(path, "read", "models cannot be read from")
    candidates = _REGISTRY.candidates(suffix, "read")
    for candidate in candidates:
        if candidate.recognizes(path):
            return candidate
    names = " or ".join(candidate.name for candidate in candidates)
    raise FormatError(f"the content of this {suffix} file is not {names}", str(path))


def format_to_write(path: Path) -> ModelFormat:
    """The format in which a model is written to a file, by its extension.

    Args:
        path: The file; it need not exist.

    Returns:
        The format.

    Raises:
        FormatError: No format writes such files.
    """
    return _REGISTRY.find(path, "write", "models cannot be written as")


def writable_extensions() -> list[str]:
    """Extensions that `homodyn.save` accepts."""
    return _REGISTRY.extensions("write")
