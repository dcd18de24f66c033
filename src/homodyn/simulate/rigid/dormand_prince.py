"""One step of Dormand and Prince's method of order 5 with its error, and a cubic through it."""

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


class Step(NamedTuple):
    """Where a step came to, its slope there, and the difference to the fourth-order result."""

    y: np.ndarray
    slope: np.ndarray
    error: np.ndarray


Slope = Callable[[float, np.ndarray], np.ndarray]


def dormand_prince(f: Slope, t: float, y: np.ndarray, slope: np.ndarray, h: float) -> Step:
    """A step of length ``h`` from ``y`` at ``t``, where the slope is known."""
    stages = [slope]
    reached = y
    for weights, c in zip(_A[1:], _C[1:], strict=True):
        reached = y + h * _sum(weights, stages)
        stages.append(f(t + c * h, reached))
    return Step(reached, stages[-1], h * _sum(_E, stages))


def _sum(weights: tuple[float, ...], stages: list[np.ndarray]) -> np.ndarray:
    return np.asarray(sum(w * k for w, k in zip(weights, stages, strict=True)))


def between(
    s: float, h: float, y0: np.ndarray, k0: np.ndarray, y1: np.ndarray, k1: np.ndarray
) -> np.ndarray:
    """The cubic with these ends and slopes at the share ``s`` of a step."""
    r = 1 - s
    return r * r * ((1 + 2 * s) * y0 + s * h * k0) + s * s * ((1 + 2 * r) * y1 - r * h * k1)
