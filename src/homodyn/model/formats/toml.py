"""Homodyn's own model files: TOML, easy to write by hand, and exact to the bit.

::

    format = "homodyn 2"
    name = "pendulum"
    gravity = [0.0, 0.0, -9.81]

    [[body]]
    name = "arm"
    mass = 1.0                              # kg
    com = [0.0, 0.0, -0.5]                  # m
    inertia = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.01]]

    [[joint]]
    name = "shoulder"
    parent = "world"
    child = "arm"
    kind = "revolute"
    position = [0.0, 0.0, 1.0]              # and rotation, child_position, child_rotation
    axes = [{ turn = "y" }]                 # or slide; axis, coordinate, pitch, function
    coordinates = [{ name = "shoulder", lower = -1.5, upper = 1.5 }]

Further tables: ``frame``, ``marker``, ``contact``, ``capsule``, ``coupler``, ``contact_set``,
``mesh``, ``wrap``, ``muscle``, ``ligament``, ``parameter``. Keys with default values may be left
out. A string in the place of a number names a parameter. Functions are ``{ constant = 1 }``,
``{ linear = [factor, offset] }``, ``{ polynomial = [c0, c1] }``,
``{ spline = [[x0, y0], [x1, y1]], end = "natural" }``, ``{ polyline = [[x0, y0], [x1, y1]] }`` and
``{ scaled = 2, function = { ... } }``.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from homodyn.errors import FormatError
from homodyn.model.decoding import from_plain_data
from homodyn.model.encoding import to_plain_data
from homodyn.model.formats.files import read_bytes, write_text
from homodyn.model.model import Model


def write_toml(model: Model, path: str | Path) -> None:
    """Write a model as Homodyn TOML; an existing file is replaced in one step.

    Args:
        model: The model.
        path: The file.

    Raises:
        FormatError: A number is a formula of parameters, or the file cannot be written.
    """
    write_text(Path(path), model_text(model))


def read_toml(path: str | Path) -> Model:
    """Read the model in a Homodyn TOML file.

    Args:
        path: The file.

    Returns:
        The model.

    Raises:
        FormatError: The file is missing or malformed; the message says where.
        ModelError: The file describes an invalid model.
    """
    try:
        text = read_bytes(Path(path)).decode("utf-8")
    except UnicodeDecodeError:
        raise FormatError("this is not UTF-8 text", str(path)) from None
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"this is not TOML: {error}", str(path)) from None
    except RecursionError:
        raise FormatError("its values are nested too deeply", str(path)) from None
    return Model(**from_plain_data(content, str(path)))


def model_text(model: Model) -> str:
    """The text of the TOML file of a model."""
    data = to_plain_data(model)
    tables = {key: value for key, value in data.items() if _is_list_of_tables(value)}
    lines = _pairs({key: value for key, value in data.items() if key not in tables})
    for title, listed in tables.items():
        for table in listed:
            lines += ["", f"[[{title}]]", *_pairs(table)]
    return "\n".join(lines) + "\n"


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _pairs(table: dict[str, Any]) -> list[str]:
    return [f"{_key(key)} = {_value(value)}" for key, value in table.items()]


def _key(key: Any) -> str:
    text = str(key)
    bare = text.replace("_", "").replace("-", "")
    return text if bare.isascii() and bare.isalnum() else _text(text)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(_pairs(value)) + " }" if value else "{}"
    if isinstance(value, (list, tuple)):
        inner = [_value(item) for item in value]
        long = any(isinstance(item, dict) for item in value) and len(value) > 1
        return "[\n  " + ",\n  ".join(inner) + ",\n]" if long else "[" + ", ".join(inner) + "]"
    raise FormatError(f"a model file cannot contain {value!r}")


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
