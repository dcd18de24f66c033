"""Steppers with adaptive or implicit steps.

Both work with force laws, through one kernel that evaluates the rates of a state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from homodyn.integrate import dense_output, dormand_prince_step
from homodyn.model.configuration import normalize, rates
from homodyn.simulate.external_torques import sampled_torque_change
from homodyn.simulate.motion_system import WORK_SIZE, MotionState
from homodyn.simulate.result import SimulationStatus
from homodyn.simulate.setup import SimulationSetup
from homodyn.simulate.simulation_point import SimulationPoint
from homodyn.simulate.state_update import StepInput, state_rates
from homodyn.symbolic import Kernel, jacobian
from homodyn.symbolic.trace import trace

MIN_STEP_S = 1e-13
"""Minimum step (s) before the run counts as stalled."""
FIRST_STEP_S = 1e-3
"""Length of the first step, unless the maximum is shorter."""
MAX_STEP_GROWTH = 5.0
"""Largest ratio of the lengths of two consecutive steps."""
MIN_STEP_SHRINKAGE = 0.1
"""Smallest such ratio after a rejected step."""
STEP_SAFETY_FACTOR = 0.9
"""Factor of the step length that the error estimate suggests."""


def rate_kernel(setup: SimulationSetup) -> Kernel:
    """Rates of positions, velocities, memory and work at a state, as one kernel."""
    sizes = setup.sizes()
    model = setup.model

    def body(*symbols: ca.SX) -> dict[str, Any]:
        given = dict(zip(sizes, symbols, strict=True))
        batch = {name: given["batch"][k] for k, name in enumerate(setup.batch_names)}
        at = MotionState(given["q"], given["v"], given["z"], given["work"])
        start = StepInput(given["t"], given["torque"], batch)
        f = state_rates(setup, at, start.at(setup, given["t"], at))
        return {"q": rates(model, at.q, at.v), "v": f.a, "z": f.z, "work": f.w}

    known = {"parameters": model.parameter_symbols} if model.parameters else {}
    outputs = {name: sizes[name] for name in ("q", "v", "z", "work")}
    return Kernel(trace(body, sizes, outputs, f"rates of {model.name}", given=known))


class DormandPrinceStepper:
    """Dormand-Prince: order 5 with an error estimate, and dense output of order 4.

    Steps are as long as the tolerance allows, independently of the requested lengths: points within
    the last step are evaluated by its dense output, as long as the run continues from there.
    """

    def __init__(
        self,
        setup: SimulationSetup,
        parameters: Mapping[str, np.ndarray],
        tolerance: float,
        max_step: float,
    ) -> None:
        self.setup = setup
        self.tolerance = tolerance
        self.max_step = max_step
        self.evaluations = 0
        self.accepted = 0
        self._kernel = rate_kernel(setup)
        self._change = sampled_torque_change(setup)
        self._parameters = dict(parameters)
        self._length = min(max_step, FIRST_STEP_S)
        self._span: tuple[float, float, np.ndarray, np.ndarray, np.ndarray] | None = None
        self._sizes = np.cumsum([0, setup.model.nq, setup.model.nv, setup.memory, WORK_SIZE])

    def __call__(self, point: SimulationPoint, h: float) -> SimulationPoint:
        """The point ``h`` later."""
        target = point.t + h
        if not self._continues(point):
            self._span = None
            self._start = (point.t, self._state_vector(point))
            self._first = self._rate(point.t, self._start[1], point)
        while self._span is None or self._span[1] < target - 1e-15 * max(1.0, abs(target)):
            if not self._step(point):
                return replace(point, status=SimulationStatus.NOT_FINITE.value)
        return self._interpolate(point, target)

    def _continues(self, point: SimulationPoint) -> bool:
        if self._span is None or not self._span[0] <= point.t <= self._span[1]:
            return False
        same = np.array_equal(self._span[4], self._inputs(point), equal_nan=True)
        return same and np.array_equal(
            self._state_vector(self._interpolate(point, point.t)), self._state_vector(point)
        )

    def _inputs(self, point: SimulationPoint) -> np.ndarray:
        return np.concatenate([point.torque, point.batch])

    def _state_vector(self, point: SimulationPoint) -> np.ndarray:
        return np.concatenate([point.q, point.v, point.z, point.work])

    def _interpolate(self, point: SimulationPoint, t: float) -> SimulationPoint:
        assert self._span is not None
        start, end, y, K, _ = self._span
        s = (t - start) / (end - start)
        state = dense_output(s, end - start, y, K)
        q, v, z, work = (state[a:b] for a, b in zip(self._sizes, self._sizes[1:], strict=False))
        q = np.asarray(normalize(self.setup.model, q))
        return replace(point, t=t, q=q, v=v, z=z, work=work)

    def _rate(self, t: float, y: np.ndarray, point: SimulationPoint) -> np.ndarray:
        self.evaluations += 1
        q, v, z, work = (y[a:b] for a, b in zip(self._sizes, self._sizes[1:], strict=False))
        parts = self._kernel(
            q=q,
            v=v,
            z=z,
            t=np.asarray(t),
            work=work,
            status=np.asarray(0.0),
            dt=np.asarray(0.0),
            torque=point.torque + self._change(point.t, t),
            batch=point.batch,
            memory=point.memory,
            **self._parameters,
        )
        return np.concatenate(parts)

    def _step(self, point: SimulationPoint) -> bool:
        """Take one accepted step; False if no step is short enough."""
        t, y = self._start
        controlled = self._sizes[2]
        while self._length > MIN_STEP_S:
            h = min(self._length, self.max_step)
            step = dormand_prince_step(
                lambda time, at: self._rate(time, at, point), t, y, self._first, h
            )
            scale = self.tolerance * (1 + np.maximum(np.abs(y), np.abs(step.y))[:controlled])
            with np.errstate(invalid="ignore", over="ignore"):
                error = float(np.sqrt(np.mean((step.error[:controlled] / scale) ** 2)))
            if error <= 1:
                self.accepted += 1
                self._span = (t, t + h, y, np.array(step.stages), self._inputs(point))
                end = step.y.copy()
                end[: self.setup.model.nq] = normalize(self.setup.model, end[: self.setup.model.nq])
                self._start = (t + h, end)
                self._first = self._rate(t + h, end, point)
                growth = STEP_SAFETY_FACTOR * error**-0.2 if error > 0 else MAX_STEP_GROWTH
                self._length = h * min(MAX_STEP_GROWTH, growth)
                return bool(np.all(np.isfinite(self._first)))
            shrinkage = (
                STEP_SAFETY_FACTOR * error**-0.2 if np.isfinite(error) else MIN_STEP_SHRINKAGE
            )
            self._length = h * max(MIN_STEP_SHRINKAGE, shrinkage)
        return False


class ImplicitMidpointStepper:
    """Implicit midpoint rule, v' = v + h a at the middle of the step, by Newton's method; order 2.

    Springs of any stiffness stay bounded: the energy of linear ones neither grows nor decays.
    """

    MAX_ITERATIONS = 25
    MIN_DAMPING = 1e-3
    """Fraction of a Newton step below which the line search ends."""

    def __init__(self, setup: SimulationSetup, parameters: Mapping[str, np.ndarray]) -> None:
        model, sizes = setup.model, setup.sizes()
        self.setup = setup
        self._parameters = dict(parameters)
        self._change = sampled_torque_change(setup)
        sizes["end"] = (model.nv,)

        def body(*symbols: ca.SX) -> dict[str, Any]:
            given = dict(zip(sizes, symbols, strict=True))
            batch = {name: given["batch"][k] for k, name in enumerate(setup.batch_names)}
            h = given["dt"]
            mean = (given["v"] + given["end"]) / 2
            middle = MotionState(
                model.integrate(given["q"], h / 2 * mean), mean, given["z"], given["work"]
            )
            start = StepInput(given["t"], given["torque"], batch)
            f = state_rates(setup, middle, start.at(setup, given["t"] + h / 2, middle))
            return {
                "defect": given["end"] - given["v"] - h * f.a,
                "q": model.integrate(given["q"], h * mean),
                "z": given["z"] + h * f.z,
                "work": given["work"] + h * f.w,
            }

        known = {"parameters": model.parameter_symbols} if model.parameters else {}
        outputs = {"defect": sizes["v"], **{name: sizes[name] for name in ("q", "z", "work")}}
        self._kernel = Kernel(
            trace(body, sizes, outputs, f"midpoint of {model.name}", given=known), mapping=True
        )
        self._slope = jacobian(self._kernel, of="defect", wrt="end")

    def __call__(self, point: SimulationPoint, h: float) -> SimulationPoint:
        """The point ``h`` later, or the given one with a status if there is no solution."""
        given = {
            "q": point.q,
            "v": point.v,
            "z": point.z,
            "t": np.asarray(point.t),
            "work": point.work,
            "status": np.asarray(0.0),
            "dt": np.asarray(h),
            "torque": point.torque + self._change(point.t, point.t + h / 2),
            "batch": point.batch,
            "memory": point.memory,
            **self._parameters,
        }
        end = point.v.copy()
        result = self._kernel(**given, end=end)
        for _ in range(self.MAX_ITERATIONS):
            defect = result["defect"]
            size = np.abs(defect).max(initial=0.0)
            if not np.isfinite(size):
                return replace(point, status=SimulationStatus.NOT_FINITE.value)
            if size <= 1e-12 * (1 + np.abs(end).max(initial=0.0)):
                break
            step = np.linalg.lstsq(self._slope(**given, end=end), defect, rcond=None)[0]
            damping = 1.0
            while True:
                trial = end - damping * step
                trial_result = self._kernel(**given, end=trial)
                better = np.abs(trial_result["defect"]).max() < size
                if better or damping < self.MIN_DAMPING:
                    break
                damping /= 2
            if not better:
                break
            end, result = trial, trial_result
        if np.abs(result["defect"]).max(initial=0.0) > 1e-9 * (1 + np.abs(end).max(initial=0.0)):
            return replace(point, status=SimulationStatus.NOT_CONVERGED.value)
        q = np.asarray(normalize(self.setup.model, result["q"]))
        return replace(point, t=point.t + h, q=q, v=end, z=result["z"], work=result["work"])
