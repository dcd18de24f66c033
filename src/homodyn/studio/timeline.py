"""Events and stance phases of a motion: marks of the time slider, and a strip above it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from homodyn.analysis.curves import CycleSegmentation
from homodyn.motion import Event
from homodyn.report.colors import SIDE_COLORS
from homodyn.studio.document import nearest_frame

MAX_SLIDER_MARKS = 40
STRIP_PADDING = "2px 63px 0 117px"
"""Padding of the strip, which makes it as wide as the track of the slider below it."""


def slider_marks(events: Sequence[Event], time: np.ndarray) -> tuple[tuple[int, str], ...]:
    """(frame, code) of the events within instants (frames,), s; ``LS`` is a left foot strike."""
    inside = [event for event in events if time[0] <= event.time <= time[-1]]
    frames = {nearest_frame(time, event.time): event_code(event) for event in inside}
    return tuple(sorted(frames.items()))[:MAX_SLIDER_MARKS]


def event_code(event: Event) -> str:
    """Two letters for an event of walking: side, and S for strike or O for off."""
    side = event.context[:1].upper() if event.context.lower() in ("left", "right") else ""
    label = event.label.lower()
    kind = "S" if "strike" in label else "O" if "off" in label else event.label[:2]
    return f"{side}{kind}"


def phase_strip(events: Sequence[Event], time: np.ndarray) -> str:
    """HTML of the stance phases: a bar per side while the foot is on the ground."""
    if len(time) < 2:
        return ""
    first, length = float(time[0]), float(time[-1] - time[0])
    segmentation = CycleSegmentation(time, tuple(events))
    rows = []
    for row, side in enumerate(("right", "left")):
        rows += [
            f'<rect x="{100 * (max(a, first) - first) / length:.3f}%" y="{row * 9 + 1}" '
            f'width="{100 * (min(b, first + length) - max(a, first)) / length:.3f}%" height="7" '
            f'fill="{SIDE_COLORS[side]}"><title>{side} foot on the ground</title></rect>'
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
        f'<div id="homodyn-strip" style="padding:{STRIP_PADDING}">'
        f'<svg width="100%" height="18" style="display:block">{"".join(rows + ticks)}</svg>'
        "</div>"
    )
