"""``homodyn demo``: a first look at what Homodyn does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the results go.")
    ] = Path("demo"),
) -> None:
    """Run the demonstration and write its results into a folder.

    Example: `homodyn demo -o demo`
    """
    from homodyn.report.demo import write_demo

    write_demo(output)
