"""Typed reading of TOML tables, with all errors at once."""

import numpy as np
import pytest

from homodyn.errors import FormatError, ModelError
from homodyn.foundation.toml import read_toml
from homodyn.foundation.toml_table import TomlTable


@pytest.fixture
def table(tmp_path):
    def read(text: str) -> TomlTable:
        (tmp_path / "file.toml").write_text(text)
        return TomlTable(read_toml(tmp_path / "file.toml"))

    return read


def message(table: TomlTable) -> str:
    with pytest.raises(FormatError) as caught:
        table.raise_errors()
    return str(caught.value)


def test_fields_of_all_types_are_read(table):
    top = table(
        "x = 1\nn = 4\ntext = 'a'\nnames = ['a', 'b']\nflag = true\nvector = [1, 2, 3]\n"
        "rows = [[1, 2], [3, 4], [5, 6]]\nkind = 'box'\n[inner]\ny = 2.5\n[[many]]\nz = 1\n"
    )
    assert top.number("x", above=0.0) == 1.0
    assert top.number("missing", 2.0) == 2.0
    assert top.optional_number("missing") is None
    assert top.integer("n", minimum=1) == 4
    assert top.text("text") == "a"
    assert top.texts("names") == ("a", "b")
    assert top.flag("flag", False) is True
    assert np.array_equal(top.array("vector"), [1, 2, 3])
    assert top.array("rows", shape=(-1, 2)).shape == (3, 2)
    assert top.choice("kind", ("box", "ball")) == "box"
    assert top.choice("other", ("box", "ball"), "ball") == "ball"
    assert top.table("inner").number("y") == 2.5
    assert top.table("nothing") is None
    assert [each.number("z") for each in top.tables("many")] == [1.0]
    top.report_unknown_fields()
    top.raise_errors()


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        (lambda t: t.number("text"), "line 1, text: a number is expected, got 'a'"),
        (lambda t: t.number("flag"), "line 2, flag: a number is expected, got True"),
        (lambda t: t.number("x", above=3), "line 3, x: a number above 3 is expected, got 1.5"),
        (lambda t: t.number("x", minimum=3), "line 3, x: a number of at least 3 is expected"),
        (lambda t: t.number("missing"), "line 1, missing: this field is missing"),
        (lambda t: t.integer("x"), "line 3, x: a whole number from 0 up is expected, got 1.5"),
        (lambda t: t.array("pair"), "line 4, pair: 3 finite numbers are expected, got [1, 2]"),
        (lambda t: t.array("pair", shape=(-1, 2)), "line 4, pair: rows of 2 finite numbers"),
        (lambda t: t.array("text"), "line 1, text: 3 finite numbers are expected, got 'a'"),
        (lambda t: t.text("x"), "line 3, x: a text is expected, got 1.5"),
        (lambda t: t.texts("pair"), "line 4, pair: a list of texts is expected"),
        (lambda t: t.flag("x", True), "line 3, x: true or false is expected, got 1.5"),
        (lambda t: t.choice("text", ("b", "c")), "line 1, text: no text 'a'; accepted: b, c"),
        (lambda t: t.choice("missing", ("b", "c")), "this field is missing; accepted: b, c"),
        (lambda t: t.table("x"), "line 3, x: a table is expected, got 1.5"),
        (lambda t: t.tables("x"), "line 3, x: write it as [[x]]"),
    ],
)
def test_an_invalid_field_has_its_line_and_what_is_expected(table, read, expected):
    top = table("text = 'a'\nflag = true\nx = 1.5\npair = [1, 2]\n")
    read(top)
    assert not top.valid or top.errors
    assert expected in message(top)


def test_all_errors_are_listed_in_the_order_of_their_lines(table):
    top = table("x = 'a'\ny = 'b'\n[[part]]\nz = 'c'\nw = 1\n")
    (part,) = top.tables("part")
    part.number("z")
    assert part.build(dict) is None
    top.number("y")
    top.number("x")
    lines = message(top).splitlines()
    assert "3 errors" not in lines[0]
    assert "4 errors" in lines[0]
    assert [line.strip().split(":")[0] for line in lines[1:]] == [
        "line 1, x",
        "line 2, y",
        "line 4, part 1.z",
        "line 5, part 1.w",
    ]


def test_the_error_of_a_constructor_is_reported_at_its_table(table):
    def refuse():
        raise ModelError("a leg is missing")

    top = table("\n[[chair]]\nlegs = 3\n")
    (chair,) = top.tables("chair")
    chair.number("legs")
    chair.label = "chair 'old'"
    assert chair.build(refuse) is None
    assert "line 2, chair 'old': a leg is missing" in message(top)
