"""Draw how the cost of an iteration grows with the mesh, from ``homodyn bench optimal``.

Example: homodyn bench optimal -o told.json && python tools/draw_optimal.py told.json docs/images
"""

import json
import re
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

NAME = re.compile(r"squat, (?P<intervals>\d+) intervals, an iteration")


def main() -> None:
    """Read the report named first and write the figure into the folder named second."""
    report, folder = Path(sys.argv[1]), Path(sys.argv[2])
    found = []
    for row in json.loads(report.read_text())["rows"]:
        told = NAME.fullmatch(row["name"])
        if told:
            found.append((int(told["intervals"]), row["ours"]))
    intervals, cost = zip(*sorted(found), strict=True)
    figure = Figure(figsize=(6.2, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.plot(intervals, cost, "-o", color="tab:blue", ms=4, label="measured")
    slope, start = np.polyfit(intervals, cost, 1)
    ends = np.array([0, max(intervals)])
    words = f"{start:.0f} ms + {slope:.2f} ms for each interval"
    axes.plot(ends, start + slope * ends, ":", color="tab:red", label=words)
    axes.set(
        xlabel="intervals of the mesh",
        ylabel="time of an iteration (ms of processors)",
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
