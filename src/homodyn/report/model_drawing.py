"""A figure of a model in a pose, from the front and from the right side, in meters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes as Plot
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Polygon, Wedge
from matplotlib.ticker import MultipleLocator
from numpy.typing import ArrayLike

from homodyn.errors import FormatError
from homodyn.foundation import atomic_file
from homodyn.foundation.text import count_of
from homodyn.model import Model
from homodyn.report.colors import GRAY, INK, PAPER, SIDE_COLORS
from homodyn.report.posed_geometry import (
    PosedGeometry,
    capsule_outline,
    contact_points,
    convex_outline,
    geometry_at_pose,
)

CONTACT_COLOR = "#d99a00"
FORMATS = (".png", ".svg", ".pdf")
_DOTS_PER_INCH = 110
_LETTER_WIDTH = 0.0108
"""Width of a letter of a label, as a share of the plot height."""
_HEIGHT_IN, _TOP_IN, _BOTTOM_IN, _LEFT_IN, _GAP_IN, _MIN_WIDTH_IN = 5.0, 0.85, 0.5, 0.55, 0.15, 4.0
"""Inches: height of the plots, margins above, below and left of them, gap, minimum total width."""


@dataclass(frozen=True)
class ViewDirection:
    """A direction of view: the world directions that point right, up and toward the viewer."""

    title: str
    right: np.ndarray
    up: np.ndarray
    near: np.ndarray

    def flat(self, points: np.ndarray) -> np.ndarray:
        """(n, 2), m: world points (n, 3) projected on the plane of the drawing."""
        return np.asarray(points) @ np.column_stack([self.right, self.up])

    def depth(self, points: np.ndarray) -> np.ndarray:
        """(n,), m: how far world points (n, 3) lie toward the viewer."""
        return np.asarray(points) @ self.near


@dataclass(frozen=True)
class ViewWindow:
    """The visible part of a view (m), and whether height zero is drawn as a floor.

    It is not a floor where it is the height of the hips, as in robots whose base is fixed there.
    """

    left: float
    right: float
    bottom: float
    top: float
    floor: bool

    @property
    def height(self) -> float:
        """Height of the window (m)."""
        return self.top - self.bottom


def draw_model(
    model: Model,
    q: ArrayLike | None = None,
    *,
    labels: bool = False,
    markers: bool = True,
    title: str = "",
) -> Figure:
    """Draw a model in a pose, from the front and from its right side.

    Capsules are outlines, bones are lines and movable joints are dots. The right of the body is red
    and the left is blue.

    Args:
        model: The model. Open parameters take their default values.
        q: Positions, shape ``(nq,)`` (m, rad); the neutral pose if omitted.
        labels: Write the names of the markers.
        markers: Draw the markers.
        title: Heading of the figure; the name of the model if omitted.

    Returns:
        A matplotlib figure with two plots in meters.
    """
    scene = geometry_at_pose(model, model.neutral() if q is None else np.asarray(q, dtype=float))
    axes = scene.axes
    views = [
        ViewDirection("front", axes.left, axes.up, axes.forward),
        ViewDirection("right side", axes.forward, axes.up, -axes.left),
    ]
    longest = max(map(len, scene.markers), default=0) if labels and markers else 0
    windows = [_window(scene, view, longest) for view in views]
    moving = {joint.name for joint in model.joints if joint.nv}
    figure, plots = _figure_with_plots(windows)
    for view, window, plot in zip(views, windows, plots, strict=True):
        _style_axes(plot, view, window)
        _capsules(plot, scene, view)
        _bones(plot, scene, view)
        _joints(plot, scene, view, moving, window.height)
        _contacts(plot, scene, view)
        if markers:
            _markers(plot, scene, view)
        if longest:
            _label_markers(plot, scene, view, window, longest)
        _center_of_mass(plot, scene, view, window)
    plots[0].set_ylabel("height (m)", fontsize=7.5, color=GRAY)
    plots[1].tick_params(labelleft=False)
    freedom = count_of(model.nv, "degree of freedom", "degrees of freedom")
    sizes = f"{count_of(len(model.bodies), 'body', 'bodies')}, {freedom}, {model.mass:.3g} kg"
    _headings(figure, title or model.name, sizes)
    _legend(figure, scene, markers)
    return figure


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write a figure to a file. On failure an existing file stays unchanged.

    Args:
        figure: A matplotlib figure.
        path: The file; its suffix ``.png``, ``.svg`` or ``.pdf`` selects the format.

    Raises:
        FormatError: The suffix is not supported, or the file cannot be written.
    """
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise FormatError(
            f"figures cannot be saved as {path.suffix!r}; accepted: {', '.join(FORMATS)}", str(path)
        )
    with atomic_file(path) as temporary:
        figure.savefig(temporary, metadata=_metadata(path))


def _metadata(path: Path) -> dict[str, Any]:
    """File metadata without dates and versions, so that the same drawing gives the same file."""
    return {".png": {"Software": None}, ".svg": {"Date": None}}.get(
        path.suffix.lower(), {"CreationDate": None}
    )


def _window(scene: PosedGeometry, view: ViewDirection, longest: int) -> ViewWindow:
    """The window of a view (m): the model, the ground near it, and space for marker labels.

    ``longest`` is the number of letters of the longest label; 0 without labels.
    """
    flat = view.flat(scene.points)
    (left, bottom), (right, top) = flat.min(axis=0), flat.max(axis=0)
    floor = -0.1 * (top - bottom) < bottom < top - bottom
    if floor:
        bottom, top = min(bottom, 0.0), max(top, 0.0)
    height = max(top - bottom, 0.2 * (right - left), 1e-3)
    middle, half = (left + right) / 2, max(right - left, 0.32 * height) / 2
    side = (0.04 + (_LETTER_WIDTH * longest + 0.04 if longest else 0.0)) * height
    return ViewWindow(
        middle - half - side,
        middle + half + side,
        bottom - 0.03 * height,
        top + 0.03 * height,
        floor,
    )


def _figure_with_plots(windows: list[ViewWindow]) -> tuple[Figure, list[Plot]]:
    """A figure with one plot per window, side by side, all at one scale."""
    scale = _HEIGHT_IN / windows[0].height
    widths = [scale * (window.right - window.left) for window in windows]
    width = max(_LEFT_IN + sum(widths) + _GAP_IN + _GAP_IN, _MIN_WIDTH_IN)
    height = _BOTTOM_IN + _HEIGHT_IN + _TOP_IN
    figure = Figure(figsize=(width, height), dpi=_DOTS_PER_INCH, facecolor=PAPER)
    spare = (width - _LEFT_IN - sum(widths) - _GAP_IN - _GAP_IN) / 2
    starts = (_LEFT_IN + spare, _LEFT_IN + spare + widths[0] + _GAP_IN)
    plots = [
        figure.add_axes((start / width, _BOTTOM_IN / height, own / width, _HEIGHT_IN / height))
        for start, own in zip(starts, widths, strict=True)
    ]
    return figure, plots


def _headings(figure: Figure, title: str, sizes: str) -> None:
    height = figure.get_figheight()
    figure.text(0.5, 1 - 0.24 / height, title, ha="center", va="center", fontsize=12, color=INK)
    figure.text(0.5, 1 - 0.46 / height, sizes, ha="center", va="center", fontsize=8, color=GRAY)


def _legend(figure: Figure, scene: PosedGeometry, markers: bool) -> None:
    """One line below the plots that explains the symbols that occur."""

    def symbol(label: str, **style: Any) -> Line2D:
        return Line2D([], [], linestyle="", label=label, **style)

    symbols = [
        symbol(side, marker="s", markersize=5, color=SIDE_COLORS[side])
        for side in ("left", "right")
        if side in scene.sides.values()
    ]
    symbols.append(symbol("joint", marker="o", markersize=4, markerfacecolor=PAPER, color=INK))
    if scene.contacts:
        symbols.append(symbol("contact", marker="D", markersize=3.5, color=CONTACT_COLOR))
    if markers and scene.markers:
        symbols.append(symbol("marker", marker="o", markersize=3.5, color=SIDE_COLORS["middle"]))
    symbols.append(symbol("center of mass", marker="$\u25d4$", markersize=6.5, color=INK))
    figure.legend(
        handles=symbols,
        loc="lower center",
        ncols=len(symbols),
        frameon=False,
        fontsize=7,
        labelcolor=GRAY,
        handletextpad=0.1,
        columnspacing=1.0,
        borderaxespad=0.3,
    )


def _style_axes(plot: Plot, view: ViewDirection, window: ViewWindow) -> None:
    plot.set_xlim(window.left, window.right)
    plot.set_ylim(window.bottom, window.top)
    plot.set_title(view.title, fontsize=8.5, color=INK, pad=2)
    plot.xaxis.set_major_locator(MultipleLocator(_step((window.right - window.left) / 3)))
    plot.yaxis.set_major_locator(MultipleLocator(_step(window.height / 6)))
    plot.grid(color="#e8ecf0", linewidth=0.7)
    plot.set_axisbelow(True)
    plot.tick_params(labelsize=7, length=0, colors=GRAY)
    for spine in plot.spines.values():
        spine.set_visible(False)
    if window.bottom < 0 < window.top:
        plot.axhline(0.0, color=INK, linewidth=1.4 if window.floor else 0.7, zorder=1)
    if window.floor:
        plot.axhspan(window.bottom, 0.0, color="#eef1f4", zorder=0)


def _step(target: float) -> float:
    """The tick step nearest to a target: 1, 2 or 5 times a power of ten."""
    scale = 10.0 ** np.floor(np.log10(target))
    return float(min((1, 2, 5, 10), key=lambda digit: abs(digit * scale - target)) * scale)


def _tint(color: str, share: float) -> tuple[float, float, float]:
    """A share of a color mixed with white."""
    red, green, blue = (share * c + (1 - share) for c in to_rgb(color))
    return red, green, blue


def _capsules(plot: Plot, scene: PosedGeometry, view: ViewDirection) -> None:
    """Outlines of the capsules, from far to near."""
    depths = [view.depth((solid.start + solid.end) / 2) for solid in scene.capsules]
    order = np.argsort(depths, kind="stable")
    for rank, k in enumerate(order):
        solid = scene.capsules[k]
        color = SIDE_COLORS[scene.sides.get(solid.body, "middle")]
        start, end = view.flat(np.array([solid.start, solid.end]))
        plot.add_patch(
            Polygon(
                capsule_outline(start, end, solid.radius),
                facecolor=_tint(color, 0.22),
                edgecolor=_tint(color, 0.75),
                linewidth=0.9,
                alpha=0.93,
                zorder=2 + rank / len(order),
            )
        )


def _bones(plot: Plot, scene: PosedGeometry, view: ViewDirection) -> None:
    """Lines from joint to joint, from far to near; colored by side where there are no capsules."""
    bare = not scene.capsules
    bones = sorted(scene.bones, key=lambda bone: float(view.depth(bone[1] + bone[2])))
    for rank, (body, start, end) in enumerate(bones):
        flat = view.flat(np.array([start, end]))
        plot.plot(
            flat[:, 0],
            flat[:, 1],
            color=SIDE_COLORS[scene.sides[body]] if bare else INK,
            linewidth=3.0 if bare else 1.0,
            solid_capstyle="round",
            zorder=4 + rank / len(bones),
        )


def _joints(
    plot: Plot, scene: PosedGeometry, view: ViewDirection, moving: set[str], height: float
) -> None:
    for name, point in scene.joints.items():
        if name in moving:
            plot.add_patch(
                Circle(
                    tuple(view.flat(point)),
                    0.0065 * height,
                    facecolor=PAPER,
                    edgecolor=INK,
                    linewidth=1.1,
                    zorder=5,
                )
            )


def _contacts(plot: Plot, scene: PosedGeometry, view: ViewDirection) -> None:
    style: dict[str, Any] = {
        "facecolor": (*to_rgb(CONTACT_COLOR), 0.12),
        "edgecolor": CONTACT_COLOR,
    }
    for contact, place in scene.contacts:
        flat = view.flat(contact_points(contact, place))
        radius = float(contact.radius)
        if contact.kind == "box":
            plot.add_patch(Polygon(convex_outline(flat), linewidth=1.0, zorder=6, **style))
        elif contact.kind == "line":
            plot.plot(flat[:, 0], flat[:, 1], color=CONTACT_COLOR, linewidth=2.5, zorder=6)
        elif radius > 0:
            outline = capsule_outline(flat[0], flat[-1], radius)
            plot.add_patch(Polygon(outline, linewidth=1.0, zorder=6, **style))
        else:
            plot.plot(*flat[0], marker="D", markersize=3.5, color=CONTACT_COLOR, zorder=6)


def _markers(plot: Plot, scene: PosedGeometry, view: ViewDirection) -> None:
    points = {
        side: np.array([p for n, p in scene.markers.items() if scene.marker_sides[n] == side])
        for side in SIDE_COLORS
    }
    # The side that is nearer to the viewer covers the other one.
    nearest_last = sorted(
        (side for side in points if len(points[side])),
        key=lambda side: float(view.depth(points[side]).mean()),
    )
    for side in nearest_last:
        flat = view.flat(points[side])
        plot.plot(
            flat[:, 0],
            flat[:, 1],
            linestyle="",
            marker="o",
            markersize=3.4,
            markerfacecolor=SIDE_COLORS[side],
            markeredgecolor=PAPER,
            markeredgewidth=0.5,
            zorder=7,
        )


def _label_markers(
    plot: Plot, scene: PosedGeometry, view: ViewDirection, window: ViewWindow, longest: int
) -> None:
    """Marker names in a column at either side, at the heights of the markers where possible.

    From the side only markers of the near half are labeled, since the others lie behind them.
    """
    size = window.height
    behind = float(view.depth(scene.com)) - 0.02 * size
    labeled = {
        name: view.flat(point)
        for name, point in scene.markers.items()
        if view.title == "front" or view.depth(point) >= behind
    }
    middle = (window.left + window.right) / 2
    for away, edge in ((-1.0, window.left), (1.0, window.right)):
        inside = edge - away * _LETTER_WIDTH * longest * size
        column = [name for name, (x, _) in labeled.items() if (x >= middle) == (away > 0)]
        column.sort(key=lambda name: float(labeled[name][1]))
        heights = _separate_labels(
            [float(labeled[name][1]) for name in column], 0.021 * size, window
        )
        for name, height in zip(column, heights, strict=True):
            x, y = labeled[name]
            end = inside - away * 0.006 * size
            plot.plot([x, end], [y, height], color=GRAY, linewidth=0.4, alpha=0.6, zorder=3.5)
            side = "right" if away < 0 else "left"
            plot.text(inside, height, name, ha=side, va="center", fontsize=6, color=INK)


def _separate_labels(targets: list[float], gap: float, window: ViewWindow) -> list[float]:
    """Increasing heights near the target heights, at least a gap apart."""
    placed: list[float] = []
    for height in targets:
        placed.append(max(height, placed[-1] + gap) if placed else max(height, window.bottom))
    limit = window.top
    for k in reversed(range(len(placed))):
        placed[k] = min(placed[k], limit)
        limit = placed[k] - gap
    return placed


def _center_of_mass(
    plot: Plot, scene: PosedGeometry, view: ViewDirection, window: ViewWindow
) -> None:
    """The center of mass as a quartered disc, with a vertical line to the floor."""
    x, y = view.flat(scene.com)
    size = 0.016 * window.height
    if window.floor:
        plot.plot([x, x], [0, y], color=INK, linewidth=0.7, linestyle=(0, (3, 3)), zorder=3.9)
    plot.add_patch(Circle((x, y), size, facecolor=PAPER, edgecolor=INK, linewidth=1.0, zorder=8))
    for start in (0, 180):
        plot.add_patch(Wedge((x, y), size, start, start + 90, facecolor=INK, zorder=8.1))
