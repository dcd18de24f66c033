"""Places in a text, and errors that show them."""

from __future__ import annotations

from dataclasses import dataclass, field

from homodyn.errors import NetworkError


@dataclass(frozen=True)
class SourceText:
    """A text with its name in messages."""

    text: str = field(repr=False)
    path: str = ""

    def error(self, message: str, offset: int) -> NetworkError:
        """An error at a place, with its line and a caret below.

        Args:
            message: What is wrong.
            offset: Offset in the text.

        Returns:
            The error, to be raised.
        """
        offset = max(0, min(offset, len(self.text)))
        line = self.text.count("\n", 0, offset) + 1
        start = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", offset)
        shown = self.text[start : end if end >= 0 else len(self.text)].replace("\t", " ")
        return NetworkError(message, self.path, line, offset - start + 1, shown)


@dataclass(frozen=True)
class SourceLocation:
    """A place in a source text."""

    source: SourceText
    offset: int

    def error(self, message: str) -> NetworkError:
        """An error at this place."""
        return self.source.error(message, self.offset)

    def shift(self, by: int) -> SourceLocation:
        """The place a number of characters later."""
        return SourceLocation(self.source, self.offset + by)


NO_LOCATION = SourceLocation(SourceText("", ""), 0)
"""The place of objects that were created in Python."""
