"""Drawings of a robot on the leg over a gait cycle, beside its motors and cuffs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from homodyn.codesign.design_solution import DesignSolution
from homodyn.codesign.drawing import BODY_COLOR, LINK_COLORS, PIN_COLOR
from homodyn.dynamics import position
from homodyn.errors import HomodynError
from homodyn.gait.legs import find_legs
from homodyn.model import Capsule
from homodyn.model.side import Side

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DRAWN_POSES = 8
POSE_SPACING_M = 0.75
"""Distance of poses in a drawing: the body does not move forward as it walks."""


def last_cycle(solution: DesignSolution, duration: float | None = None) -> tuple[float, float]:
    """Start and end of the last whole cycle of a walk.

    Args:
        solution: A design that was simulated.
        duration: Duration of the cycle (s); that of the controller by default.

    Returns:
        Times (s); the right leg begins its cycle at the start.

    Raises:
        HomodynError: The design was not simulated, or fell in the first cycle.
    """
    if solution.result is None:
        raise HomodynError(f"the design was not simulated: {solution.sentence}")
    period = 1.0 / solution.study.task.frequency if duration is None else duration
    whole = int(np.floor(float(solution.result.time[-1]) / period + 1e-9))
    if whole < 1:
        raise HomodynError(f"the design has no complete cycle: {solution.sentence}")
    return (whole - 1) * period, whole * period


def draw_design(
    solution: DesignSolution,
    axes: Axes | None = None,
    side: Side = Side.RIGHT,
    poses: int = DRAWN_POSES,
) -> Axes:
    """Draw one leg with its robot in poses of the last gait cycle, from left to right.

    Args:
        solution: A design that was simulated.
        axes: Axes of matplotlib; new ones by default.
        side: The leg.
        poses: Number of poses.

    Returns:
        The axes.

    Raises:
        HomodynError: The design has no complete gait cycle.
    """
    start, end = last_cycle(solution)
    if axes is None:
        from matplotlib.figure import Figure

        axes = Figure(figsize=(1.35 * poses, 3.4), layout="constrained").subplots()
    assert solution.result is not None
    shares = np.linspace(0.0, 1.0, poses, endpoint=False)
    samples = np.searchsorted(solution.result.time, start + shares * (end - start))
    for k, sample in enumerate(samples):
        q = np.array(solution.result.q[sample])
        q[solution.model.position_index[solution.model.root.v[0]]] = k * POSE_SPACING_M
        _draw_pose(axes, solution, q, side)
        axes.annotate(f"{100 * shares[k]:.0f} %", (k * POSE_SPACING_M, -0.12), ha="center")
    axes.axhline(0.0, color=BODY_COLOR, linewidth=1, zorder=0)
    axes.set_aspect("equal")
    axes.set_xlim(-0.5, (poses - 1) * POSE_SPACING_M + 0.5)
    axes.set_ylim(-0.18, 1.6)
    axes.axis("off")
    return axes


def design_figure(solution: DesignSolution) -> Figure:
    """A figure of `draw_design` with a title.

    Args:
        solution: A design that was simulated.

    Returns:
        The figure of matplotlib.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.35 * DRAWN_POSES, 3.6), layout="constrained")
    axes = draw_design(solution, figure.subplots())
    pair = " and ".join(map(str, solution.design.actuated))
    axes.set_title(
        f"topology {solution.design.topology.number}, actuators at joints {pair} "
        f"(rings): {solution.sentence}",
        fontsize=10,
    )
    return figure


def _draw_pose(axes: Axes, solution: DesignSolution, q: np.ndarray, side: Side) -> None:
    """Segments of the person as wide gray lines, bars in colors, pins, actuators as rings."""
    model = solution.model
    leg = next(one for one in find_legs(model) if one.side is side)
    frame = next(one for one in solution.device.frames if one.side is side)
    hip, knee, ankle = (_point(solution, q, name) for name in (leg.hip, leg.knee, leg.ankle))
    trunk = _point(solution, q, frame.bodies[0], [0.0, 0.0, float(np.ptp(frame.ends[0]))])
    toe = _point(solution, q, leg.ankle, [0.15, 0.0, -0.05])
    for first, second, width in (
        (trunk, hip, 8), (hip, knee, 8), (knee, ankle, 8), (ankle, toe, 5),
    ):  # fmt: skip
        axes.plot(*zip(first, second, strict=True), color=BODY_COLOR, linewidth=width,
                  solid_capstyle="round", zorder=1)  # fmt: skip
    linkage = solution.design.topology.linkage
    seen: dict[int, tuple[float, float]] = {}
    for capsule, link, numbers in _bars(solution, side):
        ends = [_point(solution, q, capsule.body, end) for end in (capsule.start, capsule.end)]
        color = LINK_COLORS[linkage.robot_links.index(link)]
        axes.plot(*zip(*ends, strict=True), color=color, linewidth=2.2, zorder=3)
        seen.update(zip(numbers, ends, strict=True))
    for number, (x, z) in seen.items():
        axes.plot(x, z, "o", color=PIN_COLOR, markersize=3, zorder=4)
        if number in solution.design.actuated:
            axes.plot(x, z, "o", mfc="none", mec=PIN_COLOR, markersize=9, mew=1.4, zorder=5)


def _bars(solution: DesignSolution, side: Side) -> list[tuple[Capsule, str, tuple[int, int]]]:
    """Bars of one leg with the letter of their link and the numbers of their joints."""
    start = f"{side.value}_robot_"
    found = []
    for capsule in solution.model.capsules:
        if capsule.name.startswith(start):
            link, joints = capsule.name.removeprefix(start).split("_")
            found.append((capsule, link, (int(joints[0]), int(joints[1]))))
    return found


def _point(
    solution: DesignSolution, q: np.ndarray, frame: str, point: object = None
) -> tuple[float, float]:
    """Forward position and height of a point (m)."""
    local = None if point is None else np.asarray(point, dtype=float)
    x, _, z = position(solution.model, q, frame, local)
    return float(x), float(z)
