"""Plots as SVG text: axes with round ticks, lines, bands, bars and dots, colored by class.

Colors are names of CSS classes (``right``, ``left``, ``middle``, ...), so that one style sheet
defines the look of a page in light mode, in dark mode and in print.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

MAX_LINE_POINTS = 600
"""Lines with more points are thinned; a panel cannot show more."""


@dataclass
class Plot:
    """One set of axes with its curves and symbols; ``svg()`` returns the drawing.

    ``x`` and ``y`` are the visible ranges. Sizes are in units of the drawing, which a page scales
    to the available width.
    """

    title: str
    x: tuple[float, float]
    y: tuple[float, float]
    x_label: str = ""
    unit: str = ""
    """Unit of the vertical axis, written after the title."""
    width: float = 320.0
    height: float = 190.0
    left: float = 44.0
    bottom: float = 34.0
    top: float = 26.0
    right: float = 12.0
    x_ticks: Sequence[tuple[float, str]] | None = None
    y_ticks: Sequence[tuple[float, str]] | None = None
    alt: str = ""
    """Description of the plot for screen readers."""
    parts: list[str] = field(default_factory=list)

    def at(self, x: np.ndarray | float, y: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
        """Drawing coordinates of points of the plot."""
        width = self.width - self.left - self.right
        height = self.height - self.top - self.bottom
        px = self.left + (np.asarray(x) - self.x[0]) / _width(self.x) * width
        py = self.height - self.bottom - (np.asarray(y) - self.y[0]) / _width(self.y) * height
        return px, py

    def line(self, x: np.ndarray, y: np.ndarray, style: str) -> Plot:
        """A line through points, interrupted at values that are not finite."""
        x, y = thin_line(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
        path = _path(*self.at(x, y))
        if path:
            self.parts.append(f'<path class="line {style}" d="{path}"/>')
        return self

    def band(self, x: np.ndarray, low: np.ndarray, high: np.ndarray, style: str) -> Plot:
        """The area between two lines."""
        kept = np.isfinite(low) & np.isfinite(high)
        for run in _runs(kept):
            around = np.concatenate([x[run], x[run][::-1]])
            edge = np.concatenate([low[run], high[run][::-1]])
            if len(around) > 2:
                path = _path(*self.at(around, edge))
                self.parts.append(f'<path class="band {style}" d="{path}Z"/>')
        return self

    def span(self, start: float, end: float, style: str) -> Plot:
        """A range of the horizontal axis, shaded over the full height."""
        (x0, x1), (y0, y1) = self.at(np.array([start, end]), np.array(self.y))
        self.parts.append(
            f'<rect class="span {style}" x="{x0:.1f}" y="{y1:.1f}" '
            f'width="{max(x1 - x0, 0):.1f}" height="{y0 - y1:.1f}"/>'
        )
        return self

    def horizontal_line(self, y: float, style: str, label: str = "") -> Plot:
        """A horizontal line across the plot, with a label at its right end."""
        if not self.y[0] <= y <= self.y[1]:
            return self
        (x0, x1), (py, _) = self.at(np.array(self.x), np.array([y, y]))
        self.parts.append(
            f'<path class="mark {style}" d="M{x0:.1f} {py:.1f}H{x1:.1f}"/>'
            + (_text(x1 - 3, py - 3, label, "note end") if label else "")
        )
        return self

    def vertical_line(self, x: float, style: str, label: str = "") -> Plot:
        """A vertical line through the plot, with a label at its top."""
        (px, _), (y0, y1) = self.at(np.array([x, x]), np.array(self.y))
        self.parts.append(
            f'<path class="mark {style}" d="M{px:.1f} {y0:.1f}V{y1:.1f}"/>'
            + (_text(px + 2, y1 + 8, label, "note") if label else "")
        )
        return self

    def dots(self, x: np.ndarray, y: np.ndarray, style: str, radius: float = 2.2) -> Plot:
        """A dot at each finite point."""
        px, py = self.at(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
        self.parts += [
            f'<circle class="dot {style}" cx="{a:.1f}" cy="{b:.1f}" r="{radius}"/>'
            for a, b in zip(np.ravel(px), np.ravel(py), strict=True)
            if np.isfinite(a + b)
        ]
        return self

    def bar(self, x: float, y: float, width: float, style: str, tip: str = "") -> Plot:
        """A bar from zero to ``y``, ``width`` wide in units of the axis, with a tooltip ``tip``."""
        (x0, x1), (y0, y1) = self.at(np.array([x - width / 2, x + width / 2]), np.array([0.0, y]))
        top, height = min(y0, y1), abs(y1 - y0)
        self.parts.append(
            f'<rect class="bar {style}" x="{x0:.1f}" y="{top:.1f}" width="{x1 - x0:.1f}" '
            f'height="{height:.1f}">{f"<title>{escape(tip)}</title>" if tip else ""}</rect>'
        )
        return self

    def whisker(self, x: float, low: float, high: float, style: str = "ink") -> Plot:
        """A vertical stroke between two values, such as a standard deviation."""
        (px, _), (y0, y1) = self.at(np.array([x, x]), np.array([low, high]))
        self.parts.append(f'<path class="mark {style}" d="M{px:.1f} {y0:.1f}V{y1:.1f}"/>')
        return self

    def polygon(self, x: np.ndarray, y: np.ndarray, style: str) -> Plot:
        """A closed outline."""
        self.parts.append(f'<path class="{style}" d="{_path(*self.at(x, y))}Z"/>')
        return self

    def text(self, x: float, y: float, text: str, style: str = "note") -> Plot:
        """Text at a point of the plot."""
        px, py = self.at(x, y)
        self.parts.append(_text(float(px), float(py), text, style))
        return self

    def svg(self) -> str:
        """The drawing as an ``<svg>`` element."""
        title = escape(self.title) + (
            f'<tspan class="unit"> ({escape(self.unit)})</tspan>' if self.unit else ""
        )
        name = escape(self.alt or " ".join(part for part in (self.title, self.unit) if part))
        return (
            f'<svg viewBox="0 0 {self.width:g} {self.height:g}" role="img" aria-label="{name}" '
            f'class="plot">{self._axes()}<g>{"".join(self.parts)}</g>'
            f'<text class="title" x="{self.left - 34:.0f}" y="14">{title}</text></svg>'
        )

    def _axes(self) -> str:
        (x0, x1), (y0, _) = self.at(np.array(self.x), np.array(self.y))
        out = []
        for value, label in self.y_ticks if self.y_ticks is not None else _tick_labels(self.y, 4):
            _, py = self.at(0.0, value)
            kind = "zero" if value == 0 else "grid"
            out.append(f'<path class="{kind}" d="M{x0:.1f} {py:.1f}H{x1:.1f}"/>')
            out.append(_text(x0 - 5, float(py) + 3.5, label, "tick end"))
        for value, label in self.x_ticks if self.x_ticks is not None else _tick_labels(self.x, 5):
            px, _ = self.at(value, 0.0)
            out.append(f'<path class="stub" d="M{px:.1f} {y0:.1f}v4"/>')
            out.append(_text(float(px), y0 + 14, label, "tick middle"))
        out.append(f'<path class="axis" d="M{x0:.1f} {y0:.1f}H{x1:.1f}"/>')
        if self.x_label:
            out.append(_text((x0 + x1) / 2, self.height - 5, self.x_label, "label middle"))
        return "".join(out)


def nice_range(
    *values: np.ndarray, min_span: float = 0.0, zero: bool = False, margin: float = 0.06
) -> tuple[float, float]:
    """A range around all finite values with a margin, at least ``min_span`` wide.

    With ``zero`` the range includes zero. ``margin`` is a share of the range.
    """
    flat = np.concatenate([np.ravel(np.asarray(v, dtype=float)) for v in values] or [np.zeros(1)])
    flat = flat[np.isfinite(flat)]
    if not flat.size:
        return 0.0, max(min_span, 1.0)
    low, high = float(flat.min()), float(flat.max())
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low < max(min_span, 1e-12):
        middle, half = (low + high) / 2, max(min_span, 1e-12) / 2
        low, high = middle - half, middle + half
    spare = margin * (high - low)
    return low - (0.0 if zero and low == 0 else spare), high + (
        0.0 if zero and high == 0 else spare
    )


def ticks(span: tuple[float, float], count: int) -> np.ndarray:
    """About ``count`` round numbers inside a range, in steps of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(_width(span)))
    steps = [power * k for k in (5.0, 2.0, 1.0, 0.5, 0.2, 0.1)]
    step = min(steps, key=lambda size: abs(_width(span) / size - count))
    first = np.ceil(span[0] / step - 1e-9)
    last = np.floor(span[1] / step + 1e-9)
    return np.round(np.arange(first, last + 1) * step, 12) + 0.0


def thin_line(
    x: np.ndarray, y: np.ndarray, points: int = MAX_LINE_POINTS
) -> tuple[np.ndarray, np.ndarray]:
    """A line with at most about ``points`` points that keeps its minima and maxima."""
    if len(x) <= points:
        return x, y
    buckets = np.array_split(np.arange(len(x)), points // 2)
    kept: list[int] = []
    for bucket in buckets:
        values = y[bucket]
        if np.isfinite(values).any():
            kept += sorted({int(bucket[np.nanargmin(values)]), int(bucket[np.nanargmax(values)])})
        else:
            kept.append(int(bucket[0]))
    return x[kept], y[kept]


def _tick_labels(span: tuple[float, float], count: int) -> list[tuple[float, str]]:
    values = ticks(span, count)
    return [(float(value), tick_text(value)) for value in values]


def tick_text(value: float) -> str:
    """The shortest text of a tick value, with a true minus sign."""
    return f"{value:g}".replace("-", "−")


def _width(span: tuple[float, float]) -> float:
    return (span[1] - span[0]) or 1.0


def _runs(kept: np.ndarray) -> list[slice]:
    """Ranges of consecutive entries for which a condition holds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], kept.astype(int), [0]])))
    return [slice(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _path(px: np.ndarray, py: np.ndarray) -> str:
    """An SVG path through points, rounded to tenths, in relative steps to keep it short."""
    out = []
    for run in _runs(np.isfinite(px) & np.isfinite(py)):
        tenths = np.rint(np.column_stack([px[run], py[run]]) * 10).astype(int)
        steps = np.diff(tenths, axis=0)
        out.append(f"M{tenths[0, 0] / 10:g} {tenths[0, 1] / 10:g}")
        if len(steps):
            out.append("l" + " ".join(f"{a / 10:g} {b / 10:g}" for a, b in steps.tolist()))
    return "".join(out)


def _text(x: float, y: float, text: str, style: str) -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
