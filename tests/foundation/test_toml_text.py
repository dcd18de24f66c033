"""TOML text that reads back to the same data, to the last bit."""

import tomllib

import numpy as np
import pytest

from homodyn.errors import FormatError
from homodyn.foundation.toml_text import toml_pairs, toml_text


def test_documents_are_read_back_equal():
    content = {
        "name": 'quotes " and \\ and \x7f and ü',
        "count": 3,
        "flag": True,
        "numbers": [0.1, 1 / 3, 1e300, -2e-7, float("inf")],
        "empty": [],
        "nested": [[1.0, 2.0], [3.0]],
        "table": {"a key with spaces": 1, "inline": {"x": [1, 2]}},
        "list": [{"name": "first", "value": 1.5}, {"name": "second"}],
    }
    assert tomllib.loads(toml_text(content)) == content


def test_plain_values_come_before_tables():
    text = toml_text({"table": {"x": 1}, "name": "last"})
    assert tomllib.loads(text) == {"table": {"x": 1}, "name": "last"}


def test_lists_of_tables_in_a_table_are_inline():
    pairs = toml_pairs({"points": [{"x": 1}, {"x": 2}]})
    assert tomllib.loads("\n".join(pairs)) == {"points": [{"x": 1}, {"x": 2}]}


@pytest.mark.parametrize("value", [None, np.zeros(3), object()])
def test_other_values_are_refused(value):
    with pytest.raises(FormatError, match="TOML cannot express"):
        toml_text({"value": value})
