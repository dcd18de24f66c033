"""``homodyn validate``: results on the recordings of a folder against their references."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from homodyn.cli.analyze import LIGHT_COLORS
from homodyn.cli.json_output import fail_with_json, print_json
from homodyn.cli.option_groups import AsJson, OutputFolder, Overwrite
from homodyn.cli.progress import stage_progress
from homodyn.errors import HomodynError

if TYPE_CHECKING:
    from homodyn.analysis import StudySize, ValidationCase


def validate(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="Folder of recordings with models, static trials, forces and reference results.",
        ),
    ],
    output: OutputFolder,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="TEXT",
            help="Recordings whose path contains this text; repeatable.",
        ),
    ] = None,
    cases: Annotated[
        Path | None,
        typer.Option(
            "--cases",
            metavar="TOML",
            help="File that lists the recordings and what belongs to them, instead of a search.",
        ),
    ] = None,
    faults: Annotated[
        bool,
        typer.Option(
            "--faults",
            help="Plant faults in the recordings instead, and count which are found: wrong axes, "
            "labels, units, plates, mass, rate, and parts of the body.",
        ),
    ] = False,
    exchanges: Annotated[
        int,
        typer.Option(
            "--exchanges", metavar="N", help="With --faults: label exchanges per recording."
        ),
    ] = 10,
    analyses: Annotated[
        int,
        typer.Option(
            "--analyses",
            metavar="N",
            help="With --faults: faults per kind and recording that need whole analyses; 0: none.",
        ),
    ] = 1,
    persons: Annotated[
        int,
        typer.Option(
            "--persons", metavar="N", help="With --faults: synthetic persons beside the recordings."
        ),
    ] = 10,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", metavar="N", help="With --faults: processes.")
    ] = 1,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Analyze all recordings of a folder and compare them with reference angles and torques.

    Models, static trials, forces, setup files and references are found by their content. Writes a
    page, tables and a summary. The exit code is 1 when no recording gives a result. With --faults,
    good recordings are made wrong on purpose, and the page counts what becomes of it; the same
    command continues a study that was interrupted.

    Example: `homodyn validate data -o validation`
    """
    from homodyn.analysis.validation import validate as compare
    from homodyn.analysis.validation_cases import find_cases, read_cases
    from homodyn.foundation import count_of
    from homodyn.report.validation_folder import (
        validation_cells,
        validation_summary,
        write_validation,
    )

    if output.exists() and any(output.iterdir()) and not overwrite:
        raise HomodynError(f"{output} exists already; choose another folder, or --overwrite")
    found = find_cases(data) if cases is None else read_cases(cases, data)
    if only:
        found = tuple(
            case
            for case in found
            if any(text in Path(case.recording).relative_to(data).as_posix() for text in only)
        )
        if not found:
            raise HomodynError(f"{data}: the path of no recording contains {' or '.join(only)}")
    if faults:
        from homodyn.analysis import StudySize

        size = StudySize(exchanges=exchanges, persons=persons, analyses=analyses)
        _study_faults(found, data, output, size, jobs, overwrite=overwrite, as_json=as_json)
        return
    with stage_progress("searching") as show:
        rows = compare(found, data, progress=show)
        show("writing")
        page = write_validation(rows, output, overwrite=overwrite)
    failed = sum(row.failed for row in rows)
    error = "no recording gave a result" if failed == len(rows) else ""
    if as_json:
        result = {"output": output, **validation_summary(rows)}
        if error:
            fail_with_json(result, error)
        print_json(result)
        return
    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False)
    for k, head in enumerate(("recording", "model", "markers mm", "bias deg", "verdict")):
        table.add_column(head, justify="right" if k in (2, 3) else "left", overflow="fold")
    for row in rows:
        cells = validation_cells(row)
        light = Text(cells[-1], style=LIGHT_COLORS.get(row.light, "dim"))
        table.add_row(*cells[:4], light)
    console.print(table)
    if failed:
        console.print(Text(f"{failed} of {count_of(len(rows), 'analysis', 'analyses')} failed."))
    console.print(Text(str(page)), soft_wrap=True)
    if error:
        raise typer.Exit(1)


def _study_faults(
    cases: Sequence[ValidationCase],
    data: Path,
    output: Path,
    size: StudySize,
    jobs: int,
    *,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Plant faults in the recordings, write the tables and print the counts.

    Finished recordings are kept beside the output until it is written, so that an interrupted study
    goes on where it stopped.
    """
    from shutil import rmtree

    from homodyn.analysis import study_faults
    from homodyn.report.fault_study_folder import (
        fault_markdown,
        fault_summary,
        write_fault_study,
    )

    finished = output.with_name(f"{output.name}.unfinished")
    with stage_progress("planting faults") as show:

        def report(line: str) -> None:
            show(line)
            if not sys.stderr.isatty():
                typer.echo(line, err=True)

        rows = study_faults(cases, data, size, jobs=jobs, finished=finished, progress=report)
        show("writing")
        page = write_fault_study(rows, output, overwrite=overwrite)
    rmtree(finished, ignore_errors=True)
    if as_json:
        print_json({"output": output, **fault_summary(rows)})
        return
    typer.echo(fault_markdown(rows))
    Console(highlight=False).print(Text(str(page)), soft_wrap=True)
