"""Formulas without variables become numbers."""

import math

import numpy as np
import pytest

from homodyn.errors import NetworkError
from homodyn.network.constant_folding import constant_value, fold_text, is_constant
from homodyn.network.formula import parse_formula
from homodyn.network.source import SourceLocation, SourceText


def parsed(text):
    return parse_formula(text, SourceLocation(SourceText(text), 0), expanded=True)


@pytest.mark.parametrize(
    ("text", "value"),
    [("2 + 3 * 4", 14.0), ("sin(pi / 6)", 0.5), ("-2 ^ 2", -4.0), ("hypot(3, 4)", 5.0)],
)
def test_numbers_constants_and_functions_are_evaluated(text, value):
    np.testing.assert_allclose(constant_value(parsed(text)), [[value]], rtol=1e-15)
    assert float(fold_text(text, SourceLocation(SourceText(text), 0))) == pytest.approx(value)


def test_vectors_keep_their_shape():
    np.testing.assert_array_equal(constant_value(parsed("[1, 2; 3, 2 * 2]")), [[1, 2], [3, 4]])


@pytest.mark.parametrize("text", ["x + 1", "2 * node.mass", "rand(0, 1)", "x'"])
def test_variables_and_draws_are_not_constant(text):
    assert not is_constant(parsed(text).formula)
    assert constant_value(parsed(text)) is None


def test_whole_numbers_have_no_point_and_others_all_their_digits():
    place = SourceLocation(SourceText(""), 0)
    assert fold_text("6 / 2", place) == "3"
    assert float(fold_text("1 / 3", place)) == 1 / 3
    assert float(fold_text("e", place)) == math.e


@pytest.mark.parametrize(
    ("text", "message"),
    [("[1, 2]", "expected a single number"), ("1 / 0", "expected a finite number")],
)
def test_what_is_not_one_finite_number_is_refused_with_its_line(text, message):
    source = SourceText(f"first\nn = {text}\n", "net.cdn")
    with pytest.raises(NetworkError, match=message) as error:
        fold_text(text, SourceLocation(source, 10))
    assert (error.value.path, error.value.line, error.value.column) == ("net.cdn", 2, 5)
