"""One step of Dormand and Prince's method (1980) of order 5, its error, and what lies within it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

_A = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_C = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_E = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)


_D = np.array(
    [
        [1, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432],
        [0, 0, 0, 0],
        [0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
        [0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
        [0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
        [0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
        [0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423],
    ]
)


class Step(NamedTuple):
    """Where a step came to, its slope there, the difference to order 4, and all its slopes."""

    y: np.ndarray
    slope: np.ndarray
    error: np.ndarray
    stages: list[np.ndarray]


Slope = Callable[[float, np.ndarray], np.ndarray]


def dormand_prince(f: Slope, t: float, y: np.ndarray, slope: np.ndarray, h: float) -> Step:
    """A step of length ``h`` from ``y`` at ``t``, where the slope is known."""
    stages = [slope]
    reached = y
    for weights, c in zip(_A[1:], _C[1:], strict=True):
        reached = y + h * _sum(weights, stages)
        stages.append(f(t + c * h, reached))
    return Step(reached, stages[-1], h * _sum(_E, stages), stages)


def _sum(weights: tuple[float, ...], stages: list[np.ndarray]) -> np.ndarray:
    return np.asarray(sum(w * k for w, k in zip(weights, stages, strict=True)))


def within(s: float, h: float, y: np.ndarray, stages: np.ndarray) -> np.ndarray:
    """The state at the share ``s`` of a step from ``y``, to order 4 (Shampine 1986)."""
    return np.asarray(y + h * ((_D @ s ** np.arange(1, 5)) @ stages))


def between(
    s: float, h: float, y0: np.ndarray, k0: np.ndarray, y1: np.ndarray, k1: np.ndarray
) -> np.ndarray:
    """The cubic with these ends and slopes at the share ``s`` of a step."""
    r = 1 - s
    return r * r * ((1 + 2 * s) * y0 + s * h * k0) + s * s * ((1 + 2 * r) * y1 - r * h * k1)
