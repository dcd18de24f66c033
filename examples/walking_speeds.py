"""Three walking speeds, from recordings to one page that compares them.

The recordings are synthetic, so that the example needs no data: the same person walks slowly, at a
comfortable speed and fast over force plates. Each trial is analyzed and gets its own page;
``index.html`` compares them. Run it to get the pages::

    python examples/walking_speeds.py walking_speeds
"""

from __future__ import annotations

import sys
from pathlib import Path

import homodyn as hd
from homodyn.analysis import Settings, analyze_batch
from homodyn.report import HtmlPages

SPEEDS = {"slow": 1.0, "comfortable": 1.2, "fast": 1.4}
"""m/s."""
MASS, HEIGHT = 68.0, 1.72
"""kg, m."""


def record(folder: Path) -> list[Path]:
    """Generate the recordings, one C3D file per speed."""
    folder.mkdir(parents=True, exist_ok=True)
    body = None
    files = []
    for name, speed in SPEEDS.items():
        synthetic = hd.synthetic.walking_trial(
            model=body, height=HEIGHT, mass=MASS, speed=speed, strides=2, seed=3
        )
        body = synthetic.model
        hd.save(body, folder / "person.toml")
        files.append(folder / f"{name}.c3d")
        hd.capture.write(synthetic.trial, files[-1])
    return files


def main(output: str = "walking_speeds") -> Path:
    """Record, analyze and compare; returns the comparison page."""
    folder = Path(output)
    trials = record(folder / "recordings")
    person = folder / "recordings" / "person.toml"
    settings = Settings(model=str(person))
    batch = analyze_batch(trials, settings, folder / "results", pages=HtmlPages())
    for outcome in batch.outcomes:
        print(f"{outcome.name}: {outcome.status}, {outcome.light}{outcome.reason}")
    return folder / "results" / "index.html"


if __name__ == "__main__":
    print(main(*sys.argv[1:2]))
