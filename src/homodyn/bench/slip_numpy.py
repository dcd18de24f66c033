"""The runner on a spring leg in plain NumPy, all runners at once: the peer of a network's sweep.

The same model as ``spring_leg.cdn``: Runge-Kutta steps of fixed length, touch-down and take-off met
within a tolerance on straight lines (van den Kieboom 2014, model 2.15 and eq. 2.7), 24 steps or a
fall end a run; runners that have ended are taken out. As written, the formulas are those of the
model over whole arrays. By hand, what can be known of this model is used: in the air steps are
parabolas, forces are worked out for legs on the ground alone, and directions without angles.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

GRAVITY, LENGTH, MASS = 9.81, 1.0, 80.0
SPEED, MOST_STEPS = 5.0, 24
EVENT_TOLERANCE_M = 1e-3
"""How far beyond its zero (m) an event may be found."""
MAX_CUTS_PER_STEP = 50
"""Cuts of a step after which an event is taken as it is."""
COMPACTION_INTERVAL_STEPS = 64
"""Steps after which ended runners are taken out."""


def steps_to_fall(
    stiffness: np.ndarray, angle: np.ndarray, t_end: float, dt: float, *, by_hand: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Steps each runner makes, and when it ends (s); stiffness in N/m, angle to the vertical."""
    runners = (_ByHand if by_hand else _Runners)(stiffness, angle)
    steps, time = np.zeros(len(stiffness)), np.zeros(len(stiffness))
    for number in range(round(t_end / dt)):
        runners.step(dt, number * dt)
        if number % COMPACTION_INTERVAL_STEPS == COMPACTION_INTERVAL_STEPS - 1 and runners.tidy(
            steps, time
        ):
            break
    runners.end[~runners.over] = t_end
    runners.over[:] = True
    runners.tidy(steps, time)
    return steps, time


class _Runners:
    """All runners that still run: rows x, y, dx, dy, and what belongs to each."""

    def __init__(self, stiffness: np.ndarray, angle: np.ndarray) -> None:
        count = len(stiffness)
        self.number = np.arange(count)
        self.state = np.zeros((4, count))
        self.state[1], self.state[2] = LENGTH, SPEED
        self.pull = stiffness / MASS
        self.low, self.reach = LENGTH * np.cos(angle), LENGTH * np.sin(angle)
        self.foot = np.zeros(count)
        self.ground = np.zeros(count, dtype=bool)
        self.steps = np.zeros(count)
        self.zero = self.low - self.state[1]
        self.over = np.zeros(count, dtype=bool)
        self.end = np.zeros(count)

    def tidy(self, steps: np.ndarray, time: np.ndarray) -> bool:
        """Write down and drop runners that have ended; whether none is left."""
        steps[self.number[self.over]] = self.steps[self.over]
        time[self.number[self.over]] = self.end[self.over]
        left = ~self.over
        self.state = self.state[:, left]
        names = ("number", "pull", "low", "reach", "foot", "ground", "steps", "zero", "end", "over")
        for name in names:
            setattr(self, name, getattr(self, name)[left])
        return not len(self.number)

    def step(self, dt: float, time: float) -> None:
        """One step of all; those that meet an event have it cut there and completed after it."""
        before = self.state
        now = self._all(before, dt)
        self.state = now
        zero = np.where(self.ground, self._stretch(now), self.low - now[1])
        crossed = (self.zero < 0) & (zero >= 0) & ~self.over
        self.zero = zero
        if crossed.any():
            chosen = np.flatnonzero(crossed)
            self._meet(chosen, before[:, chosen], dt)
        fell = (self.state[1] < 0) | (self.steps >= MOST_STEPS)
        ended = fell & ~self.over
        if ended.any():
            self.over |= ended
            self.end[ended] = time + dt

    def _stretch(self, state: np.ndarray, lanes: np.ndarray | slice = slice(None)) -> np.ndarray:
        """How much longer the leg is than at rest."""
        return np.sqrt((state[0] - self.foot[lanes]) ** 2 + state[1] ** 2) - LENGTH

    def _meet(self, lanes: np.ndarray, before: np.ndarray, dt: float) -> None:
        """Find events of some runners, carry them out, and complete the step."""
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
        """States right after the first event in a span of time, and what is left of the span."""
        length = span.copy()
        start = self._zero(before, lanes)
        after = self._advance(before, lanes, length)
        for _ in range(MAX_CUTS_PER_STEP):
            end = self._zero(after, lanes)
            far = np.abs(end) > EVENT_TOLERANCE_M
            if not far.any():
                break
            share = np.clip(-start[far] / (end[far] - start[far]), 1e-6, 0.999)
            length[far] *= np.where(end[far] > 0, share, 1.0)
            after[:, far] = self._advance(before[:, far], lanes[far], length[far])
        landed = ~self.ground[lanes]
        self.ground[lanes] = landed
        self.foot[lanes] = np.where(landed, after[0] + self.reach[lanes], self.foot[lanes])
        self.steps[lanes] += landed
        return after, span - length

    def _zero(self, state: np.ndarray, lanes: np.ndarray) -> np.ndarray:
        """Above 0 once the event of the present phase is due."""
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


class _ByHand(_Runners):
    """The same with what a person would work out for this model."""

    def _all(self, state: np.ndarray, dt: float) -> np.ndarray:
        now = np.empty_like(state)
        air, down = np.flatnonzero(~self.ground), np.flatnonzero(self.ground)
        now[:, air] = _fly(state[:, air], dt)
        now[:, down] = self._sprung(state[:, down], down, dt)
        return now

    def _advance(
        self, state: np.ndarray, lanes: np.ndarray | slice, h: np.ndarray | float
    ) -> np.ndarray:
        return np.where(self.ground[lanes], self._sprung(state, lanes, h), _fly(state, h))

    def _sprung(
        self, state: np.ndarray, lanes: np.ndarray | slice, h: np.ndarray | float
    ) -> np.ndarray:
        """A step on the ground."""
        pull, foot = self.pull[lanes], self.foot[lanes]

        def rates(s: np.ndarray) -> np.ndarray:
            apart = s[0] - foot
            leg = np.sqrt(apart * apart + s[1] * s[1])
            share = pull * (LENGTH - leg) / leg
            return np.stack([s[2], s[3], share * apart, share * s[1] - GRAVITY])

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
    """A step in the air, which Runge-Kutta steps meet exactly."""
    x, y, dx, dy = state
    return np.stack([x + h * dx, y + h * dy - 0.5 * GRAVITY * h * h, dx, dy - GRAVITY * h])
