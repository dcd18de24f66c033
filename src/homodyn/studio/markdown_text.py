"""Markdown on the page: the only place that creates it.

The page renders HTML inside Markdown without checking it. Texts of files are escaped where
sentences are composed (`homodyn.foundation.markup.escape_markup`). A `MarkdownText` also disables
HTML, images and links, which no sentence of the studio needs, so that a name that was not escaped
cannot run a script or read a file.
"""

from __future__ import annotations

import re
from typing import Any

import viser

_IMAGE_OR_LINK = re.compile(r"(?<=\])(?=[(\[:])")


class MarkdownText:
    """A text of the page in Markdown without HTML, images and links.

    Args:
        gui: The controls; the text is added to the open container.
        content: Markdown.
        visible: Whether it is shown.
    """

    def __init__(self, gui: viser.GuiApi, content: str, *, visible: bool = True) -> None:
        self._content = content
        self._handle: Any = gui.add_markdown(without_html(content), visible=visible)

    @property
    def content(self) -> str:
        """The Markdown as it was assigned."""
        return self._content

    @content.setter
    def content(self, content: str) -> None:
        self._content = content
        self._handle.content = without_html(content)

    @property
    def visible(self) -> bool:
        """Whether it is shown."""
        return bool(self._handle.visible)

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._handle.visible = visible

    def remove(self) -> None:
        """Remove it from the page."""
        self._handle.remove()


def without_html(content: str) -> str:
    """Markdown whose HTML, images and links are shown as text.

    Args:
        content: Markdown of any origin.

    Returns:
        Markdown that creates emphasis, code, lists and tables only.
    """
    return _IMAGE_OR_LINK.sub("\u2060", content.replace("<", "&lt;"))
