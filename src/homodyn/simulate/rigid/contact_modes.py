"""Contact modes: which contacts are closed, and which of them slide.

A contact closes slightly below the surface and opens at it; it slides above a small speed and rests
below a smaller one. The two thresholds of each pair prevent events from repeating.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from homodyn.simulate.rigid.contact_state import ContactMotion, ContactState
from homodyn.simulate.rigid.coordinate_rows import CoordinateRows

CLOSING_DEPTH = float(np.sqrt(np.finfo(float).eps))
"""m, rad: depth at which a contact closes; it opens at the surface (HuMAnS, 6.3)."""
MAX_REST_SPEED = 1e-6
"""m/s, rad/s: a sliding contact or coordinate rests below this speed."""
MIN_SLIDE_SPEED = 1e-5
"""m/s, rad/s: a resting contact or coordinate slides above this speed."""


@dataclass
class ContactModes:
    """Modes of contacts, limits and coordinates with dry friction, in the order of the rows."""

    contacts: int
    """Number of contacts."""
    closed: np.ndarray
    """(contacts + limits,): whether each contact, then each limit, is closed."""
    sliding: np.ndarray
    """(contacts,): whether each contact slides."""
    moving: np.ndarray
    """(coordinates with dry friction,): direction of motion, -1, 0 or 1."""
    slip_directions: np.ndarray
    """(contacts, 2): direction of slip at the last update."""
    closing_gaps: np.ndarray
    """(contacts + limits,), m, rad: gap at which each was closed, and at which it is stabilized."""

    @staticmethod
    def from_state(state: ContactState, contacts: int) -> ContactModes:
        """The modes of a state without history."""
        limits = len(state.gap) - contacts
        velocities = state.speed[3 * contacts + limits :]
        modes = ContactModes(
            contacts,
            state.gap < CLOSING_DEPTH,
            np.zeros(contacts, bool),
            np.where(np.abs(velocities) > MIN_SLIDE_SPEED, np.sign(velocities), 0.0),
            np.zeros((contacts, 2)),
            np.maximum(state.gap, -CLOSING_DEPTH),
        )
        modes.sliding = modes.closed[:contacts] & (modes.slip_speeds(state) > MIN_SLIDE_SPEED)
        modes.update_slip_directions(state)
        return modes

    @staticmethod
    def array_size(contacts: int, coordinates: CoordinateRows) -> int:
        """Number of entries of `to_array`."""
        limits, frictional = len(coordinates.limited), len(coordinates.frictional)
        return 1 + 2 * (contacts + limits) + 3 * contacts + frictional

    def to_array(self) -> np.ndarray:
        """The modes as numbers; the first is 1 to mark that they are set."""
        parts = (
            self.closed,
            self.closing_gaps,
            self.sliding,
            self.slip_directions.ravel(),
            self.moving,
        )
        return np.concatenate([[1.0], *parts]).astype(float)

    @staticmethod
    def from_array(z: np.ndarray, contacts: int, gaps: int) -> ContactModes:
        """The inverse of `to_array`; ``gaps`` is the number of contacts and limits."""
        ends = np.cumsum([1, gaps, gaps, contacts, 2 * contacts])
        _, closed, closing_gaps, sliding, directions, moving = np.split(z, ends)
        return ContactModes(
            contacts,
            closed > 0,
            sliding > 0,
            moving.copy(),
            directions.reshape(-1, 2).copy(),
            closing_gaps.copy(),
        )

    def slips(self, state: ContactState | ContactMotion) -> np.ndarray:
        """Tangential velocities of the contacts, (..., contacts, 2)."""
        speed = state.speed[..., : 3 * self.contacts]
        return speed.reshape(*speed.shape[:-1], self.contacts, 3)[..., 1:]

    def slip_speeds(self, state: ContactState | ContactMotion) -> np.ndarray:
        """Tangential speeds of the contacts, (..., contacts)."""
        slips = self.slips(state)
        return np.asarray(np.sqrt((slips * slips).sum(-1)))

    def normal_rows(self) -> np.ndarray:
        """Rows of the normals of contacts and of the limits."""
        return _normal_rows(self.contacts, len(self.closed))

    def update_slip_directions(self, state: ContactState | ContactMotion) -> None:
        """Store the directions in which contacts slide."""
        slip, speed = self.slips(state), self.slip_speeds(state)
        slipping = speed > MAX_REST_SPEED
        self.slip_directions[slipping] = slip[slipping] / speed[slipping, None]

    def slip_directions_at(self, state: ContactState | ContactMotion) -> np.ndarray:
        """Directions of slip at a state; a contact that has stopped keeps the last one."""
        slip, speed = self.slips(state), self.slip_speeds(state)
        forward = (slip * self.slip_directions).sum(1) > MAX_REST_SPEED
        directions = self.slip_directions.copy()
        directions[forward] = slip[forward] / speed[forward, None]
        return directions

    def close(self, chosen: np.ndarray, state: ContactState) -> None:
        """Close further contacts and limits."""
        self.closed |= chosen
        self.closing_gaps[chosen] = np.maximum(state.gap[chosen], -CLOSING_DEPTH)

    # -- events: each function becomes negative when its mode must change

    def events(self, state: ContactState | ContactMotion) -> np.ndarray:
        """Event functions of contacts and limits, of slip, and of coordinates with dry friction."""
        velocities = state.speed[..., 3 * self.contacts + len(self.closed) - self.contacts :]
        touch = np.where(
            self.closed, self.closing_gaps + CLOSING_DEPTH - state.gap, state.gap + CLOSING_DEPTH
        )
        along = (self.slips(state) * self.slip_directions).sum(-1) - MAX_REST_SPEED
        start = MIN_SLIDE_SPEED - self.slip_speeds(state)
        slip = np.where(self.sliding, along, start)
        slip = np.where(self.closed[: self.contacts], slip, 1.0)
        friction = np.where(
            self.moving != 0,
            self.moving * velocities - MAX_REST_SPEED,
            MIN_SLIDE_SPEED - np.abs(velocities),
        )
        return np.concatenate([touch, slip, friction], axis=-1)


@lru_cache
def _normal_rows(contacts: int, gaps: int) -> np.ndarray:
    rows = np.concatenate([3 * np.arange(contacts), 3 * contacts + np.arange(gaps - contacts)])
    rows = rows.astype(int)
    rows.setflags(write=False)
    return rows
