"""Draw the time per iteration over the mesh size, from the report of ``homodyn bench optimal``.

Example: homodyn bench optimal -o optimal.json
         python tools/draw_optimal.py optimal.json docs/images
"""

import json
import re
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from homodyn.report.colors import SERIES_COLORS

NAME = re.compile(r"squat, (?P<intervals>\d+) intervals, time per iteration")


def main() -> None:
    """Read a report and write the figure into a folder."""
    report, folder = Path(sys.argv[1]), Path(sys.argv[2])
    points = []
    for row in json.loads(report.read_text())["rows"]:
        match = NAME.fullmatch(row["name"])
        if match:
            points.append((int(match["intervals"]), row["ours"]))
    intervals, cost = zip(*sorted(points), strict=True)
    figure = Figure(figsize=(6.2, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.plot(intervals, cost, "-o", color=SERIES_COLORS[0], ms=4, label="measured")
    slope, start = np.polyfit(intervals, cost, 1)
    ends = np.array([0, max(intervals)])
    label = f"{start:.0f} ms + {slope:.2f} ms per interval"
    axes.plot(ends, start + slope * ends, ":", color="0.2", label=label)
    axes.set(
        xlabel="mesh intervals",
        ylabel="processor time per iteration (ms)",
        title="A squat of 39 degrees of freedom",
        ylim=(0, None),
        xlim=(0, None),
    )
    axes.grid(alpha=0.25)
    axes.legend(frameon=False)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "optimal_growth.png", dpi=110)


if __name__ == "__main__":
    main()
