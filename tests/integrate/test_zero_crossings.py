"""Where in a stretch zeros are passed: signs, straight lines, and cuts that come to an end."""

import casadi as ca
import numpy as np
import pytest

from homodyn.integrate import (
    crosses_zero,
    cut_fraction,
    is_located,
    is_reached,
    secant_fraction,
)


@pytest.mark.parametrize("strict", [True, False])
def test_a_zero_is_passed_from_below_only_and_once(strict):
    signs = (-1.0, 0.0, 1.0)
    for before in signs:
        for after in signs:
            assert crosses_zero(before, after, strict) == (
                not is_reached(before, strict) and is_reached(after, strict)
            )
    # What ends a stretch at zero begins the next one there: of two stretches one has passed.
    assert crosses_zero(-1.0, 0.0, strict) + crosses_zero(0.0, 1.0, strict) == 1
    assert not crosses_zero(1.0, -1.0, strict)


def test_the_line_between_two_values_is_cut_at_its_zero():
    assert secant_fraction(-1.0, 4.0) == 0.25
    assert secant_fraction(-1.0, 4.0, 1.0) == 0.5
    assert [cut_fraction(0.3, tries) for tries in range(6)] == [0.3, 0.3, 0.5, 0.3, 0.3, 0.5]
    assert cut_fraction(-1.0, 0) > 0
    assert cut_fraction(2.0, 0) < 1


def test_symbols_give_what_numbers_give():
    a, b, n = (ca.SX.sym(name) for name in "abn")
    values = [
        crosses_zero(a, b),
        cut_fraction(secant_fraction(a, b - a, 0.1), n),
        is_located(b, 0.1, n, 1.0),
    ]
    graph = ca.Function("crossing", [a, b, n], values)
    rng = np.random.default_rng(4)
    for before, after in rng.normal(size=(20, 2)):
        for tries in range(4):
            found = [float(one) for one in graph(before, after, tries)]
            assert found == pytest.approx(
                [
                    crosses_zero(before, after),
                    cut_fraction(secant_fraction(before, after - before, 0.1), tries),
                    is_located(after, 0.1, tries, 1.0),
                ],
                rel=1e-15,
            )


@pytest.mark.parametrize(
    "value",
    [
        lambda s: s**31 - 0.7**31,
        lambda s: 1 - 0.9 - (1 - s) ** 31,
        lambda s: np.sign(s - 0.123),
        lambda s: 1e9 * (s - 0.9999) if s > 0.9999 else 1e-9 * (s - 0.9999),
    ],
    ids=["late", "early", "jump", "knee"],
)
def test_cuts_come_to_an_end_however_bent_the_function(value):
    """The bracket is halved every third time at least, so 60 cuts leave 2^-20 of the stretch."""
    low, high = 0.0, 1.0
    for tries in range(60):
        if is_located(value(high), 1e-6, high - low, 1e-15):
            break
        share = cut_fraction(secant_fraction(value(low), value(high) - value(low)), tries)
        there = low + share * (high - low)
        low, high = (low, there) if is_reached(value(there)) else (there, high)
    assert crosses_zero(value(low), value(high))
    assert high - low <= 2**-20 or value(high) <= 1e-6
