"""Put the report of ``homodyn bench simulate`` into the page of benchmarks: tables and a figure.

Example: homodyn bench simulate -o simulate.json && python tools/simulate_page.py simulate.json docs
"""

import json
import re
import sys
from pathlib import Path

from matplotlib.figure import Figure

BEGIN, END = "<!-- figures of bench simulate -->", "<!-- end of figures -->"
LANES = re.compile(r"(?P<law>.+), (?P<lanes>\d+) lanes against 8")
SPEED = "{}, 256 humans at 1 ms, {}"
ALONE = "{}, one human at 1 ms on one core, against real time"


def main() -> None:
    """Read the report named first; write into the folder of documentation named second."""
    report, folder = Path(sys.argv[1]), Path(sys.argv[2])
    rows = {row["name"]: row for row in json.loads(report.read_text())["rows"]}
    lanes: dict[str, list[tuple[int, float]]] = {}
    for name, row in rows.items():
        found = LANES.fullmatch(name)
        if found:
            lanes.setdefault(found["law"], []).append((int(found["lanes"]), row["ours"]))
    draw(lanes, folder / "images" / "lanes.png")
    page = folder / "benchmarks.md"
    before, _, rest = page.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    tables = [laws_table(rows, list(lanes)), lanes_table(rows, lanes), shares_table(rows)]
    page.write_text(before + "\n\n".join([BEGIN, *tables, END]) + after)


def laws_table(rows: dict[str, dict], laws: list[str]) -> str:
    """A row for each law and for MuJoCo, with all that was compared."""
    first = rows[SPEED.format(laws[0], "1 thread")]
    both = rows[SPEED.format(laws[0], "2 threads")]
    alone = re.sub(r"\D", "", rows[ALONE.format(laws[0])]["note"])
    force, depth = (f"{laws[0]}, {what}" for what in ("error of the settled force", "penetration"))
    lines = [
        "| | steps/s/core, 1 thread | times MuJoCo | steps/s/core, 2 threads | times MuJoCo | "
        "one human, times real time | error of the settled force, % of weight | penetration, m |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for law in laws:
        one, two = (rows[SPEED.format(law, text)] for text in ("1 thread", "2 threads"))
        cells = [law]
        for row in (one, two):
            cells += [f"{row['ours']:,.0f}", f"{row['ratio']:.1f}"]
        cells.append(f"{rows[ALONE.format(law)]['ours']:.0f}")
        cells.append(f"{rows[f'{law}, error of the settled force']['ours']:.2g}")
        cells.append(f"{rows[f'{law}, penetration']['ours']:.2g}")
        lines.append(f"| {' | '.join(cells)} |")
    lines.append(
        f"| MuJoCo | {first['peer']:,.0f} | | {both['peer']:,.0f} | | {alone} | "
        f"{rows[force]['peer']:.2g} | {rows[depth]['peer']:.2g} |"
    )
    lines.append("| required of each law | | 10 | | 10 | 100 | MuJoCo's | MuJoCo's |")
    return "\n".join(lines)


def lanes_table(rows: dict[str, dict], lanes: dict[str, list[tuple[int, float]]]) -> str:
    """Steps a second for each number of lanes and law, and the memory of the process."""
    lines = [
        f"| lanes | {' | '.join(f'{law}, steps/s' for law in lanes)} |",
        f"|---|{'---|' * len(lanes)}",
    ]
    for k, (count, _) in enumerate(next(iter(lanes.values()))):
        costs = [points[k][1] for points in lanes.values()]
        lines.append(f"| {count:,} | {' | '.join(f'{1e6 / cost:,.0f}' for cost in costs)} |")
    memory = rows["peak resident memory of the process"]
    return "\n".join(lines) + (
        f"\n\nPeak resident memory of the process: {memory['ours']:.0f} MB, {memory['note']}."
    )


def shares_table(rows: dict[str, dict]) -> str:
    """Where the time of a rigid step goes."""
    lines = ["| part of a rigid step | share of its time | instructions |", "|---|---|---|"]
    for name, row in rows.items():
        _, mark, part = name.partition("share of a step: ")
        if mark:
            lines.append(f"| {part} | {row['ours']:.0f} % | {row['note'].split()[0]} |")
    return "\n".join(lines)


def draw(lanes: dict[str, list[tuple[int, float]]], target: Path) -> None:
    """Time of a step over the number of lanes: of all, and of each."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    whole, each = figure.subplots(1, 2)
    for (law, points), style in zip(lanes.items(), ("-o", "-s", "-^"), strict=False):
        counts, costs = zip(*points, strict=True)
        whole.loglog(counts, [n * cost / 1e3 for n, cost in points], style, ms=4, label=law)
        each.semilogx(counts, costs, style, ms=4, label=law)
    first = next(iter(lanes.values()))
    ends = (first[0][0], first[-1][0])
    proportional = [first[0][1] * n / 1e3 / 2 for n in ends]
    whole.loglog(ends, proportional, ":", color="0.4", label="proportional")
    whole.set(xlabel="lanes", ylabel="time of one step of all lanes (ms)")
    each.set(xlabel="lanes", ylabel="time a step and lane (us)", ylim=(0, None))
    for panel in (whole, each):
        panel.grid(alpha=0.25, which="both")
    whole.legend(frameon=False, fontsize="small")
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, dpi=100)


if __name__ == "__main__":
    main()
