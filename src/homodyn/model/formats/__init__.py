"""Files of models: `load` and `save` tell the format by the suffix."""

from __future__ import annotations

from pathlib import Path

from homodyn.errors import FormatError, ModelError
from homodyn.model.formats.lua import read_lua
from homodyn.model.formats.lua_write import write_lua
from homodyn.model.formats.mjcf import write_mjcf
from homodyn.model.formats.osim import read_osim
from homodyn.model.formats.toml import read_toml, write_toml
from homodyn.model.formats.urdf import read_urdf
from homodyn.model.formats.urdf_write import write_urdf
from homodyn.model.formats.xml import read_xml
from homodyn.model.model import Model

__all__ = [
    "load",
    "read_lua",
    "read_osim",
    "read_toml",
    "read_urdf",
    "save",
    "write_lua",
    "write_mjcf",
    "write_toml",
    "write_urdf",
]

_READABLE_FORMATS = ".toml (Homodyn), .lua (LuaModel of RBDL), .osim (OpenSim) and .urdf"


def load(path: str | Path, *, base: str | None = None, as_measured: bool | None = None) -> Model:
    """Read a model from a file.

    The suffix gives the format: ``.toml`` (Homodyn), ``.lua`` (LuaModel of RBDL), ``.osim``
    (OpenSim) or ``.urdf``. For ``.xml`` the root tag gives it.

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
        ModelError: The file describes an invalid model; ``faults`` lists every reason.
    """
    path = Path(path)
    try:
        return _read(path, base, as_measured)
    except ModelError as error:
        raise ModelError(f"{path}: {error}", error.faults) from error


def save(model: Model, path: str | Path, *, like: str | Path | None = None) -> None:
    """Write a model to a file in the format of its suffix.

    ``.toml`` (Homodyn) stores the model exactly. ``.lua`` is LuaModel of RBDL, ``.urdf`` is URDF,
    and ``.mjcf`` or ``.xml`` is MJCF of MuJoCo; these store only what the format can express.

    Args:
        model: The model.
        path: The file; an existing one is replaced.
        like: LuaModel file that the model was read from; its other fields and their order are kept.
            For ``.lua`` only.

    Raises:
        FormatError: The suffix is not supported, ``like`` is given for another format, the format
            cannot express how the model moves, the model has parameters (``.toml`` accepts them,
            but no formulas of them), or the file cannot be written.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if like is not None and suffix != ".lua":
        raise FormatError("like is for .lua files; leave it out", str(path))
    if suffix == ".lua":
        write_lua(model, path, like=like)
    elif suffix in _WRITERS:
        _WRITERS[suffix](model, path)
    else:
        accepted = ", ".join([".lua", *_WRITERS])
        raise FormatError(f"models are not saved as {suffix!r}; accepted: {accepted}", str(path))


_WRITERS = {
    ".toml": write_toml,
    ".urdf": write_urdf,
    ".mjcf": write_mjcf,
    ".xml": write_mjcf,
}


def _read(path: Path, base: str | None, as_measured: bool | None) -> Model:
    suffix = path.suffix.lower()
    tag = read_xml(path).tag if suffix == ".xml" else ""
    if base is not None and (suffix in (".toml", ".lua", ".osim") or tag == "OpenSimDocument"):
        raise FormatError("base is for formats without a ground joint; leave it out", str(path))
    if suffix == ".toml":
        return read_toml(path)
    if suffix == ".lua":
        return read_lua(path, as_measured=bool(as_measured))
    if suffix == ".osim" or tag == "OpenSimDocument":
        return read_osim(path, as_measured=as_measured is not False)
    if suffix == ".xacro":
        raise FormatError(
            "this is xacro, which makes URDF; expand it first: xacro in.xacro > out.urdf", str(path)
        )
    if suffix == ".urdf" or tag == "robot":
        return read_urdf(path, base=base, as_measured=bool(as_measured))
    if tag:
        raise FormatError(
            f"no model format starts with <{tag}>; accepted: {_READABLE_FORMATS}", str(path)
        )
    raise FormatError(f"no model format {suffix!r}; accepted: {_READABLE_FORMATS}", str(path))
