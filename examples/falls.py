"""Falls of a person after pushes of different strength, simulated in one batch.

The feet are fixed to the ground. The script evaluates the dynamics of a human body, simulates and
draws the falls, and prints what it did and how long it took. Run it to get the figure::

    python examples/falls.py falls
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import casadi as ca
import matplotlib
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from homodyn import dynamics as laws
from homodyn.catalog import heiman
from homodyn.dynamics import ConstraintSet, PointContact, RollingSphere
from homodyn.dynamics.contacts import flat_foot
from homodyn.dynamics.tree import Tree
from homodyn.model import Model, save
from homodyn.symbolic import Kernel, kernel, machine

STEP = 2e-3
"""Time step of the simulation (s)."""

DURATION = 0.8
"""Duration of the simulation (s)."""

PUSHES = np.linspace(0.1, 0.8, 33)
"""Forward speeds of the pelvis after the push (m/s)."""


@dataclass(frozen=True)
class Falls:
    """Simulated falls: arrays of (time, push, ...)."""

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    force: np.ndarray


def run(folder: Path, report: Callable[[str], None] = print) -> Path:
    """Simulate the falls, write figure and model into ``folder``, and report each step."""
    folder.mkdir(parents=True, exist_ok=True)
    here = machine()
    native = f"{here.lanes} lanes of {here.instruction_set}" if here.compiler else "no C compiler"
    report(f"Kernels: {native}, {here.threads} threads.")

    model = person()
    save(model, folder / "person.toml")
    height = _text(laws.center_of_mass(model, model.neutral())[2], "m")
    report(
        f"A person: {len(model.bodies)} segments, {model.nv} degrees of freedom, {model.mass:g} kg,"
    )
    report(f"  center of mass {height} above the ground.")

    zero = np.zeros(model.nv)
    tau = laws.inverse_dynamics(model, model.neutral(), zero, zero)
    weight = tau[model.coordinate_names.index("Pelvis_TZ")]
    report(f"Inverse dynamics: standing still requires a vertical force of {_text(weight, 'N')}.")

    started = perf_counter()
    falls = simulate(model, PUSHES)
    spent = perf_counter() - started
    simulated = DURATION * len(PUSHES)
    report(f"{len(PUSHES)} falls of {DURATION:g} s with {len(feet().rows)} constraint rows:")
    report(f"  {spent:.1f} s including compilation, {simulated / spent:.0f} times real time.")
    drift = np.abs(energy_drift(model, falls)).max()
    report(f"  relative energy error {drift:.1g}, dissipation of the dampers included.")

    figure = folder / "fall.png"
    draw(model, falls, figure)
    report(f"Wrote {figure} and {folder / 'person.toml'}.")
    return figure


def person() -> Model:
    """HeiMan with springs and dampers that keep the body nearly straight but do not balance it."""
    numbers = {}
    body = heiman(height=1.79, mass=76.0)
    for coordinate in body.coordinates[6:]:
        ankle = coordinate.name.startswith("Ankle")
        numbers[f"{coordinate.name}.stiffness"] = 60.0 if ankle else 150.0
        numbers[f"{coordinate.name}.damping"] = 4.0 if ankle else 8.0
    return body.with_numbers(numbers)


def feet() -> ConstraintSet:
    """Both feet flat on the ground: 12 rows."""
    return _foot("Right") + _foot("Left")


def _foot(side: str) -> ConstraintSet:
    return flat_foot(
        RollingSphere(f"Heel{side}"), PointContact(f"Hallux{side}"), PointContact(f"Meta5{side}")
    )


def simulate(model: Model, pushes: np.ndarray) -> Falls:
    """Falls after pushes (m/s), all in one batch, by the classical Runge-Kutta method."""
    count = round(DURATION / STEP) + 1
    q = np.tile(model.neutral(), (len(pushes), 1))
    v = _after_push(model, q, pushes)
    contacts = feet()
    record = Falls(
        np.arange(count) * STEP,
        np.empty((count, *q.shape)),
        np.empty((count, *v.shape)),
        np.empty((count, len(pushes), len(contacts.rows))),
    )
    right_hand_side = _right_hand_side(model, contacts)
    for k in range(count):
        record.q[k], record.v[k] = q, v
        a1, record.force[k] = right_hand_side(q, v)
        q2, v2 = q + STEP / 2 * v, v + STEP / 2 * a1
        a2, _ = right_hand_side(q2, v2)
        q3, v3 = q + STEP / 2 * v2, v + STEP / 2 * a2
        a3, _ = right_hand_side(q3, v3)
        q4, v4 = q + STEP * v3, v + STEP * a3
        a4, _ = right_hand_side(q4, v4)
        q = q + STEP / 6 * (v + 2 * v2 + 2 * v3 + v4)
        v = v + STEP / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return record


def _right_hand_side(model: Model, contacts: ConstraintSet) -> Kernel:
    """Accelerations and ground forces under springs and dampers alone, as one kernel."""

    def motion(q: ca.SX, v: ca.SX) -> tuple[ca.SX, ca.SX]:
        passive = laws.passive_force(model, q, v)
        found = laws.constrained_dynamics(model, q, v, passive, contacts)
        return found.acceleration, found.force

    return kernel(motion, q=model.nq, v=model.nv, name="fall").compile()


def _after_push(model: Model, q: np.ndarray, pushes: np.ndarray) -> np.ndarray:
    """Velocities after a push of the pelvis: an impact with the feet on the ground."""
    v = np.zeros((len(pushes), model.nv))
    v[:, model.coordinate_names.index("Pelvis_TX")] = pushes
    return laws.impact(model, q, v, feet()).velocity


def energy_drift(model: Model, falls: Falls) -> np.ndarray:
    """Error of the energy balance at each time, relative to the largest kinetic energy."""
    q, v = falls.q, falls.v
    entries = model.coordinates
    stiffness = np.array([c.stiffness for c in entries])
    damping = np.array([c.damping for c in entries])
    rest = np.array([c.rest for c in entries])
    stored = (
        laws.kinetic_energy(model, q, v)
        + laws.potential_energy(model, q)
        + (0.5 * stiffness * (q - rest) ** 2).sum(-1)
    )
    power = (damping * v**2).sum(-1)
    # Simpson's rule over two steps matches the order of the integrator.
    lost = np.zeros_like(stored[::2])
    lost[1:] = np.cumsum(STEP / 3 * (power[:-2:2] + 4 * power[1:-1:2] + power[2::2]), axis=0)
    error = stored[::2] + lost - stored[0]
    return error / laws.kinetic_energy(model, q, v).max()


def draw(model: Model, falls: Falls, path: Path) -> None:
    """Draw the fall after the strongest push as stick figures, and all falls over time."""
    matplotlib.use("Agg")
    figure = Figure(figsize=(11, 5.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.35, 1))
    frames = np.linspace(0, len(falls.time) - 1, 7).astype(int)
    segments, widths = _sticks(model, falls.q[frames, -1])
    shades = matplotlib.colormaps["viridis"](np.linspace(0.9, 0.0, len(frames)))
    for lines, shade, frame in zip(segments, shades, frames, strict=True):
        left.add_collection(
            LineCollection(lines, linewidths=widths, colors=[shade], capstyle="round", alpha=0.55)
        )
        left.plot([], [], color=shade, lw=4, label=f"{falls.time[frame]:.2f} s")
    left.axhline(0.0, color="0.4", lw=1)
    left.set(xlabel="forward (m)", ylabel="height (m)", title="The strongest push")
    left.set_xlim(-0.6, 1.9)
    left.set_ylim(-0.05, 2.0)
    left.set_aspect("equal")
    left.legend(frameon=False, ncols=2, fontsize="small", loc="upper right")

    heights = laws.center_of_mass(model, falls.q)[..., 2]
    colors = matplotlib.colormaps["plasma"](np.linspace(0.0, 0.85, len(PUSHES)))
    for k, color in enumerate(colors):
        right.plot(falls.time, heights[:, k], color=color, lw=1.2)
    scale = matplotlib.cm.ScalarMappable(
        matplotlib.colors.Normalize(PUSHES[0], PUSHES[-1]),
        matplotlib.colors.ListedColormap(colors),
    )
    figure.colorbar(scale, ax=right, label="push (m/s)")
    right.set(
        xlabel="time (s)",
        ylabel="height of the center of mass (m)",
        title=f"{len(PUSHES)} pushes, one batch",
    )
    right.grid(alpha=0.25)
    figure.savefig(path, dpi=110)


def _sticks(model: Model, q: np.ndarray) -> tuple[np.ndarray, list[float]]:
    """Axes of the capsules of a model in the sagittal plane for each pose, and line widths."""
    bodies = {name: i for i, name in enumerate(model.body_names)}

    def ends(positions: ca.SX) -> ca.SX:
        placements = Tree(model, positions).placements
        points = [
            placements[bodies[capsule.body]].point_back(end)
            for capsule in model.capsules
            for end in (capsule.start, capsule.end)
        ]
        return ca.horzcat(*points).T

    points = kernel(ends, q=model.nq)(q).reshape(len(q), -1, 2, 3)
    return points[..., [0, 2]], [300.0 * capsule.radius for capsule in model.capsules]


def _text(number: float, unit: str) -> str:
    return f"{number:.4g} {unit}"


if __name__ == "__main__":
    run(Path(sys.argv[1] if len(sys.argv) > 1 else "falls"))
