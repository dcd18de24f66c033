"""Hues of colors."""

from __future__ import annotations

import colorsys

from homodyn.report.colors import Rgb, rgb_from_hex


def hue(color: str | Rgb) -> float:
    """Hue in degrees: 0 is red, 240 is blue."""
    rgb = rgb_from_hex(color) if isinstance(color, str) else color
    return 360 * colorsys.rgb_to_hls(*(c / 255 for c in rgb))[0]


def is_red(color: str | Rgb) -> bool:
    """Whether a color is red."""
    return min(hue(color), 360 - hue(color)) < 25


def is_blue(color: str | Rgb) -> bool:
    """Whether a color is blue."""
    return 195 < hue(color) < 245


def is_neutral(color: str | Rgb) -> bool:
    """Whether a color is neither red nor blue, or almost gray."""
    rgb = rgb_from_hex(color) if isinstance(color, str) else color
    saturation = colorsys.rgb_to_hls(*(c / 255 for c in rgb))[2]
    return saturation < 0.16 or not (is_red(color) or is_blue(color))
