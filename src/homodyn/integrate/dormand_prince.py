"""One step of an embedded Runge-Kutta method: its end, its error estimate, its dense output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from homodyn.integrate.tableau import DORMAND_PRINCE

_STAGES = tuple(tuple(map(float, row)) for row in DORMAND_PRINCE.tableau.stages)
_NODES = tuple(float(sum(row)) for row in DORMAND_PRINCE.tableau.stages)
_ERROR = tuple(map(float, DORMAND_PRINCE.error_weights))
_INTERPOLATION = np.array([[float(x) for x in row] for row in DORMAND_PRINCE.interpolation])

Slope = Callable[[float, np.ndarray], np.ndarray]
"""Rate of a state (n,) at a time (s)."""


class EmbeddedStep(NamedTuple):
    """A step of an embedded method.

    Attributes:
        y: State at the end, (n,).
        slope: Rate at the end, (n,).
        error: Difference to the embedded method of lower order, (n,).
        stages: Rates of all stages, (n,) each.
    """

    y: np.ndarray
    slope: np.ndarray
    error: np.ndarray
    stages: list[np.ndarray]


def dormand_prince_step(
    f: Slope, t: float, y: np.ndarray, slope: np.ndarray, h: float
) -> EmbeddedStep:
    """Take one step of Dormand and Prince's method of order 5(4).

    Args:
        f: Rate of the state, ``f(t, y)``, (n,).
        t: Time at the start (s).
        y: State at the start, (n,).
        slope: Rate at the start, ``f(t, y)``, (n,).
        h: Length of the step (s).

    Returns:
        The end of the step with its error estimate and all stages.
    """
    stages = [slope]
    end = y
    for weights, node in zip(_STAGES[1:], _NODES[1:], strict=True):
        end = y + h * _weighted_sum(weights, stages)
        stages.append(f(t + node * h, end))
    return EmbeddedStep(end, stages[-1], h * _weighted_sum(_ERROR, stages), stages)


def dense_output(fraction: float, h: float, y: np.ndarray, stages: np.ndarray) -> np.ndarray:
    """Interpolate within a step of Dormand and Prince's method, to order 4 (Shampine 1986).

    Args:
        fraction: Where in the step, from 0 to 1.
        h: Length of the step (s).
        y: State at the start, (n,).
        stages: Rates of all stages, (7, n).

    Returns:
        The state there, (n,).
    """
    return np.asarray(y + h * ((_INTERPOLATION @ fraction ** np.arange(1, 5)) @ stages))


def _weighted_sum(weights: Sequence[float], stages: list[np.ndarray]) -> np.ndarray:
    return np.asarray(sum(w * k for w, k in zip(weights, stages, strict=True)))
