"""Validation of job files: all errors at once, each with its line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from homodyn.errors import SearchError
from homodyn.foundation import count_of
from homodyn.search.jobs.job import Job, job_errors
from homodyn.search.validated_model import reason

Place = tuple[str | int, ...]


def validate_job(
    data: Mapping[str, Any],
    path: Path,
    line_of: Callable[[Place], int],
    earlier_errors: list[tuple[int, str]],
) -> Job:
    """Create a job from the content of a file.

    Args:
        data: The content.
        path: The file.
        line_of: Returns the line of the file of a value.
        earlier_errors: Line and sentence of errors that are already known.

    Returns:
        The job.

    Raises:
        SearchError: There are errors; the message lists all of them by line.
    """
    errors = list(earlier_errors)
    job: Job | None = None
    try:
        job = Job.model_validate(data)
    except ValidationError as invalid:
        inconsistencies = job_errors(data)
        for error in invalid.errors():
            place = _place(error["loc"])
            # Inconsistencies between parts are added below, each with its line.
            if place or not inconsistencies:
                prefix = f"{place[-1]}: " if place and isinstance(place[-1], str) else ""
                errors.append((line_of(place), f"{prefix}{reason(error)}"))
        errors += [(line_of(place), sentence) for place, sentence in inconsistencies]
    if job is None or errors:
        listed = [f"line {line}: {sentence}" for line, sentence in sorted(dict.fromkeys(errors))]
        count = count_of(len(listed), "error")
        raise SearchError(f"{path}: {count}: " + "; ".join(listed), tuple(listed))
    return job


def _place(location: Place) -> Place:
    """Location of a pydantic error, without the kind that follows "optimizer"."""
    if len(location) > 1 and location[0] == "optimizer":
        return (location[0], *location[2:])
    return location
