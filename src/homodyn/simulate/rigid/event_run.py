"""The result of an event-driven run: samples, events, and the reason of its end."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

import numpy as np

from homodyn.foundation import Record, count_of, record

WORK_ENTRIES = 5
"""Entries of ``EventRun.work``."""

Torque = Callable[[float, np.ndarray, np.ndarray], np.ndarray]
"""Torques (N m, N) at a time, positions and velocities."""
StateLoad = Callable[[float, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Torques (N m, N), and rates of the states of actuations (1/s), at a time and state vector."""
Sample = tuple[float, np.ndarray, np.ndarray, np.ndarray]
"""Time, state vector, forces of contacts, and whether they are closed."""


class TerminationReason(Enum):
    """Why a run ended, with a sentence for each reason."""

    FINISHED = "reached its end"
    OVERLAP = "a contact starts inside an obstacle"
    TORQUES = "torques are not finite"
    ACTUATORS = "states of an actuation are not finite"
    SINGULAR = "the mass matrix is not positive definite"
    CONTACTS = "no contact forces are consistent with the motion"
    EVENTS = "there are more events per second than allowed"
    STALLED = "the error of a step is above the tolerance for any length"


@record
class ContactEvent(Record):
    """A contact, limit or coordinate with dry friction that changed its mode."""

    time: float
    """s."""
    kind: str
    """"touch", "leave", "slide", "rest" or "jam"."""
    name: str
    """Name of the contact, limit or coordinate."""
    q: np.ndarray
    """Positions, (nq,)."""
    v: np.ndarray
    """Velocities, (nv,); before the impact, where there was one."""
    impulse: float = 0.0
    """Along the normal (N s), for "touch" and "jam"."""

    def headline(self) -> str:
        """Name, kind and time."""
        return f"{self.name} {self.kind} at {self.time:.6g} s"


@record
class EventRun(Record):
    """Samples of an event-driven run, its events, and the reason of its end."""

    time: np.ndarray
    """(samples,), s."""
    q: np.ndarray
    """(samples, nq)."""
    v: np.ndarray
    """(samples, nv)."""
    force: np.ndarray
    """(samples, contacts, 3): normal and two tangents (N)."""
    closed: np.ndarray
    """(samples, contacts): whether each contact is closed."""
    impulse: np.ndarray
    """(contacts, 3): of all impacts together, normal and two tangents (N s)."""
    work: np.ndarray
    """(samples, 5): work since the start of torques, contacts and joints (limits, friction, springs
    and dampers), and in impacts of contacts and limits (J)."""
    events: tuple[ContactEvent, ...]
    reason: TerminationReason
    message: str
    """Why the run ended, in one sentence."""
    steps: int
    """Number of steps."""

    def headline(self) -> str:
        """Steps, events and the reason of the end."""
        steps, events = count_of(self.steps, "step"), count_of(len(self.events), "event")
        return f"EventRun: {steps}, {events}, {self.message}"


class EventRunFailure(Exception):
    """A run cannot continue: the reason, and where."""

    def __init__(self, reason: TerminationReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
