"""Reading the tables of the catalog, CSV or TOML, whose comments tell source and units."""

from __future__ import annotations

import csv
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def table_rows(table: str) -> tuple[dict[str, str], ...]:
    """The rows of a table as texts by column; ``rows("de_leva_1996")``."""
    text = files("homodyn.catalog").joinpath("tables", f"{table}.csv").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return tuple(csv.DictReader(lines))


def table_source(table: str) -> str:
    """What a table says about itself: where its numbers are from and in which units."""
    text = files("homodyn.catalog").joinpath("tables", f"{table}.csv").read_text("utf-8")
    return "\n".join(line[1:].strip() for line in text.splitlines() if line.startswith("#"))


@cache
def table_document(table: str) -> dict[str, Any]:
    """The content of a TOML table, whose comments tell source and units; only to be read."""
    text = files("homodyn.catalog").joinpath("tables", f"{table}.toml").read_text("utf-8")
    return tomllib.loads(text)
