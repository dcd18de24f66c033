"""``homodyn search``: run, resume, inspect and plot searches over parameters and structures."""

from __future__ import annotations

import json
import re
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from homodyn.cli.option_groups import AsJson
from homodyn.errors import SearchError

if TYPE_CHECKING:
    from homodyn.search import Job, SearchProgress, SearchResult, Study

app = typer.Typer(
    no_args_is_help=True,
    help="Search for the best parameters and structures.\n\nExample: `homodyn search run job.toml`",
)

PROGRESS_INTERVAL_S = 30.0
"""Seconds between lines of progress where there is no terminal."""

JobFile = Annotated[Path, typer.Argument(metavar="JOB", help="A job file (.toml or .xml).")]
JobOrStudy = Annotated[
    Path, typer.Argument(metavar="JOB", help="A job file, or the database of a study.")
]
Database = Annotated[
    str | None,
    typer.Option(help="File or URL of the database; by default JOB with the suffix .db."),
]
Where = Annotated[
    str | None,
    typer.Option(help="serial, pool, or the address of a Dask scheduler (tcp://host:8786)."),
]
Workers = Annotated[int | None, typer.Option(help="Processes of the pool.")]
StopAfter = Annotated[
    str | None,
    typer.Option(help="Stop after this time; resumable: 90, 90s, 15min or 23.5h."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]


@app.command("run")
def run_(
    job: JobFile,
    database: Database = None,
    where: Where = None,
    workers: Workers = None,
    stop_after: StopAfter = None,
    quiet: Quiet = False,
) -> None:
    """Start a search.

    Example: `homodyn search run job.toml --stop-after 23.5h`
    """
    place = _place(job, database)
    if "://" not in place and Path(place).exists():
        raise SearchError(f"{place} exists already: `homodyn search resume {job}` continues it")
    _go(job, place, where, workers, stop_after, quiet)


@app.command()
def resume(
    job: JobFile,
    database: Database = None,
    where: Where = None,
    workers: Workers = None,
    stop_after: StopAfter = None,
    quiet: Quiet = False,
) -> None:
    """Continue a search that was stopped or interrupted.

    Example: `homodyn search resume job.toml`
    """
    place = _place(job, database)
    if "://" not in place and not Path(place).exists():
        raise SearchError(f"there is no {place} to resume: `homodyn search run {job}` starts it")
    _go(job, place, where, workers, stop_after, quiet)


@app.command()
def status(job: JobOrStudy, database: Database = None, as_json: AsJson = False) -> None:
    """Show the progress of a search, also while it runs.

    Example: `homodyn search status job.toml`
    """
    from homodyn.search.summary import summarize

    found = summarize(_study(job, database))
    if as_json:
        typer.echo(json.dumps(asdict(found), indent=2, default=str))
        return
    typer.echo(str(found))


@app.command()
def best(
    job: JobOrStudy,
    database: Database = None,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="Number of candidates.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Show the best candidates.

    Example: `homodyn search best job.toml --count 5 --json`
    """
    from homodyn.search import best_solutions

    found = best_solutions(_study(job, database), count)
    if as_json:
        typer.echo(json.dumps([asdict(each) for each in found], indent=2))
        return
    if not found:
        typer.echo("no candidate has been evaluated yet")
    for each in found:
        typer.echo(f"generation {each.generation}, member {each.member}: {each}")


@app.command()
def export(
    job: JobOrStudy,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="A .csv or .parquet file.")
    ],
    database: Database = None,
) -> None:
    """Write every candidate into a table.

    Example: `homodyn search export job.toml -o candidates.csv`
    """
    from homodyn import search

    count = search.export(_study(job, database), output)
    typer.echo(f"{count} candidates in {output}")


@app.command()
def plot(
    job: JobOrStudy,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the figures.")
    ],
    database: Database = None,
) -> None:
    """Plot convergence, best parameters, subspace visits and migration.

    Example: `homodyn search plot job.toml -o figures`
    """
    from homodyn.report.search_figures import save_figures

    for path in save_figures(_study(job, database), output):
        typer.echo(str(path))


def _place(job: Path, database: str | None) -> str:
    return database or str(job.with_suffix(".db"))


def _study(job: Path, database: str | None) -> Study:
    from homodyn.search import Study, read_job

    is_job = job.suffix.lower() in (".toml", ".xml")
    place = _place(job, database) if is_job else str(job)
    # A database of several users has many studies: the job says which.
    name = read_job(job).name if is_job and "://" in place else None
    return Study.open(place, name=name)


def _go(
    job: Path,
    place: str,
    where: str | None,
    workers: int | None,
    stop_after: str | None,
    quiet: bool,
) -> None:
    from homodyn.search import read_job
    from homodyn.search import run as search_run

    described = read_job(job)
    limit = None if stop_after is None else seconds(stop_after)
    with _Shown(described, quiet) as shown:
        result = search_run(
            described,
            database=place,
            where=where,
            workers=workers,
            folder=job.resolve().parent,
            stop_after=limit,
            progress=shown.update,
        )
    _tell(result, job)


def _tell(result: SearchResult, job: Path) -> None:
    for note in result.notes:
        typer.echo(f"note: {note}")
    typer.echo(str(result))
    if result.status == "stopped":
        typer.echo(f"continue with: homodyn search resume {job}")
    elif result.best is None:
        raise typer.Exit(1)


def seconds(text: str) -> float:
    """A time such as 90, 90s, 15min or 23.5h in seconds."""
    found = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*(s|min|m|h|d)?\s*", text)
    if not found:
        raise SearchError(f"{text!r} is not a time; write 90, 90s, 15min or 23.5h")
    scale = {None: 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
    return float(found[1]) * scale[found[2]]


class _Shown:
    """A line that tells how the search goes, and one for the subspaces it visits."""

    def __init__(self, job: Job, quiet: bool) -> None:
        from rich.console import Console

        self._job = job
        console = Console(stderr=True)
        self._status = None if quiet or not console.is_terminal else console.status("Starting")
        self._told = None if quiet else time.monotonic()

    def __enter__(self) -> _Shown:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *reason: object) -> None:
        if self._status is not None:
            self._status.stop()

    def update(self, progress: SearchProgress) -> None:
        if self._status is not None:
            self._status.update("\n  ".join(progress_lines(progress, self._job)))
        elif self._told is not None and time.monotonic() - self._told > PROGRESS_INTERVAL_S:
            # In the log of a batch system, a line from time to time.
            typer.echo("; ".join(progress_lines(progress, self._job)), err=True)
            self._told = time.monotonic()


def progress_lines(progress: SearchProgress, job: Job) -> list[str]:
    """How a search goes, and which subspaces it has visited most."""
    from homodyn.search.summary import duration

    under_way = f" + {progress.evaluated}/{progress.population}" if progress.evaluated else ""
    parts = [f"generation {progress.generation}/{progress.iterations}{under_way}"]
    if progress.stage >= 0:
        parts.append(f"{progress.criterion} best {progress.best:.6g} mean {progress.mean:.6g}")
        if progress.stages:
            parts.append(f"stage {progress.stage + 1}/{progress.stages + 1}")
    if progress.failed:
        parts.append(f"{progress.failed} failed")
    parts.append(f"{duration(progress.seconds_left)} left")
    lines = [", ".join(parts)]
    if progress.visits:
        most = "; ".join(f"{name}: {count}" for name, count in progress.visits)
        visited = f"{progress.subspaces} of {job.space.subspaces} subspaces visited"
        lines.append(f"{visited}, most {most}")
    return lines
