"""Many trials on one page: what each came to, gait measures side by side, curves over each other.

It is made from the files of the results alone, so that it holds whatever was analysed before.
"""

from __future__ import annotations

import csv
import json
import os
import tempfile
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.errors import FormatError
from homodyn.report import texts
from homodyn.report.files import PAGE, SUMMARY
from homodyn.report.gait_figures import Figure
from homodyn.report.html import Cell, Markup, figure, paragraph, table
from homodyn.report.replay import asset
from homodyn.report.svg import Plot, nice_range

INDEX, MEASURES = "index.html", "gait.csv"
SHOWN = (
    ("velocity", "both"),
    ("cadence", "both"),
    ("step length", "right"),
    ("step length", "left"),
    ("step duration", "right"),
    ("step duration", "left"),
    ("stance share", "right"),
    ("stance share", "left"),
)
"""Measures of the table, by name and side."""
COMPARED = ("step length", "step duration", "stride velocity")
"""Measures of the figure (Felis 2015, fig. 6.2)."""
CURVES = (
    "Hip flexion",
    "Knee flexion",
    "Ankle dorsiflexion",
    "Hip flexion torque",
    "Knee flexion torque",
    "Ankle dorsiflexion torque",
    "Forward force",
    "Towards the midline force",
    "Upward force",
)
"""Curves over the cycle that are laid over each other."""


@dataclass(frozen=True)
class Result:
    """What one finished trial left in its folder."""

    name: str
    folder: Path
    summary: dict[str, Any]

    def measure(self, name: str, side: str) -> dict[str, Any] | None:
        """A gait measure by name and side; None where it is not there."""
        for row in self.summary.get("gait", []):
            if (row["name"], row["side"]) == (name, side):
                return dict(row)
        return None

    def curves(self) -> dict[str, np.ndarray]:
        """The columns of ``cycles.csv``; none where the trial has no cycle."""
        try:
            with open(self.folder / "cycles.csv", encoding="utf-8", newline="") as stream:
                head, *rows = csv.reader(stream)
        except (OSError, ValueError):
            return {}
        return dict(zip(head, np.array(rows, dtype=float).T, strict=True))


def results_in(output: str | Path) -> list[Result]:
    """Every complete result in a folder, in the order of their names."""
    found = []
    for path in sorted(Path(output).glob(f"*/{SUMMARY}")):
        try:
            summary = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(summary, dict) and summary.get("complete"):
            found.append(Result(path.parent.name, path.parent, summary))
    return found


def write_overview(output: str | Path) -> Path | None:
    """Write the page and the table of all results in a folder; nothing when there are none."""
    output = Path(output)
    found = results_in(output)
    if not found:
        return None
    try:
        with tempfile.TemporaryDirectory(dir=output, prefix=".overview.") as beside:
            for name, text in ((INDEX, overview(found)), (MEASURES, measures(found))):
                complete = Path(beside) / name
                complete.write_text(text, encoding="utf-8", newline="")
                os.replace(complete, output / name)
    except OSError as error:
        raise FormatError(f"it cannot be written: {error.strerror}", str(output)) from error
    return output / INDEX


def measures(found: list[Result]) -> str:
    """All gait measures of all trials, one a row, with commas."""
    lines = ["trial,measure,unit,side,cycles,mean,sd"]
    for result in found:
        for row in result.summary.get("gait", []):
            sd = "" if row["sd"] is None else f"{row['sd']:.6g}"
            words = [result.name, row["name"], row["unit"], row["side"], str(row["cycles"])]
            cells = [f'"{w}"' if "," in w else w for w in words]
            lines.append(",".join([*cells, f"{row['mean']:.6g}", sd]))
    return "\n".join(lines) + "\n"


def overview(found: list[Result]) -> str:
    """The page as text."""
    drawn = [*_bars(found), *_curves(found)]
    body = _trials(found) + "".join(figure(one) for one in drawn)
    if not drawn:
        body += paragraph("No trial has a complete gait cycle to compare.", "empty")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{len(found)} trials</title><style>{asset('page.css')}</style></head><body>"
        f'<header><h1>{len(found)} trials</h1><p class="sub">Each has a page of its own; the '
        "measures of all are in gait.csv.</p></header>"
        f"<main>{body}</main><footer>Written by Homodyn {_version(found)}.</footer></body></html>\n"
    )


def _trials(found: list[Result]) -> str:
    heads = [("trial", ""), ("quality", ""), ("marker error (mm)", "n")]
    for name, side in SHOWN:
        unit = next((m["unit"] for r in found if (m := r.measure(name, side))), "")
        heads.append((f"{name}{'' if side == 'both' else ', ' + side} ({unit})", "n"))
    rows: list[list[Cell]] = []
    for result in found:
        light = result.summary["quality"]["light"]
        name = escape(result.name)
        cells: list[Cell] = [
            Markup(f'<a href="{name}/{PAGE}">{name}</a>'),
            Markup(f'<span class="light {light}">{texts.LIGHTS[light]}</span>'),
            f"{1000 * result.summary['fit']['rms_m']:.1f}",
        ]
        for measure, side in SHOWN:
            row = result.measure(measure, side)
            cells.append(None if row is None else f"{row['mean']:.3g}")
        rows.append(cells)
    return table(heads, rows)


def _bars(found: list[Result]) -> list[Figure]:
    panels = []
    for name in COMPARED:
        values = [(r.measure(name, "right"), r.measure(name, "left")) for r in found]
        known = [m for pair in values for m in pair if m]
        if not known:
            continue
        top = np.array([m["mean"] + (m["sd"] or 0.0) for m in known])
        plot = Plot(
            name.capitalize(),
            (-0.6, len(found) - 0.4),
            nice_range(top, zero=True),
            "trial",
            known[0]["unit"],
            x_ticks=[(k, str(k + 1)) for k in _every(len(found))],
            alt=f"{name} of every trial, right and left",
        )
        for k, pair in enumerate(values):
            for row, side, shift in zip(pair, ("right", "left"), (-0.2, 0.2), strict=True):
                if row:
                    plot.bar(
                        k + shift, row["mean"], 0.36, side, f"{found[k].name}: {row['mean']:.3g}"
                    )
                    spread = row["sd"] or 0.0
                    plot.whisker(k + shift, row["mean"] - spread, row["mean"] + spread)
        panels.append(plot.svg())
    if not panels:
        return []
    caption = (
        "Mean and standard deviation over the steps of each trial, numbered in the order of the "
        "table above."
    )
    return [Figure("measures", tuple(panels), caption)]


def _curves(found: list[Result]) -> list[Figure]:
    tables = [curves for result in found if (curves := result.curves())]
    panels = []
    for title in CURVES:
        sides: dict[str, list[np.ndarray]] = {}
        unit = ""
        for side in ("right", "left"):
            start = f"{title} {side} mean ("
            for curves in tables:
                for head, column in curves.items():
                    if head.startswith(start):
                        sides.setdefault(side, []).append(column)
                        unit = head[len(start) : -1]
        if not sides:
            continue
        lines = [line for side in sides.values() for line in side]
        plot = Plot(
            title,
            (0.0, 100.0),
            nice_range(*lines),
            "gait cycle (%)",
            unit,
            alt=f"{title} of every trial over the gait cycle, right and left",
        )
        percent = np.linspace(0.0, 100.0, 101)
        for side, trials in sides.items():
            mean = np.mean(trials, axis=0)
            if len(trials) > 1:
                sd = np.std(trials, axis=0, ddof=1)
                plot.band(percent, mean - sd, mean + sd, side)
            plot.line(percent, mean, side)
        panels.append(plot.svg())
    if not panels:
        return []
    caption = (
        f"Curves over the gait cycle: mean and one standard deviation of the means of {len(tables)}"
        " trials."
    )
    return [Figure("curves", tuple(panels), caption)]


def _every(count: int) -> range:
    return range(0, count, max(count // 10, 1))


def _version(found: list[Result]) -> str:
    return escape(str(found[0].summary.get("versions", {}).get("homodyn", "")))
