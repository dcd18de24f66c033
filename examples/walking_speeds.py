"""Three walking speeds, from recordings to one page that compares them.

The recordings are made, so that the example needs no data: the same person walks slowly, at ease
and fast before cameras and on force plates. Each trial is analysed and gets a page of its own;
``index.html`` lays them side by side. Run it to get the pages::

    python examples/walking_speeds.py walking_speeds
"""

from __future__ import annotations

import sys
from pathlib import Path

import homodyn as hd
from homodyn.analysis import Settings
from homodyn.report import analyze_all

SPEEDS = {"slow": 1.0, "at_ease": 1.2, "fast": 1.4}
"""m/s."""
MASS, HEIGHT = 68.0, 1.72


def record(folder: Path) -> list[Path]:
    """Make the recordings, one C3D file a speed."""
    folder.mkdir(parents=True, exist_ok=True)
    body = None
    files = []
    for name, speed in SPEEDS.items():
        made = hd.synthetic.walking_trial(
            model=body, height=HEIGHT, mass=MASS, speed=speed, strides=2, seed=3
        )
        body = made.model
        hd.save(body, folder / "person.toml")
        files.append(folder / f"{name}.c3d")
        hd.capture.write(made.trial, files[-1])
    return files


def main(output: str = "walking_speeds") -> Path:
    """Record, analyse and compare; the page that compares them is returned."""
    folder = Path(output)
    trials = record(folder / "recordings")
    person = folder / "recordings" / "person.toml"
    batch = analyze_all(trials, Settings(model=str(person)), folder / "results")
    for outcome in batch.outcomes:
        print(f"{outcome.name}: {outcome.done}, {outcome.light}{outcome.reason}")
    return folder / "results" / "index.html"


if __name__ == "__main__":
    print(main(*sys.argv[1:2]))
