"""HTML of marker errors."""

from homodyn.studio.marker_editing import (
    root_mean_square,
)
from homodyn.studio.marker_error_bars import error_bars, marker_legend


def test_bars_show_the_largest_errors_first():
    errors = {"<b>": 0.05, **{f"M{k}": 0.001 * k for k in range(20)}}
    page = error_bars(errors, 0.03)
    assert page.index("&lt;b&gt;") < page.index("M19")
    assert "<b>:" not in page
    assert f"{1000 * root_mean_square(errors):.1f} mm" in page
    assert "7 more" in page
    assert "No marker" in error_bars({}, 0.03)
    assert "3 unassigned" in marker_legend(29, 3, 1, 0)
