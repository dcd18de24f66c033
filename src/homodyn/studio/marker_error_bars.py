"""Marker errors as bars, and counts of markers by their state, as pieces of a page."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from homodyn.studio.marker_editing import root_mean_square
from homodyn.studio.scene.markers import (
    BAD_FIT_COLOR,
    MEASURED_COLOR,
    SELECTED_COLOR,
    UNASSIGNED_COLOR,
)

MAX_BARS = 14
"""Bars that are drawn; the rest is told in a line."""
FIT_COLOR = (92, 138, 196)
"""Colour of the bars of markers that fit."""
FULL_WIDTH_ERROR_M = 0.06
"""Error (m) that fills the width, unless one is larger."""


def error_bars(errors: Mapping[str, float], bad: float) -> str:
    """The errors (m), the largest first; those above ``bad`` (m) in the colour of bad markers."""
    if not errors:
        return _text("No marker of the body is seen in this frame.")
    ordered = sorted(errors.items(), key=lambda item: -item[1])
    width = max(FULL_WIDTH_ERROR_M, ordered[0][1])
    rows = [
        '<div style="display:flex;align-items:center;gap:6px;height:15px">'
        f'<span title="{escape(name)}" style="width:92px;overflow:hidden;text-overflow:ellipsis;'
        'white-space:nowrap">'
        f"{escape(name)}</span>"
        f'<span style="flex:1"><span style="display:block;height:9px;border-radius:2px;'
        f"width:{100 * error / width:.1f}%;"
        f'background:{_rgb(BAD_FIT_COLOR if error > bad else FIT_COLOR)}">'
        f"</span></span>"
        '<span style="width:58px;white-space:nowrap;text-align:right">'
        f"{1000 * error:.1f} mm</span></div>"
        for name, error in ordered[:MAX_BARS]
    ]
    if len(ordered) > MAX_BARS:
        rows.append(
            f"<div>{len(ordered) - MAX_BARS} more, below "
            f"{1000 * ordered[MAX_BARS - 1][1]:.1f} mm</div>"
        )
    head = (
        f'<div data-errors="{1000 * root_mean_square(dict(errors)):.3f}">'
        f"<b>{1000 * root_mean_square(dict(errors)):.1f} mm</b> root mean square of "
        f"{len(ordered)} markers now</div>"
    )
    return _text(head + "".join(rows))


def marker_legend(assign_markers: int, without: int, bad: int, chosen: int) -> str:
    """What the colours mean, with how many markers have each."""
    entries = (
        (MEASURED_COLOR, assign_markers, "on a segment"),
        (UNASSIGNED_COLOR, without, "without one"),
        (BAD_FIT_COLOR, bad, "fit badly now"),
        (SELECTED_COLOR, chosen, "chosen"),
    )
    return _text(
        '<div style="display:flex;flex-wrap:wrap;gap:2px 12px">'
        + "".join(
            f'<span style="white-space:nowrap"><span style="display:inline-block;width:10px;'
            f'height:10px;border-radius:5px;background:{_rgb(color)}"></span> '
            f"{count} {words}</span>"
            for color, count, words in entries
        )
        + "</div>"
    )


def _text(inside: str) -> str:
    return f'<div style="font-size:12px;line-height:1.35;padding:2px 12px">{inside}</div>'


def _rgb(color: tuple[int, int, int]) -> str:
    return "#" + bytes(color).hex()
