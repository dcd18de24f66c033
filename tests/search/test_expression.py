import math

import numpy as np
import pytest

from homodyn.errors import SearchError
from homodyn.search import Expression


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("2 ^ 3 ^ 2", 512),
        ("-2 ^ 2", -4),
        ("(1 + 2) * -3", -9),
        ("7 % 4 - 1", 2),
        ("10 - 4 - 3", 3),
        ("2 / 4 / 2", 0.25),
        ("1 < 2 && 3 >= 4 || 1 == 1", 1),
        ("!(1 > 2)", 1),
        ("a > 1 ? b : -b", 5),
        ("a > 9 ? 1 : a > 1 ? 2 : 3", 2),
        ("max(a, b, 1) + min(a, b)", 7),
        ("hypot(3, 4) + sqrt(a * 2)", 7),
        ("pi + e", math.pi + math.e),
        ("sigmoid(0) + bump(0) + exp(ln(b))", 6.5),
        ("1.5e1 + .5", 15.5),
        ("10 ^ -1", 0.1),
    ],
)
def test_expressions_are_evaluated(text, value):
    assert Expression(text)({"a": 2, "b": 5}) == pytest.approx(value)


def test_arrays_are_evaluated_element_by_element():
    found = Expression("x > 0 ? x ^ 2 : 0")({"x": np.array([-1.0, 2.0, 3.0])})
    assert found.tolist() == [0, 4, 9]


def test_variables_are_listed_once_in_order():
    assert Expression("radius - from_origin + radius * pi").variables == ("radius", "from_origin")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 +", "column 4: expected a number"),
        ("(1", "expected '\\)'"),
        ("system(1)", "no function 'system'"),
        ("a[0]", "column 2: cannot read '\\['"),
        ("__import__('os')", "no function '__import__'"),
        ("sqrt(1, 2)", "sqrt does not take 2"),
        ("1 2", "unexpected '2'"),
        ("", "expected a number"),
    ],
)
def test_anything_but_arithmetic_is_refused(text, message):
    with pytest.raises(SearchError, match=message):
        Expression(text)


def test_a_missing_value_is_named():
    with pytest.raises(SearchError, match=r"no value for 'y'; given: \['x'\]"):
        Expression("x + y")({"x": 1})
