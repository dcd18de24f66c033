"""A model at a pose as a figure: seen from the front and from its right side, in metres."""

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

from homodyn.errors import FormatError
from homodyn.foundation import atomic_file
from homodyn.model import Model
from homodyn.report.posed_geometry import (
    PosedGeometry,
    capsule_outline,
    contact_points,
    convex_outline,
    geometry_at_pose,
)

SIDE_COLORS = {"left": "#3b78b5", "right": "#c8553d", "middle": "#7d8a99"}
"""Of bodies on the left, on the right and in the middle."""
INK, GREY, CONTACT, MARKER, PAPER = "#26313d", "#6b7785", "#d99a00", "#1d9a6c", "#ffffff"
FORMATS = (".png", ".svg", ".pdf")
_DOTS_PER_INCH = 110
_LETTER_WIDTH = 0.0108
"""Width of a letter of a name, in heights of a plot."""
_TALL, _TOP, _BOTTOM, _LEFT, _GAP, _NARROWEST = 5.0, 0.85, 0.5, 0.55, 0.15, 4.0
"""Inches: of the plots, above, below, left of, between and in all at least."""


@dataclass(frozen=True)
class ViewDirection:
    """A direction to look in: what is to the right on the paper, and what is nearer."""

    title: str
    right: np.ndarray
    up: np.ndarray
    near: np.ndarray

    def flat(self, points: np.ndarray) -> np.ndarray:
        """World points (rows) on the paper."""
        return np.asarray(points) @ np.column_stack([self.right, self.up])

    def depth(self, points: np.ndarray) -> np.ndarray:
        """How near world points are (m)."""
        return np.asarray(points) @ self.near


@dataclass(frozen=True)
class ViewWindow:
    """The part of a view that is shown (m), and whether height zero is a floor in it.

    It is not where it is the height of the hips, as in robots whose base is fixed there.
    """

    left: float
    right: float
    bottom: float
    top: float
    floor: bool

    @property
    def tall(self) -> float:
        """Its height (m)."""
        return self.top - self.bottom


def draw_model(
    model: Model, q: Any = None, *, labels: bool = False, markers: bool = True, title: str = ""
) -> Figure:
    """Draw a model in a pose, from the front and from its right side.

    Capsules are outlines, bones are lines and movable joints are dots. Left, right and middle of
    the body have one colour each.

    Args:
        model: The model. Open parameters take their default values.
        q: Positions, shape ``(nq,)`` (m, rad); the neutral pose if left out.
        labels: Write the names of the markers.
        markers: Draw the markers.
        title: Heading of the figure; the name of the model if left out.

    Returns:
        A matplotlib figure with two plots in metres.
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
    figure, plots = _sheet(windows)
    for view, window, plot in zip(views, windows, plots, strict=True):
        _paper(plot, view, window)
        _solids(plot, scene, view)
        _bones(plot, scene, view)
        _joints(plot, scene, view, moving, window.tall)
        _contacts(plot, scene, view)
        if markers:
            _markers(plot, scene, view)
        if longest:
            _names(plot, scene, view, window, longest)
        _centre_of_mass(plot, scene, view, window)
    plots[0].set_ylabel("height (m)", fontsize=7.5, color=GREY)
    plots[1].tick_params(labelleft=False)
    sizes = f"{len(model.bodies)} bodies, {model.nv} degrees of freedom, {model.mass:.3g} kg"
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
    """Without dates and versions, so that the same drawing is the same file."""
    return {".png": {"Software": None}, ".svg": {"Date": None}}.get(
        path.suffix.lower(), {"CreationDate": None}
    )


def _window(scene: PosedGeometry, view: ViewDirection, longest: int) -> ViewWindow:
    """What a view shows (m): ground near the model, and room for names of so many letters."""
    flat = view.flat(scene.points)
    (left, bottom), (right, top) = flat.min(axis=0), flat.max(axis=0)
    floor = -0.1 * (top - bottom) < bottom < top - bottom
    if floor:
        bottom, top = min(bottom, 0.0), max(top, 0.0)
    tall = max(top - bottom, 0.2 * (right - left), 1e-3)
    middle, half = (left + right) / 2, max(right - left, 0.32 * tall) / 2
    side = (0.04 + (_LETTER_WIDTH * longest + 0.04 if longest else 0.0)) * tall
    return ViewWindow(
        middle - half - side, middle + half + side, bottom - 0.03 * tall, top + 0.03 * tall, floor
    )


def _sheet(windows: list[ViewWindow]) -> tuple[Figure, list[Plot]]:
    """A figure with one plot a window, side by side, all at one scale."""
    scale = _TALL / windows[0].tall
    widths = [scale * (window.right - window.left) for window in windows]
    wide = max(_LEFT + sum(widths) + _GAP + _GAP, _NARROWEST)
    high = _BOTTOM + _TALL + _TOP
    figure = Figure(figsize=(wide, high), dpi=_DOTS_PER_INCH, facecolor=PAPER)
    spare = (wide - _LEFT - sum(widths) - _GAP - _GAP) / 2
    starts = (_LEFT + spare, _LEFT + spare + widths[0] + _GAP)
    plots = [
        figure.add_axes((start / wide, _BOTTOM / high, width / wide, _TALL / high))
        for start, width in zip(starts, widths, strict=True)
    ]
    return figure, plots


def _headings(figure: Figure, title: str, sizes: str) -> None:
    high = figure.get_figheight()
    figure.text(0.5, 1 - 0.24 / high, title, ha="center", va="center", fontsize=12, color=INK)
    figure.text(0.5, 1 - 0.46 / high, sizes, ha="center", va="center", fontsize=8, color=GREY)


def _legend(figure: Figure, scene: PosedGeometry, markers: bool) -> None:
    """One line below that tells what the signs mean, only of those that occur."""

    def sign(label: str, **style: Any) -> Line2D:
        return Line2D([], [], linestyle="", label=label, **style)

    signs = [
        sign(side, marker="s", markersize=5, color=SIDE_COLORS[side])
        for side in ("left", "right")
        if side in scene.sides.values()
    ]
    signs.append(sign("joint", marker="o", markersize=4, markerfacecolor=PAPER, color=INK))
    if scene.contacts:
        signs.append(sign("contact", marker="D", markersize=3.5, color=CONTACT))
    if markers and scene.markers:
        signs.append(sign("marker", marker="o", markersize=3.5, color=MARKER))
    signs.append(sign("centre of mass", marker="$\u25d4$", markersize=6.5, color=INK))
    figure.legend(
        handles=signs,
        loc="lower center",
        ncols=len(signs),
        frameon=False,
        fontsize=7,
        labelcolor=GREY,
        handletextpad=0.1,
        columnspacing=1.0,
        borderaxespad=0.3,
    )


def _paper(plot: Plot, view: ViewDirection, window: ViewWindow) -> None:
    plot.set_xlim(window.left, window.right)
    plot.set_ylim(window.bottom, window.top)
    plot.set_title(view.title, fontsize=8.5, color=INK, pad=2)
    plot.xaxis.set_major_locator(MultipleLocator(_step((window.right - window.left) / 3)))
    plot.yaxis.set_major_locator(MultipleLocator(_step(window.tall / 6)))
    plot.grid(color="#e8ecf0", linewidth=0.7)
    plot.set_axisbelow(True)
    plot.tick_params(labelsize=7, length=0, colors=GREY)
    for spine in plot.spines.values():
        spine.set_visible(False)
    if window.bottom < 0 < window.top:
        plot.axhline(0.0, color=INK, linewidth=1.4 if window.floor else 0.7, zorder=1)
    if window.floor:
        plot.axhspan(window.bottom, 0.0, color="#eef1f4", zorder=0)


def _step(wanted: float) -> float:
    """A round distance near the wanted one: 1, 2 or 5 times a power of ten."""
    scale = 10.0 ** np.floor(np.log10(wanted))
    return float(min((1, 2, 5, 10), key=lambda digit: abs(digit * scale - wanted)) * scale)


def _tint(colour: str, share: float) -> tuple[float, float, float]:
    """A colour mixed with paper."""
    red, green, blue = (share * c + (1 - share) for c in to_rgb(colour))
    return red, green, blue


def _solids(plot: Plot, scene: PosedGeometry, view: ViewDirection) -> None:
    """Capsules from far to near, those on the far side paler."""
    depths = [view.depth((solid.start + solid.end) / 2) for solid in scene.capsules]
    order = np.argsort(depths, kind="stable")
    for rank, k in enumerate(order):
        solid = scene.capsules[k]
        colour = SIDE_COLORS[scene.sides.get(solid.body, "middle")]
        start, end = view.flat(np.array([solid.start, solid.end]))
        plot.add_patch(
            Polygon(
                capsule_outline(start, end, solid.radius),
                facecolor=_tint(colour, 0.22),
                edgecolor=_tint(colour, 0.75),
                linewidth=0.9,
                alpha=0.93,
                zorder=2 + rank / len(order),
            )
        )


def _bones(plot: Plot, scene: PosedGeometry, view: ViewDirection) -> None:
    """Lines from joint to joint, from far to near; in colour where no capsules have it."""
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
    plot: Plot, scene: PosedGeometry, view: ViewDirection, moving: set[str], tall: float
) -> None:
    for name, point in scene.joints.items():
        if name in moving:
            plot.add_patch(
                Circle(
                    tuple(view.flat(point)),
                    0.0065 * tall,
                    facecolor=PAPER,
                    edgecolor=INK,
                    linewidth=1.1,
                    zorder=5,
                )
            )


def _contacts(plot: Plot, scene: PosedGeometry, view: ViewDirection) -> None:
    style: dict[str, Any] = {"facecolor": (*to_rgb(CONTACT), 0.12), "edgecolor": CONTACT}
    for contact, place in scene.contacts:
        flat = view.flat(contact_points(contact, place))
        radius = float(contact.radius)
        if contact.kind == "box":
            plot.add_patch(Polygon(convex_outline(flat), linewidth=1.0, zorder=6, **style))
        elif contact.kind == "line":
            plot.plot(flat[:, 0], flat[:, 1], color=CONTACT, linewidth=2.5, zorder=6)
        elif radius > 0:
            outline = capsule_outline(flat[0], flat[-1], radius)
            plot.add_patch(Polygon(outline, linewidth=1.0, zorder=6, **style))
        else:
            plot.plot(*flat[0], marker="D", markersize=3.5, color=CONTACT, zorder=6)


def _markers(plot: Plot, scene: PosedGeometry, view: ViewDirection) -> None:
    if not scene.markers:
        return
    flat = view.flat(np.array(list(scene.markers.values())))
    plot.plot(
        flat[:, 0],
        flat[:, 1],
        linestyle="",
        marker="o",
        markersize=3.4,
        markerfacecolor=MARKER,
        markeredgecolor=PAPER,
        markeredgewidth=0.5,
        zorder=7,
    )


def _names(
    plot: Plot, scene: PosedGeometry, view: ViewDirection, window: ViewWindow, longest: int
) -> None:
    """Names in a column at either side, as high as their markers unless they would overlap.

    From the side only markers of the near half are named: the others lie behind them.
    """
    tall = window.tall
    behind = float(view.depth(scene.com)) - 0.02 * tall
    named = {
        name: view.flat(point)
        for name, point in scene.markers.items()
        if view.title == "front" or view.depth(point) >= behind
    }
    middle = (window.left + window.right) / 2
    for away, edge in ((-1.0, window.left), (1.0, window.right)):
        inside = edge - away * _LETTER_WIDTH * longest * tall
        column = [name for name, (x, _) in named.items() if (x >= middle) == (away > 0)]
        column.sort(key=lambda name: float(named[name][1]))
        heights = _separate_labels([float(named[name][1]) for name in column], 0.021 * tall, window)
        for name, height in zip(column, heights, strict=True):
            x, y = named[name]
            end = inside - away * 0.006 * tall
            plot.plot([x, end], [y, height], color=MARKER, linewidth=0.4, alpha=0.6, zorder=3.5)
            side = "right" if away < 0 else "left"
            plot.text(inside, height, name, ha=side, va="center", fontsize=6, color=INK)


def _separate_labels(wanted: list[float], gap: float, window: ViewWindow) -> list[float]:
    """Increasing numbers near the wanted ones, at least a gap apart."""
    placed: list[float] = []
    for height in wanted:
        placed.append(max(height, placed[-1] + gap) if placed else max(height, window.bottom))
    limit = window.top
    for k in reversed(range(len(placed))):
        placed[k] = min(placed[k], limit)
        limit = placed[k] - gap
    return placed


def _centre_of_mass(
    plot: Plot, scene: PosedGeometry, view: ViewDirection, window: ViewWindow
) -> None:
    """The quartered disc, with a plumb line to the floor."""
    x, y = view.flat(scene.com)
    size = 0.016 * window.tall
    if window.floor:
        plot.plot([x, x], [0, y], color=INK, linewidth=0.7, linestyle=(0, (3, 3)), zorder=3.9)
    plot.add_patch(Circle((x, y), size, facecolor=PAPER, edgecolor=INK, linewidth=1.0, zorder=8))
    for start in (0, 180):
        plot.add_patch(Wedge((x, y), size, start, start + 90, facecolor=INK, zorder=8.1))
