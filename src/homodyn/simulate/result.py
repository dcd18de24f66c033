"""Results of simulations: status, events, energy balance and the recorded movement."""

from __future__ import annotations

from dataclasses import field, replace
from enum import Enum
from functools import cached_property

import casadi as ca
import numpy as np

from homodyn.dynamics.tree import Tree
from homodyn.foundation import Curve, Record, TimeSeries, count_of, record, unknown_name
from homodyn.foundation.record import MAX_REPR_LINES, NOTES_FIELD
from homodyn.model import Model
from homodyn.motion import ContactForce, Event, Motion, MotionSource, motion_from_states
from homodyn.motion.coordinate_columns import angular_coordinates, position_columns
from homodyn.simulate.geometry import ContactGeometry, gap_distances, level_ground


class SimulationStatus(Enum):
    """How a simulation ended; the values are those of ``RolloutResult.status``."""

    FINISHED = 0
    """Reached the end time."""
    ENDED = 1
    """Ended at an event."""
    NOT_FINITE = 2
    """The state is not finite or too large."""
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
    SimulationStatus.FINISHED: "reached the end time",
    SimulationStatus.ENDED: "ended at an event",
    SimulationStatus.NOT_FINITE: "reached a state that is not finite",
    SimulationStatus.STALLED: "had too many events, or needed steps that are too short",
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
    """Energies and works of a simulation (J), one entry per recorded time.

    kinetic + potential - their initial sum = actuators + contacts - dissipated + events + external
    + error. In a rollout the axes are batch elements and times.
    """

    kinetic: np.ndarray
    """Kinetic energy."""
    potential: np.ndarray
    """Potential energy of gravity and of springs along coordinates."""
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
    external: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """Work of forces on bodies since the start."""


@record
class SimulationResult(TimeSeries):
    """A simulated movement with its forces, energy balance and events.

    Indexing by name gives a `Curve`: ``result["knee"]`` (position of a coordinate), ``result["knee
    velocity"]``, ``result["knee torque"]``, ``result["heel force"]``.
    """

    _transient = ("geometry",)

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
    """Names of the contacts: contact shape, place on it, and obstacle where there are several."""
    distances: np.ndarray
    """Distance of each contact (m, negative where bodies overlap), (samples, contacts)."""
    energy: EnergyBalance
    events: tuple[EventOccurrence, ...]
    """Events in order of time."""
    status: SimulationStatus
    """How the simulation ended."""
    message: str
    """How the simulation ended, in one sentence."""
    steps: int
    """Number of steps."""
    residual: float = 0.0
    """Largest of ``residuals``."""
    residuals: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """Residual of an iterative law in the step from each sample (m/s for time stepping, kg m/s for
    implicit springs), (samples,)."""
    notes: tuple[str, ...] = ()
    """Warnings: limits that were reached, contacts that started inside an obstacle, bodies without
    contact shapes below the ground."""
    geometry: ContactGeometry | None = None
    """What the contacts could touch; not part of ``to_dict``."""
    constraint_forces: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    """Forces of the constraints, then of the rows of the user (N, N m), (samples, rows)."""
    constraint_names: tuple[str, ...] = ()
    """Names of the constraint rows."""
    measures: dict[str, np.ndarray] = field(default_factory=dict)
    """Values of the measures by name."""
    signals: dict[str, np.ndarray] = field(default_factory=dict)
    """Signals by name at the recorded times, (samples, ...)."""
    actuator_states: dict[str, np.ndarray] = field(default_factory=dict)
    """States of actuations, such as activations of muscles, by name, (samples,)."""

    @property
    def residual_forces(self) -> dict[str, np.ndarray]:
        """Forces and torques of a residual joint (N, N m) by coordinate, (samples,) each."""
        start = "residual "
        return {
            name.removeprefix(start): self.constraint_forces[:, k]
            for k, name in enumerate(self.constraint_names)
            if name.startswith(start)
        }

    @property
    def total_force(self) -> np.ndarray:
        """Sum of all contact forces on the model (N, world), (samples, 3)."""
        return np.asarray(self.forces.sum(axis=1))

    @cached_property
    def motion(self) -> Motion:
        """The movement as the record that gait measures, balance, reports and exporters use.

        Accelerations are differences of the recorded velocities. Of samples at the same time the
        last one counts. ``motion.result`` is this result.
        """
        kept = np.flatnonzero(np.append(np.diff(self.time) > 0, True))
        motion = motion_from_states(
            self.model,
            self.time[kept],
            self.q[kept],
            self.v[kept],
            tau=self.torques[kept],
            method=f"simulation that {self.status.sentence}",
            source=MotionSource.SIMULATED,
        )
        return replace(
            motion,
            notes=self.notes,
            contact_forces=tuple(force.take(kept) for force in self.body_forces),
            events=tuple(
                Event(event.time, event.name, "General")
                for event in self.events
                if event.time <= self.time[-1]
            ),
            result=self,
        )

    @cached_property
    def body_forces(self) -> tuple[ContactForce, ...]:
        """Contact forces gathered by body, at their center of pressure, per sample."""
        if self.geometry is None or not self.contact_names:
            return ()
        tree = Tree(self.model, ca.SX.sym("q", self.model.nq))
        gaps = self.geometry.gaps(tree)
        points = np.asarray(gap_distances(self.geometry)(self.q)["point"])
        up = np.asarray(level_ground(self.model).normal)
        names = self.model.body_names
        sums = []
        for body in sorted({gap.body for gap in gaps} | {gap.other for gap in gaps} - {-1}):
            as_body = [k for k, gap in enumerate(gaps) if gap.body == body]
            as_other = [k for k, gap in enumerate(gaps) if gap.other == body]
            force = np.concatenate([self.forces[:, as_body], -self.forces[:, as_other]], axis=1)
            if not force.any():
                continue
            place = points[:, [*as_body, *as_other]]
            sums.append(ContactForce.from_points(names[body], force, place, up))
        return tuple(sums)

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
            raise KeyError(unknown_name("contact", name, self.contact_names))
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

    def summary(self) -> str:
        """The whole result as text, with its notes below the headline.

        Returns:
            Several lines of text.
        """
        return "\n".join(self._notes_first(super().summary()))

    def __repr__(self) -> str:
        """The headline, the notes and the most important fields, in ten lines at most."""
        shown = self._notes_first(super().__repr__())
        if len(shown) > MAX_REPR_LINES:
            shown = [*shown[: MAX_REPR_LINES - 1], "  ... and more: see summary()"]
        return "\n".join(shown)

    def _notes_first(self, text: str) -> list[str]:
        """Lines of a text about the result, with all notes below the headline."""
        headline, *lines = text.split("\n")
        fields = [line for line in lines if not line.startswith(f"  {NOTES_FIELD} ")]
        return [headline, *(f"  note: {note}" for note in self.notes), *fields]
