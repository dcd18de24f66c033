"""Jobs as TOML, checked as a whole: all mistakes at once, each with its line.

::

    name = "hopper"
    iterations = 200
    seed = 1

    [optimizer]
    kind = "pso"                    # or mmpso, ga, spsa, grid, cma
    population = 40

    [[parameter]]
    name = "stiffness"
    lower = 1e3
    upper = 1e5
    unit = "N/m"
    scale = "log"

    [[pool]]
    name = "ankle"
    groups = { passive = ["stiffness"], none = [] }

    [[constraint]]
    terms = { thigh = 1, shank = 1 }
    upper = 0.9

    [[objective]]
    name = "speed"
    maximize = true
    until = "> 1.2"

    [[objective]]
    name = "cost"

    [evaluate]
    python = "hopper.py:evaluate"   # or program = ["./simulator", "--json"]
    time_limit = 10

    [run]
    where = "pool"
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from homodyn.errors import SearchError
from homodyn.foundation.toml import line_number
from homodyn.search.job import Job
from homodyn.search.job_validation import validate_job

_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
JOB_PATH_VARIABLE = "OPTIMIZATION_JOB_PATH"
"""The variable that stands for the folder of the job file."""


def read_toml_job(path: Path) -> Job:
    """The job in a TOML file."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise SearchError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SearchError(f"{path} is not UTF-8 text") from None
    return job_from_toml(text, path)


def job_from_toml(text: str, path: Path) -> Job:
    """The job in a TOML text that came from a path."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SearchError(f"{path}: {error}") from None
    faults: list[tuple[int, str]] = []
    settings = data.get("evaluate", {})
    if isinstance(settings, dict) and isinstance(settings.get("settings"), dict):
        try:
            settings["settings"] = expand_variables(settings["settings"], path.parent)
        except SearchError as refusal:
            faults.append((line_number(text, ("evaluate", "settings")), str(refusal)))
    return validate_job(data, path, lambda place: line_number(text, place), faults)


def expand_variables(value: Any, folder: Path) -> Any:
    """Settings with $NAME and ${NAME} replaced by environment variables."""
    match value:
        case str():
            return _VARIABLE.sub(lambda found: _variable(found[1] or found[2], folder), value)
        case Mapping():
            return {key: expand_variables(each, folder) for key, each in value.items()}
        case list():
            return [expand_variables(each, folder) for each in value]
        case _:
            return value


def _variable(name: str, folder: Path) -> str:
    if name == JOB_PATH_VARIABLE:
        return os.environ.get(name, str(folder.resolve()))
    if name not in os.environ:
        raise SearchError(f"there is no environment variable {name}")
    return os.environ[name]
