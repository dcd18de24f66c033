"""Jobs in TOML files; all errors are reported at once, each with its line.

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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from homodyn.errors import FormatError, SearchError
from homodyn.foundation.toml import parse_toml
from homodyn.search.jobs.job import Job
from homodyn.search.jobs.job_validation import validate_job

_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
JOB_PATH_VARIABLE = "OPTIMIZATION_JOB_PATH"
"""Variable for the folder of the job file."""


def read_toml_job(path: Path) -> Job:
    """Read a job from a TOML file.

    Args:
        path: The file.

    Returns:
        The job.

    Raises:
        SearchError: The file cannot be read, or it has errors.
    """
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise SearchError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SearchError(f"{path} is not UTF-8 text") from None
    return job_from_toml(text, path)


def job_from_toml(text: str, path: Path) -> Job:
    """Parse a job from TOML text.

    Args:
        text: The text.
        path: The file that it came from.

    Returns:
        The job.

    Raises:
        SearchError: The text has errors.
    """
    try:
        document = parse_toml(text, path)
    except FormatError as error:
        raise SearchError(str(error)) from None
    errors: list[tuple[int, str]] = []
    evaluate = document.content.get("evaluate", {})
    if isinstance(evaluate, dict) and isinstance(evaluate.get("settings"), dict):
        try:
            evaluate["settings"] = expand_variables(evaluate["settings"], path.parent)
        except SearchError as error:
            errors.append((document.line("evaluate", "settings"), str(error)))
    return validate_job(document.content, path, lambda place: document.line(*place), errors)


def expand_variables(value: Any, folder: Path) -> Any:
    """Replace $NAME and ${NAME} by environment variables.

    Args:
        value: Text, or collections of texts.
        folder: Folder of the job file.

    Returns:
        The same with variables replaced.

    Raises:
        SearchError: There is no such environment variable.
    """
    match value:
        case str():
            return _VARIABLE.sub(lambda match: _variable(match[1] or match[2], folder), value)
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
