"""Escaped text means nothing in HTML and in Markdown, and reads as it was."""

from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homodyn.foundation.markup import WORD_JOINER, escape_markup

NAMES = [
    'X<iframe srcdoc="<script>alert(1)</script>">',
    "<img src=x onerror=alert(1)>",
    "[a](javascript:alert(1))",
    "![a](/etc/passwd)",
    "**bold** _it_ `code` ~~s~~ # head | cell",
    "&lt;script&gt;",
]


@pytest.mark.parametrize("name", NAMES)
def test_names_keep_their_characters(name):
    escaped = escape_markup(name)
    assert unescape(escaped).replace(WORD_JOINER, "") == name
    assert not set(escaped) & set("<>\"'[]()*_`!|~=/\\")


@given(st.text())
def test_no_character_of_a_language_is_left(name):
    escaped = escape_markup(name)
    references = escaped.replace("&#", "").replace(";", "")
    assert all(letter.isalnum() or ord(letter) > 127 or letter == " " for letter in references)
    assert "\n" not in escaped


def test_addresses_do_not_become_links():
    for address in ("http://a.example/", "www.a.example", "a@b.example"):
        assert WORD_JOINER in escape_markup(address)


def test_long_and_invisible_text():
    assert len(unescape(escape_markup("x" * 10_000_000))) == 1000
    assert escape_markup("a\x00b\u202ec") == "a\ufffdb\ufffdc"
    assert escape_markup("  a\n\tb ") == "a b"
