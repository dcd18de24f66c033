"""``homodyn demo``: analyze the bundled walk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from homodyn.cli.json_output import print_json
from homodyn.cli.option_groups import AsJson
from homodyn.cli.progress import stage_progress


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the results.")
    ] = Path("demo"),
    as_json: AsJson = False,
) -> None:
    """Analyze the bundled walk, compare the result with its known truth, and write a report.

    The first run compiles kernels, which takes about a minute. Results of an earlier run are
    replaced.

    Example: `homodyn demo -o demo`
    """
    from homodyn.report.demo import write_demo

    with stage_progress("starting") as show:
        result = write_demo(output, log=typer.echo, stage=show)
    if as_json:
        print_json(
            {
                "page": result.page,
                "seconds": result.seconds,
                "quality": result.quality,
                "errors": dict(result.errors),
            }
        )
