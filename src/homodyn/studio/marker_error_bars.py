"""HTML of marker errors as bars, and of the counts of markers by state."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from homodyn.foundation import count_of
from homodyn.report.colors import hex_from_rgb
from homodyn.studio.marker_editing import root_mean_square
from homodyn.studio.scene.markers import (
    BAD_FIT_COLOR,
    MARKER_COLORS,
    SELECTED_COLOR,
    UNASSIGNED_COLOR,
)

MAX_BARS = 14
"""Bars that are shown; a line counts the others."""
FULL_WIDTH_ERROR_M = 0.06
"""Error (m) of a bar of full width, unless an error is larger."""


def error_bars(
    errors: Mapping[str, float], threshold: float, sides: Mapping[str, str] | None = None
) -> str:
    """Bars of marker errors (m), the largest first.

    Args:
        errors: Error of each marker (m).
        threshold: Errors above this value (m) are highlighted.
        sides: Side of each marker, for the color of its bar.
    """
    if not errors:
        return _text("No marker of the body is visible in this frame.")
    ordered = sorted(errors.items(), key=lambda item: -item[1])
    width = max(FULL_WIDTH_ERROR_M, ordered[0][1])
    rows = [
        '<div style="display:flex;align-items:center;gap:6px;height:15px">'
        f'<span title="{escape(name)}" style="width:92px;overflow:hidden;text-overflow:ellipsis;'
        'white-space:nowrap">'
        f"{escape(name)}</span>"
        f'<span style="flex:1"><span style="display:block;height:9px;border-radius:2px;'
        f"width:{100 * error / width:.1f}%;"
        f'background:{_bar_color(error > threshold, (sides or {}).get(name))}">'
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
        f"<b>{1000 * root_mean_square(dict(errors)):.1f} mm</b> rms error of "
        f"{count_of(len(ordered), 'marker')}</div>"
    )
    return _text(head + "".join(rows))


def marker_legend(assigned: int, unassigned: int, bad: int, selected: int) -> str:
    """Colors of markers, with the number of markers in each state."""
    right, left = (hex_from_rgb(MARKER_COLORS[side]) for side in ("right", "left"))
    entries = (
        (f"linear-gradient(90deg,{right} 50%,{left} 50%)", assigned, "assigned (right, left)"),
        (hex_from_rgb(UNASSIGNED_COLOR), unassigned, "unassigned"),
        (hex_from_rgb(BAD_FIT_COLOR), bad, "above threshold"),
        (hex_from_rgb(SELECTED_COLOR), selected, "selected"),
    )
    return _text(
        '<div style="display:flex;flex-wrap:wrap;gap:2px 12px">'
        + "".join(
            f'<span style="white-space:nowrap"><span style="display:inline-block;width:10px;'
            f'height:10px;border-radius:5px;background:{background}"></span> '
            f"{count} {label}</span>"
            for background, count, label in entries
        )
        + "</div>"
    )


def _bar_color(highlighted: bool, side: str | None) -> str:
    return hex_from_rgb(BAD_FIT_COLOR if highlighted else MARKER_COLORS[side or "middle"])


def _text(content: str) -> str:
    return f'<div style="font-size:12px;line-height:1.35;padding:2px 12px">{content}</div>'
