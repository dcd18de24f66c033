"""Job files by their suffix."""

from __future__ import annotations

from pathlib import Path

from homodyn.errors import SearchError
from homodyn.search.job import Job
from homodyn.search.job_toml import read_toml_job
from homodyn.search.job_xml import read_xml_job


def read_job(path: str | Path) -> Job:
    """Read a job file.

    Args:
        path: A TOML file, or an XML file of the earlier framework.

    Returns:
        The job.

    Raises:
        SearchError: The file cannot be read, or it has mistakes; all of them are listed, each with
            its line.
    """
    place = Path(path)
    match place.suffix.lower():
        case ".toml":
            return read_toml_job(place)
        case ".xml":
            return read_xml_job(place)
        case suffix:
            raise SearchError(f"{place}: a job is a .toml or .xml file, not {suffix or 'this'}")
