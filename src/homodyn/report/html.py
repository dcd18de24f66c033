"""Small pieces of HTML: tables, figures, lists, tiles; every text from outside is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from homodyn.report.gait_figures import PageFigure


class Markup(str):
    """Text that is HTML already and is not escaped again."""


Cell = str | float | int | None
Column = tuple[str, str]
"""Heading of a column and its class: ``"n"`` for numbers, ``"right"`` or ``"left"`` for sides."""


def table(columns: Sequence[Column], rows: Iterable[Sequence[Cell]], caption: str = "") -> str:
    """A table; numbers are written as they are given, so round them before."""
    head = "".join(f'<th class="{style}">{escape(word)}</th>' for word, style in columns)
    numeric = ["n" in style.split() for _, style in columns]
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{' class=' + chr(34) + 'n' + chr(34) if number else ''}>{_cell(cell)}</td>"
            for cell, number in zip(row, numeric, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    bullet_list = f"<caption>{escape(caption)}</caption>" if caption else ""
    return (
        f'<div class="scroll"><table>{bullet_list}<thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def figure(drawn: PageFigure) -> str:
    """A figure with its panels, the colours of the sides and its caption."""
    kind = {1: "wide", 2: "two", 4: "four"}.get(drawn.columns, "")
    legend = (
        '<p class="legend" aria-hidden="true"><span><i class="right"></i>right</span>'
        '<span><i class="left"></i>left</span></p>'
        if drawn.legend
        else ""
    )
    return (
        f'<figure id="fig-{escape(drawn.name)}">{legend}<div class="panels {kind}">'
        f"{''.join(drawn.panels)}</div><figcaption>{escape(drawn.caption)}</figcaption></figure>"
    )


def tile(value: str, unit: str, word: str) -> str:
    """One number that matters, with its unit and what it is."""
    kept = escape(unit).replace(" ", "&nbsp;")
    return (
        f'<div class="tile"><b>{escape(value)} <small>{kept}</small></b>'
        f"<span>{escape(word)}</span></div>"
    )


def bullet_list(sentences: Iterable[str]) -> str:
    """A list of sentences; nothing when there are none."""
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f'<ul class="told">{items}</ul>' if items else ""


def paragraph(sentence: str, style: str = "") -> str:
    """One paragraph."""
    return f'<p class="{style}">{escape(sentence)}</p>' if style else f"<p>{escape(sentence)}</p>"


def number(value: float | None, digits: int = 3) -> str:
    """A number with so many significant digits and a true minus; a dash where there is none."""
    if value is None or value != value:
        return "–"
    text = f"{value:.{digits}g}"
    if "e" in text:
        text = f"{value:.0f}" if abs(value) >= 1 else "0"
    return text.replace("-", "−")


def _cell(cell: Cell) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, Markup):
        return cell
    return escape(cell if isinstance(cell, str) else number(cell))
