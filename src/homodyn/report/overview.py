"""Many trials on one page: a table of results, gait measures side by side, and overlaid curves.

The page uses only the files of the results, so it includes earlier analyses.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

import numpy as np

from homodyn.analysis.result_files import PAGE, StoredResult, find_results, gait_measures_csv
from homodyn.foundation import count_of, write_text
from homodyn.report import page_text
from homodyn.report.html import (
    Cell,
    Markup,
    PageFigure,
    figures_html,
    page_html,
    paragraph,
    table,
)
from homodyn.report.svg import Plot, nice_range

INDEX_FILE, MEASURES_FILE = "index.html", "gait.csv"
TABLE_MEASURES = (
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
FIGURE_MEASURES = ("step length", "step duration", "stride velocity")
"""Measures of the figure (Felis 2015, fig. 6.2)."""
FIGURE_CURVES = (
    "Hip flexion",
    "Knee flexion",
    "Ankle dorsiflexion",
    "Hip flexion torque",
    "Knee flexion torque",
    "Ankle dorsiflexion torque",
    "Forward force",
    "Toward the midline force",
    "Upward force",
)
"""Curves over the gait cycle, overlaid for all trials."""


def write_overview(output: str | Path) -> Path | None:
    """Write the page and the table of all results in a folder; None if there are no results."""
    output = Path(output)
    found = find_results(output)
    if not found:
        return None
    write_text(output / INDEX_FILE, overview_page(found))
    write_text(output / MEASURES_FILE, gait_measures_csv(found))
    return output / INDEX_FILE


def overview_page(found: list[StoredResult]) -> str:
    """The HTML of the page."""
    figures = [*_bars(found), *_curves(found)]
    body = _trials(found) + figures_html(figures)
    if not figures:
        body += paragraph("No trial has a complete gait cycle to compare.", "empty")
    title = count_of(len(found), "trial")
    return page_html(
        title,
        title,
        f"Each trial has its own page; {MEASURES_FILE} has the measures of all trials.",
        body,
        footer=f"Written by Homodyn {_version(found)}.",
    )


def _trials(found: list[StoredResult]) -> str:
    columns = [("trial", ""), ("quality", ""), ("marker error (mm)", "n")]
    for name, side in TABLE_MEASURES:
        unit = next((m["unit"] for r in found if (m := r.measure(name, side))), "")
        columns.append((f"{name}{'' if side == 'both' else ', ' + side} ({unit})", "n"))
    rows: list[list[Cell]] = []
    for result in found:
        light = result.content["quality"]["light"]
        name = escape(result.name)
        cells: list[Cell] = [
            Markup(f'<a href="{name}/{PAGE}">{name}</a>'),
            Markup(f'<span class="light {light}">{page_text.LIGHTS[light]}</span>'),
            f"{1000 * result.content['fit']['rms_m']:.1f}",
        ]
        for measure, side in TABLE_MEASURES:
            row = result.measure(measure, side)
            cells.append(None if row is None else f"{row['mean']:.3g}")
        rows.append(cells)
    return table(columns, rows)


def _bars(found: list[StoredResult]) -> list[PageFigure]:
    panels = []
    for name in FIGURE_MEASURES:
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
    return [PageFigure("measures", tuple(panels), caption)]


def _curves(found: list[StoredResult]) -> list[PageFigure]:
    tables = [curves for result in found if (curves := result.curves())]
    panels = []
    for title in FIGURE_CURVES:
        sides: dict[str, list[np.ndarray]] = {}
        unit = ""
        for side in ("right", "left"):
            start = f"{title} {side} mean ("
            for curves in tables:
                for name, column in curves.items():
                    if name.startswith(start):
                        sides.setdefault(side, []).append(column)
                        unit = name[len(start) : -1]
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
        "Curves over the gait cycle: mean and one standard deviation of the means of "
        f"{count_of(len(tables), 'trial')}."
    )
    return [PageFigure("curves", tuple(panels), caption)]


def _every(count: int) -> range:
    return range(0, count, max(count // 10, 1))


def _version(found: list[StoredResult]) -> str:
    return str(found[0].content.get("versions", {}).get("homodyn", ""))
