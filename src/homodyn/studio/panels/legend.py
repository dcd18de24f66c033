"""The names and colours of curves above a plot."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

ROOM = (10, 8, 0, 0)
"""Pixels around a plot, from the top clockwise, so that the numbers at its corners are whole."""


def legend(colors: Mapping[str, str]) -> str:
    """Names with a mark in their colours, an HTML line."""
    marks = [
        f'<span style="white-space:nowrap"><span style="color:{color}">&#9632;</span> '
        f"{escape(name)}</span>"
        for name, color in colors.items()
    ]
    return f'<div style="padding:6px 12px 4px;font-size:13px">{" &nbsp; ".join(marks)}</div>'
