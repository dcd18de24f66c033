"""A job from plain data, or all that is wrong with it at once, each mistake with its line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from homodyn.errors import SearchError
from homodyn.search.job import Job, job_errors
from homodyn.search.validated_model import reason

Place = tuple[str | int, ...]


def validate_job(
    data: Mapping[str, Any],
    path: Path,
    line_of: Callable[[Place], int],
    known: list[tuple[int, str]],
) -> Job:
    """The job that data describes, unless mistakes are known or found; they are told by line.

    ``line_of`` is the line of the file at ``path`` that a value stands in.
    """
    faults = list(known)
    job: Job | None = None
    try:
        job = Job.model_validate(data)
    except ValidationError as error:
        between = job_errors(data)
        for fault in error.errors():
            place = _place(fault["loc"])
            # What is wrong between the parts is told below, each with its line.
            if place or not between:
                named = f"{place[-1]}: " if place and isinstance(place[-1], str) else ""
                faults.append((line_of(place), f"{named}{reason(fault)}"))
        faults += [(line_of(place), told) for place, told in between]
    if job is None or faults:
        listed = [f"line {line}: {told}" for line, told in sorted(dict.fromkeys(faults))]
        count = f"{len(listed)} mistakes" if len(listed) > 1 else "a mistake"
        raise SearchError(f"{path}: {count}: " + "; ".join(listed), tuple(listed))
    return job


def _place(location: Place) -> Place:
    """Where pydantic found a fault, without the kind it puts after "optimizer"."""
    if len(location) > 1 and location[0] == "optimizer":
        return (location[0], *location[2:])
    return location
