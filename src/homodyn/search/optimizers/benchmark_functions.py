"""Standard test functions of optimizers: one value per row of an array of points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from homodyn.search.space import SearchParameter, Space


@dataclass(frozen=True)
class BenchmarkFunction:
    """A test function with its customary bounds and its minimum."""

    function: Callable[[np.ndarray], np.ndarray]
    lower: float
    upper: float
    minimum: float = 0.0

    def space(self, size: int) -> Space:
        """A space of parameters x1, x2, ... within the bounds.

        Args:
            size: Number of parameters.

        Returns:
            The space.
        """
        return Space(
            parameters=tuple(
                SearchParameter(name=f"x{k + 1}", lower=self.lower, upper=self.upper)
                for k in range(size)
            )
        )


def six_hump(x: np.ndarray) -> np.ndarray:
    """The six-hump camel: two minima of -1.0316 at (0.0898, -0.7126) and (-0.0898, 0.7126).

    (4 - 2.1 x^2 + x^4 / 3) x^2 + x y + (-4 + 4 y^2) y^2. Van den Kieboom (2014) prints y instead of
    the last y^2.
    """
    a, b = x[..., 0], x[..., 1]
    return (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (-4 + 4 * b**2) * b**2


def sphere(x: np.ndarray) -> np.ndarray:
    """Sphere: the sum of squares."""
    return np.sum(np.square(x), axis=-1)


def rosenbrock(x: np.ndarray) -> np.ndarray:
    """Rosenbrock: a curved valley with its minimum at (1, ..., 1)."""
    following, current = x[..., 1:], x[..., :-1]
    return np.sum(100.0 * (following - current**2) ** 2 + (1.0 - current) ** 2, axis=-1)


def rastrigin(x: np.ndarray) -> np.ndarray:
    """Rastrigin: a paraboloid with about 10^n local minima."""
    return np.sum(x**2 - 10.0 * np.cos(2 * np.pi * x) + 10.0, axis=-1)


def ackley(x: np.ndarray) -> np.ndarray:
    """Ackley: many shallow local minima around one deep minimum."""
    root = np.sqrt(np.mean(x**2, axis=-1))
    waves = np.mean(np.cos(2 * np.pi * x), axis=-1)
    return 20.0 - 20.0 * np.exp(-0.2 * root) + np.e - np.exp(waves)


BENCHMARK_FUNCTIONS = {
    "sphere": BenchmarkFunction(sphere, -100.0, 100.0),
    "rosenbrock": BenchmarkFunction(rosenbrock, -30.0, 30.0),
    "rastrigin": BenchmarkFunction(rastrigin, -5.12, 5.12),
    "ackley": BenchmarkFunction(ackley, -32.0, 32.0),
}
