"""Tables of the catalog, in CSV or TOML files whose comments state source and units."""

from __future__ import annotations

import csv
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def table_rows(table: str) -> tuple[dict[str, str], ...]:
    """The rows of a CSV table, strings by column: ``table_rows("de_leva_1996")``."""
    text = files("homodyn.catalog").joinpath("tables", f"{table}.csv").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return tuple(csv.DictReader(lines))


def table_source(table: str) -> str:
    """The comments of a CSV table: source and units."""
    text = files("homodyn.catalog").joinpath("tables", f"{table}.csv").read_text("utf-8")
    return "\n".join(line[1:].strip() for line in text.splitlines() if line.startswith("#"))


@cache
def table_document(table: str) -> dict[str, Any]:
    """The content of a TOML table; it must not be changed."""
    text = files("homodyn.catalog").joinpath("tables", f"{table}.toml").read_text("utf-8")
    return tomllib.loads(text)
