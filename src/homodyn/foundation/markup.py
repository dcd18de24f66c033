"""Text from files in HTML and Markdown: one function that escapes it for both."""

from __future__ import annotations

import re
import unicodedata

MAX_SHOWN_CHARACTERS = 1000
"""Characters of a text from a file that a page shows."""
WORD_JOINER = "\u2060"
"""A character without width; it separates the parts of an address."""

_ADDRESS = re.compile(r"(://|www(?=\.)|@)", re.IGNORECASE)
_SPECIAL = re.compile(r"[!-/:-@\[-`{-~]")


def escape_markup(text: object, max_characters: int = MAX_SHOWN_CHARACTERS) -> str:
    """A text as it can stand in HTML and in Markdown: both show its characters and nothing else.

    All ASCII punctuation becomes character references, which neither language interprets. Addresses
    do not become links. Control characters and characters that reverse the direction of the text
    are replaced, and a long text is abbreviated.

    Args:
        text: A name or a sentence that may contain text of a file.
        max_characters: Length above which the text is abbreviated.

    Returns:
        The escaped text, on one line.
    """
    shown = " ".join(str(text)[: 4 * max_characters].split())
    if len(shown) > max_characters:
        shown = shown[: max_characters - 3] + "..."
    printable = "".join(
        letter if _is_printable(letter) else "\N{REPLACEMENT CHARACTER}" for letter in shown
    )
    separated = _ADDRESS.sub(rf"\1{WORD_JOINER}", printable)
    return _SPECIAL.sub(lambda found: f"&#{ord(found[0])};", separated)


def _is_printable(letter: str) -> bool:
    """Whether a character is neither a control character nor one that reverses directions."""
    return unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
