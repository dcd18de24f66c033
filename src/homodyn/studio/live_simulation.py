"""A body that moves by itself while a person watches and pushes it.

The run is `homodyn.simulate.run` itself, under any of its contact laws. A controller that does
nothing but look on is called every sixtieth of a second: it shows the state, waits for the clock on
the wall, and hands in what the hand does as J' f. Nothing in a run tells it to end before its time
but torques that are no numbers: what was recorded until then is kept, and that is how it is
stopped.
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
    ContactForce,
    Event,
    Loads,
    Motion,
)
from homodyn.simulate import (
    CONTACT_LAWS,
    PD,
    ContactGeometry,
    Controller,
    SimulationOptions,
    SimulationResult,
    gap_distances,
    run,
)
from homodyn.studio.document import Actor
from homodyn.studio.result_folders import foot_forces, loads_from_torques
from homodyn.symbolic import Kernel, kernel

SAMPLE_RATE_HZ = 60.0
"""Looks at the body a second (Hz)."""
STEPS_PER_SAMPLE = {"implicit": 8, "time_stepping": 8, "soft": 64, "event_driven": 1, "none": 8}
"""Steps between two looks: soft contact needs short ones, the event-driven law finds its own."""
CONTACT_LAW_NAMES = {
    "implicit": "implicit springs",
    "time_stepping": "rigid, in steps",
    "event_driven": "rigid, from event to event",
    "soft": "soft springs",
    "none": "no contact",
}
"""The contact laws as the page calls them."""


@dataclass(frozen=True)
class SimulationChoices:
    """How a body is let go."""

    law: str = "implicit"
    friction: float = 0.8
    hold: float = 500.0
    """Stiffness (N m/rad) of servos that hold the first pose; 0 lets all joints go."""
    duration: float = 10.0
    """s."""
    speed: float = 1.0
    """Simulated seconds in a second, at most."""


@dataclass(frozen=True, eq=False)
class HandSpring:
    """Something that holds a segment: where (m, world of the model), and how stiff (N/m)."""

    segment: str
    place: np.ndarray
    stiffness: float = 1000.0


@dataclass(frozen=True, eq=False)
class HandForce:
    """What a hand does: the force (N, world of the model) on the origin of a segment."""

    segment: str
    place: np.ndarray
    """Where the segment is (m)."""
    force: np.ndarray


@dataclass(frozen=True, eq=False)
class SimulationSample:
    """What is seen of a run at one instant, in the world of the model."""

    time: float
    q: np.ndarray
    ground: np.ndarray
    """(3,), N: what is not gravity and not the hand, mean since the last glance."""
    center: np.ndarray
    """(3,), m: where that acts on the level through the origin; NaN where it pushes little."""
    kinetic: float
    potential: float
    """J."""
    push: HandForce | None
    pace: float
    """Simulated seconds in a second so far."""


class LiveSimulation:
    """One run, made in a thread of its own: `start`, then `stop` or wait for ``done``.

    ``hand`` is asked for the push at each look, ``told`` hears of each.
    """

    def __init__(
        self,
        model: Model,
        q: np.ndarray,
        choices: SimulationChoices,
        hand: Callable[[], HandSpring | None],
        told: Callable[[SimulationSample], None],
    ) -> None:
        if choices.law not in STEPS_PER_SAMPLE:
            raise ModelError(
                f"no contact law {choices.law!r}; there are {', '.join(STEPS_PER_SAMPLE)}"
            )
        self.model = model.at(model.parameter_values) if model.parameters else model
        self.choices = choices
        self.record: SimulationResult | None = None
        self.error: str = ""
        self.done = threading.Event()
        self._q = np.array(q, dtype=float)
        self._hand = hand
        self._told = told
        self._asked = threading.Event()
        self._began = 0.0
        self._last: tuple[float, np.ndarray, np.ndarray] | None = None
        self._pushes: list[tuple[float, np.ndarray]] = []
        self._thread = threading.Thread(target=self._run, daemon=True, name="simulation")

    @property
    def stopped(self) -> bool:
        """Whether somebody ended it before its time."""
        return self._asked.is_set()

    def start(self) -> None:
        """Let the body go."""
        self._thread.start()

    def stop(self) -> None:
        """End it at the next look; what was simulated is kept."""
        self._asked.set()

    def actor(self, name: str) -> Actor:
        """The body with the motion and the forces that came of the run."""
        if self.record is None:
            raise HomodynError(self.error or "the run has not ended yet")
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
        looking = Controller(self._look, 1 / SAMPLE_RATE_HZ)
        servos = PD(choices.hold, choices.hold / 10, target=self._q, stable=True)
        try:
            self.record = run(
                model,
                self._q,
                None,
                choices.duration,
                1 / (SAMPLE_RATE_HZ * STEPS_PER_SAMPLE[choices.law]),
                contact=law,
                actuation=(servos, looking) if choices.hold else (looking,),
                options=SimulationOptions(
                    record_interval=1 / SAMPLE_RATE_HZ,
                    # A hand is no motor.
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

    def _look(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if self._asked.is_set():
            return np.full(self.model.nv, np.nan)
        if not self._pushes:
            self._began = perf_counter()
        ahead = t / self.choices.speed - (perf_counter() - self._began)
        if ahead > 0:
            self._asked.wait(ahead)
        hand = self._hand()
        push, generalised = None, np.zeros(self.model.nv)
        if hand is not None:
            push, generalised = hand_force(self.model, q, v, hand)
        self._pushes.append((t, generalised))
        self._told(self._glance(t, q, v, push))
        return generalised

    def _glance(
        self, t: float, q: np.ndarray, v: np.ndarray, push: HandForce | None
    ) -> SimulationSample:
        seen = _momentum_kernel(self.model)(q=q, v=v)
        momentum, com = np.asarray(seen["momentum"]), np.asarray(seen["com"])
        weight = self.model.mass * np.asarray(self.model.gravity, dtype=float)
        ground = np.zeros(3)
        center = np.full(3, np.nan)
        if self._last is not None:
            before, old, hand_force = self._last
            rate = (momentum - old) / (t - before)
            ground = rate[3:] - weight - hand_force[3:]
            moment = rate[:3] - np.cross(com, weight) - hand_force[:3]
            center = center_of_pressure(ground, moment, weight)
        wrench = np.zeros(6)
        if push is not None:
            wrench = np.concatenate([np.cross(push.place, push.force), push.force])
        self._last = (t, momentum, wrench)
        elapsed = max(perf_counter() - self._began, 1e-9)
        return SimulationSample(
            t,
            np.array(q),
            ground,
            center,
            float(seen["kinetic"]),
            float(seen["potential"]),
            push,
            t / elapsed,
        )


def hand_force(
    model: Model, q: np.ndarray, v: np.ndarray, hand: HandSpring
) -> tuple[HandForce, np.ndarray]:
    """The force of a hand on a body, ``k (hand - point) - d velocity``, and J' of it.

    It is held until the next look, h later, so k and d stay below what the lightest direction of
    the point bears: with m = 1 / max eig(J H^-1 J'), k h^2 < m / 2 and d h < m / 2. Otherwise d
    damps the whole body to half of critical.
    """
    state = _segment_kernel(model, hand.segment)(q=q, v=v)
    place, rows = np.asarray(state["place"]).reshape(3), np.asarray(state["rows"])
    inverse = rows @ np.linalg.solve(np.asarray(state["mass"]), rows.T)
    lightest = 1.0 / max(float(np.linalg.eigvalsh(inverse)[-1]), 1e-9)
    stiffness = min(hand.stiffness, 0.5 * lightest * SAMPLE_RATE_HZ**2)
    damping = min(np.sqrt(stiffness * model.mass), 0.5 * lightest * SAMPLE_RATE_HZ)
    force = stiffness * (hand.place - place) - damping * (rows @ v)
    return HandForce(hand.segment, place, force), rows.T @ force


def center_of_pressure(force: np.ndarray, moment: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Where a force with a moment (N m, about the origin) acts on the level through the origin.

    With ``up`` against gravity, the point p across it for which ``moment - p x force`` lies along
    ``up``: ``p = up x moment / (up . force)``; NaN where the force is below 2 % of the weight.
    """
    size = float(np.linalg.norm(weight))
    if size == 0.0:
        return np.full(3, np.nan)
    up = -weight / size
    upward = float(up @ force)
    if upward < 0.02 * size:
        return np.full(3, np.nan)
    return np.asarray(np.cross(up, moment) / upward)


def actor_from_simulation(
    record: SimulationResult, name: str, pushes: np.ndarray | None = None
) -> Actor:
    """The body of a simulation, with its motion and forces.

    ``pushes`` (frames, nv) are generalised forces of hands, which are no torques of joints.
    """
    model = record.model
    time = record.time
    count = max(round((time[-1] - time[0]) * SAMPLE_RATE_HZ), 1)
    even = np.linspace(time[0], time[0] + count / SAMPLE_RATE_HZ, count + 1)
    # A run that was stopped, or met events, has instants between: those nearest are taken.
    rows = np.clip(np.searchsorted(time, even - 0.5 / SAMPLE_RATE_HZ), 0, len(time) - 1)
    tau = record.torques - (0.0 if pushes is None else pushes)
    v = record.v[rows]
    a = np.gradient(v, even, axis=0) if len(even) > 1 else np.zeros_like(v)
    motion = Motion(model, even, record.q[rows], v, a, method=f"simulated: {record.message}")
    scene = record.scene or ContactGeometry(model)
    points = (
        np.asarray(gap_distances(scene)(motion.q)["point"])
        if record.contact_names
        else np.zeros((len(rows), 0, 3))
    )
    feet: tuple[ContactForce, ...] = foot_forces(
        model, record.contact_names, record.forces[rows], points
    )
    loads: Loads = loads_from_torques(motion, tau[rows], feet)
    events = tuple(Event(happening.time, happening.name) for happening in record.events)
    return Actor(name, model, record.q[0], motion, loads, events)


@lru_cache(maxsize=32)
def _segment_kernel(model: Model, segment: str) -> Kernel:
    """Place and Jacobian of the origin of a segment, and the mass matrix."""

    def state(q: ca.SX, v: ca.SX) -> dict[str, ca.SX]:
        return {
            "place": ca.SX(dynamics.position(model, q, segment)),
            "rows": ca.SX(dynamics.jacobian(model, q, segment)),
            "mass": ca.SX(dynamics.mass_matrix(model, q)),
        }

    return kernel(state, q=model.nq, v=model.nv)


@lru_cache(maxsize=32)
def _momentum_kernel(model: Model) -> Kernel:
    """Momentum about the origin, centre of mass and energies of a state."""

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
