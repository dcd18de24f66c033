"""Figures of network variables over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from homodyn.errors import NetworkError
from homodyn.network import NetworkResult
from homodyn.report.colors import GRAY, INK, SERIES_COLORS

MAX_PANELS = 12
MAX_CURVES = 12
"""Panels of a figure and curves of a panel; a note counts the others."""


def variable_curves(record: NetworkResult, names: Sequence[str], title: str = "") -> Figure:
    """One panel per variable name, with the curves of all its nodes; events are vertical lines."""
    if not names:
        raise NetworkError("no variable to plot; name at least one")
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name.rpartition(".")[2], []).append(name)
    shown = list(groups.items())[:MAX_PANELS]
    figure = Figure(figsize=(8, 0.8 + 1.9 * len(shown)), layout="constrained")
    plots = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    for plot, (label, members) in zip(plots, shown, strict=True):
        lines = [
            (name if values.ndim == 1 else f"{name}[{k}]", column)
            for name in members
            for values in [record[name]]
            for k, column in enumerate(values.reshape(len(values), -1).T)
        ]
        for time in sorted({event.time for event in record.events})[:200]:
            plot.axvline(time, color=GRAY, lw=0.5, alpha=0.5)
        for k, (name, values) in enumerate(lines[:MAX_CURVES]):
            color = SERIES_COLORS[k % len(SERIES_COLORS)]
            dash = "-" if k < len(SERIES_COLORS) else "--"
            plot.plot(record.t, values, dash, color=color, lw=1.3, label=name)
        plot.set_ylabel(label, color=INK)
        plot.margins(x=0)
        plot.spines[["top", "right"]].set_visible(False)
        if len(lines) > 1 or lines[0][0] != label:
            plot.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8, frameon=False)
        if len(lines) > MAX_CURVES:
            plot.set_title(f"and {len(lines) - MAX_CURVES} more", loc="right", fontsize=8)
    if len(groups) > MAX_PANELS:
        figure.supxlabel(f"{len(groups) - MAX_PANELS} more variables are not shown", fontsize=8)
    plots[-1].set_xlabel("time (s)")
    if np.ptp(record.t) > 0:
        plots[-1].set_xlim(record.t[0], record.t[-1])
    if title:
        figure.suptitle(title, fontsize=10, color=INK)
    return figure
