"""Draw a synthetic walk for the guide: poses, forces, center of pressure, angles and torques.

Example: python tools/draw_walk.py docs/images
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from png_palette import reduce_colors

import homodyn as hd
from homodyn.report.colors import SERIES_COLORS, SIDE_COLORS
from homodyn.synthetic import (
    SyntheticTrial,
    walking_trial,
)
from homodyn.synthetic.ground_truth import true_torques

SIDES = {"Right": SIDE_COLORS["right"], "Left": SIDE_COLORS["left"]}
POSES = 11
PALETTE_COLORS = 64


def draw_poses(axes: plt.Axes, synthetic: SyntheticTrial) -> None:
    """Bones of the body and the forces on its feet over one stride, side by side."""
    walk, model = synthetic.walk, synthetic.model
    clock = np.linspace(0.0, walk.steps.period, POSES)
    q = walk.state(clock)[0]
    positions = {
        frame: np.asarray(hd.dynamics.position(model, q, frame))
        for frame in (
            *(body.name for body in model.bodies),
            *(contact.name for contact in model.contacts),
        )
    }
    for side, foot in zip(SIDES, walk.feet, strict=True):
        back = np.array([-foot.shape.heel, 0.0, -foot.shape.height])
        positions[f"Sole{side}"] = np.asarray(hd.dynamics.position(model, q, f"Foot{side}", back))
    ground_wrenches = dict(zip(SIDES, walk.ground_wrenches(clock), strict=True))
    gap = 0.35
    for k in range(POSES):
        shift = k * gap - walk.steps.origin

        def line(*names: str, k: int = k, shift: float = shift, **style: object) -> None:
            points = np.array([positions[name][k] for name in names])
            axes.plot(points[:, 0] + shift, points[:, 2], **style)

        line("Pelvis", "MiddleTrunk", "UpperTrunk", "Neck", "Head", color="black")
        head = positions["Head"][k]
        axes.add_patch(plt.Circle((head[0] + shift, head[2] + 0.09), 0.09, fill=False))
        for side, color in SIDES.items():
            line("Pelvis", f"Thigh{side}", f"Shank{side}", f"Foot{side}", color=color)
            line(f"UpperArm{side}", f"LowerArm{side}", f"Hand{side}", color=color, lw=0.8)
            line(f"Foot{side}", f"Hallux{side}", f"Sole{side}", f"Foot{side}", color=color)
            wrench = ground_wrenches[side]
            if wrench.force[k, 2] > 10:
                x, up = wrench.point[k, 0] + shift, wrench.force[k] / 1000
                axes.annotate(
                    "",
                    (x + up[0], up[2]),
                    (x, 0.0),
                    arrowprops={"arrowstyle": "->", "color": color},
                )
    axes.axhline(0, color="gray", lw=0.5)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title("one stride: bones and ground forces (1 m is 1 kN)", fontsize=9)


def center_of_pressure(axes: plt.Axes, synthetic: SyntheticTrial) -> None:
    """Top view of the plates, with the centers of pressure and the center of mass."""
    for plate in synthetic.trial.plates:
        corners = plate.corners[[0, 1, 2, 3, 0]]
        axes.plot(corners[:, 0], corners[:, 1], color="gray", lw=0.8)
        loaded = plate.force[:, 2] > 30
        path = plate.point[loaded, :2]
        # Y points to the left: the feet are on either side of the line of progression.
        color = SIDES["Left" if path[:, 1].mean() > 0 else "Right"]
        axes.plot(*path.T, color=color, lw=1.2)
    motion = synthetic.truth.motion
    com = np.asarray(hd.dynamics.center_of_mass(motion.model, motion.q))
    low = min(plate.corners[:, 0].min() for plate in synthetic.trial.plates)
    high = max(plate.corners[:, 0].max() for plate in synthetic.trial.plates)
    near = (com[:, 0] > low) & (com[:, 0] < high)
    axes.plot(com[near, 0], com[near, 1], color="black", lw=0.8)
    axes.set_aspect("equal")
    axes.set_title("plates: centers of pressure (red, blue), center of mass (black), m", fontsize=9)


def curves(rows: np.ndarray, synthetic: SyntheticTrial) -> None:
    """Draw angles, torques and the force on the right foot over a stride."""
    walk, model = synthetic.walk, synthetic.model
    clock = np.linspace(0.0, walk.steps.period, 301)
    percent = 100 * clock / walk.steps.period
    q = walk.state(clock)[0]
    tau, (right, _) = true_torques(walk, clock)
    weight = -float(model.mass) * float(model.gravity[2])
    for (name, sign), color in zip(
        (("Hip", -1), ("Knee", 1), ("Ankle", -1)), SERIES_COLORS, strict=False
    ):
        column = model.coordinate_index(f"{name}Right_RY")
        rows[0].plot(percent, sign * np.rad2deg(q[:, column]), color, label=name.lower())
        rows[1].plot(percent, -sign * tau[:, column] / float(model.mass), color)
    for (axis, label), color in zip(
        ((2, "up"), (0, "forward"), (1, "left")), SERIES_COLORS, strict=False
    ):
        rows[2].plot(percent, right.force[:, axis] / weight, color, label=label)
    rows[0].set_title("flexion, dorsiflexion (deg)", fontsize=9)
    rows[1].set_title("extension, plantarflexion torque (N m/kg)", fontsize=9)
    rows[2].set_title("force on the right foot (body weights)", fontsize=9)
    for axes in (rows[0], rows[2]):
        axes.legend(fontsize=7, frameon=False)
    for axes in rows:
        axes.axvline(100 * walk.steps.stance, color="gray", lw=0.5)
        axes.set_xlabel("stride (%)", fontsize=8)
        axes.tick_params(labelsize=7)


def main() -> None:
    """Write the figure into a folder."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    synthetic = walking_trial()
    figure = plt.figure(figsize=(9, 7.5), layout="constrained")
    grid = figure.add_gridspec(3, 3, height_ratios=(2.6, 0.8, 1.6))
    draw_poses(figure.add_subplot(grid[0, :]), synthetic)
    center_of_pressure(figure.add_subplot(grid[1, :]), synthetic)
    curves(np.array([figure.add_subplot(grid[2, k]) for k in range(3)]), synthetic)
    path = folder / "synthetic_walk.png"
    figure.savefig(path, dpi=100)
    reduce_colors(path, PALETTE_COLORS)


if __name__ == "__main__":
    main()
