"""Readers fail in one sentence of limited length, whatever a library raises."""

import json
from pathlib import Path

import pytest

from homodyn.errors import MAX_MESSAGE_BYTES, FormatError, HomodynError, NetworkError
from homodyn.foundation.guarded_read import guarded_read, guarded_reader


def recurse():
    recurse()


@pytest.mark.parametrize(
    ("fail", "expected"),
    [
        (recurse, "nested too deeply"),
        (lambda: [0] * 2**62, "more memory than there is"),
        (lambda: int("9" * 5000), "ValueError"),
        (lambda: b"a".decode("no-such-encoding"), "LookupError"),
        (lambda: b"\xff".decode("utf-8"), "UnicodeDecodeError"),
        (lambda: {}["key"], "KeyError"),
        (lambda: json.loads("{"), "JSONDecodeError"),
        (lambda: Path("/no/such/file").read_bytes(), "No such file"),
    ],
)
def test_failures_become_sentences(fail, expected):
    with pytest.raises(FormatError, match=expected) as raised, guarded_read("a.toml", "model"):
        fail()
    assert str(raised.value).startswith("a.toml")
    assert raised.value.__cause__ is not None


def test_the_line_of_the_library_is_the_place():
    with pytest.raises(FormatError) as raised, guarded_read("a.json"):
        json.loads("\n\n{")
    assert raised.value.place == "line 3"


def test_errors_of_homodyn_and_interruptions_pass():
    with pytest.raises(NetworkError, match="wrong"), guarded_read():
        raise NetworkError("wrong")
    with pytest.raises(KeyboardInterrupt), guarded_read():
        raise KeyboardInterrupt


def test_a_decorated_reader_names_its_first_argument():
    @guarded_reader("thing")
    def read(path: str, option: int = 0) -> int:
        return int(path[option:])

    assert read("a7", 1) == 7
    with pytest.raises(FormatError, match=r"^abc: this is not a valid thing"):
        read("abc")
    with pytest.raises(FormatError, match=r"^abc: "):
        read(path="abc")


@pytest.mark.parametrize("letter", ["x", "é", "\ud800", "漢"])
def test_messages_have_a_limit(letter):
    error = HomodynError("begin " + letter * 3_000_000 + " end")
    assert len(str(error).encode()) <= MAX_MESSAGE_BYTES
    assert str(error).startswith("begin")
    assert str(error).endswith("end")
    assert "characters in all" in str(error)
    long_line = NetworkError("wrong", "a.cdn", 1, 5_000, letter * 1_000_000)
    assert len(str(long_line).encode()) <= MAX_MESSAGE_BYTES


def test_the_file_is_named_where_it_is_not_the_first_argument():
    @guarded_reader("pose")
    def read(model, path, *, row=0):
        raise ValueError("field larger than field limit")

    with pytest.raises(FormatError, match=r"^poses\.csv: this is not a valid pose"):
        read(object(), "poses.csv", row=1)
