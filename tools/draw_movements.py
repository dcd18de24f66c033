"""Draw the movements of ``examples/optimal`` as strips of stick figures for the guide.

Example: python tools/draw_movements.py docs/images
"""

import importlib
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from homodyn.dynamics import position

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "optimal"
MOVEMENTS = {
    "double_step": "a double step",
    "asymmetric_gait": "with a splint on the left knee",
    "running": "running at 3 m/s",
    "jump": "a jump",
    "squat_to_stand": "from a squat to standing",
}
POSE_COUNT = 9
"""Poses in a strip."""
RIGHT_COLOR, LEFT_COLOR, MIDDLE_COLOR = "#c8553d", "#3b78b5", "0.35"


def main() -> None:
    """Solve all movements and write one figure into a folder."""
    sys.path.insert(0, str(FOLDER))
    figure = Figure(figsize=(6.6, 9.4), layout="constrained", dpi=110)
    for axes, (name, title) in zip(figure.subplots(len(MOVEMENTS)), MOVEMENTS.items(), strict=True):
        module = importlib.import_module(name)
        solution = module.main()[1] if name == "asymmetric_gait" else module.problem().solve()
        assert solution.status.success, solution.explain()
        time = np.concatenate([phase.time for phase in solution.phases])
        q = np.concatenate([phase.q for phase in solution.phases])
        instants = np.linspace(0, time[-1], POSE_COUNT)
        chosen = [int(np.argmin(np.abs(time - t))) for t in instants]
        for n, k in enumerate(chosen):
            _draw(axes, solution.transcribed.model, q[k], 0.9 * n - q[k][0])
            axes.text(0.9 * n, -0.12, f"{time[k]:.2f} s", ha="center", va="top", fontsize=7)
        axes.axhline(0, color="0.6", lw=0.8)
        axes.set_title(title, fontsize=9, loc="left")
        axes.set(aspect="equal", ylim=(-0.25, 2.0))
        axes.axis("off")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "movements.png")


def _draw(axes, model, q, shift) -> None:
    """Draw lines between joints and to contacts, and a head on the trunk."""
    for joint in model.joints:
        if joint.parent == "world":
            continue
        ends = [position(model, q, name) for name in (joint.parent, joint.child)]
        _line(axes, ends, joint.child, shift)
    for contact in model.contacts:
        ends = [position(model, q, name) for name in (contact.body, contact.name)]
        _line(axes, ends, contact.name, shift)
    for joint in model.joints:
        if joint.parent == "world":
            top = position(model, q, joint.child, (0.0, 0.0, 0.5))
            _line(axes, [position(model, q, joint.child), top], "", shift)
            axes.plot(top[0] + shift, top[2] + 0.1, "o", color=MIDDLE_COLOR, ms=7)


def _line(axes, ends, name, shift) -> None:
    color = RIGHT_COLOR if "Right" in name else LEFT_COLOR if "Left" in name else MIDDLE_COLOR
    x, z = ([end[k] for end in ends] for k in (0, 2))
    axes.plot(np.array(x) + shift, z, color=color, lw=2.5, solid_capstyle="round")


if __name__ == "__main__":
    main()
