"""What a simulation leaves behind."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from homodyn.model import Model
from homodyn.simulate.geometry import Scene


class Status(Enum):
    """How a simulation ended; the numbers are those of the lanes of a rollout."""

    FINISHED = 0
    ENDED = 1
    NOT_FINITE = 2
    STALLED = 3
    NOT_CONVERGED = 4
    UNSTABLE = 5

    @property
    def sentence(self) -> str:
        """The same in words."""
        return SENTENCES[self]


SENTENCES = {
    Status.FINISHED: "ran to the end of its time",
    Status.ENDED: "was ended by an event",
    Status.NOT_FINITE: "left the range of numbers",
    Status.STALLED: "met too many events, or needed steps that are too small",
    Status.NOT_CONVERGED: "could not solve a step",
    Status.UNSTABLE: "took energy from contacts that had none",
}


@dataclass(frozen=True)
class Happening:
    """An event that fired: its name, when (s), how near to zero its function was, and the state."""

    name: str
    time: float
    value: float
    q: np.ndarray
    v: np.ndarray


@dataclass(frozen=True)
class Ledger:
    """Where energy went (J), one entry for each recorded time.

    kinetic + potential - their start = actuators + contacts - dissipated + error. ``potential`` is
    that of gravity and of springs along coordinates; ``contacts`` is all work of contact forces on
    bodies, what soft ones store included; ``dissipated`` is what dampers, dry friction and stops of
    joints took; ``error`` is what integration made up.
    """

    kinetic: np.ndarray
    potential: np.ndarray
    actuators: np.ndarray
    contacts: np.ndarray
    dissipated: np.ndarray
    events: np.ndarray
    error: np.ndarray


@dataclass(frozen=True)
class Record:
    """A simulated movement: rows for times, ``forces`` (N, world) on the body of each contact.

    ``distances`` (m) are those of the contacts, negative inside; ``residual`` is the largest
    that a law with iterations left over in a step (m/s time-stepping, kg m/s implicit springs);
    ``notes`` tell what was odd.
    ``constraint_forces`` (N, N m) are those that close loops, one for each row of the constraints.
    """

    model: Model
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    torques: np.ndarray
    forces: np.ndarray
    contact_names: tuple[str, ...]
    distances: np.ndarray
    energy: Ledger
    events: tuple[Happening, ...]
    status: Status
    message: str
    steps: int
    residual: float = 0.0
    residuals: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """What the law left over in the step from each kept time; ``residual`` is the largest."""
    notes: tuple[str, ...] = ()
    scene: Scene | None = None
    constraint_forces: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    constraint_names: tuple[str, ...] = ()

    @property
    def total_force(self) -> np.ndarray:
        """Sum of the forces of the ground on the model (N, world)."""
        return np.asarray(self.forces.sum(axis=1))

    def force(self, name: str) -> np.ndarray:
        """Force on one contact (N, world), all its places together."""
        chosen = [
            k
            for k, known in enumerate(self.contact_names)
            if known == name or known.startswith((f"{name}.", f"{name} "))
        ]
        if not chosen:
            raise KeyError(f"no contact {name!r}; there are {', '.join(self.contact_names)}")
        return np.asarray(self.forces[:, chosen].sum(axis=1))

    def __repr__(self) -> str:
        return (
            f"Record of {self.model.name!r}: {self.time[-1] - self.time[0]:g} s in {self.steps} "
            f"steps, {self.message}"
        )
