"""``homodyn trial check``: find errors in recordings before anything is computed from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from homodyn.cli.json_output import fail_with_json, print_json
from homodyn.cli.models import SEVERITY_STYLES, find
from homodyn.cli.option_groups import AsJson, path_text

if TYPE_CHECKING:
    from homodyn.analysis import Settings
    from homodyn.capture import HealthReport, Trial
    from homodyn.capture.quality import MarkerHealth


READING_DOUBTS = ("is truncated: ", "unit", "rotated", "shifted")
"""Words of notes on how a file was read that a person should see."""


def check(
    trials: Annotated[
        list[Path],
        typer.Argument(
            metavar="TRIAL", help="Recordings (.c3d, .trc, .csv) or folders of recordings."
        ),
    ],
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="NAME|FILE",
            help="Model whose markers the labels are matched with: a catalog name or a file.",
        ),
    ] = None,
    markers: Annotated[
        Path | None,
        typer.Option(
            "--map", metavar="TOML", help="Table of marker labels: model marker = recorded label."
        ),
    ] = None,
    static: Annotated[
        Path | None,
        typer.Option(
            "--static",
            metavar="FILE",
            help="Static trial of the same person: it shows labels exchanged throughout.",
        ),
    ] = None,
    up: Annotated[
        str | None,
        typer.Option("--up", metavar="AXIS", help="Vertical axis of the file: y, z, -x, ..."),
    ] = None,
    columns: Annotated[
        Path | None,
        typer.Option("--columns", metavar="TOML", help="Columns of a .csv recording."),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option("--rate", metavar="HZ", help="Frame rate of a .csv recording without time."),
    ] = None,
    lenient: Annotated[
        bool,
        typer.Option(
            "--lenient", help="Read files with fewer rows than their header states, with a note."
        ),
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help="List markers without findings too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check recordings for gaps, jumps, swapped or wrong labels, units, sides and force plates.

    The exit code is 1 when a recording has an error.

    Example: `homodyn trial check walk.c3d --model heiman`
    """
    from homodyn.analysis import Settings
    from homodyn.errors import CaptureError, HomodynError

    if markers is not None and model is None:
        raise CaptureError("a label map names the markers of a model; give --model too")
    reading = Settings(
        up=up, columns=path_text(columns), rate=rate, lenient=lenient, static=path_text(static)
    )
    files = _recordings(trials)
    console = Console(highlight=False, quiet=as_json)
    checked: list[CheckedTrial] = []
    for file in files:
        try:
            checked.append(_check_file(file, model, markers, reading))
        except HomodynError as error:
            if len(files) == 1:
                raise
            checked.append(CheckedTrial(file, error=str(error)))
        _print_trial(console, checked[-1], every)
    failed = [each.file.name for each in checked if each.failed]
    if as_json:
        result = {"trials": [each.to_dict() for each in checked]}
        if failed:
            fail_with_json(result, f"errors in {', '.join(failed)}")
        print_json(result)
    if failed:
        raise typer.Exit(1)


def _recordings(sources: Sequence[Path]) -> list[Path]:
    """The files of all sources; a folder stands for its recordings."""
    from homodyn.analysis.trial_folders import TRIAL_SUFFIXES
    from homodyn.errors import FormatError

    files: list[Path] = []
    for source in sources:
        if not source.is_dir():
            files.append(source)
            continue
        found = [path for path in sorted(source.iterdir()) if path.suffix.lower() in TRIAL_SUFFIXES]
        if not found:
            suffixes = " or ".join(TRIAL_SUFFIXES)
            raise FormatError(f"this folder has no {suffixes} files", str(source))
        files += found
    return files


@dataclass(frozen=True)
class CheckedTrial:
    """A recording with its findings, or the reason why it could not be checked."""

    file: Path
    trial: Trial | None = None
    report: HealthReport | None = None
    labels: str = ""
    """How the labels match the markers of a model."""
    error: str = ""

    @property
    def failed(self) -> bool:
        """Whether the recording has an error or cannot be read."""
        return self.report is None or self.report.has_errors

    def to_dict(self) -> dict[str, Any]:
        """The findings as plain data."""
        if self.trial is None or self.report is None:
            return {"file": self.file, "error": self.error}
        return {
            "file": self.file,
            "trial": self.trial.name,
            "markers": len(self.trial.markers),
            "frames": self.trial.frames,
            "rate_hz": self.trial.rate,
            "plates": len(self.trial.plates),
            "findings": [
                {
                    "severity": finding.severity,
                    "subject": finding.subject,
                    "sentence": finding.sentence,
                    "markers": finding.markers,
                    "plate": finding.plate,
                    "frames": finding.frames,
                }
                for finding in self.report.findings
            ],
        }


def _check_file(
    file: Path, model: str | None, markers: Path | None, reading: Settings
) -> CheckedTrial:
    from homodyn.analysis.trial_input import load_recording
    from homodyn.capture import check_health, match_labels

    trial = load_recording(str(file), reading)
    other = None if reading.static is None else load_recording(reading.static, reading)
    if model is None:
        others = () if other is None else (other,)
        return CheckedTrial(file, trial, check_health(trial, others=others))
    body = find(model)
    matching = match_labels(body, trial, names=markers)
    others = () if other is None else (match_labels(body, other, names=markers).trial,)
    report = check_health(matching.trial, model=body, others=others)
    return CheckedTrial(file, matching.trial, report, str(matching))


def _print_trial(console: Console, checked: CheckedTrial, every: bool) -> None:
    """The findings of one recording."""
    from homodyn.foundation import count_of, enumerate_names

    trial, report = checked.trial, checked.report
    if trial is None or report is None:
        console.print(Text(f"{checked.file}: {checked.error}", style="red"), soft_wrap=True)
        return
    console.print(
        Text(
            f"{trial.name}: {count_of(len(trial.markers), 'marker')}, {trial.frames} frames at "
            f"{trial.rate:g} Hz, {count_of(len(trial.plates), 'force plate')}"
        )
    )
    if checked.labels:
        console.print(Text(checked.labels), soft_wrap=True)
    for note in trial.notes:
        if any(words in note for words in READING_DOUBTS):
            console.print(Text(f"note    {note}", style="dim"), soft_wrap=True)
    _print_markers(console, report, every)
    for finding in report.findings:
        line = Text(f"{finding.severity:8}", style=SEVERITY_STYLES[finding.severity])
        line.append(f"{finding.subject}", style="bold not dim")
        who = enumerate_names(finding.markers) or finding.plate
        line.append(f" {who}: " if who else ": ", style="not bold")
        console.print(line.append(finding.sentence, style="not bold"), soft_wrap=True)
    console.print(Text(_count_findings(report)), soft_wrap=True)


def _print_markers(console: Console, report: HealthReport, every: bool) -> None:
    """One row per marker with findings."""
    from homodyn.capture.quality.health_report import PROBLEM_KINDS
    from homodyn.foundation import count_of

    rows = [
        row for row in report.markers if every or any(getattr(row, kind) for kind in PROBLEM_KINDS)
    ]
    if not rows:
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("marker", style="bold")
    table.add_column("missing", justify="right")
    for kind in PROBLEM_KINDS:
        table.add_column(kind, justify="right")
    for row in rows:
        counts = (_count(getattr(row, kind)) for kind in PROBLEM_KINDS)
        table.add_row(Text(row.marker), _share(row), *counts)
    console.print(table)
    rest = len(report.markers) - len(rows)
    if rest and not every:
        verb = "has" if rest == 1 else "have"
        console.print(Text(f"{count_of(rest, 'more marker')} {verb} no findings."))


def _share(row: MarkerHealth) -> str:
    return f"{100 * row.missing:.1f} %" if row.missing else ""


def _count(frames: tuple[tuple[int, int], ...]) -> str:
    return str(len(frames)) if frames else ""


def _count_findings(report: HealthReport) -> str:
    from homodyn.foundation import count_of

    if not report.findings:
        return "No findings."
    counts = dict.fromkeys(SEVERITY_STYLES, 0)
    for finding in report.findings:
        counts[finding.severity] += 1
    plurals = {"info": "info"}
    listed = (
        count_of(count, word, plurals.get(word, "")) for word, count in counts.items() if count
    )
    return ", ".join(listed) + "."
