"""Draw the figures of a search for the guide: convergence, and visits of subspaces.

Example: python tools/draw_search.py docs/images
"""

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from png_palette import reduce_colors

from homodyn.report.search_figures import save_figures
from homodyn.search import MMPSO, Objective, Pool, SearchParameter, Space, minimize

PALETTE_COLORS = 64
JOINTS = ("hip", "knee", "ankle")
BEST_STIFFNESS = {"hip": 2.2, "knee": 1.6, "ankle": 2.6}
"""Logarithm of the best stiffness (N m/rad) of each joint."""


def walk(parameters: dict[str, float], structure: dict[str, str]) -> dict[str, float]:
    """Speed (m/s) and cost of a walker with a spring, a clutch or nothing at each joint."""
    speed = parameters["step"] * parameters["frequency"]
    cost = (speed - 2.4) ** 2
    for joint in JOINTS:
        kind = structure[f"{joint} joint"]
        if kind == "free":
            cost += 1.0
            continue
        deviation = np.log10(parameters[joint]) - BEST_STIFFNESS[joint]
        cost += deviation**2 + (0.1 if kind == "clutch" else 0.0)
    return {"speed": speed, "cost": float(cost)}


def main() -> None:
    """Run the search and write both figures into a folder."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    space = Space(
        [
            *(SearchParameter(joint, 10, 1000, "N m/rad", scale="log") for joint in JOINTS),
            SearchParameter("step", 0.1, 1.6, "m"),
            SearchParameter("frequency", 0.4, 1.6, "Hz"),
        ],
        pools=[
            Pool(f"{joint} joint", {"free": (), "spring": (joint,), "clutch": (joint,)})
            for joint in JOINTS
        ],
    )
    result = minimize(
        walk,
        space,
        objectives=[
            Objective("speed", maximize=True, until="> 2.35", unit="m/s"),
            Objective("cost"),
        ],
        optimizer=MMPSO(60, explore="0.05 * sigmoid((0.5 * N - k) / (0.05 * N))"),
        iterations=120,
        where="serial",
        name="springs",
    )
    with tempfile.TemporaryDirectory() as temporary:
        save_figures(result.study, temporary)
        for name in ("convergence", "visits"):
            path = folder / f"search_{name}.png"
            shutil.copy(Path(temporary) / f"{name}.png", path)
            reduce_colors(path, PALETTE_COLORS)


if __name__ == "__main__":
    main()
