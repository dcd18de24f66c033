"""Reading of job files."""

from __future__ import annotations

from pathlib import Path

from homodyn.errors import SearchError, located_search_error
from homodyn.foundation.guarded_read import guarded_reader
from homodyn.search.jobs.job import Job
from homodyn.search.jobs.job_toml import read_toml_job
from homodyn.search.jobs.job_xml import read_xml_job


@guarded_reader("job", located_search_error)
def read_job(path: str | Path) -> Job:
    """Read a job file.

    Args:
        path: A TOML file, or an XML file of the framework of van den Kieboom (2014).

    Returns:
        The job.

    Raises:
        SearchError: The file cannot be read, or it has errors; all of them are listed with their
            lines.
    """
    place = Path(path)
    match place.suffix.lower():
        case ".toml":
            return read_toml_job(place)
        case ".xml":
            return read_xml_job(place)
        case suffix:
            raise SearchError(f"{place}: expected a .toml or .xml file, not {suffix or 'this'}")
