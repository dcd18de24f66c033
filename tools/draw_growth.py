"""Draw the cost over the number of bodies, from the report of ``homodyn bench growth``.

Example: homodyn bench growth -o growth.json && python tools/draw_growth.py growth.json docs/images
"""

import json
import re
import sys
from pathlib import Path

from matplotlib.figure import Figure

from homodyn.report.colors import SERIES_COLORS

NAME = re.compile(r"(?P<law>\w+), (?P<shape>\w+) of (?P<size>\d+)")


def main() -> None:
    """Read a report and write the figure into a folder."""
    report, folder = Path(sys.argv[1]), Path(sys.argv[2])
    lines: dict[tuple[str, str], list[tuple[int, float, float | None]]] = {}
    for row in json.loads(report.read_text())["rows"]:
        found = NAME.fullmatch(row["name"])
        if found:
            key = (found["law"], found["shape"])
            lines.setdefault(key, []).append((int(found["size"]), row["ours"], row["peer"]))
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for panel, law in zip(axes, ("RNEA", "ABA"), strict=True):
        for shape, style in (("chain", "-o"), ("tree", "--s")):
            sizes, ours, peers = zip(*lines[law, shape], strict=True)
            panel.loglog(
                sizes, ours, style, color=SERIES_COLORS[0], ms=4, label=f"Homodyn, {shape}"
            )
            if all(peers):
                panel.loglog(sizes, peers, style, color="0.55", ms=4, label=f"Pinocchio, {shape}")
        reference = [ours[-1] * size / sizes[-1] for size in (10, 200)]
        panel.loglog((10, 200), reference, ":", color="0.2", label="proportional")
        panel.set(title=law, xlabel="bodies")
        panel.grid(alpha=0.25, which="both")
    axes[0].set_ylabel("time per state (us), one thread")
    axes[1].legend(frameon=False, fontsize="small")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "growth.png", dpi=100)


if __name__ == "__main__":
    main()
