"""Write the tables and the figure of ``homodyn bench simulate`` into docs/benchmarks.md.

Example: homodyn bench simulate -o simulate.json && python tools/simulate_page.py simulate.json docs
"""

import json
import re
import sys
from pathlib import Path

from matplotlib.figure import Figure

from homodyn.bench.rollout_costs import IMPEDANCE_ROW, MEASURES_ROW, STEPPING_ROW
from homodyn.bench.simulate import FORCE_ERROR, PEAK_MEMORY
from homodyn.report.colors import SERIES_COLORS

BEGIN, END = "<!-- figures of bench simulate -->", "<!-- end of figures -->"
BATCH = re.compile(r"(?P<law>.+), batch of (?P<size>\d+), against a batch of 8")
COSTS = ("soft rows of markers", "event-driven", IMPEDANCE_ROW, MEASURES_ROW, STEPPING_ROW)
SPEED = "{}, 256 humans at 1 ms, {}"
SINGLE = "{}, one human at 1 ms on one core, against real time"


def main() -> None:
    """Read a report; write into the documentation folder."""
    report, folder = Path(sys.argv[1]), Path(sys.argv[2])
    rows = {row["name"]: row for row in json.loads(report.read_text())["rows"]}
    batches: dict[str, list[tuple[int, float]]] = {}
    for name, row in rows.items():
        match = BATCH.fullmatch(name)
        if match:
            batches.setdefault(match["law"], []).append((int(match["size"]), row["ours"]))
    draw(batches, folder / "images" / "batches.png")
    page = folder / "benchmarks.md"
    before, _, rest = page.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    tables = [
        laws_table(rows, list(batches)),
        batches_table(rows, batches),
        shares_table(rows),
        costs_table(rows),
    ]
    page.write_text(before + "\n\n".join([BEGIN, *tables, END]) + after)


def laws_table(rows: dict[str, dict], laws: list[str]) -> str:
    """One row per contact law, and one for MuJoCo."""
    first = rows[SPEED.format(laws[0], "1 thread")]
    both = rows[SPEED.format(laws[0], "2 threads")]
    single = re.sub(r"\D", "", rows[SINGLE.format(laws[0])]["note"])
    force, depth = (f"{laws[0]}, {what}" for what in (FORCE_ERROR, "penetration"))
    lines = [
        "| | steps/s/core, 1 thread | times MuJoCo | steps/s/core, 2 threads | times MuJoCo | "
        "one human, times real time | force error, % of weight | penetration, m |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for law in laws:
        one, two = (rows[SPEED.format(law, text)] for text in ("1 thread", "2 threads"))
        cells = [law]
        for row in (one, two):
            cells += [f"{row['ours']:,.0f}", f"{row['ratio']:.1f}"]
        cells.append(f"{rows[SINGLE.format(law)]['ours']:.0f}")
        cells.append(f"{rows[f'{law}, {FORCE_ERROR}']['ours']:.2g}")
        cells.append(f"{rows[f'{law}, penetration']['ours']:.2g}")
        lines.append(f"| {' | '.join(cells)} |")
    lines.append(
        f"| MuJoCo | {first['peer']:,.0f} | | {both['peer']:,.0f} | | {single} | "
        f"{rows[force]['peer']:.2g} | {rows[depth]['peer']:.2g} |"
    )
    lines.append("| required | | 10 | | 10 | 100 | MuJoCo | MuJoCo |")
    return "\n".join(lines)


def batches_table(rows: dict[str, dict], batches: dict[str, list[tuple[int, float]]]) -> str:
    """Steps per second over the batch size, and the memory of the process."""
    lines = [
        f"| batch size | {' | '.join(f'{law}, steps/s' for law in batches)} |",
        f"|---|{'---|' * len(batches)}",
    ]
    for k, (count, _) in enumerate(next(iter(batches.values()))):
        costs = [points[k][1] for points in batches.values()]
        lines.append(f"| {count:,} | {' | '.join(f'{1e6 / cost:,.0f}' for cost in costs)} |")
    memory = rows[PEAK_MEMORY]
    return "\n".join(lines) + (
        f"\n\nPeak resident memory of the process: {memory['ours']:.0f} MB, {memory['note']}."
    )


def shares_table(rows: dict[str, dict]) -> str:
    """The breakdown of a rigid step."""
    lines = ["| part of a rigid step | share of its time | instructions |", "|---|---|---|"]
    for name, row in rows.items():
        _, mark, part = name.partition("share of a step: ")
        if mark:
            lines.append(f"| {part} | {row['ours']:.0f} % | {row['note'].split()[0]} |")
    return "\n".join(lines)


def costs_table(rows: dict[str, dict]) -> str:
    """Rows of markers, the event-driven law, and what signals, measures and stepping add."""
    lines = ["| | ours | peer or limit | unit | ratio | required |", "|---|---|---|---|---|---|"]
    for name, row in rows.items():
        if any(part in name for part in COSTS):
            peer = "" if row["peer"] is None else f"{row['peer']:,.3g}"
            ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}"
            required = "" if row["required"] is None else f"{row['required']:.3g}"
            cells = [name, f"{row['ours']:,.3g}", peer, row["unit"], ratio, required]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def draw(batches: dict[str, list[tuple[int, float]]], target: Path) -> None:
    """Draw the time of a step over the batch size: in total, and per element."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    total, per_element = figure.subplots(1, 2)
    for (law, points), marker, color in zip(
        batches.items(), ("o", "s", "^"), SERIES_COLORS, strict=False
    ):
        look = {"marker": marker, "color": color, "ms": 4, "label": law}
        counts, costs = zip(*points, strict=True)
        total.loglog(counts, [n * cost / 1e3 for n, cost in points], **look)
        per_element.semilogx(counts, costs, **look)
    first = next(iter(batches.values()))
    ends = (first[0][0], first[-1][0])
    proportional = [first[0][1] * n / 1e3 / 2 for n in ends]
    total.loglog(ends, proportional, ":", color="0.4", label="proportional")
    total.set(xlabel="batch size", ylabel="time of one step of the batch (ms)")
    per_element.set(xlabel="batch size", ylabel="time per step and element (us)", ylim=(0, None))
    for panel in (total, per_element):
        panel.grid(alpha=0.25, which="both")
    total.legend(frameon=False, fontsize="small")
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, dpi=100)


if __name__ == "__main__":
    main()
