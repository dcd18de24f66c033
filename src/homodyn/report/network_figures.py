"""Variables of a network over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from homodyn.errors import NetworkError
from homodyn.network import Record
from homodyn.report.draw import GREY, INK

COLOURS = ("#3b78b5", "#c8553d", "#1d9a6c", "#8a5fb0", "#c99a2e", "#4fa6b8", "#a3486e", "#6b6b6b")
MOST_PANELS = 12
MOST_CURVES = 12
"""Panels of a figure, and curves of one panel; what is beyond them is counted in a note."""


def curves(record: Record, names: Sequence[str], title: str = "") -> Figure:
    """One panel for variables of the same name, however many nodes have it; events as lines."""
    if not names:
        raise NetworkError("no variable to draw; name at least one")
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name.rpartition(".")[2], []).append(name)
    shown = list(groups.items())[:MOST_PANELS]
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
            plot.axvline(time, color=GREY, lw=0.5, alpha=0.5)
        for k, (name, values) in enumerate(lines[:MOST_CURVES]):
            colour = COLOURS[k % len(COLOURS)]
            dash = "-" if k < len(COLOURS) else "--"
            plot.plot(record.t, values, dash, color=colour, lw=1.3, label=name)
        plot.set_ylabel(label, color=INK)
        plot.margins(x=0)
        plot.spines[["top", "right"]].set_visible(False)
        if len(lines) > 1 or lines[0][0] != label:
            plot.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8, frameon=False)
        if len(lines) > MOST_CURVES:
            plot.set_title(f"and {len(lines) - MOST_CURVES} more", loc="right", fontsize=8)
    if len(groups) > MOST_PANELS:
        figure.supxlabel(f"{len(groups) - MOST_PANELS} more variables are not drawn", fontsize=8)
    plots[-1].set_xlabel("t [s]")
    if np.ptp(record.t) > 0:
        plots[-1].set_xlim(record.t[0], record.t[-1])
    if title:
        figure.suptitle(title, fontsize=10, color=INK)
    return figure
