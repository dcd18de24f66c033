"""All that changes in a run as one column of numbers, and the numbers it starts from.

Beside states and kept values these are event-states, draws with their generators, what events
watched, and where in its steps the run is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

M1, A1 = 2147483563.0, 40014.0
M2, A2 = 2147483399.0, 40692.0
"""L'Ecuyer's two combined generators: products stay below 2^53, so doubles hold them exactly."""

StateParts = dict[str, ca.SX]
"""Entries of a column by name."""


class StateLayout:
    """Where in the column everything is.

    ``x`` states, ``h`` kept values, ``e`` event-states, ``u`` draws of this step, ``r1`` and ``r2``
    their generators, ``z`` what events watch at the last place they were looked at, ``seen`` and
    ``fired`` per event, ``k`` whole steps done, ``s`` (s) time since then, ``step`` (s) length of
    the next attempt, ``cuts`` of this step so far, ``fresh`` whether a whole step begins, ``calm``
    whether nothing is left over from the one before it, ``row`` whether one has just ended.
    """

    def __init__(
        self, states: int, kept: int, nodes: int, drawn: Sequence[int], zeros: int, events: int
    ) -> None:
        self.redrawn = list(drawn)
        """Which draws are renewed in every step: those that more than initial values need."""
        draws = len(self.redrawn)
        sizes = {
            "x": states,
            "h": kept,
            "e": nodes,
            "u": draws,
            "r1": draws,
            "r2": draws,
            "z": zeros,
            "seen": max(1, events),
            "fired": max(1, events),
            **dict.fromkeys(("k", "s", "step", "cuts", "fresh", "calm", "row"), 1),
        }
        self.slices: dict[str, slice] = {}
        begin = 0
        for name, length in sizes.items():
            self.slices[name] = slice(begin, begin + length)
            begin += length
        self.size = begin

    def parts(self, c: ca.SX) -> StateParts:
        """The entries of a column."""
        return {name: c[where] for name, where in self.slices.items()}

    def concatenate(self, parts: StateParts) -> ca.SX:
        """The column of these entries."""
        return ca.vertcat(*[ca.densify(parts[name]) for name in self.slices])

    def finish(self, parts: StateParts) -> ca.SX:
        """The column of a run that is over."""
        return self.concatenate({**parts, "row": ca.SX(0), "fired": 0 * parts["fired"]})

    def redraw(self, parts: StateParts) -> StateParts:
        """Draws, and both generators, renewed where a step begins."""
        fresh = parts["fresh"]
        r1 = ca.if_else(fresh, ca.fmod(A1 * parts["r1"], M1), parts["r1"])
        r2 = ca.if_else(fresh, ca.fmod(A2 * parts["r2"], M2), parts["r2"])
        apart = r1 - r2
        u = ca.if_else(apart < 0, apart + (M1 - 1), apart) / M1
        return {"u": ca.if_else(fresh, u, parts["u"]), "r1": r1, "r2": r2}

    def start(
        self,
        x: np.ndarray,
        h: np.ndarray,
        e: Sequence[int],
        generated: tuple[np.ndarray, np.ndarray, np.ndarray],
        lanes: int,
    ) -> np.ndarray:
        """The column every lane starts from; lanes draw the same numbers."""
        column = np.zeros((lanes, self.size))
        r1, r2, u = (one[self.redrawn] for one in generated)
        parts: dict[str, Any] = {"x": x, "h": h, "u": u, "r1": r1, "r2": r2, "fresh": 1.0}
        for name, value in parts.items():
            column[:, self.slices[name]] = value
        if e:
            column[:, self.slices["e"]] = e
        return column


def first_draws(seed: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Both generators and the draws they begin with, for all places that draw."""
    generator = np.random.Generator(np.random.Philox(seed))
    r1 = generator.integers(1, int(M1), count).astype(float)
    r2 = generator.integers(1, int(M2), count).astype(float)
    return r1, r2, np.mod(r1 - r2, M1 - 1) / M1
