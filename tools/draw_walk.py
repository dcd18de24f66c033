"""Draw a synthetic walk for the guide: poses, forces, center of pressure, angles and torques.

Example: python tools/draw_walk.py docs/images
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import homodyn as hd
from homodyn.synthetic import (
    SyntheticTrial,
    walking_trial,
)
from homodyn.synthetic.ground_truth import true_torques

SIDES = {"Right": "tab:red", "Left": "tab:blue"}
FIGURES = 11
COLOURS = 64


def figures(axes: plt.Axes, synthetic: SyntheticTrial) -> None:
    """Bones of the body and the forces on its feet over one stride, side by side."""
    walk, model = synthetic.walk, synthetic.model
    clock = np.linspace(0.0, walk.steps.period, FIGURES)
    q = walk.state(clock)[0]
    place = {
        frame: np.asarray(hd.dynamics.position(model, q, frame))
        for frame in (
            *(body.name for body in model.bodies),
            *(contact.name for contact in model.contacts),
        )
    }
    for side, foot in zip(SIDES, walk.feet, strict=True):
        back = np.array([-foot.shape.heel, 0.0, -foot.shape.height])
        place[f"Sole{side}"] = np.asarray(hd.dynamics.position(model, q, f"Foot{side}", back))
    ground_wrenches = dict(zip(SIDES, walk.ground_wrenches(clock), strict=True))
    gap = 0.35
    for k in range(FIGURES):
        shift = k * gap - walk.steps.origin

        def line(*names: str, k: int = k, shift: float = shift, **style: object) -> None:
            points = np.array([place[name][k] for name in names])
            axes.plot(points[:, 0] + shift, points[:, 2], **style)

        line("Pelvis", "MiddleTrunk", "UpperTrunk", "Neck", "Head", color="black")
        head = place["Head"][k]
        axes.add_patch(plt.Circle((head[0] + shift, head[2] + 0.09), 0.09, fill=False))
        for side, colour in SIDES.items():
            line("Pelvis", f"Thigh{side}", f"Shank{side}", f"Foot{side}", color=colour)
            line(f"UpperArm{side}", f"LowerArm{side}", f"Hand{side}", color=colour, lw=0.8)
            line(f"Foot{side}", f"Hallux{side}", f"Sole{side}", f"Foot{side}", color=colour)
            wrench = ground_wrenches[side]
            if wrench.force[k, 2] > 10:
                x, up = wrench.point[k, 0] + shift, wrench.force[k] / 1000
                axes.annotate(
                    "",
                    (x + up[0], up[2]),
                    (x, 0.0),
                    arrowprops={"arrowstyle": "->", "color": "tab:green"},
                )
    axes.axhline(0, color="grey", lw=0.5)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title("one stride: bones and ground forces (1 m is 1 kN)", fontsize=9)


def center_of_pressure(axes: plt.Axes, synthetic: SyntheticTrial) -> None:
    """Plates from above, with the pressure they read and the centre of mass."""
    for plate in synthetic.trial.plates:
        corners = plate.corners[[0, 1, 2, 3, 0]]
        axes.plot(corners[:, 0], corners[:, 1], color="grey", lw=0.8)
        loaded = plate.force[:, 2] > 30
        axes.plot(*plate.point[loaded, :2].T, color="tab:green", lw=1.2)
    motion = synthetic.truth.motion
    com = np.asarray(hd.dynamics.center_of_mass(motion.model, motion.q))
    low = min(plate.corners[:, 0].min() for plate in synthetic.trial.plates)
    high = max(plate.corners[:, 0].max() for plate in synthetic.trial.plates)
    near = (com[:, 0] > low) & (com[:, 0] < high)
    axes.plot(com[near, 0], com[near, 1], color="black", lw=0.8)
    axes.set_aspect("equal")
    axes.set_title("plates: pressure (green), centre of mass (black), m", fontsize=9)


def curves(rows: np.ndarray, synthetic: SyntheticTrial) -> None:
    """Angles, torques and the force on the right foot over its stride."""
    walk, model = synthetic.walk, synthetic.model
    clock = np.linspace(0.0, walk.steps.period, 301)
    percent = 100 * clock / walk.steps.period
    q = walk.state(clock)[0]
    tau, (right, _) = true_torques(walk, clock)
    weight = -float(model.mass) * float(model.gravity[2])
    for name, sign, colour in (("Hip", -1, "C0"), ("Knee", 1, "C1"), ("Ankle", -1, "C2")):
        column = model.coordinate_index(f"{name}Right_RY")
        rows[0].plot(percent, sign * np.rad2deg(q[:, column]), colour, label=name.lower())
        rows[1].plot(percent, -sign * tau[:, column] / float(model.mass), colour)
    for axis, label, colour in ((2, "up", "C3"), (0, "forward", "C4"), (1, "left", "C5")):
        rows[2].plot(percent, right.force[:, axis] / weight, colour, label=label)
    rows[0].set_title("flexion, dorsiflexion (deg)", fontsize=9)
    rows[1].set_title("extension, plantarflexion torque (N m/kg)", fontsize=9)
    rows[2].set_title("force on the right foot (body weights)", fontsize=9)
    for axes in (rows[0], rows[2]):
        axes.legend(fontsize=7, frameon=False)
    for axes in rows:
        axes.axvline(100 * walk.steps.stance, color="grey", lw=0.5)
        axes.set_xlabel("stride (%)", fontsize=8)
        axes.tick_params(labelsize=7)


def main() -> None:
    """Write the picture into the folder that is named."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    synthetic = walking_trial()
    figure = plt.figure(figsize=(9, 7.5), layout="constrained")
    grid = figure.add_gridspec(3, 3, height_ratios=(2.6, 0.8, 1.6))
    figures(figure.add_subplot(grid[0, :]), synthetic)
    center_of_pressure(figure.add_subplot(grid[1, :]), synthetic)
    curves(np.array([figure.add_subplot(grid[2, k]) for k in range(3)]), synthetic)
    path = folder / "synthetic_walk.png"
    figure.savefig(path, dpi=100)
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(
            COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        )
    few.save(path, optimize=True)


if __name__ == "__main__":
    main()
