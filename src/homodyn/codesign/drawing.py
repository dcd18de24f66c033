"""Drawings of topologies on a schematic leg."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from homodyn.codesign.leg_frame import LegFrame
from homodyn.codesign.places import default_places
from homodyn.codesign.topology import Topology
from homodyn.model.side import Side
from homodyn.spatial import Transform

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINK_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe and Ito: distinguishable with color vision deficiency."""
BODY_COLOR, PIN_COLOR = "#b8b8b8", "#222222"
SCHEMATIC_ENDS_M = np.array([[0.95, 1.45], [0.51, 0.95], [0.07, 0.51]])
"""Heights of torso, thigh and shank of a person of 1.80 m."""
NUMBER_OFFSET_M = 0.035


def draw_topology(topology: Topology, axes: Axes | None = None) -> Axes:
    """Draw a topology on a leg that faces right: bars in colors, joints with their numbers.

    Args:
        topology: The topology, on torso, thigh and shank.
        axes: Axes of matplotlib; new ones by default.

    Returns:
        The axes.
    """
    if axes is None:
        import matplotlib.pyplot as plt

        _, axes = plt.subplots(figsize=(2.6, 4.2), layout="constrained")
    frame = _schematic_frame()
    places = default_places(topology, frame)
    for low, high in frame.ends:
        axes.plot([0, 0], [low, high], color=BODY_COLOR, linewidth=11, solid_capstyle="round")
    axes.plot(0, 1.58, "o", color=BODY_COLOR, markersize=20)
    axes.plot([0, 0.17], [0.04, 0.04], color=BODY_COLOR, linewidth=8, solid_capstyle="round")
    for link, color in zip(topology.linkage.robot_links, LINK_COLORS, strict=False):
        numbers = [n for n, pair in enumerate(topology.linkage.joints, start=1) if link in pair]
        for first, second in combinations(numbers, 2):
            x, z = zip(places[first], places[second], strict=True)
            axes.plot(x, z, color=color, linewidth=3, solid_capstyle="round", zorder=3)
    axes.plot([0, 0], [frame.hip[1], frame.knee[1]], "o", color="white", mec=PIN_COLOR, ms=7)
    followers = dict(topology.shared_pins)
    for number, (x, z) in places.items():
        axes.plot(x, z, "o", color=PIN_COLOR, markersize=6, zorder=4)
        if number in followers.values():
            continue
        label = f"{number}, {followers[number]}" if number in followers else str(number)
        ahead = x >= frame.hip[0]
        axes.annotate(
            label,
            (x + (NUMBER_OFFSET_M if ahead else -NUMBER_OFFSET_M), z),
            ha="left" if ahead else "right",
            va="center",
            fontsize=9,
            zorder=5,
        )
    axes.set_title(f"{topology.number}: {len(topology.pairs)} pairs", fontsize=10)
    axes.set_aspect("equal")
    axes.set_xlim(-0.36, 0.26)
    axes.set_ylim(-0.05, 1.72)
    axes.axis("off")
    return axes


def draw_topologies(topologies: list[Topology], columns: int = 5) -> Figure:
    """Draw several topologies as one figure.

    Args:
        topologies: The topologies.
        columns: Drawings per row.

    Returns:
        The figure of matplotlib.
    """
    from matplotlib.figure import Figure

    rows = -(-len(topologies) // columns)
    figure = Figure(figsize=(1.7 * columns, 3.6 * rows), layout="constrained")
    cells = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in cells:
        axes.axis("off")
    for topology, axes in zip(topologies, cells, strict=False):
        draw_topology(topology, axes)
    return figure


def _schematic_frame() -> LegFrame:
    """A leg of a person of 1.80 m, without a model."""
    same = Transform.identity()
    return LegFrame(
        Side.LEFT,
        ("torso", "thigh", "shank"),
        ("hip", "knee"),
        SCHEMATIC_ENDS_M,
        np.zeros(3),
        0.0,
        (same, same, same),
    )
