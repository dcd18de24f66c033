"""Torques from outside the kernel: sampled torques, and controllers with their delays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from homodyn.errors import ModelError
from homodyn.simulate.setup import SimulationSetup

SAME_TIME_S = 1e-12
"""Times closer than this are equal."""


class ExternalTorques:
    """Calls controllers when they are due and queues their torques until they act."""

    def __init__(self, setup: SimulationSetup, adaptive: bool = False) -> None:
        self.nv = setup.model.nv
        self._sampled = setup.sampled_torques
        times: list[np.ndarray] = []
        if adaptive:
            times = [np.asarray(part.time, float) for part in self._sampled]
            times += [part.break_times() for part in setup.traced_actuation]
        # Long steps must end where the slope of the interpolation changes.
        self._breaks = np.unique(np.concatenate(times)) if times else np.zeros(0)
        self._controllers = setup.controllers
        self._calls = [0] * len(self._controllers)
        self._queue: list[list[tuple[float, np.ndarray]]] = [[] for _ in self._controllers]
        self._acting = [np.zeros(self.nv) for _ in self._controllers]

    def next_change(self, t: float) -> float:
        """The next time at which a controller is called, its torque starts, or a slope changes."""
        calls = [n * p.period for n, p in zip(self._calls, self._controllers, strict=True)]
        starts = [start for queue in self._queue for start, _ in queue]
        later = np.searchsorted(self._breaks, t + SAME_TIME_S, side="right")
        times = (*calls, *starts, *self._breaks[later:][:1])
        return float(min((time for time in times if time > t + SAME_TIME_S), default=np.inf))

    def torques_at(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Torques that act from time ``t`` on; calls the controllers that are due."""
        total = np.zeros(self.nv)
        for part in self._sampled:
            total = total + part.sample(np.array([t]))[0]
        for k, controller in enumerate(self._controllers):
            if t >= self._calls[k] * controller.period - SAME_TIME_S:
                torque = np.asarray(controller.function(t, q.copy(), v.copy()), dtype=float)
                if torque.shape != (self.nv,):
                    raise ModelError(
                        f"the controller returned shape {torque.shape} at {t:g} s; {self.nv} "
                        "torques are needed"
                    )
                self._queue[k].append((t + controller.delay if self._calls[k] else t, torque))
                self._calls[k] += 1
            while self._queue[k] and self._queue[k][0][0] <= t + SAME_TIME_S:
                self._acting[k] = self._queue[k].pop(0)[1]
            total = total + self._acting[k]
        return total


def sampled_torque_change(setup: SimulationSetup) -> Callable[[float, float], np.ndarray]:
    """Change of sampled torques between two times within one interval of samples."""
    lines = [part for part in setup.sampled_torques if not part.zero_order_hold]
    none = np.zeros(setup.model.nv)

    def change(start: float, t: float) -> np.ndarray:
        total = none
        for part in lines:
            before, after = part.sample(np.array([start, t]))
            total = total + after - before
        return total

    return change
