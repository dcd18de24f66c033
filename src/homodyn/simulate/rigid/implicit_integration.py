"""Implicit steps of an event-driven run, where stiff servos or springs limit explicit ones.

Between events the rate is smooth as long as the same contacts have a force. Where an explicit
method would need short steps for stability alone, Radau's method takes steps that only accuracy
limits. A step that ends before an event leaves the event to the explicit method, whose short steps
locate it; so do steps within which contacts lose or gain their force.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from homodyn.integrate import (
    QUADRATURE_WEIGHTS,
    EmbeddedStep,
    RadauFactors,
    RadauStep,
    predicted_stages,
    radau_factors,
    radau_step,
    refined_error,
)
from homodyn.integrate.radau import COEFFICIENTS, ERROR_WEIGHTS, REAL_EIGENVALUE
from homodyn.simulate.rigid.contact_dynamics import ContactDynamics
from homodyn.simulate.rigid.event_location import (
    StepInterval,
    first_event,
    motion_events,
    scaled_events,
)
from homodyn.simulate.rigid.event_run import EventRunFailure, TerminationReason

MIN_GAIN = 4.0
"""Length of an implicit step over that of an explicit one from which it is worth its cost."""
EVENT_MARGIN = 2.0
"""Explicit steps that are left before an event."""
STIFF_STEP = 1.5
"""Length of a step times the rate along its error above which stability limits it; Dormand and
Prince's method is stable up to 3.3."""
STIFFNESS_PERTURBATION = 1e-5
"""Change of the state (m, rad, m/s, rad/s) with which that rate is estimated."""
FIRST_CHECK_STEPS = 15
"""Explicit steps after a change of contacts before the first check."""
MAX_CHECK_STEPS = 240
"""Largest number of explicit steps between checks."""
VIOLATION_FRACTION = 0.1
"""Fraction of the tolerance that violations of the contact law at the stages may add to it."""
WORK_TOLERANCE_RATIO_J = 100.0
"""Error of the work of a step (J) over the tolerance of states."""
MAX_ATTEMPTS = 12
"""Attempts at one step before the explicit method continues."""
MIN_GROWTH = 1.2
"""A smaller growth keeps the length of the step, and with it the factors."""
SLOW_ITERATIONS = 4
"""Newton iterations from which the Jacobian is evaluated again."""


class ImplicitAdvance(NamedTuple):
    """A state after an implicit step."""

    t: float
    y: np.ndarray
    slope: np.ndarray


class StiffnessDetector:
    """Decides after some explicit steps whether stability limits them.

    The error of such steps is along the fastest motion. Its rate, times the length of a step, is
    then near the limit of stability (Shampine and Hiebert 1977; Hairer and Wanner, IV.2).
    """

    def __init__(self, dynamics: ContactDynamics) -> None:
        self._dynamics = dynamics
        self._n = dynamics.controlled
        self._interval = self._steps = FIRST_CHECK_STEPS

    def restart(self) -> None:
        """Count steps from zero: contacts have changed."""
        self._interval = self._steps = FIRST_CHECK_STEPS

    def postpone(self) -> None:
        """Wait twice as long: implicit steps were not longer."""
        self._interval = min(2 * self._interval, MAX_CHECK_STEPS)
        self._steps = self._interval

    def check(self, t: float, step: EmbeddedStep, h: float) -> bool:
        """Whether the system is stiff after one more step.

        Args:
            t: Time at the end of the step (s).
            step: The step.
            h: Its length (s).

        Returns:
            Whether it is stiff.
        """
        dynamics, n = self._dynamics, self._n
        self._steps -= 1
        rates, guess = dynamics.rates, dynamics.guess
        if self._steps > 0 or rates is None or guess is None:
            return False
        self._steps = self._interval
        size = float(np.abs(step.error[:n]).max())
        if size == 0 or not rates.is_current(dynamics.modes):
            return False
        change = np.zeros(len(step.y))
        change[:n] = step.error[:n] * (STIFFNESS_PERTURBATION / size)
        slopes = rates.at_stages(
            np.array([t]),
            (step.y + change)[None],
            dynamics.modes,
            guess,
            dynamics.strengths,
            np.inf,
        )
        if slopes is None:
            return False
        rate = np.linalg.norm((slopes[0] - step.slope)[:n]) / np.linalg.norm(change)
        return bool(h * rate > STIFF_STEP)


class ImplicitIntegration:
    """Radau steps with a Jacobian and factors that serve several of them."""

    def __init__(self, dynamics: ContactDynamics, tolerance: float) -> None:
        self._dynamics, self._tolerance = dynamics, tolerance
        self._n = dynamics.controlled
        self._jacobian: np.ndarray | None = None
        self._factors: RadauFactors | None = None
        self._last: tuple[float, RadauStep] | None = None
        self._fresh = False
        self.h = 0.0
        """Length of the next step (s)."""

    def reset(self, h: float) -> None:
        """Start anew with steps of a length (s): contacts have changed."""
        self._jacobian = self._factors = self._last = None
        self.h = h

    def advance(
        self, t: float, end: float, y: np.ndarray, slope: np.ndarray, explicit: float
    ) -> ImplicitAdvance | None:
        """Take one implicit step.

        Args:
            t: Time (s).
            end: End of the interval, which the step does not exceed (s).
            y: State vector.
            slope: Its rate.
            explicit: Length of explicit steps (s).

        Returns:
            The state after the step; None if the explicit method has to continue.
        """
        for _ in range(MAX_ATTEMPTS):
            remaining = end - t
            h = remaining if self.h >= remaining else min(self.h, max(remaining / 2, explicit))
            if h < MIN_GAIN * explicit:
                return None
            step = self._attempt(t, y, slope, h)
            if step is None:
                continue
            allowed = self._allowed_error(y)
            error = float(np.max(np.abs(step.error) / allowed))
            if error > 1:
                error = self._refined_error(t, y, step, allowed, error)
            error = max(error, self._work_error(slope, step, h))
            if not error <= 1:
                self.h = h * (0.1 if not np.isfinite(error) else max(0.2, 0.9 * error**-0.25))
                continue
            after = np.concatenate(
                [step.y, y[self._n :] + h * (QUADRATURE_WEIGHTS @ step.slopes[:, self._n :])]
            )
            length = self._length_before_event(y, step, h, after)
            if length < h:
                self.h = length - EVENT_MARGIN * explicit
                continue
            try:
                rate = self._dynamics.slope(t + h, after)
            except EventRunFailure as failure:
                if failure.reason is not TerminationReason.CONTACTS:
                    raise
                return None
            self._update(h, step, error)
            return ImplicitAdvance(t + h, after, rate)
        return None

    def _attempt(self, t: float, y: np.ndarray, slope: np.ndarray, h: float) -> RadauStep | None:
        """A step of a given length; None after another length or Jacobian was chosen."""
        n, dynamics = self._n, self._dynamics
        rates, guess = dynamics.rates, dynamics.guess
        assert rates is not None
        assert guess is not None
        if self._jacobian is None:
            self._jacobian = rates.jacobian(t, y, slope, dynamics.modes, guess, dynamics.friction)
            self._factors, self._fresh = None, True
        if self._factors is None or self._factors.h != h:
            self._factors = radau_factors(self._jacobian, h)
        smooth = True

        def slopes(times: np.ndarray, stages: np.ndarray) -> np.ndarray | None:
            nonlocal smooth
            full = np.zeros((len(stages), len(y)))
            full[:, :n] = stages
            found = rates.at_stages(
                np.minimum(times, dynamics.latest_time),
                full,
                dynamics.modes,
                guess,
                dynamics.strengths,
                self._max_violation(h),
            )
            smooth = found is not None
            return found

        first = None
        if self._last is not None:
            first = predicted_stages(self._last[1], h / self._last[0])
        step = radau_step(slopes, t, y[:n], slope[:n], self._factors, self._allowed_error(y), first)
        if step is None:
            self._last = None
            if smooth and not self._fresh:
                self._jacobian = None
            else:
                self.h = h / 4
        return step

    def _max_violation(self, h: float) -> float:
        """Error of accelerations that does not matter within a step."""
        return VIOLATION_FRACTION * self._tolerance / h

    def _work_error(self, slope: np.ndarray, step: RadauStep, h: float) -> float:
        """Error of the works of a step in units of the allowed one, by a quadrature of order 3."""
        powers = step.slopes[:, self._n :]
        error = slope[self._n :] + ERROR_WEIGHTS @ (COEFFICIENTS @ powers)
        allowed = WORK_TOLERANCE_RATIO_J * self._tolerance
        return float(h * abs(error.sum()) / (REAL_EIGENVALUE * allowed))

    def _allowed_error(self, y: np.ndarray) -> np.ndarray:
        return self._tolerance * (1.0 + np.abs(y[: self._n]))

    def _refined_error(
        self, t: float, y: np.ndarray, step: RadauStep, allowed: np.ndarray, error: float
    ) -> float:
        """The error without what stiff components add to its first estimate."""
        dynamics, n = self._dynamics, self._n
        assert dynamics.rates is not None
        assert dynamics.guess is not None
        assert self._factors is not None
        shifted = y.copy()
        shifted[:n] += step.error
        slopes = dynamics.rates.at_stages(
            np.array([t]),
            shifted[None],
            dynamics.modes,
            dynamics.guess,
            dynamics.strengths,
            self._max_violation(self._factors.h),
        )
        if slopes is None:
            return error
        refined = refined_error(self._factors, step, slopes[0, :n])
        return float(np.max(np.abs(refined) / allowed))

    def _length_before_event(
        self, y: np.ndarray, step: RadauStep, h: float, after: np.ndarray
    ) -> float:
        """The length at which the first event occurs, or that of the step."""
        dynamics, modes, n = self._dynamics, self._dynamics.modes, self._n

        def states(fractions: np.ndarray) -> np.ndarray:
            full = np.tile(y, (len(fractions), 1))
            full[:, :n] += step.changes(fractions)
            return full

        # Interpolation is too coarse for contacts at rest; they keep their force at all stages.
        interval = StepInterval(dynamics.motions_at, states, h)
        located, _ = first_event(interval, modes, motion_events(modes))
        if located is not None:
            return located.fraction * h
        at_end = scaled_events(modes, dynamics.motions_at(after[None]))
        return h if (at_end > 0).all() else 0.0

    def _update(self, h: float, step: RadauStep, error: float) -> None:
        """Choose the length of the next step, and whether it needs another Jacobian."""
        growth = min(5.0, 0.9 * max(error, 1e-10) ** -0.25)
        self._last, self._fresh = (h, step), False
        if step.iterations >= SLOW_ITERATIONS:
            self._jacobian = None
        # A step that ends at the end of the interval does not limit later ones.
        if growth > MIN_GROWTH or self.h > h:
            self.h = max(self.h, growth * h)
