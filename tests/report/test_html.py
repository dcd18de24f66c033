"""HTML elements: text from outside is escaped, numbers are written with a true minus."""

import pytest

from homodyn.report.html import (
    Markup,
    PageFigure,
    bullet_list,
    details,
    figure_html,
    number,
    page_html,
    sections_html,
    table,
)
from support.pages import read


def test_a_page_is_complete_and_loads_nothing_from_elsewhere():
    links, body = sections_html({"a": ("First & last", "<p>text</p>"), "b": ("Other", "")})
    page = page_html("T <1>", "Heading <b>", "sub", body, navigation=links, footer="end <i>")
    reader = read(page)
    assert reader.faults == []
    assert reader.open == []
    assert reader.references == ["#a", "#b"]
    assert set(reader.ids) == {"a", "b"}
    assert "default-src 'none'" in page
    for raw in ("T <1>", "Heading <b>", "end <i>", "First & last"):
        assert raw not in page


def test_cells_are_escaped_unless_they_are_markup():
    text = table([("name", ""), ("value", "n")], [["<b>", None], [Markup("<i>x</i>"), -1.5]])
    assert "&lt;b&gt;" in text
    assert "<i>x</i>" in text
    assert '<td class="n">−1.5</td>' in text
    assert "<td" in text
    assert "–" in text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (float("nan"), "–"), (-0.12345, "−0.123"), (123456.0, "123456"), (1e-9, "0")],
)
def test_numbers_are_short_and_have_a_true_minus(value, text):
    assert number(value) == text


def test_a_figure_has_a_legend_of_the_sides_on_request():
    with_legend = figure_html(PageFigure("a", ("<svg/>",), "cap <1>", columns=2))
    assert 'class="panels two"' in with_legend
    assert 'class="right"' in with_legend
    assert "cap &lt;1&gt;" in with_legend
    assert 'class="right"' not in figure_html(PageFigure("a", (), "", legend=False))


def test_lists_and_details_escape_their_text():
    assert bullet_list([]) == ""
    assert "<li>&lt;a&gt;</li>" in bullet_list(["<a>"])
    assert details("1 < 2", "<p/>") == "<details><summary>1 &lt; 2</summary><p/></details>"
