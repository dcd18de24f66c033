"""Marker errors as bars, and counts of markers by their state, as pieces of a page."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from homodyn.studio.marking import root_mean_square
from homodyn.studio.scene.markers import BAD, CHOSEN, MEASURED, UNASSIGNED

MOST = 14
"""Bars that are drawn; the rest is told in a line."""
GOOD = (92, 138, 196)
"""Colour of the bars of markers that fit."""
FULL = 0.06
"""Error (m) that fills the width, unless one is larger."""


def error_bars(errors: Mapping[str, float], bad: float) -> str:
    """The errors (m), the largest first; those above ``bad`` (m) in the colour of bad markers."""
    if not errors:
        return _text("No marker of the body is seen in this frame.")
    ordered = sorted(errors.items(), key=lambda item: -item[1])
    width = max(FULL, ordered[0][1])
    rows = [
        '<div style="display:flex;align-items:center;gap:6px;height:15px">'
        f'<span title="{escape(name)}" style="width:92px;overflow:hidden;text-overflow:ellipsis;'
        'white-space:nowrap">'
        f"{escape(name)}</span>"
        f'<span style="flex:1"><span style="display:block;height:9px;border-radius:2px;'
        f'width:{100 * error / width:.1f}%;background:{_rgb(BAD if error > bad else GOOD)}">'
        f"</span></span>"
        '<span style="width:58px;white-space:nowrap;text-align:right">'
        f"{1000 * error:.1f} mm</span></div>"
        for name, error in ordered[:MOST]
    ]
    if len(ordered) > MOST:
        rows.append(
            f"<div>{len(ordered) - MOST} more, below {1000 * ordered[MOST - 1][1]:.1f} mm</div>"
        )
    head = (
        f'<div data-errors="{1000 * root_mean_square(dict(errors)):.3f}">'
        f"<b>{1000 * root_mean_square(dict(errors)):.1f} mm</b> root mean square of "
        f"{len(ordered)} markers now</div>"
    )
    return _text(head + "".join(rows))


def legend(assigned: int, without: int, bad: int, chosen: int) -> str:
    """What the colours mean, with how many markers have each."""
    entries = (
        (MEASURED, assigned, "on a segment"),
        (UNASSIGNED, without, "without one"),
        (BAD, bad, "fit badly now"),
        (CHOSEN, chosen, "chosen"),
    )
    return _text(
        '<div style="display:flex;flex-wrap:wrap;gap:2px 12px">'
        + "".join(
            f'<span style="white-space:nowrap"><span style="display:inline-block;width:10px;'
            f'height:10px;border-radius:5px;background:{_rgb(colour)}"></span> '
            f"{count} {words}</span>"
            for colour, count, words in entries
        )
        + "</div>"
    )


def _text(inside: str) -> str:
    return f'<div style="font-size:12px;line-height:1.35;padding:2px 12px">{inside}</div>'


def _rgb(colour: tuple[int, int, int]) -> str:
    return "#" + bytes(colour).hex()
