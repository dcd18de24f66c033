"""Colors of figures, drawings and pages: right is red, left is blue.

Curves without a side have colors that are neither. ``assets/page.css`` has the same colors, and
lighter ones for dark pages.
"""

from __future__ import annotations

from collections.abc import Sequence

from homodyn.model.side import Side

Rgb = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""

SIDE_COLORS = {"right": Side.RIGHT.color, "left": Side.LEFT.color, "middle": "#7d8a99"}
"""Of everything on the right, on the left, and in the middle of a body."""
INK, GRAY, PAPER = "#26313d", "#6b7785", "#ffffff"
GOOD_COLOR, ALERT_COLOR = "#1d9a6c", "#a3308f"
"""Of what is fulfilled, and of errors and extremes."""
SERIES_COLORS = (
    "#1d9a6c",
    "#d99a00",
    "#8a5fb0",
    "#3a9ba5",
    "#8c6d46",
    "#7f9a2e",
    "#b0568a",
    "#6b6b6b",
)
"""Of curves and shapes without a side."""
DASHES = ("-", "--", ":", "-.")
"""Line styles of matplotlib that distinguish curves of one color."""


def side_color(side: str | None) -> str:
    """The color of a side; that of the middle for None and unknown words."""
    return SIDE_COLORS.get(side or "middle", SIDE_COLORS["middle"])


def curve_styles(sides: Sequence[str | None]) -> list[tuple[str, str]]:
    """Color and matplotlib line style of curves, by the side of each.

    Curves of one side share its color and differ in their dashes; curves without a side have a
    color each.
    """
    count = {"right": 0, "left": 0, "": 0}
    styles = []
    for side in sides:
        key = side if side in ("right", "left") else ""
        number = count[key]
        count[key] += 1
        if key:
            styles.append((SIDE_COLORS[key], DASHES[number % len(DASHES)]))
        else:
            dash = DASHES[number // len(SERIES_COLORS) % len(DASHES)]
            styles.append((SERIES_COLORS[number % len(SERIES_COLORS)], dash))
    return styles


def rgb_from_hex(color: str) -> Rgb:
    """Red, green and blue of ``"#rrggbb"``."""
    red, green, blue = bytes.fromhex(color.removeprefix("#"))
    return red, green, blue


def hex_from_rgb(color: Rgb) -> str:
    """``"#rrggbb"`` of red, green and blue."""
    return "#" + bytes(color).hex()


def mix_colors(color: Rgb, other: Rgb, share: float) -> Rgb:
    """A color mixed with a share (0 to 1) of another."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(color, other, strict=True))
    return red, green, blue
