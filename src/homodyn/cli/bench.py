"""``homodyn bench``: measure Homodyn against other programs that are installed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from homodyn.cli.json_output import print_json
from homodyn.cli.option_groups import AsJson


def bench(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="One benchmark; all of them by default.")
    ] = None,
    names: Annotated[bool, typer.Option("--list", help="List the benchmarks and stop.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer and shorter runs, for a first impression.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Also write the JSON object here."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure Homodyn against other programs that are installed, side by side in one run.

    Example: `homodyn bench dynamics --quick`
    """
    from homodyn.bench import benchmarks, machine, run, table

    if names:
        known = list(benchmarks().values())
        if as_json:
            print_json({"benchmarks": {each.name: each.summary for each in known}})
            return
        for each in known:
            typer.echo(f"{each.name:16} {each.summary}".rstrip())
        return
    with Console(stderr=True).status("Measuring") as status:
        report = run(
            [name] if name else None,
            machine=machine.describe(),
            quick=quick,
            progress=lambda text: status.update(f"Measuring {text}"),
        )
    if output is not None:
        report.write(output)
    if as_json:
        print_json(report.to_dict())
    else:
        Console(highlight=False).print(table.table(report))
