"""The column of all changing quantities of a run, and its initial values.

The column has states, discrete variables, event-states, random numbers with their generators, the
zero functions of events, and the position of the run in its steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

M1, A1 = 2147483563.0, 40014.0
M2, A2 = 2147483399.0, 40692.0
"""L'Ecuyer's combined generators: products stay below 2^53, so doubles are exact."""

StateParts = dict[str, ca.SX]
"""Entries of a column by name."""


class StateLayout:
    """The layout of the column.

    Entries: ``x`` states, ``h`` discrete variables, ``e`` event-states, ``u`` random numbers of the
    step, ``r1`` and ``r2`` their generators, ``z`` zero functions of events at the last accepted
    time, ``seen`` and ``fired`` marks of events, ``k`` complete steps, ``s`` time since the last
    complete step (s), ``step`` length of the next attempt (s), ``cuts`` number of cuts of the step,
    ``fresh`` whether a whole step begins, ``calm`` whether no event or cut is pending, ``row``
    whether a step has just been completed.

    Args:
        states: Number of states.
        kept: Number of discrete variables.
        nodes: Number of nodes with event-states.
        drawn: Indices of the random numbers that are renewed in every step.
        zeros: Number of zero functions.
        events: Number of events.
    """

    def __init__(
        self, states: int, kept: int, nodes: int, drawn: Sequence[int], zeros: int, events: int
    ) -> None:
        self.redrawn = list(drawn)
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
        """The entries of a column by name."""
        return {name: c[where] for name, where in self.slices.items()}

    def concatenate(self, parts: StateParts) -> ca.SX:
        """The column of entries."""
        return ca.vertcat(*[ca.densify(parts[name]) for name in self.slices])

    def finish(self, parts: StateParts) -> ca.SX:
        """The column of a run that has ended."""
        return self.concatenate({**parts, "row": ca.SX(0), "fired": 0 * parts["fired"]})

    def redraw(self, parts: StateParts) -> StateParts:
        """Random numbers and generators, renewed where a whole step begins."""
        fresh = parts["fresh"]
        r1 = ca.if_else(fresh, ca.fmod(A1 * parts["r1"], M1), parts["r1"])
        r2 = ca.if_else(fresh, ca.fmod(A2 * parts["r2"], M2), parts["r2"])
        difference = r1 - r2
        u = ca.if_else(difference < 0, difference + (M1 - 1), difference) / M1
        return {"u": ca.if_else(fresh, u, parts["u"]), "r1": r1, "r2": r2}

    def start(
        self,
        x: np.ndarray,
        h: np.ndarray,
        e: Sequence[int],
        generated: tuple[np.ndarray, np.ndarray, np.ndarray],
        lanes: int,
    ) -> np.ndarray:
        """Initial columns; all lanes have the same random numbers.

        Args:
            x: Initial states.
            h: Initial discrete variables.
            e: Initial event-states.
            generated: Result of `first_draws`.
            lanes: Number of lanes.

        Returns:
            (lanes, size).
        """
        column = np.zeros((lanes, self.size))
        r1, r2, u = (part[self.redrawn] for part in generated)
        parts: dict[str, Any] = {"x": x, "h": h, "u": u, "r1": r1, "r2": r2, "fresh": 1.0}
        for name, value in parts.items():
            column[:, self.slices[name]] = value
        if e:
            column[:, self.slices["e"]] = e
        return column


def first_draws(seed: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Generators and random numbers at the start.

    Args:
        seed: Seed.
        count: Number of random numbers.

    Returns:
        States of both generators and the random numbers, (count,) each.
    """
    generator = np.random.Generator(np.random.Philox(seed))
    r1 = generator.integers(1, int(M1), count).astype(float)
    r2 = generator.integers(1, int(M2), count).astype(float)
    return r1, r2, np.mod(r1 - r2, M1 - 1) / M1
