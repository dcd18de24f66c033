"""Plots as SVG text: positions of points, ticks of axes."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from homodyn.report.svg import Plot, nice_range, thin_line, ticks


def test_points_are_drawn_where_the_axes_have_them():
    plot = Plot("a", (0, 10), (0, 100), width=100, height=100, left=10, right=10, top=10, bottom=10)
    x, y = plot.at(np.array([0, 5, 10]), np.array([0, 50, 100]))
    np.testing.assert_allclose(x, [10, 50, 90])
    np.testing.assert_allclose(y, [90, 50, 10])


def test_a_path_has_the_points_of_its_line_to_a_tenth_of_a_unit():
    x = np.linspace(0, 1, 50)
    y = np.sin(7 * x)
    plot = Plot("a", (0, 1), (-1, 1)).line(x, y, "right")
    path = re.search(r' d="M([^"]+)"', plot.parts[0])[1]
    start, _, rest = path.partition("l")
    steps = np.array(rest.split(), dtype=float).reshape(-1, 2)
    drawn = np.cumsum(np.vstack([np.array(start.split(), dtype=float), steps]), axis=0)
    np.testing.assert_allclose(drawn, np.column_stack(plot.at(x, y)), atol=0.051)


def test_a_gap_interrupts_a_line_and_a_band():
    x = np.arange(10.0)
    y = np.where((x > 3) & (x < 6), np.nan, x)
    plot = Plot("a", (0, 10), (0, 10)).line(x, y, "ink").band(x, y - 1, y + 1, "left")
    assert plot.parts[0].count("M") == 2
    assert sum('class="band' in part for part in plot.parts) == 2


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ((0, 100), [0, 20, 40, 60, 80, 100]),
        ((-4.7, 4.0), [-4, -2, 0, 2, 4]),
        ((0.011, 0.032), [0.015, 0.02, 0.025, 0.03]),
    ],
)
def test_ticks_are_round_and_neither_few_nor_many(span, expected):
    np.testing.assert_allclose(ticks(span, 5 if span == (0, 100) else 4), expected)


def test_ticks_are_three_to_ten_over_many_ranges():
    for low, width in np.random.default_rng(1).uniform([-50, 0.01], [50, 90], (200, 2)):
        found = ticks((low, low + width), 4)
        assert 2 <= len(found) <= 8
        assert found.min() >= low - 1e-9
        assert found.max() <= low + width + 1e-9


def test_thinning_keeps_the_peaks():
    x = np.arange(10_000.0)
    y = np.random.default_rng(2).normal(size=10_000)
    fewer_x, fewer_y = thin_line(x, y)
    assert len(fewer_x) <= 600
    assert fewer_y.max() == y.max()
    assert fewer_y.min() == y.min()
    assert (np.diff(fewer_x) > 0).all()


def test_ranges_contain_all_values_and_are_never_empty():
    low, high = nice_range(np.array([3.0, np.nan, 7.0]))
    assert low < 3 < 7 < high
    assert nice_range(np.array([np.nan])) == (0.0, 1.0)
    low, high = nice_range(np.array([2.0, 2.0]), min_span=4.0)
    assert high - low >= 4
    assert nice_range(np.array([5.0, 9.0]), zero=True)[0] == 0


def test_a_plot_is_well_formed_and_has_a_description():
    plot = Plot("a < b", (0, 1), (0, 1), "time (s)", "m/s & more")
    root = ElementTree.fromstring(plot.line(np.arange(2.0), np.arange(2.0), "right").svg())
    assert root.get("role") == "img"
    assert "a < b" in root.get("aria-label")
