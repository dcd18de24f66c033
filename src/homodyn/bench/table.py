"""A benchmark report as a table on the screen."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from homodyn.bench.harness import BenchmarkReport, BenchmarkRow


def table(report: BenchmarkReport) -> Table:
    """Return the rows, each ratio green where it reaches what is required and red where not."""
    drawn = Table(title="Ours against peers (ratio: how many times better ours is)")
    drawn.add_column("benchmark")
    for heading in ("ours", "peer"):
        drawn.add_column(heading, justify="right")
    drawn.add_column("unit")
    for heading in ("ratio", "required"):
        drawn.add_column(heading, justify="right")
    drawn.add_column("note", overflow="fold")
    for row in report.rows:
        drawn.add_row(
            Text(row.name),
            _figure(row.ours),
            _figure(row.peer),
            Text(row.unit),
            Text(_figure(row.ratio), style=_color(row)),
            _figure(row.required),
            Text(row.note),
        )
    if report.machine:
        drawn.caption = Text(", ".join(f"{key} {value}" for key, value in report.machine.items()))
    return drawn


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def _color(row: BenchmarkRow) -> str:
    if row.passes is None:
        return "dim"
    return "green" if row.passes else "red"
