"""Where in a text something stands, and errors that show it."""

from __future__ import annotations

from dataclasses import dataclass, field

from homodyn.errors import NetworkError


@dataclass(frozen=True)
class SourceText:
    """A text with the name it goes by in messages."""

    text: str = field(repr=False)
    path: str = ""

    def error(self, message: str, offset: int) -> NetworkError:
        """What is wrong at a place, with the line it stands in and a caret below."""
        offset = max(0, min(offset, len(self.text)))
        line = self.text.count("\n", 0, offset) + 1
        start = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", offset)
        shown = self.text[start : end if end >= 0 else len(self.text)].replace("\t", " ")
        return NetworkError(message, self.path, line, offset - start + 1, shown)


@dataclass(frozen=True)
class SourceLocation:
    """An offset into a source."""

    source: SourceText
    offset: int

    def error(self, message: str) -> NetworkError:
        """What is wrong here."""
        return self.source.error(message, self.offset)

    def shift(self, by: int) -> SourceLocation:
        """The place so many characters further on."""
        return SourceLocation(self.source, self.offset + by)


NO_LOCATION = SourceLocation(SourceText("", ""), 0)
"""The place of what was made in Python and not in a text."""
