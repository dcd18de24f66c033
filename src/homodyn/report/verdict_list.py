"""The verdicts at the top of a page: the overall light, key figures and one line per verdict."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from homodyn.analysis.verdict import QualityVerdict, overall_light
from homodyn.report import page_text


def verdicts_html(verdicts: Sequence[QualityVerdict], tiles: str = "") -> str:
    """The overall light, tiles of key figures, and all verdicts with their lights.

    Args:
        verdicts: The verdicts, the worst first.
        tiles: HTML of the key figures.

    Returns:
        HTML of the block.
    """
    light = overall_light(tuple(verdicts))
    items = "".join(
        f'<li><span class="light {v.light}">{page_text.LIGHTS[v.light]}</span>'
        f"<span>{escape(v.sentence)}</span></li>"
        for v in verdicts
    )
    return (
        f'<div class="glance"><div class="overall {light}"><p><strong class="light {light}">'
        f"{escape(page_text.OVERALL[light])}</strong></p></div>"
        f'<div class="tiles">{tiles}</div><ul class="verdicts">{items}</ul></div>'
    )
