"""TOML with line numbers: lines of values, and errors that name them."""

import pytest

from homodyn.errors import FormatError
from homodyn.foundation.toml import line_numbers, parse_toml, read_toml


def test_lines_of_values_in_arrays_and_inline_tables():
    text = '''# a comment
title = "a [strange] # title"
[one]
numbers = [
  1,   # first
  2,
  [3, 4],
]
[[many]]
a = 1
[[many]]
a = { b = 2, c = [1, 2] }
[many.deep]
text = """
[not.a.table]
x = 1
"""
y.z = 3
points = [
  { x = 1, y = 2 },
  { x = 3,
    y = 4 },
]
'''.replace("3,\n    y = 4 }", "3, y = 4 }")
    lines = line_numbers(text)
    assert lines["title",] == 2
    assert lines["one", "numbers", 1] == 6
    assert lines["one", "numbers", 2, 1] == 7
    assert lines["many", 0, "a"] == 10
    assert lines["many", 1, "a", "c"] == 12
    assert lines["many", 1, "deep", "text"] == 14
    assert lines["many", 1, "deep", "y", "z"] == 18
    assert lines["many", 1, "deep", "points", 1, "y"] == 21
    assert not any("x" in place and len(place) == 1 for place in lines)
    assert parse_toml(text).line("many", 1, "deep", "nothing", 3) == 13


def test_an_error_names_file_line_and_key():
    document = parse_toml("a = 1\n[table]\nb = [1,\n  2]\n", "scene.toml")
    error = document.error("expected a text", "table", "b", 1)
    assert str(error) == "scene.toml, line 4, table.b.1: expected a text"
    assert str(document.error("empty")) == "scene.toml, line 1: empty"
    assert "a = 1" not in repr(document)


def test_strings_and_comments_do_not_count_as_elements():
    lines = line_numbers('x = [  # [0, 1]\n  "a, [\\"]",\n  \'b\',  # {\n  { c = 1,  d = 2 },\n]\n')
    assert lines["x", 0] == 2
    assert lines["x", 1] == 3
    assert lines["x", 2, "d"] == 4


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"a = [", "this is not TOML"), (b"\xff\xfe", "not UTF-8"), (b"a = 1" * 20, "too large")],
)
def test_files_that_cannot_be_parsed_are_refused(tmp_path, content, message):
    path = tmp_path / "x.toml"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message):
        read_toml(path, max_bytes=50)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(FormatError, match="no such file"):
        read_toml(tmp_path / "none.toml")
