"""What an event-driven run leaves behind: samples, events, and how it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np

WORK_ENTRIES = 5
"""Entries of ``EventRun.work``."""

Torque = Callable[[float, np.ndarray, np.ndarray], np.ndarray]
Sample = tuple[float, np.ndarray, np.ndarray, np.ndarray]
"""Time, state, forces of contacts, which of them are closed."""


class TerminationReason(Enum):
    """How a run final_solution, with a sentence for each."""

    FINISHED = "reached its end"
    OVERLAP = "a contact is inside what it should touch"
    TORQUES = "torques are not finite"
    SINGULAR = "the mass matrix is not positive definite"
    CONTACTS = "no contact forces fit the motion"
    EVENTS = "events come faster than allowed"
    STALLED = "the error of a step stays above the tolerance however short it is"


@dataclass(frozen=True, eq=False)
class ContactEvent:
    """A contact, limit or rubbing coordinate that changed its mode."""

    time: float
    kind: str
    """"touch", "leave", "slide", "rest" or "jam"."""
    name: str
    q: np.ndarray
    v: np.ndarray
    """The state that it happened in; before the blow, where there was one."""
    impulse: float = 0.0
    """Along the normal (N s), for "touch" and "jam"."""


@dataclass(frozen=True, eq=False)
class EventRun:
    """Samples of a run, its events, and how it ended."""

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    force: np.ndarray
    """(samples, contacts, 3): normal and two tangents (N)."""
    closed: np.ndarray
    """(samples, contacts)"""
    impulse: np.ndarray
    """(contacts, 3): of all impacts together, normal and two tangents (N s)."""
    work: np.ndarray
    """(samples, 5): done since the start by torques, contacts and joints (limits, friction, springs
    and dampers), and in impacts by contacts and limits (J)."""
    events: tuple[ContactEvent, ...]
    reason: TerminationReason
    message: str
    steps: int


class EventRunFailure(Exception):
    """Why a run cannot go on, and when."""

    def __init__(self, ending: TerminationReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = ending
