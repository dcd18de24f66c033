"""``homodyn search``: run, resume, inspect and plot searches over parameters and structures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from homodyn.cli.json_output import fail_with_json, print_json
from homodyn.cli.option_groups import AsJson, OutputFolder
from homodyn.cli.search_progress import SearchProgressLine
from homodyn.errors import SearchError

if TYPE_CHECKING:
    from homodyn.search import SearchResult, Study

app = typer.Typer(
    no_args_is_help=True,
    help="Search for the best parameters and structures.\n\nExample: `homodyn search run job.toml`",
)

JobFile = Annotated[Path, typer.Argument(metavar="JOB", help="A job file (.toml or .xml).")]
JobOrStudy = Annotated[
    Path, typer.Argument(metavar="JOB", help="A job file, or the database of a study.")
]
Database = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|URL", help="Database of the study; by default JOB with the suffix .db."
    ),
]
Where = Annotated[
    str | None,
    typer.Option(
        metavar="PLACE",
        help="Where candidates are evaluated: serial, pool, or a Dask scheduler (tcp://host:8786).",
    ),
]
Workers = Annotated[
    int | None, typer.Option(metavar="N", help="Processes of the pool; one per core by default.")
]
StopAfter = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Stop after this time, to be resumed: 90s, 15min or 23.5h."),
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
    as_json: AsJson = False,
) -> None:
    """Start a search.

    Example: `homodyn search run job.toml --stop-after 23.5h`
    """
    place = _database(job, database)
    if "://" not in place and Path(place).exists():
        raise SearchError(f"{place} exists already: `homodyn search resume {job}` continues it")
    result = _run_job(job, place, where, workers, stop_after, quiet)
    _print_result(result, job, as_json)


@app.command()
def resume(
    job: JobFile,
    database: Database = None,
    where: Where = None,
    workers: Workers = None,
    stop_after: StopAfter = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Continue a search that was stopped or interrupted.

    Example: `homodyn search resume job.toml`
    """
    place = _database(job, database)
    if "://" not in place and not Path(place).exists():
        raise SearchError(f"there is no {place} to resume: `homodyn search run {job}` starts it")
    result = _run_job(job, place, where, workers, stop_after, quiet)
    _print_result(result, job, as_json)


@app.command()
def status(job: JobOrStudy, database: Database = None, as_json: AsJson = False) -> None:
    """Show the progress of a search, also while it runs.

    Example: `homodyn search status job.toml`
    """
    from homodyn.search import summarize

    summary = summarize(_study(job, database))
    if as_json:
        print_json(summary.to_dict())
        return
    typer.echo(summary.summary())


@app.command()
def best(
    job: JobOrStudy,
    database: Database = None,
    count: Annotated[
        int, typer.Option("--count", "-n", metavar="N", min=1, help="Number of candidates.")
    ] = 1,
    as_json: AsJson = False,
) -> None:
    """Show the best candidates.

    Example: `homodyn search best job.toml --count 5 --json`
    """
    from homodyn.search import best_solutions

    solutions = best_solutions(_study(job, database), count)
    if as_json:
        print_json({"solutions": solutions})
        return
    if not solutions:
        typer.echo("no candidate has been evaluated yet")
    for each in solutions:
        typer.echo(f"generation {each.generation}, member {each.member}: {each}")


@app.command()
def export(
    job: JobOrStudy,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="A .csv or .parquet file.")
    ],
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Write a table of all candidates.

    Example: `homodyn search export job.toml -o candidates.csv`
    """
    from homodyn import search
    from homodyn.foundation import count_of

    count = search.export(_study(job, database), output)
    if as_json:
        print_json({"file": output, "candidates": count})
        return
    typer.echo(f"{count_of(count, 'candidate')} in {output}")


@app.command()
def plot(
    job: JobOrStudy, output: OutputFolder, database: Database = None, as_json: AsJson = False
) -> None:
    """Plot convergence, best parameters, subspace visits and migration.

    Example: `homodyn search plot job.toml -o figures`
    """
    from homodyn.report.search_figures import save_figures

    paths = save_figures(_study(job, database), output)
    if as_json:
        print_json({"files": paths})
        return
    for path in paths:
        typer.echo(str(path))


def _database(job: Path, database: str | None) -> str:
    return database or str(job.with_suffix(".db"))


def _study(job: Path, database: str | None) -> Study:
    from homodyn.search import Study, read_job

    is_job = job.suffix.lower() in (".toml", ".xml")
    place = _database(job, database) if is_job else str(job)
    # A database of several users has many studies, and the job names one.
    name = read_job(job).name if is_job and "://" in place else None
    return Study.open(place, name=name)


def _run_job(
    path: Path,
    place: str,
    where: str | None,
    workers: int | None,
    stop_after: str | None,
    quiet: bool,
) -> SearchResult:
    from homodyn.search import SearchOptions, read_job
    from homodyn.search import run as search_run

    job = read_job(path)
    with SearchProgressLine(job.space.subspaces, quiet) as line:
        return search_run(
            job,
            options=SearchOptions(
                database=place,
                where=where,
                workers=workers,
                folder=path.resolve().parent,
                stop_after=None if stop_after is None else seconds(stop_after),
                progress=line.update,
            ),
        )


def _print_result(result: SearchResult, job: Path, as_json: bool) -> None:
    from homodyn.search import SearchStatus

    stopped = result.status is SearchStatus.STOPPED
    failed = result.best is None and not stopped
    if as_json:
        if failed:
            fail_with_json(result.to_dict(), "no candidate could be evaluated")
        print_json(result.to_dict())
        return
    for note in result.notes:
        typer.echo(f"note: {note}")
    typer.echo(str(result))
    if stopped:
        typer.echo(f"continue with: homodyn search resume {job}")
    if failed:
        raise typer.Exit(1)


def seconds(text: str) -> float:
    """Parse a duration.

    Args:
        text: A number with an optional unit: 90, 90s, 15min, 23.5h or 2d.

    Returns:
        The duration (s).

    Raises:
        SearchError: The text is not a duration.
    """
    found = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*(s|min|m|h|d)?\s*", text)
    if not found:
        raise SearchError(f"{text!r} is not a time; write 90, 90s, 15min or 23.5h")
    scale = {None: 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
    return float(found[1]) * scale[found[2]]
