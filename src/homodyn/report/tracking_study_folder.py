"""The folder of a study of tracking: a page with the figure and the table, and the numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from homodyn import __version__
from homodyn.analysis.result_files import PAGE, SUMMARY, is_result
from homodyn.foundation import atomic_folder
from homodyn.report.html import (
    PageFigure,
    bullet_list,
    figures_html,
    page_html,
    sections_html,
    table,
)
from homodyn.report.svg import Plot, nice_range
from homodyn.track.studies import StudyPanel, TrackingStudy

TABLE_FILE = "study.csv"
STYLES = ("right", "left", "middle", "ink")
"""Colors of curves, in their order."""
BAR_WIDTH = 0.8
"""Width of all bars of one place, in units of the axis."""


def write_tracking_study(
    study: TrackingStudy,
    folder: str | Path,
    *,
    name: str,
    notes: Sequence[str] = (),
    overwrite: bool = False,
) -> list[Path]:
    """Write the page, the table and the summary of a study, completely or not at all.

    Args:
        study: The study.
        folder: The folder to write; its parents are created.
        name: Name of the study and its trial, for the page.
        notes: Sentences on trial and model.
        overwrite: Replace a folder that already contains a result.

    Returns:
        The files that were written.

    Raises:
        FormatError: The folder exists and may not be replaced, or cannot be written.
    """
    folder = Path(folder)
    with atomic_folder(folder, overwrite=overwrite, is_replaceable=is_result) as temporary:
        (temporary / TABLE_FILE).write_text(_table_text(study), encoding="utf-8")
        page = tracking_study_page(study, name, notes)
        (temporary / PAGE).write_text(page, encoding="utf-8")
        text = json.dumps(tracking_study_summary(study, name, notes), indent=2, allow_nan=False)
        (temporary / SUMMARY).write_text(text + "\n", encoding="utf-8")
        names = sorted(path.name for path in temporary.iterdir())
    return [folder / file for file in names]


def tracking_study_summary(
    study: TrackingStudy, name: str, notes: Sequence[str] = ()
) -> dict[str, Any]:
    """The results of a study as plain numbers.

    Args:
        study: The study.
        name: Name of the study and its trial.
        notes: Sentences on trial and model.

    Returns:
        Title, what the paper reports, the table by heading, findings and notes.
    """
    columns = {
        heading: [
            None if isinstance(value, float) and not np.isfinite(value) else value
            for value in values
        ]
        for heading, values in study.columns().items()
    }
    return {
        "study": name,
        "title": study.title,
        "paper": study.paper,
        "table": columns,
        "findings": list(study.findings()),
        "notes": list(notes),
    }


def tracking_study_page(study: TrackingStudy, name: str, notes: Sequence[str] = ()) -> str:
    """The page of a study: findings, figure and table in one self-contained file.

    Args:
        study: The study.
        name: Name of the study and its trial.
        notes: Sentences on trial and model.

    Returns:
        HTML that loads nothing from elsewhere.
    """
    columns = study.columns()
    heads = [
        (heading, "" if any(isinstance(value, str) and value for value in values) else "n")
        for heading, values in columns.items()
    ]
    rows = [
        [f"{value:.4g}" if isinstance(value, float) else value for value in row]
        for row in zip(*columns.values(), strict=True)
    ]
    panels = study.panels()
    figure = PageFigure(
        "study",
        tuple(study_plot(panel) for panel in panels),
        f"{_legend(panels)}{study.paper}",
        columns=min(3, max(2, len(panels))),
        legend=False,
    )
    sections = {
        "findings": ("Findings", bullet_list(study.findings())),
        "figure": ("Figure", figures_html((figure,))),
        "table": ("Table", table(heads, rows)),
    }
    if notes:
        sections["notes"] = ("Notes", bullet_list(notes))
    links, body = sections_html(sections)
    return page_html(
        f"{name}: study",
        study.title,
        name,
        body,
        navigation=links,
        footer=f"Written by Homodyn {__version__}. This page is one self-contained file.",
    )


def study_plot(panel: StudyPanel) -> str:
    """One panel as SVG.

    Args:
        panel: The panel.

    Returns:
        An ``<svg>`` element.
    """
    values = [curve.y for curve in panel.curves]
    values += [curve.y + curve.error for curve in panel.curves if curve.error is not None]
    where = [np.log10(c.x) if panel.logarithmic else c.x for c in panel.curves]
    everything = np.concatenate(where)
    span = (float(everything.min()), float(everything.max()))
    if panel.bars or span[0] == span[1]:
        span = (span[0] - 0.6, span[1] + 0.6)
    ticks = None
    if panel.ticks:
        ticks = tuple((float(k), text) for k, text in enumerate(panel.ticks))
    elif panel.logarithmic:
        numbers = np.unique(np.concatenate([curve.x for curve in panel.curves]))
        ticks = tuple((float(np.log10(x)), f"{x:g}") for x in numbers)
    plot = Plot(
        panel.title,
        span,
        nice_range(np.concatenate(values), zero=True),
        panel.x_label,
        panel.unit,
        x_ticks=ticks,
        alt=f"{panel.title}: {', '.join(curve.label for curve in panel.curves)}",
    )
    count = len(panel.curves)
    for k, (curve, x) in enumerate(zip(panel.curves, where, strict=True)):
        style = STYLES[k % len(STYLES)]
        if panel.bars:
            width = BAR_WIDTH / count
            x = x + (k - (count - 1) / 2) * width
            for place, value in zip(x, curve.y, strict=True):
                plot.bar(place, value, 0.9 * width, style, f"{curve.label}: {value:.4g}")
        else:
            plot.line(x, curve.y, style)
            if len(x) < 20:
                plot.dots(x, curve.y, style)
        if curve.error is not None:
            for place, value, error in zip(x, curve.y, curve.error, strict=True):
                plot.whisker(place, value - error, value + error)
    return plot.svg()


def _legend(panels: Sequence[StudyPanel]) -> str:
    """Which color is which curve; empty where a panel has one curve."""
    colors = {"right": "red", "left": "blue", "middle": "gray", "ink": "black"}
    labels = max((panel.curves for panel in panels), key=len)
    if len(labels) < 2:
        return ""
    named = [f"{colors[STYLES[k % 4]]}: {curve.label}" for k, curve in enumerate(labels)]
    return f"{', '.join(named)}. ".capitalize()


def _table_text(study: TrackingStudy) -> str:
    columns = study.columns()
    lines = [",".join(f'"{heading}"' for heading in columns)]
    for row in zip(*columns.values(), strict=True):
        cells = [f"{value:.9g}" if isinstance(value, float) else f'"{value}"' for value in row]
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"
