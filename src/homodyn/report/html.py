"""HTML of a report: the page, its sections, figures, tables and tiles; outside text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files

SECURITY_POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">"
)
"""Lets a page use its own styles, scripts and images, and nothing from elsewhere."""


class Markup(str):
    """HTML that is not escaped again."""


Cell = str | float | int | None
Column = tuple[str, str]
"""Heading of a column and its class: ``"n"`` for numbers, ``"right"`` or ``"left"`` for sides."""


@dataclass(frozen=True)
class PageFigure:
    """SVG panels side by side, as many in a row as fit, with a caption."""

    name: str
    """Identifier for links."""
    panels: tuple[str, ...]
    caption: str
    columns: int = 3
    """Panels in a row of a wide page: 1 to 4."""
    legend: bool = True
    """Whether a legend of the colors of right and left is shown."""


def page_html(
    title: str, heading: str, subtitle: str, body: str, *, navigation: str = "", footer: str = ""
) -> str:
    """A complete page without external files.

    Args:
        title: Title of the browser window.
        heading: First line of the page.
        subtitle: Line below the heading.
        body: HTML of the content.
        navigation: HTML of the links to the sections.
        footer: Last line of the page.
    """
    links = f'<nav aria-label="Sections"><div>{navigation}</div></nav>' if navigation else ""
    end = f"<footer>{escape(footer)}</footer>" if footer else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{SECURITY_POLICY}<title>{escape(title)}</title>"
        f"<style>{asset('page.css')}</style></head><body>"
        f'<header><h1>{escape(heading)}</h1><p class="sub">{escape(subtitle)}</p></header>'
        f"{links}<main>{body}</main>{end}</body></html>\n"
    )


def sections_html(sections: Mapping[str, tuple[str, str]]) -> tuple[str, str]:
    """Links to sections, and the sections themselves.

    Args:
        sections: Heading and HTML of each section, by the identifier for links.
    """
    links = "".join(
        f'<a href="#{key}">{escape(heading)}</a>' for key, (heading, _) in sections.items()
    )
    body = "".join(
        f'<section id="{key}"><h2>{escape(heading)}</h2>{content}</section>'
        for key, (heading, content) in sections.items()
    )
    return links, body


def table(columns: Sequence[Column], rows: Iterable[Sequence[Cell]], caption: str = "") -> str:
    """A table. Numbers are written as given, so round them first."""
    head = "".join(f'<th class="{style}">{escape(text)}</th>' for text, style in columns)
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
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return (
        f'<div class="scroll"><table>{title}<thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def figure_html(figure: PageFigure) -> str:
    """A figure with its panels, a legend of the sides and its caption."""
    kind = {1: "wide", 2: "two", 4: "four"}.get(figure.columns, "")
    legend = (
        '<p class="legend" aria-hidden="true"><span><i class="right"></i>right</span>'
        '<span><i class="left"></i>left</span></p>'
        if figure.legend
        else ""
    )
    return (
        f'<figure id="fig-{escape(figure.name)}">{legend}<div class="panels {kind}">'
        f"{''.join(figure.panels)}</div><figcaption>{escape(figure.caption)}</figcaption></figure>"
    )


def figures_html(figures: Iterable[PageFigure]) -> str:
    """Figures one after the other."""
    return "".join(figure_html(figure) for figure in figures)


def tile(value: str, unit: str, label: str) -> str:
    """A key figure with its unit and label."""
    unbroken = escape(unit).replace(" ", "&nbsp;")
    return (
        f'<div class="tile"><b>{escape(value)} <small>{unbroken}</small></b>'
        f"<span>{escape(label)}</span></div>"
    )


def bullet_list(sentences: Iterable[str]) -> str:
    """A list of sentences; empty text if there are none."""
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f'<ul class="notes">{items}</ul>' if items else ""


def paragraph(sentence: str, style: str = "") -> str:
    """One paragraph."""
    return f'<p class="{style}">{escape(sentence)}</p>' if style else f"<p>{escape(sentence)}</p>"


def details(summary: str, content: str) -> str:
    """HTML that is hidden until its summary is clicked."""
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"


def number(value: float | None, digits: int = 3) -> str:
    """A number with ``digits`` significant digits and a true minus; a dash for None and NaN."""
    if value is None or value != value:
        return "–"
    text = f"{value:.{digits}g}"
    if "e" in text:
        text = f"{value:.0f}" if abs(value) >= 1 else "0"
    return text.replace("-", "−")


def asset(name: str) -> str:
    """The text of a file in ``report/assets``."""
    return files("homodyn.report").joinpath("assets", name).read_text(encoding="utf-8")


def _cell(cell: Cell) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, Markup):
        return cell
    return escape(cell if isinstance(cell, str) else number(cell))
