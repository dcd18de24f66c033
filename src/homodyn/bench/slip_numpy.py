"""Runners on a spring leg in NumPy, all at once: the peer of a sweep of a network.

The same model as ``spring_leg.cdn``: fixed Runge-Kutta steps, touch-down and take-off located by
linear interpolation within a tolerance (van den Kieboom 2014, model 2.15 and eq. 2.7). A run ends
after 24 steps or a fall, and ended runners are removed. The direct version evaluates the formulas
of the model on whole arrays. The optimized version uses knowledge of this model: parabolas in
flight, forces only for legs on the ground, and no angles.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

GRAVITY, LENGTH, MASS = 9.81, 1.0, 80.0
"""m/s2, m, kg."""
INITIAL_SPEED_M_PER_S = 5.0
MAX_STEPS = 24
"""Steps after which a run ends."""
EVENT_TOLERANCE_M = 1e-3
"""Accepted overshoot of an event."""
MAX_CUTS_PER_STEP = 50
"""Cuts of a step after which an event is accepted as it is."""
COMPACTION_INTERVAL_STEPS = 64
"""Steps after which ended runners are removed."""


def steps_to_fall(
    stiffness: np.ndarray, angle: np.ndarray, t_end: float, dt: float, *, optimized: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Simulate runners until they fall.

    Args:
        stiffness: (runners,), stiffness of the leg (N/m).
        angle: (runners,), angle of attack to the vertical (rad).
        t_end: End time (s).
        dt: Time step (s).
        optimized: Whether to use the optimized version.

    Returns:
        Number of steps and end time (s) of each runner.
    """
    runners = (_OptimizedRunners if optimized else _Runners)(stiffness, angle)
    steps, time = np.zeros(len(stiffness)), np.zeros(len(stiffness))
    for number in range(round(t_end / dt)):
        runners.step(dt, number * dt)
        if (
            number % COMPACTION_INTERVAL_STEPS == COMPACTION_INTERVAL_STEPS - 1
            and runners.remove_ended(steps, time)
        ):
            break
    runners.end[~runners.over] = t_end
    runners.over[:] = True
    runners.remove_ended(steps, time)
    return steps, time


class _Runners:
    """The runners that have not ended: rows x, y, dx, dy of the state, and their parameters."""

    def __init__(self, stiffness: np.ndarray, angle: np.ndarray) -> None:
        count = len(stiffness)
        self.number = np.arange(count)
        self.state = np.zeros((4, count))
        self.state[1], self.state[2] = LENGTH, INITIAL_SPEED_M_PER_S
        self.pull = stiffness / MASS
        self.low, self.reach = LENGTH * np.cos(angle), LENGTH * np.sin(angle)
        self.foot = np.zeros(count)
        self.ground = np.zeros(count, dtype=bool)
        self.steps = np.zeros(count)
        self.zero = self.low - self.state[1]
        self.over = np.zeros(count, dtype=bool)
        self.end = np.zeros(count)

    def remove_ended(self, steps: np.ndarray, time: np.ndarray) -> bool:
        """Record and remove runners that have ended; returns whether all have."""
        steps[self.number[self.over]] = self.steps[self.over]
        time[self.number[self.over]] = self.end[self.over]
        running = ~self.over
        self.state = self.state[:, running]
        names = ("number", "pull", "low", "reach", "foot", "ground", "steps", "zero", "end", "over")
        for name in names:
            setattr(self, name, getattr(self, name)[running])
        return not len(self.number)

    def step(self, dt: float, time: float) -> None:
        """One step of all runners; steps with an event are cut at the event and completed."""
        before = self.state
        now = self._all(before, dt)
        self.state = now
        zero = np.where(self.ground, self._stretch(now), self.low - now[1])
        crossed = (self.zero < 0) & (zero >= 0) & ~self.over
        self.zero = zero
        if crossed.any():
            chosen = np.flatnonzero(crossed)
            self._handle_events(chosen, before[:, chosen], dt)
        finished = (self.state[1] < 0) | (self.steps >= MAX_STEPS)
        ended = finished & ~self.over
        if ended.any():
            self.over |= ended
            self.end[ended] = time + dt

    def _stretch(self, state: np.ndarray, lanes: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Length of the leg minus its rest length."""
        return np.sqrt((state[0] - self.foot[lanes]) ** 2 + state[1] ** 2) - LENGTH

    def _handle_events(self, lanes: np.ndarray, before: np.ndarray, dt: float) -> None:
        """Locate and execute events of some runners, and complete their step."""
        left = np.full(len(lanes), dt)
        for _ in range(MAX_CUTS_PER_STEP):
            if not len(lanes):
                return
            before, left = self._event(lanes, before, left)
            after = self._advance(before, lanes, left)
            zero = self._zero(after, lanes)
            again = (self._zero(before, lanes) < 0) & (zero >= 0)
            self.state[:, lanes] = after
            self.zero[lanes] = zero
            lanes, before, left = lanes[again], before[:, again], left[again]

    def _event(
        self, lanes: np.ndarray, before: np.ndarray, span: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """States after the first event in a time span, and the rest of the span."""
        length = span.copy()
        start = self._zero(before, lanes)
        after = self._advance(before, lanes, length)
        for _ in range(MAX_CUTS_PER_STEP):
            end = self._zero(after, lanes)
            open_ = np.abs(end) > EVENT_TOLERANCE_M
            if not open_.any():
                break
            share = np.clip(-start[open_] / (end[open_] - start[open_]), 1e-6, 0.999)
            length[open_] *= np.where(end[open_] > 0, share, 1.0)
            after[:, open_] = self._advance(before[:, open_], lanes[open_], length[open_])
        landed = ~self.ground[lanes]
        self.ground[lanes] = landed
        self.foot[lanes] = np.where(landed, after[0] + self.reach[lanes], self.foot[lanes])
        self.steps[lanes] += landed
        return after, span - length

    def _zero(self, state: np.ndarray, lanes: np.ndarray) -> np.ndarray:
        """Zero function of the event of the current phase; positive after the event."""
        return np.where(self.ground[lanes], self._stretch(state, lanes), self.low[lanes] - state[1])

    def _all(self, state: np.ndarray, dt: float) -> np.ndarray:
        """A step of all runners."""
        return self._advance(state, slice(None), dt)

    def _advance(
        self, state: np.ndarray, lanes: np.ndarray | slice, h: np.ndarray | float
    ) -> np.ndarray:
        """A Runge-Kutta step of some runners."""
        pull, foot, ground = self.pull[lanes], self.foot[lanes], self.ground[lanes]

        def rates(s: np.ndarray) -> np.ndarray:
            leg = np.hypot(s[0] - foot, s[1])
            force = np.where(ground, pull * (LENGTH - leg), 0.0)
            lean = np.arctan2(foot - s[0], s[1])
            return np.stack([s[2], s[3], -np.sin(lean) * force, np.cos(lean) * force - GRAVITY])

        return _runge_kutta(state, h, rates)


class _OptimizedRunners(_Runners):
    """Runners with optimizations for this model."""

    def _all(self, state: np.ndarray, dt: float) -> np.ndarray:
        now = np.empty_like(state)
        air, down = np.flatnonzero(~self.ground), np.flatnonzero(self.ground)
        now[:, air] = _fly(state[:, air], dt)
        now[:, down] = self._stance(state[:, down], down, dt)
        return now

    def _advance(
        self, state: np.ndarray, lanes: np.ndarray | slice, h: np.ndarray | float
    ) -> np.ndarray:
        return np.where(self.ground[lanes], self._stance(state, lanes, h), _fly(state, h))

    def _stance(
        self, state: np.ndarray, lanes: np.ndarray | slice, h: np.ndarray | float
    ) -> np.ndarray:
        """A step on the ground."""
        pull, foot = self.pull[lanes], self.foot[lanes]

        def rates(s: np.ndarray) -> np.ndarray:
            dx = s[0] - foot
            leg = np.sqrt(dx * dx + s[1] * s[1])
            share = pull * (LENGTH - leg) / leg
            return np.stack([s[2], s[3], share * dx, share * s[1] - GRAVITY])

        return _runge_kutta(state, h, rates)


def _runge_kutta(
    state: np.ndarray, h: np.ndarray | float, rates: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    k1 = rates(state)
    k2 = rates(state + 0.5 * h * k1)
    k3 = rates(state + 0.5 * h * k2)
    k4 = rates(state + h * k3)
    return state + h / 6 * (k1 + 2 * (k2 + k3) + k4)


def _fly(state: np.ndarray, h: np.ndarray | float) -> np.ndarray:
    """A step in flight, for which Runge-Kutta steps are exact."""
    x, y, dx, dy = state
    return np.stack([x + h * dx, y + h * dy - 0.5 * GRAVITY * h * h, dx, dy - GRAVITY * h])
