"""Events and phases of a motion, as marks of the frame slider and as a strip above it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from homodyn.analysis.curves import CycleSegmentation
from homodyn.motion import Event
from homodyn.studio.document import nearest_frame

MAX_SLIDER_MARKS = 40
# The strip is as wide as the track of the slider under it: its label and its box are left out.
COLORS = {"left": "#2f6fd0", "right": "#d0353f"}
"""Stance phases of each side: right is red, left is blue."""


def slider_marks(events: Sequence[Event], time: np.ndarray) -> tuple[tuple[int, str], ...]:
    """(frame, short word) of the events within a row of instants (s): ``LS`` is a left strike."""
    inside = [event for event in events if time[0] <= event.time <= time[-1]]
    frames = {nearest_frame(time, event.time): event_code(event) for event in inside}
    return tuple(sorted(frames.items()))[:MAX_SLIDER_MARKS]


def event_code(event: Event) -> str:
    """An event in two letters where it is one of walking."""
    side = event.context[:1].upper() if event.context.lower() in ("left", "right") else ""
    word = event.label.lower()
    kind = "S" if "strike" in word else "O" if "off" in word else event.label[:2]
    return f"{side}{kind}"


def phase_strip(events: Sequence[Event], time: np.ndarray) -> str:
    """A picture of the phases: a bar for each side while that foot is on the ground, an SVG."""
    if len(time) < 2:
        return ""
    first, length = float(time[0]), float(time[-1] - time[0])
    segmentation = CycleSegmentation(time, tuple(events))
    rows = []
    for row, side in enumerate(("left", "right")):
        rows += [
            f'<rect x="{100 * (max(a, first) - first) / length:.3f}%" y="{row * 9 + 1}" '
            f'width="{100 * (min(b, first + length) - max(a, first)) / length:.3f}%" height="7" '
            f'fill="{COLORS[side]}"><title>{side} foot on the ground</title></rect>'
            for a, b in segmentation.stances(side)
        ]
    ticks = [
        f'<line x1="{100 * (event.time - first) / length:.3f}%" '
        f'x2="{100 * (event.time - first) / length:.3f}%" y1="0" y2="18" stroke="#8a8f99">'
        f"<title>{escape(f'{event.context} {event.label}, {event.time:.2f} s'.strip())}</title>"
        "</line>"
        for event in events
        if first <= event.time <= first + length
    ]
    if not rows and not ticks:
        return ""
    return (
        '<div id="homodyn-strip" style="padding:2px 63px 0 117px">'
        f'<svg width="100%" height="18" style="display:block">{"".join(rows + ticks)}</svg>'
        "</div>"
    )
