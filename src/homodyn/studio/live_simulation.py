"""Live simulation of a body that the user watches and pushes.

The simulation is `homodyn.simulate.run` with any contact law. A controller that is called 60 times
per second reports the state, waits for real time, and applies the push of the user as J' f. A run
ends early only if its controller returns NaN; the recorded part is kept. This is how a simulation
is stopped.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from time import perf_counter

import casadi as ca
import numpy as np

from homodyn import dynamics
from homodyn.errors import HomodynError, ModelError
from homodyn.model import Model
from homodyn.motion import (
    STANCE_THRESHOLD,
)
from homodyn.simulate import (
    CONTACT_LAWS,
    PD,
    Controller,
    SimulationOptions,
    SimulationResult,
    run,
)
from homodyn.studio.document import Actor
from homodyn.symbolic import Kernel, kernel

SAMPLE_RATE_HZ = 60.0
"""Samples per second (Hz)."""
STEPS_PER_SAMPLE = {"implicit": 8, "time_stepping": 8, "soft": 64, "event_driven": 1, "none": 8}
"""Steps per sample: soft contact needs short steps, the event-driven law chooses its own."""
CONTACT_LAW_NAMES = {
    "implicit": "implicit springs",
    "time_stepping": "rigid, time stepping",
    "event_driven": "rigid, event-driven",
    "soft": "soft springs",
    "none": "no contact",
}
"""Contact laws and their names on the page."""


@dataclass(frozen=True)
class SimulationChoices:
    """Settings of a live simulation."""

    law: str = "implicit"
    friction: float = 0.8
    servo_stiffness: float = 500.0
    """Stiffness (N m/rad) with which joints hold the initial pose; 0 for passive joints."""
    duration: float = 10.0
    """s."""
    speed: float = 1.0
    """Largest speed, as a multiple of real time."""


@dataclass(frozen=True, eq=False)
class HandSpring:
    """A spring between a segment and the hand of the user."""

    segment: str
    position: np.ndarray
    """(3,), m: position of the hand in the world of the model."""
    stiffness: float = 1000.0
    """N/m."""


@dataclass(frozen=True, eq=False)
class HandForce:
    """The force of the hand on the origin of a segment."""

    segment: str
    position: np.ndarray
    """(3,), m: position of the segment in the world of the model."""
    force: np.ndarray
    """(3,), N."""


@dataclass(frozen=True, eq=False)
class SimulationSample:
    """The state of a live simulation at one instant, in the world of the model."""

    time: float
    q: np.ndarray
    ground: np.ndarray
    """(3,), N: mean external force since the last sample, without gravity and push."""
    center: np.ndarray
    """(3,), m: center of pressure at height zero; NaN if the force is small."""
    kinetic: float
    potential: float
    """J."""
    push: HandForce | None
    pace: float
    """Mean speed so far, as a multiple of real time."""


class LiveSimulation:
    """A simulation in its own thread: `start`, then `stop` or wait for ``done``.

    Args:
        model: The model.
        q: Initial pose, (nq,).
        choices: Settings.
        spring: Returns the spring of the user at each sample; None without a push.
        on_sample: Called with each sample.
    """

    def __init__(
        self,
        model: Model,
        q: np.ndarray,
        choices: SimulationChoices,
        spring: Callable[[], HandSpring | None],
        on_sample: Callable[[SimulationSample], None],
    ) -> None:
        if choices.law not in STEPS_PER_SAMPLE:
            raise ModelError(
                f"no contact law {choices.law!r}; accepted: {', '.join(STEPS_PER_SAMPLE)}"
            )
        self.model = model.at(model.parameter_values) if model.parameters else model
        self.choices = choices
        self.record: SimulationResult | None = None
        self.error: str = ""
        self.done = threading.Event()
        self._q = np.array(q, dtype=float)
        self._spring = spring
        self._on_sample = on_sample
        self._stop_requested = threading.Event()
        self._start_time = 0.0
        self._last: tuple[float, np.ndarray, np.ndarray] | None = None
        self._pushes: list[tuple[float, np.ndarray]] = []
        self._thread = threading.Thread(target=self._run, daemon=True, name="simulation")

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stop_requested.is_set()

    def start(self) -> None:
        """Start the simulation."""
        self._thread.start()

    def stop(self) -> None:
        """End the simulation at the next sample; the simulated part is kept."""
        self._stop_requested.set()

    def actor(self, name: str) -> Actor:
        """The body with the simulated motion and its loads.

        Raises:
            HomodynError: The simulation failed or is still running.
        """
        if self.record is None:
            raise HomodynError(self.error or "the simulation is still running")
        record = self.record
        if self.stopped:
            record = replace(record, message=f"stopped at {record.time[-1]:.2f} s")
        times = np.array([t for t, _ in self._pushes])
        rows = np.array([push for _, push in self._pushes])
        at = np.clip(np.searchsorted(times, record.time + 1e-9) - 1, 0, len(times) - 1)
        return actor_from_simulation(record, name, rows[at])

    def _run(self) -> None:
        model, choices = self.model, self.choices
        law = (
            None if choices.law == "none" else CONTACT_LAWS[choices.law](friction=choices.friction)
        )
        sampler = Controller(self._sample, 1 / SAMPLE_RATE_HZ)
        stiffness = choices.servo_stiffness
        servos = PD(stiffness, stiffness / 10, target=self._q, stable=True)
        try:
            self.record = run(
                model,
                self._q,
                None,
                choices.duration,
                1 / (SAMPLE_RATE_HZ * STEPS_PER_SAMPLE[choices.law]),
                contact=law,
                actuation=(servos, sampler) if stiffness else (sampler,),
                options=SimulationOptions(
                    record_interval=1 / SAMPLE_RATE_HZ,
                    # The push is not limited by the motors.
                    torque_limits=False,
                ),
            )
        except HomodynError as error:
            self.error = " ".join(str(error).split())
        except Exception as error:
            self.error = f"{type(error).__name__}: {error}"
            raise
        finally:
            self.done.set()

    def _sample(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Report the state at a time (s), wait for real time, and return the push (nv)."""
        if self._stop_requested.is_set():
            return np.full(self.model.nv, np.nan)
        if not self._pushes:
            self._start_time = perf_counter()
        ahead = t / self.choices.speed - (perf_counter() - self._start_time)
        if ahead > 0:
            self._stop_requested.wait(ahead)
        spring = self._spring()
        push, generalized = None, np.zeros(self.model.nv)
        if spring is not None:
            push, generalized = hand_force(self.model, q, v, spring)
        self._pushes.append((t, generalized))
        self._on_sample(self._measure(t, q, v, push))
        return generalized

    def _measure(
        self, t: float, q: np.ndarray, v: np.ndarray, push: HandForce | None
    ) -> SimulationSample:
        state = _momentum_kernel(self.model)(q=q, v=v)
        momentum, com = np.asarray(state["momentum"]), np.asarray(state["com"])
        weight = self.model.mass * np.asarray(self.model.gravity, dtype=float)
        ground = np.zeros(3)
        center = np.full(3, np.nan)
        if self._last is not None:
            last_time, last_momentum, last_push = self._last
            rate = (momentum - last_momentum) / (t - last_time)
            ground = rate[3:] - weight - last_push[3:]
            moment = rate[:3] - np.cross(com, weight) - last_push[:3]
            center = center_of_pressure(ground, moment, weight)
        wrench = np.zeros(6)
        if push is not None:
            wrench = np.concatenate([np.cross(push.position, push.force), push.force])
        self._last = (t, momentum, wrench)
        elapsed = max(perf_counter() - self._start_time, 1e-9)
        return SimulationSample(
            t,
            np.array(q),
            ground,
            center,
            float(state["kinetic"]),
            float(state["potential"]),
            push,
            t / elapsed,
        )


def hand_force(
    model: Model, q: np.ndarray, v: np.ndarray, spring: HandSpring
) -> tuple[HandForce, np.ndarray]:
    """The force ``k (hand - point) - d velocity`` on a segment, and the generalized force J' f.

    The force is constant during a sample time h. For stability, k and d are limited by the smallest
    effective mass of the point: with m = 1 / max eig(J H^-1 J'), k h^2 < m / 2 and d h < m / 2.
    Within these limits d is half of the critical damping of the whole body.

    Args:
        model: The model.
        q: Pose, (nq,).
        v: Velocity, (nv,).
        spring: The spring of the user.

    Returns:
        The force, and the generalized force (nv,).
    """
    state = _segment_kernel(model, spring.segment)(q=q, v=v)
    position, rows = np.asarray(state["position"]).reshape(3), np.asarray(state["jacobian"])
    inverse = rows @ np.linalg.solve(np.asarray(state["mass"]), rows.T)
    lightest = 1.0 / max(float(np.linalg.eigvalsh(inverse)[-1]), 1e-9)
    stiffness = min(spring.stiffness, 0.5 * lightest * SAMPLE_RATE_HZ**2)
    damping = min(np.sqrt(stiffness * model.mass), 0.5 * lightest * SAMPLE_RATE_HZ)
    force = stiffness * (spring.position - position) - damping * (rows @ v)
    return HandForce(spring.segment, position, force), rows.T @ force


def center_of_pressure(force: np.ndarray, moment: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(3,), m: center of pressure at height zero of a force (3,), N, and a moment (3,), N m.

    The moment is about the origin. With ``up`` opposite to the weight (3,), N, the point p for
    which ``moment - p x force`` is parallel to ``up`` is ``p = up x moment / (up . force)``. NaN if
    the vertical force is below 2 % of the weight.
    """
    size = float(np.linalg.norm(weight))
    if size == 0.0:
        return np.full(3, np.nan)
    up = -weight / size
    upward = float(up @ force)
    if upward < STANCE_THRESHOLD.for_weight(size).center_of_pressure_n:
        return np.full(3, np.nan)
    return np.asarray(np.cross(up, moment) / upward)


def actor_from_simulation(
    record: SimulationResult, name: str, pushes: np.ndarray | None = None
) -> Actor:
    """The body of a simulation, with its motion and loads.

    ``pushes`` (frames, nv) are the generalized forces of the user, which are not joint torques.
    """
    torques = record.torques if pushes is None else record.torques - pushes
    motion = replace(record, torques=torques).motion
    # A run that was stopped, or met events, has unevenly spaced samples.
    if motion.frames > 1:
        motion = motion.resample(rate=SAMPLE_RATE_HZ)
    motion = replace(motion, method=f"simulated: {record.message}")
    return Actor.from_motion(motion, name)


@lru_cache(maxsize=32)
def _segment_kernel(model: Model, segment: str) -> Kernel:
    """Position and Jacobian of the origin of a segment, and the mass matrix."""

    def state(q: ca.SX, v: ca.SX) -> dict[str, ca.SX]:
        return {
            "position": ca.SX(dynamics.position(model, q, segment)),
            "jacobian": ca.SX(dynamics.jacobian(model, q, segment)),
            "mass": ca.SX(dynamics.mass_matrix(model, q)),
        }

    return kernel(state, q=model.nq, v=model.nv)


@lru_cache(maxsize=32)
def _momentum_kernel(model: Model) -> Kernel:
    """Momentum about the origin, center of mass and energies of a state."""

    def state(q: ca.SX, v: ca.SX) -> dict[str, ca.SX]:
        com = ca.SX(dynamics.center_of_mass(model, q))
        own = ca.SX(dynamics.momentum(model, q, v))
        about = own[:3] + ca.cross(com, own[3:])
        return {
            "momentum": ca.vertcat(about, own[3:]),
            "com": com,
            "kinetic": ca.SX(dynamics.kinetic_energy(model, q, v)),
            "potential": ca.SX(dynamics.potential_energy(model, q)),
        }

    return kernel(state, q=model.nq, v=model.nv)
