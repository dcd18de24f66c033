"""``homodyn trial check``: find faults of a recording before anything is computed from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from homodyn.cli.models import SEVERITY_STYLES, find
from homodyn.cli.option_groups import AsJson

if TYPE_CHECKING:
    from homodyn.capture import (
        HealthReport,
        Trial,
    )
    from homodyn.capture.quality import MarkerHealth


def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A recording: .c3d, .trc or .csv.")],
    model: Annotated[
        str | None,
        typer.Option(
            "--model", "-m", help="A model file or a name of the catalog, to match labels with."
        ),
    ] = None,
    markers: Annotated[
        Path | None,
        typer.Option(
            "--map",
            metavar="TOML",
            help="Labels of the recording for the markers of the model.",
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="List markers without findings too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check a recording: gaps, jumps, swaps, wrong labels, units, sides and force plates.

    Exit code 1 when there is an error.

    Example: `homodyn trial check walk.c3d --model heiman`
    """
    from homodyn.capture import (
        check_health,
        match_labels,
        read,
    )
    from homodyn.errors import CaptureError

    console = Console(highlight=False, quiet=as_json)
    trial = read(file)
    console.print(
        Text(
            f"{trial.name}: {len(trial.markers)} markers, {trial.frames} frames at "
            f"{trial.rate:g} Hz, {len(trial.plates)} force plates"
        )
    )
    body = None
    if model is not None:
        body = find(model)
        matching = match_labels(trial, body, names=markers)
        console.print(Text(str(matching)), soft_wrap=True)
        trial = matching.trial
    elif markers is not None:
        raise CaptureError("a label map names the markers of a model; give --model too")
    found = check_health(trial, model=body)
    _print_markers(console, found, every)
    for finding in found.findings:
        line = Text(f"{finding.severity:8}", style=SEVERITY_STYLES[finding.severity])
        line.append(f"{finding.subject}", style="bold not dim")
        who = _shorten(finding.markers) or finding.plate
        line.append(f" {who}: " if who else ": ", style="not bold")
        console.print(line.append(finding.sentence, style="not bold"), soft_wrap=True)
    console.print(Text(_summary(found)), soft_wrap=True)
    if as_json:
        typer.echo(json.dumps(_plain(trial, found), indent=2))
    if found.has_errors:
        raise typer.Exit(1)


def _plain(trial: Trial, found: HealthReport) -> dict[str, Any]:
    """The findings as plain data."""
    return {
        "trial": trial.name,
        "markers": len(trial.markers),
        "frames": trial.frames,
        "rate_hz": trial.rate,
        "plates": len(trial.plates),
        "findings": [
            {
                "kind": finding.subject,
                "severity": str(finding.severity),
                "sentence": finding.sentence,
                "markers": list(finding.markers),
                "plate": finding.plate,
                "frames": [list(frames) for frames in finding.frames],
            }
            for finding in found.findings
        ],
    }


def _print_markers(console: Console, found: HealthReport, every: bool) -> None:
    """One row per marker with findings."""
    kinds = ("gaps", "spikes", "jumps", "swaps", "mislabels", "frozen")
    rows = [row for row in found.markers if every or any(getattr(row, kind) for kind in kinds)]
    if not rows:
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("marker", style="bold")
    table.add_column("missing", justify="right")
    for kind in kinds:
        table.add_column(kind, justify="right")
    for row in rows:
        table.add_row(Text(row.marker), _share(row), *(_count(getattr(row, k)) for k in kinds))
    console.print(table)
    if not every and len(rows) < len(found.markers):
        console.print(Text(f"{len(found.markers) - len(rows)} more markers have no findings."))


def _share(row: MarkerHealth) -> str:
    return f"{100 * row.missing:.1f} %" if row.missing else ""


def _count(frames: tuple[tuple[int, int], ...]) -> str:
    return str(len(frames)) if frames else ""


def _shorten(markers: tuple[str, ...], most: int = 6) -> str:
    listed = ", ".join(markers[:most])
    return f"{listed} and {len(markers) - most} more" if len(markers) > most else listed


def _summary(found: HealthReport) -> str:
    if not found.findings:
        return "No findings."
    counts = dict.fromkeys(SEVERITY_STYLES, 0)
    for finding in found.findings:
        counts[finding.severity] += 1
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count) + "."
