"""TOML text from plain data: numbers with all their digits, so that reading restores every bit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from homodyn.errors import FormatError


def toml_text(content: Mapping[str, Any]) -> str:
    """The text of a TOML document.

    Args:
        content: Values by key. A mapping becomes a table ``[key]``, a list of mappings an array of
            tables ``[[key]]``; both follow the plain values. Mappings inside them are inline
            tables.

    Returns:
        The text, with a line end after the last line.

    Raises:
        FormatError: A value is none of bool, int, float, str, list, tuple and mapping.
    """
    plain = {key: value for key, value in content.items() if not _is_table(value)}
    lines = toml_pairs(plain)
    for key, value in content.items():
        if isinstance(value, Mapping):
            lines += ["", f"[{toml_key(key)}]", *toml_pairs(value)]
        elif _is_table(value):
            for table in value:
                lines += ["", f"[[{toml_key(key)}]]", *toml_pairs(table)]
    return "\n".join(lines) + "\n"


def _is_table(value: Any) -> bool:
    if isinstance(value, Mapping):
        return True
    return isinstance(value, list | tuple) and any(isinstance(entry, Mapping) for entry in value)


def toml_pairs(table: Mapping[str, Any]) -> list[str]:
    """The lines ``key = value`` of a table.

    Args:
        table: Values by key; mappings become inline tables.

    Returns:
        One entry per key; an entry with a long list has several lines.

    Raises:
        FormatError: TOML cannot express a value.
    """
    return [f"{toml_key(key)} = {toml_value(value)}" for key, value in table.items()]


def toml_key(key: Any) -> str:
    """A key, quoted where TOML needs it."""
    text = str(key)
    bare = text.replace("_", "").replace("-", "")
    return text if bare.isascii() and bare.isalnum() else _quote(text)


def toml_value(value: Any) -> str:
    """A value as TOML text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(toml_pairs(value)) + " }" if value else "{}"
    if isinstance(value, (list, tuple)):
        entries = [toml_value(entry) for entry in value]
        nested = any(isinstance(entry, Mapping) for entry in value) and len(value) > 1
        if nested:
            return "[\n  " + ",\n  ".join(entries) + ",\n]"
        return "[" + ", ".join(entries) + "]"
    raise FormatError(f"TOML cannot express {value!r}")


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
