"""Load, save and convert models; the format follows from the extension of the file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from homodyn.errors import FormatError, ModelError
from homodyn.foundation.guarded_read import guarded_reader
from homodyn.model.formats.model_format import (
    LoadOptions,
    SaveOptions,
    format_to_read,
    format_to_write,
)
from homodyn.model.model import Model


@guarded_reader("model file")
def load(path: str | Path, *, base: str | None = None, as_measured: bool | None = None) -> Model:
    """Read a model from a file.

    The extension gives the format: ``.toml`` (Homodyn), ``.lua`` (LuaModel of RBDL), ``.osim``
    (OpenSim), ``.urdf``, or one that was added by `homodyn.model.formats.register_format`. For
    ``.xml`` the root element gives it.

    Args:
        path: The file.
        base: Joint between the world and the root of a URDF model: ``"free"`` (position and
            quaternion), ``"fixed"`` or ``"euler"`` (translations x y z, then rotations z y x). By
            default the joint in the file is used, or ``"free"`` if there is none.
        as_measured: Whether to accept inertias that are physically impossible for a rigid body;
            `homodyn.model.check` then reports them. By default they are accepted in OpenSim files,
            as OpenSim does, and refused in LuaModel and URDF files. A TOML file states it itself.

    Returns:
        The model.

    Raises:
        FormatError: The file is missing or malformed, its format is not supported, or ``base`` is
            unknown or does not apply to the format.
        ModelError: The file describes an invalid model; ``reasons`` lists every reason.
    """
    path = Path(path)
    file_format = format_to_read(path)
    if base is not None and not file_format.accepts_base:
        raise FormatError(
            f"base does not apply to {file_format.name} files: they contain the joint to the world",
            str(path),
        )
    try:
        model = file_format.read(path, LoadOptions(base=base, as_measured=as_measured))
    except ModelError as error:
        raise ModelError(f"{path}: {error}", error.reasons) from error
    if not model.meshes:
        return model
    folder = str(path.resolve().parent)
    return replace(model, meshes=tuple(replace(mesh, folder=folder) for mesh in model.meshes))


def save(model: Model, path: str | Path, *, like: str | Path | None = None) -> list[str]:
    """Write a model to a file in the format of its extension, and return what the file loses.

    ``.toml`` (Homodyn) stores the model exactly. ``.osim`` is OpenSim, ``.lua`` LuaModel of RBDL,
    ``.urdf`` URDF, and ``.mjcf`` or ``.xml`` MJCF of MuJoCo; these store only what the format can
    express.

    Args:
        model: The model.
        path: The file; an existing one is replaced.
        like: File that the model was read from. Of a LuaModel file the other fields and their order
            are kept, of an OpenSim file the contact forces. For ``.lua`` and ``.osim`` only.

    Returns:
        One sentence per kind of loss; empty where the file contains everything.

    Raises:
        FormatError: The extension is not supported, ``like`` does not apply to the format, the
            format cannot express how the model moves, the model has parameters (``.toml`` accepts
            them, but no formulas of them), or the file cannot be written.
    """
    path = Path(path)
    file_format = format_to_write(path)
    if like is not None and not file_format.accepts_like:
        raise FormatError(f"like does not apply to {file_format.name} files", str(path))
    file_format.write(model, path, SaveOptions(like=None if like is None else Path(like)))
    return list(file_format.losses(model))


def convert(
    model: Model, target: str | Path, *, like: str | Path | None = None, overwrite: bool = False
) -> list[str]:
    """Write a model to a new file and return what the file loses; `save` replaces existing files.

    Args:
        model: The model.
        target: The file.
        like: File that the model was read from, for formats that keep its other fields; see `save`.
        overwrite: Whether an existing file may be replaced.

    Returns:
        One sentence per kind of loss.

    Raises:
        FormatError: The file exists and ``overwrite`` is False, or `save` refuses the model.
    """
    target = Path(target)
    if target.exists() and not overwrite:
        raise FormatError("the file exists already; replace it with --overwrite", str(target))
    file_format = format_to_write(target)
    return save(model, target, like=like if file_format.accepts_like else None)


def losses(model: Model, extension: str) -> list[str]:
    """What a file with an extension cannot express of a model.

    Args:
        model: The model.
        extension: Extension of the file: ``".urdf"``.

    Returns:
        One sentence per kind of loss.

    Raises:
        FormatError: Models are not written with this extension.
    """
    return list(format_to_write(Path(f"model{extension}")).losses(model))
