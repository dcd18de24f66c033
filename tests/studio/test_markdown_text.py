"""Markdown of the studio has no HTML, no images and no links, and is created in one place."""

from pathlib import Path

import pytest

import homodyn.studio
from homodyn.studio.markdown_text import without_html


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("**a** *b* `c`", "**a** *b* `c`"),
        ("<script>x</script>", "&lt;script>x&lt;/script>"),
        ("![a](/etc/passwd)", "![a]\u2060(/etc/passwd)"),
        ("[a](b) [a][b] [b]: http://c", "[a]\u2060(b) [a]\u2060[b] [b]\u2060: http://c"),
    ],
)
def test_html_images_and_links_are_text(content, shown):
    assert without_html(content) == shown


def test_no_other_module_creates_markdown():
    folder = Path(homodyn.studio.__file__).parent
    users = {path.name for path in folder.rglob("*.py") if "add_markdown" in path.read_text()}
    assert users == {"markdown_text.py"}


def test_the_text_of_the_page_is_the_safe_one(studio):
    from homodyn.studio.markdown_text import MarkdownText

    text = MarkdownText(studio.server.gui, "<b>a</b>", visible=False)
    assert (text.content, text.visible) == ("<b>a</b>", False)
    assert text._handle.content == "&lt;b>a&lt;/b>"
    text.content, text.visible = "<i>", True
    assert (text._handle.content, text._handle.visible) == ("&lt;i>", True)
    text.remove()
