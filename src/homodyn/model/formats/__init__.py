"""File formats of models, and the interface to add one."""

from homodyn.model.formats.format_limits import FormatLimits
from homodyn.model.formats.lua import read_lua
from homodyn.model.formats.lua_write import write_lua
from homodyn.model.formats.mjcf import write_mjcf
from homodyn.model.formats.model_files import convert, load, losses, save
from homodyn.model.formats.model_format import (
    LoadOptions,
    ModelFormat,
    SaveOptions,
    register_format,
    registered_formats,
)
from homodyn.model.formats.osim import read_osim
from homodyn.model.formats.pose import read_pose
from homodyn.model.formats.standard_formats import (
    LuaFormat,
    MjcfFormat,
    OsimFormat,
    TomlFormat,
    UrdfFormat,
)
from homodyn.model.formats.surface_files import find_surface_file, read_surface
from homodyn.model.formats.toml import read_toml, write_toml
from homodyn.model.formats.urdf import read_urdf
from homodyn.model.formats.urdf_write import write_urdf

__all__ = [
    "FormatLimits",
    "LoadOptions",
    "LuaFormat",
    "MjcfFormat",
    "ModelFormat",
    "OsimFormat",
    "SaveOptions",
    "TomlFormat",
    "UrdfFormat",
    "convert",
    "find_surface_file",
    "load",
    "losses",
    "read_lua",
    "read_osim",
    "read_pose",
    "read_surface",
    "read_toml",
    "read_urdf",
    "register_format",
    "registered_formats",
    "save",
    "write_lua",
    "write_mjcf",
    "write_toml",
    "write_urdf",
]
