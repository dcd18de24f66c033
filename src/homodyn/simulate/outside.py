"""Torques that come from outside the kernel: sampled ones, and Python controllers with delays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from homodyn.errors import ModelError
from homodyn.simulate.actuation import Controller, SampledTorques
from homodyn.simulate.setup import Setup

SOON = 1e-12
"""Times (s) this near to each other are the same."""


class Outside:
    """Keeps what controllers have asked for and when it begins to act."""

    def __init__(self, setup: Setup, adaptive: bool = False) -> None:
        self.nv = setup.model.nv
        self._sampled = [p for p in setup.actuation if isinstance(p, SampledTorques)]
        times = [np.asarray(p.time, float) for p in self._sampled] if adaptive else []
        # Where lines bend, long steps must end.
        self._bends = np.unique(np.concatenate(times)) if times else np.zeros(0)
        self._controllers = [p for p in setup.actuation if isinstance(p, Controller)]
        self._called = [0] * len(self._controllers)
        self._queue: list[list[tuple[float, np.ndarray]]] = [[] for _ in self._controllers]
        self._now = [np.zeros(self.nv) for _ in self._controllers]

    def next_change(self, t: float) -> float:
        """The next time at which a controller is called, its torque begins, or a line bends."""
        calls = [n * p.period for n, p in zip(self._called, self._controllers, strict=True)]
        starts = [at for queue in self._queue for at, _ in queue]
        bends = self._bends[np.searchsorted(self._bends, t + SOON, side="right") :][:1]
        return float(min((at for at in (*calls, *starts, *bends) if at > t + SOON), default=np.inf))

    def at(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Torques that act from time ``t`` on; calls the controllers that are due."""
        total = np.zeros(self.nv)
        for part in self._sampled:
            total = total + part.at(np.array([t]))[0]
        for k, controller in enumerate(self._controllers):
            if t >= self._called[k] * controller.period - SOON:
                torque = np.asarray(controller.function(t, q.copy(), v.copy()), dtype=float)
                if torque.shape != (self.nv,):
                    raise ModelError(
                        f"the controller returned shape {torque.shape} at {t:g} s; {self.nv} "
                        "torques are needed"
                    )
                self._queue[k].append((t + controller.delay if self._called[k] else t, torque))
                self._called[k] += 1
            while self._queue[k] and self._queue[k][0][0] <= t + SOON:
                self._now[k] = self._queue[k].pop(0)[1]
            total = total + self._now[k]
        return total


def sampled_change(setup: Setup) -> Callable[[float, float], np.ndarray]:
    """How sampled torques change between two times, neither beyond the next bend from the first."""
    lines = [p for p in setup.actuation if isinstance(p, SampledTorques) and not p.held]
    none = np.zeros(setup.model.nv)

    def change(start: float, t: float) -> np.ndarray:
        total = none
        for part in lines:
            before, after = part.at(np.array([start, t]))
            total = total + after - before
        return total

    return change
