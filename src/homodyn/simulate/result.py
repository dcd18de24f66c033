"""Results of simulations: status, events, energy balance and the recorded movement."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from functools import cached_property

import casadi as ca
import numpy as np

from homodyn.dynamics.tree import Tree
from homodyn.foundation import Curve, Record, TimeSeries, count_of, record
from homodyn.model import Model
from homodyn.model.side import side_of
from homodyn.motion import ContactForce, Event, Motion, MotionSource
from homodyn.motion.coordinate_columns import angular_coordinates, position_columns
from homodyn.simulate.contact_geometry import ContactGeometry, gap_distances
from homodyn.simulate.obstacles import level_ground


class SimulationStatus(Enum):
    """How a simulation ended; the values are those of ``RolloutResult.status``."""

    FINISHED = 0
    """Ran to the end of its time."""
    ENDED = 1
    """Ended by an event."""
    NOT_FINITE = 2
    """The state left the range of numbers."""
    STALLED = 3
    """Too many events, or steps that became too short."""
    NOT_CONVERGED = 4
    """A step could not be solved."""
    UNSTABLE = 5
    """Contact springs created energy: the step is too long for them."""

    @property
    def sentence(self) -> str:
        """The status in words."""
        return STATUS_SENTENCES[self]


STATUS_SENTENCES = {
    SimulationStatus.FINISHED: "ran to the end of its time",
    SimulationStatus.ENDED: "was ended by an event",
    SimulationStatus.NOT_FINITE: "left the range of numbers",
    SimulationStatus.STALLED: "met too many events, or needed steps that are too short",
    SimulationStatus.NOT_CONVERGED: "could not solve a step",
    SimulationStatus.UNSTABLE: "gained energy from contacts that stored none",
}


@record
class EventOccurrence(Record):
    """An event that occurred in a simulation."""

    name: str
    """Name of the event."""
    time: float
    """s."""
    value: float
    """Value of the event function; impulse (N s) of an impact under an event-driven law."""
    q: np.ndarray
    """Positions, (nq,)."""
    v: np.ndarray
    """Velocities, (nv,); those before the impact where there was one."""

    def headline(self) -> str:
        """Name and time."""
        return f"{self.name} at {self.time:.6g} s"


@record
class EnergyBalance(Record):
    """Where the energy of a simulation went (J), one entry per recorded time.

    kinetic + potential - their start = actuators + contacts - dissipated + events + error. In a
    rollout batch elements come first, then times.
    """

    kinetic: np.ndarray
    potential: np.ndarray
    """Of gravity and of springs along coordinates."""
    actuators: np.ndarray
    """Work of actuators since the start."""
    contacts: np.ndarray
    """Work of contact forces on bodies since the start, including what soft contacts store."""
    dissipated: np.ndarray
    """Energy that dampers, dry friction and joint limits dissipated since the start."""
    events: np.ndarray
    """Energy that actions of events added since the start."""
    error: np.ndarray
    """Energy that the integration method created since the start."""


@record
class SimulationResult(TimeSeries):
    """A simulated movement with its forces, energy balance and events.

    Indexing by name gives a `Curve`: ``result["knee"]`` (position of a coordinate), ``result["knee
    velocity"]``, ``result["knee torque"]``, ``result["heel force"]``.
    """

    _transient = ("scene",)

    model: Model
    time: np.ndarray
    """(samples,), s."""
    q: np.ndarray
    """Positions, (samples, nq)."""
    v: np.ndarray
    """Velocities, (samples, nv)."""
    torques: np.ndarray
    """Torques of actuators (N m, N), (samples, nv)."""
    forces: np.ndarray
    """Force on the body of each contact (N, world), (samples, contacts, 3)."""
    contact_names: tuple[str, ...]
    distances: np.ndarray
    """Distance of each contact (m, negative where bodies overlap), (samples, contacts)."""
    energy: EnergyBalance
    events: tuple[EventOccurrence, ...]
    status: SimulationStatus
    message: str
    """How the simulation ended, in one sentence."""
    steps: int
    """Steps that were taken."""
    residual: float = 0.0
    """Largest of ``residuals``."""
    residuals: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """What a law with iterations left over in the step from each sample (m/s for time stepping,
    kg m/s for implicit springs), (samples,)."""
    notes: tuple[str, ...] = ()
    """What deserves attention: limits that were reached, contacts that started inside something."""
    scene: ContactGeometry | None = None
    """What the contacts could touch."""
    constraint_forces: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    """Forces of the constraints (N, N m), (samples, rows)."""
    constraint_names: tuple[str, ...] = ()

    @property
    def total_force(self) -> np.ndarray:
        """Sum of all contact forces on the model (N, world), (samples, 3)."""
        return np.asarray(self.forces.sum(axis=1))

    @cached_property
    def motion(self) -> Motion:
        """The movement as the record that gait measures, balance, reports and exporters take.

        Accelerations are differences of the recorded velocities.
        """
        return Motion(
            self.model,
            self.time,
            self.q,
            self.v,
            velocity_differences(self.time, self.v),
            method=f"simulation that {self.status.sentence}",
            notes=self.notes,
            tau=self.torques,
            contact_forces=self._body_forces(),
            events=tuple(
                Event(event.time, event.name, "General")
                for event in self.events
                if event.time <= self.time[-1]
            ),
            source=MotionSource.SIMULATED,
            result=self,
        )

    def _body_forces(self) -> tuple[ContactForce, ...]:
        """Contact forces gathered by body, at their center of pressure."""
        if self.scene is None or not self.contact_names:
            return ()
        tree = Tree(self.model, ca.SX.sym("q", self.model.nq))
        gaps = self.scene.gaps(tree)
        points = np.asarray(gap_distances(self.scene)(self.q)["point"])
        up = np.asarray(level_ground(self.model).normal)
        names = self.model.body_names
        gathered = []
        for body in sorted({gap.body for gap in gaps} | {gap.other for gap in gaps} - {-1}):
            mine = [k for k, gap in enumerate(gaps) if gap.body == body]
            theirs = [k for k, gap in enumerate(gaps) if gap.other == body]
            force = np.concatenate([self.forces[:, mine], -self.forces[:, theirs]], axis=1)
            if not force.any():
                continue
            place = points[:, [*mine, *theirs]]
            gathered.append(_body_force(names[body], force, place, up))
        return tuple(gathered)

    def force(self, name: str) -> np.ndarray:
        """Force on one contact, summed over its places.

        Args:
            name: Name of a contact shape, or of one of its places in ``contact_names``.

        Returns:
            (samples, 3), N, world.

        Raises:
            KeyError: There is no such contact.
        """
        chosen = [
            k
            for k, known in enumerate(self.contact_names)
            if known == name or known.startswith((f"{name}.", f"{name} "))
        ]
        if not chosen:
            raise KeyError(f"no contact {name!r}; there are {', '.join(self.contact_names)}")
        return np.asarray(self.forces[:, chosen].sum(axis=1))

    def columns(self) -> dict[str, Curve]:
        """Positions, velocities and torques by coordinate, contact forces and energies.

        Returns:
            One curve per column.
        """
        model = self.model
        curves: list[Curve] = []
        for column in position_columns(model):
            curves.append(Curve(column.name, column.unit, self.time, self.q[:, column.q]))
        angular = angular_coordinates(model)
        for k, name in enumerate(model.coordinate_names):
            rate, torque = ("rad/s", "N m") if angular[k] else ("m/s", "N")
            curves.append(Curve(f"{name} velocity", rate, self.time, self.v[:, k]))
            curves.append(Curve(f"{name} torque", torque, self.time, self.torques[:, k]))
        for k, name in enumerate(self.contact_names):
            curves.append(Curve(f"{name} force", "N", self.time, self.forces[:, k]))
        for name in ("kinetic", "potential", "actuators", "contacts", "dissipated", "error"):
            curves.append(Curve(f"{name} energy", "J", self.time, getattr(self.energy, name)))
        return {curve.name: curve for curve in curves}

    def headline(self) -> str:
        """Model, duration, steps and how it ended."""
        return (
            f"SimulationResult of {self.model.name!r}: {self.time[-1] - self.time[0]:g} s in "
            f"{count_of(self.steps, 'step')}, {self.message}"
        )


def _body_force(body: str, forces: np.ndarray, points: np.ndarray, up: np.ndarray) -> ContactForce:
    """Forces (frames, places, 3) at points on one body as one at their center of pressure."""
    total = forces.sum(axis=1)
    weights = np.abs(forces @ up)
    sums = weights.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        point = np.where(sums > 0, np.einsum("tk,tkx->tx", weights, points) / sums, np.nan)
    arms = points - np.nan_to_num(point)[:, None]
    torque = np.cross(arms, forces).sum(axis=1)
    return ContactForce(body, side_of(body), total, point, torque, predicted=True)


def velocity_differences(time: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Accelerations from recorded velocities by central differences, (samples, nv)."""
    if len(time) < 2 or np.any(np.diff(time) <= 0):
        return np.zeros_like(v)
    return np.asarray(np.gradient(v, time, axis=0))
