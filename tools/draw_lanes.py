"""Draw how rollouts grow with their lanes, from the report of ``homodyn bench simulate``.

Example: homodyn bench simulate -o lanes.json && python tools/draw_lanes.py lanes.json docs/images
"""

import json
import re
import sys
from pathlib import Path

from matplotlib.figure import Figure

NAME = re.compile(r"(?P<law>.+), (?P<lanes>\d+) lanes against 8")


def main() -> None:
    """Read the report named first and write the figure into the folder named second."""
    report, folder = Path(sys.argv[1]), Path(sys.argv[2])
    laws: dict[str, list[tuple[int, float]]] = {}
    for row in json.loads(report.read_text())["rows"]:
        found = NAME.fullmatch(row["name"])
        if found:
            laws.setdefault(found["law"], []).append((int(found["lanes"]), row["ours"]))
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    whole, each = figure.subplots(1, 2)
    for (law, points), style in zip(laws.items(), ("-o", "-s", "-^"), strict=False):
        lanes, cost = zip(*points, strict=True)
        whole.loglog(lanes, [n * c / 1e3 for n, c in points], style, ms=4, label=law)
        each.semilogx(lanes, cost, style, ms=4, label=law)
    first = next(iter(laws.values()))
    ends = (first[0][0], first[-1][0])
    proportional = [first[0][1] * n / 1e3 / 2 for n in ends]
    whole.loglog(ends, proportional, ":", color="0.4", label="proportional")
    whole.set(xlabel="lanes", ylabel="time of one step of all lanes (ms)")
    each.set(xlabel="lanes", ylabel="time a step and lane (us)", ylim=(0, None))
    for panel in (whole, each):
        panel.grid(alpha=0.25, which="both")
    whole.legend(frameon=False, fontsize="small")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "lanes.png", dpi=100)


if __name__ == "__main__":
    main()
