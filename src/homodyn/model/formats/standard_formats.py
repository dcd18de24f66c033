"""The model formats of Homodyn: TOML, LuaModel, OpenSim, URDF and MJCF."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from homodyn.model.formats.format_limits import ANATOMY, FormatLimits
from homodyn.model.formats.lua import read_lua
from homodyn.model.formats.lua_write import write_lua
from homodyn.model.formats.mjcf import write_mjcf
from homodyn.model.formats.mjcf_muscles import muscle_losses
from homodyn.model.formats.model_format import (
    LoadOptions,
    ModelFormat,
    SaveOptions,
    register_format,
)
from homodyn.model.formats.osim import read_osim
from homodyn.model.formats.osim_losses import osim_losses
from homodyn.model.formats.osim_write import write_osim
from homodyn.model.formats.toml import read_toml, write_toml
from homodyn.model.formats.urdf import read_urdf
from homodyn.model.formats.urdf_write import write_urdf
from homodyn.model.formats.xml import read_root_tag
from homodyn.model.joint import WORLD
from homodyn.model.model import Model


class TomlFormat(ModelFormat):
    """Homodyn's TOML: contains models exactly, parameters included."""

    name = "Homodyn TOML"
    extensions = (".toml",)

    def read(self, path: Path, options: LoadOptions) -> Model:
        """Read a TOML file, which states ``as_measured`` itself."""
        return read_toml(path)

    def write(self, model: Model, path: Path, options: SaveOptions) -> None:
        """Write a TOML file."""
        write_toml(model, path)


class LuaFormat(ModelFormat):
    """LuaModel, the model files of RBDL and Puppeteer."""

    name = "LuaModel"
    extensions = (".lua",)
    limits = FormatLimits(parts=ANATOMY)
    accepts_like = True

    def read(self, path: Path, options: LoadOptions) -> Model:
        """Run a LuaModel script in a sandbox and read its table."""
        return read_lua(path, as_measured=bool(options.as_measured))

    def write(self, model: Model, path: Path, options: SaveOptions) -> None:
        """Write a LuaModel file."""
        write_lua(model, path, like=options.like)


class OsimFormat(ModelFormat):
    """OpenSim models."""

    name = "OpenSim"
    extensions = (".osim", ".xml")
    limits = FormatLimits(
        parts=("contact_sets",),
        numbers=("max_velocity", "max_force", "friction", "armature", "actuated"),
        notes=True,
        root_joints=True,
    )
    accepts_like = True

    def recognizes(self, path: Path) -> bool:
        """Whether an ``.xml`` file begins with ``<OpenSimDocument>``."""
        return path.suffix.lower() != ".xml" or read_root_tag(path) == "OpenSimDocument"

    def read(self, path: Path, options: LoadOptions) -> Model:
        """Read an OpenSim file; impossible inertias are accepted by default, as in OpenSim."""
        return read_osim(path, as_measured=options.as_measured is not False)

    def write(self, model: Model, path: Path, options: SaveOptions) -> None:
        """Write an OpenSim file, with the contact forces of ``options.like``."""
        write_osim(model, path, like=options.like)

    def losses(self, model: Model) -> Iterator[str]:
        """The limits of OpenSim, contact shapes and muscles that it lacks, and quaternions."""
        yield from super().losses(model)
        yield from osim_losses(model)


class UrdfFormat(ModelFormat):
    """URDF, the robot description of ROS."""

    name = "URDF"
    extensions = (".urdf", ".xml")
    limits = FormatLimits(
        parts=(*ANATOMY, "contact_sets"),
        numbers=("default", "stiffness", "armature", "locked", "actuated"),
        gravity=True,
        notes=True,
        root_joints=True,
    )
    accepts_base = True

    def recognizes(self, path: Path) -> bool:
        """Whether an ``.xml`` file begins with ``<robot>``."""
        return path.suffix.lower() != ".xml" or read_root_tag(path) == "robot"

    def read(self, path: Path, options: LoadOptions) -> Model:
        """Read a URDF file."""
        return read_urdf(path, base=options.base, as_measured=bool(options.as_measured))

    def write(self, model: Model, path: Path, options: SaveOptions) -> None:
        """Write a URDF file."""
        write_urdf(model, path)

    def losses(self, model: Model) -> Iterator[str]:
        """The limits of URDF, and free joints to the world, which URDF files leave out."""
        yield from super().losses(model)
        for joint in model.joints:
            if joint.parent == WORLD and joint.kind == "free":
                yield f"URDF leaves the free joint {joint.name!r} to the program that reads it"


class MjcfFormat(ModelFormat):
    """MJCF, the model files of MuJoCo."""

    name = "MJCF"
    extensions = (".mjcf", ".xml")
    limits = FormatLimits(
        parts=("ligaments", "meshes", "contact_sets"),
        numbers=("max_velocity", "locked", "actuated"),
        notes=True,
        root_joints=True,
    )

    def write(self, model: Model, path: Path, options: SaveOptions) -> None:
        """Write an MJCF file."""
        write_mjcf(model, path)

    def losses(self, model: Model) -> Iterator[str]:
        """The limits of MJCF, and what MuJoCo lacks of muscles and their paths."""
        yield from super().losses(model)
        yield from muscle_losses(model)


# MJCF comes last and so takes precedence for writing .xml files.
for _standard_format in (TomlFormat(), LuaFormat(), OsimFormat(), UrdfFormat(), MjcfFormat()):
    register_format(_standard_format)
