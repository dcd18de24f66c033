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
    """The model in a file, told by its suffix and, for XML, by its first tag.

    ``base`` says how the root of a format without a ground joint hangs on the world: ``"free"``
    (position and quaternion), ``"fixed"`` or ``"euler"`` (slides x y z, then turns z y x).
    ``as_measured`` takes inertias that no rigid body can have; the model then tells its ``doubts``.
    It is what OpenSim does, so by default it holds for .osim and for no other format.
    """
    path = Path(path)
    try:
        return _read(path, base, as_measured)
    except ModelError as error:
        raise ModelError(f"{path}: {error}", error.faults) from error


def save(model: Model, path: str | Path, *, like: str | Path | None = None) -> None:
    """Write a model in the format of the suffix.

    Homodyn's ``.toml`` loses no bit. ``.lua`` is LuaModel; with ``like``, the file that the model
    came from, all fields that are not the model's are kept. ``.urdf``, and ``.mjcf`` or ``.xml``
    for MuJoCo, hold what those programs know of; what would move differently there is refused.
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
