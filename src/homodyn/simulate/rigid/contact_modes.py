"""Which contacts are closed, and which of them slide: what an event-driven law remembers.

A contact closes a little below the surface and opens at it; it slides from a small speed on and
rests again below a smaller one: the two thresholds of each pair keep events from repeating.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.simulate.rigid.contact_state import ContactState
from homodyn.simulate.rigid.coordinate_rows import CoordinateRows

CLOSING_DEPTH = float(np.sqrt(np.finfo(float).eps))
"""m, rad: how deep a contact goes before it closes; it opens at the surface (HuMAnS, 6.3)."""
MAX_REST_SPEED = 1e-6
"""m/s, rad/s: a sliding contact or coordinate rests below this speed."""
MIN_SLIDE_SPEED = 1e-5
"""m/s, rad/s: a resting contact or coordinate slides above this speed."""


@dataclass
class ContactModes:
    """ContactModes of contacts, limits and rubbing coordinates, in the order of the rows."""

    contacts: int
    closed: np.ndarray
    """Of each contact, then of each limit."""
    sliding: np.ndarray
    """Of each contact."""
    moving: np.ndarray
    """Of each rubbing coordinate: -1, 0 or 1."""
    slip_directions: np.ndarray
    """Directions of slip when each sliding contact was last looked at."""
    closing_gaps: np.ndarray
    """Gaps (m, rad) at which contacts and limits were closed, and where they are held."""

    @staticmethod
    def from_state(state: ContactState, contacts: int) -> ContactModes:
        """ContactModes that a state is in when nothing is known of before."""
        limits = len(state.gap) - contacts
        rubbing = state.speed[3 * contacts + limits :]
        modes = ContactModes(
            contacts,
            state.gap < CLOSING_DEPTH,
            np.zeros(contacts, bool),
            np.where(np.abs(rubbing) > MIN_SLIDE_SPEED, np.sign(rubbing), 0.0),
            np.zeros((contacts, 2)),
            np.maximum(state.gap, -CLOSING_DEPTH),
        )
        modes.sliding = modes.closed[:contacts] & (modes.slip_speeds(state) > MIN_SLIDE_SPEED)
        modes.update_slip_directions(state)
        return modes

    @staticmethod
    def array_size(contacts: int, coordinates: CoordinateRows) -> int:
        """How many numbers `packed` has."""
        limits, rubbing = len(coordinates.limited), len(coordinates.frictional)
        return 1 + 2 * (contacts + limits) + 3 * contacts + rubbing

    def to_array(self) -> np.ndarray:
        """The modes as numbers, the first of them 1."""
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
        """The inverse of `packed`, for so many contacts, and gaps with the limits."""
        ends = np.cumsum([1, gaps, gaps, contacts, 2 * contacts])
        _, closed, levels, sliding, ways, moving = np.split(z, ends)
        return ContactModes(
            contacts,
            closed > 0,
            sliding > 0,
            moving.copy(),
            ways.reshape(-1, 2).copy(),
            levels.copy(),
        )

    def slips(self, state: ContactState) -> np.ndarray:
        """Tangential velocities of the contacts, (contacts, 2)."""
        return state.speed[: 3 * self.contacts].reshape(-1, 3)[:, 1:]

    def slip_speeds(self, state: ContactState) -> np.ndarray:
        """Tangential speeds of the contacts."""
        return np.linalg.norm(self.slips(state), axis=1)

    def normal_rows(self) -> np.ndarray:
        """Rows of the normals of contacts and of the limits."""
        limits = len(self.closed) - self.contacts
        return np.concatenate(
            [3 * np.arange(self.contacts), 3 * self.contacts + np.arange(limits)]
        ).astype(int)

    def update_slip_directions(self, state: ContactState) -> None:
        """Remember which way contacts slide."""
        slip, speed = self.slips(state), self.slip_speeds(state)
        fast = speed > MAX_REST_SPEED
        self.slip_directions[fast] = slip[fast] / speed[fast, None]

    def slip_directions_at(self, state: ContactState) -> np.ndarray:
        """Directions of slip at a state; a contact that came to its end keeps the last one."""
        slip, speed = self.slips(state), self.slip_speeds(state)
        ahead = (slip * self.slip_directions).sum(1) > MAX_REST_SPEED
        ways = self.slip_directions.copy()
        ways[ahead] = slip[ahead] / speed[ahead, None]
        return ways

    def close(self, chosen: np.ndarray, state: ContactState) -> None:
        """Close more contacts and limits."""
        self.closed |= chosen
        self.closing_gaps[chosen] = np.maximum(state.gap[chosen], -CLOSING_DEPTH)

    # -- events: each function falls through zero when its mode must change

    def events(self, state: ContactState) -> np.ndarray:
        """Of contacts and limits, of slip, of rubbing coordinates."""
        rubbing = state.speed[3 * self.contacts + len(self.closed) - self.contacts :]
        touch = np.where(
            self.closed, self.closing_gaps + CLOSING_DEPTH - state.gap, state.gap + CLOSING_DEPTH
        )
        along = (self.slips(state) * self.slip_directions).sum(1) - MAX_REST_SPEED
        start = MIN_SLIDE_SPEED - self.slip_speeds(state)
        slip = np.where(self.sliding, along, start)
        slip = np.where(self.closed[: self.contacts], slip, 1.0)
        rub = np.where(
            self.moving != 0,
            self.moving * rubbing - MAX_REST_SPEED,
            MIN_SLIDE_SPEED - np.abs(rubbing),
        )
        return np.concatenate([touch, slip, rub])
