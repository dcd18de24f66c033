"""A benchmark report as a table for the terminal."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from homodyn.bench.harness import BenchmarkReport, BenchmarkRow


def table(report: BenchmarkReport) -> Table:
    """The rows as a table; ratios are green if they reach the requirement, else red.

    Args:
        report: The report.

    Returns:
        The table.
    """
    result = Table(title="Homodyn and peers or limits (ratio: how many times better Homodyn is)")
    result.add_column("benchmark")
    for heading in ("Homodyn", "peer"):
        result.add_column(heading, justify="right")
    result.add_column("unit")
    for heading in ("ratio", "required"):
        result.add_column(heading, justify="right")
    result.add_column("note", overflow="fold")
    for row in report.rows:
        result.add_row(
            Text(row.name),
            _figure(row.ours),
            _figure(row.peer),
            Text(row.unit),
            Text(_figure(row.ratio), style=_color(row)),
            _figure(row.required),
            Text(row.note),
        )
    if report.machine:
        result.caption = Text(", ".join(f"{key} {value}" for key, value in report.machine.items()))
    return result


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def _color(row: BenchmarkRow) -> str:
    if row.passes is None:
        return "dim"
    return "green" if row.passes else "red"
