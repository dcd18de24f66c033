"""Right is red, left is blue, and curves without a side are neither."""

import re

import pytest

from homodyn.report.colors import (
    DASHES,
    SERIES_COLORS,
    SIDE_COLORS,
    curve_styles,
    hex_from_rgb,
    mix_colors,
    rgb_from_hex,
    side_color,
)
from homodyn.report.html import asset
from support.colors import is_blue, is_neutral, is_red


def test_right_is_red_and_left_is_blue():
    assert is_red(SIDE_COLORS["right"])
    assert is_blue(SIDE_COLORS["left"])


@pytest.mark.parametrize("color", SERIES_COLORS)
def test_colors_of_curves_without_a_side_are_neither_red_nor_blue(color):
    assert is_neutral(color)


def test_the_style_sheet_has_the_same_colors():
    style = asset("page.css")
    root = re.search(r":root \{(.*?)\}", style, re.S)[1]
    for side, color in SIDE_COLORS.items():
        assert f"--{side}: {color}" in root
    dark = re.search(r"prefers-color-scheme: dark\) \{(.*?)\}\n\}", style, re.S)[1]
    assert is_red(re.search(r"--right: (#\w+)", dark)[1])
    assert is_blue(re.search(r"--left: (#\w+)", dark)[1])


def test_curves_of_one_side_share_its_color_and_differ_in_their_dashes():
    styles = curve_styles(["right", "left", "right", None, None])
    assert styles[0] == (SIDE_COLORS["right"], DASHES[0])
    assert styles[1] == (SIDE_COLORS["left"], DASHES[0])
    assert styles[2] == (SIDE_COLORS["right"], DASHES[1])
    assert [color for color, _ in styles[3:]] == list(SERIES_COLORS[:2])
    many = curve_styles([None] * 20)
    assert len(set(many)) == 20


def test_colors_convert_and_mix():
    assert hex_from_rgb(rgb_from_hex("#c8553d")) == "#c8553d"
    assert mix_colors((0, 100, 200), (100, 100, 0), 0.25) == (25, 100, 150)
    assert side_color(None) == side_color("unknown") == SIDE_COLORS["middle"]
