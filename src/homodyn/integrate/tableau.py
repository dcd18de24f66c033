"""Butcher tableaus of explicit Runge-Kutta methods, in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple


class Tableau(NamedTuple):
    """Butcher tableau of an explicit Runge-Kutta method.

    Stage i evaluates the rate k_i at ``x + h sum(stages[i][j] k_j)``, at the fraction
    ``sum(stages[i])`` of the step. The step ends at ``x + h sum(weights[i] k_i)``.

    Attributes:
        stages: One row of coefficients per stage; row i has at most i entries.
        weights: One weight per stage.
    """

    stages: tuple[tuple[Fraction, ...], ...]
    weights: tuple[Fraction, ...]


class EmbeddedTableau(NamedTuple):
    """Butcher tableau with an embedded method of lower order and dense output.

    Attributes:
        tableau: The method of higher order. Its last stage is evaluated at the end of the step
            (first same as last).
        error_weights: Weights of the difference between both methods, one per stage.
        interpolation: One row per stage: coefficients of the powers 1, 2, ... of the fraction of
            the step in the interpolating polynomial.
    """

    tableau: Tableau
    error_weights: tuple[Fraction, ...]
    interpolation: tuple[tuple[Fraction, ...], ...]


def _row(text: str) -> tuple[Fraction, ...]:
    return tuple(Fraction(entry) for entry in text.split())


def _rows(*texts: str) -> tuple[tuple[Fraction, ...], ...]:
    return tuple(_row(text) for text in texts)


EXPLICIT_EULER = Tableau(_rows(""), _row("1"))
"""The rate at the start; order 1."""

HEUN = Tableau(_rows("", "1"), _row("1/2 1/2"))
"""Euler predictor, trapezoidal corrector; order 2."""

RK4 = Tableau(_rows("", "1/2", "0 1/2", "0 0 1"), _row("1/6 1/3 1/3 1/6"))
"""The classical four stages of Kutta (1901); order 4."""

_DORMAND_PRINCE_END = "35/384 0 500/1113 125/192 -2187/6784 11/84"

DORMAND_PRINCE = EmbeddedTableau(
    Tableau(
        _rows(
            "",
            "1/5",
            "3/40 9/40",
            "44/45 -56/15 32/9",
            "19372/6561 -25360/2187 64448/6561 -212/729",
            "9017/3168 -355/33 46732/5247 49/176 -5103/18656",
            _DORMAND_PRINCE_END,
        ),
        _row(_DORMAND_PRINCE_END + " 0"),
    ),
    _row("71/57600 0 -71/16695 71/1920 -17253/339200 22/525 -1/40"),
    _rows(
        "1 -8048581381/2820520608 8663915743/2820520608 -12715105075/11282082432",
        "0 0 0 0",
        "0 131558114200/32700410799 -68118460800/10900136933 87487479700/32700410799",
        "0 -1754552775/470086768 14199869525/1410260304 -10690763975/1880347072",
        "0 127303824393/49829197408 -318862633887/49829197408 701980252875/199316789632",
        "0 -282668133/205662961 2019193451/616988883 -1453857185/822651844",
        "0 40617522/29380423 -110615467/29380423 69997945/29380423",
    ),
)
"""Dormand and Prince (1980), order 5 with an embedded order 4; dense output by Shampine (1986)."""
