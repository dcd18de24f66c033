"""``homodyn bench``: how Homodyn compares with the peers installed here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def bench(
    name: Annotated[
        str | None, typer.Argument(help="One benchmark; all of them when left out.")
    ] = None,
    names: Annotated[bool, typer.Option("--list", help="List the benchmarks and stop.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of a table.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer and shorter runs: a first impression.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Also write the JSON object here."),
    ] = None,
) -> None:
    """Measure Homodyn against the peers installed here, side by side in one run.

    Example: `homodyn bench dynamics --quick`
    """
    from homodyn.bench import benchmarks, machine, run, table

    if names:
        for each in benchmarks().values():
            typer.echo(f"{each.name:16} {each.summary}".rstrip())
        return
    progress = Console(stderr=True)
    with progress.status("Measuring") as status:
        report = run(
            [name] if name else None,
            machine=machine.describe(),
            quick=quick,
            progress=lambda text: status.update(f"Measuring {text}"),
        )
    if output is not None:
        report.write(output)
    if as_json:
        typer.echo(report.to_json())
    else:
        Console(highlight=False).print(table.table(report))
