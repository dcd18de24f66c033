"""Runs of a network: attempts repeated until the end, in native code or on the virtual machine."""

from __future__ import annotations

from collections import deque

import numpy as np

from homodyn.errors import NetworkError
from homodyn.network.advance import Advance

CUT, SPARE = 200, 0.01
"""Attempts after which lanes that have ended are looked for, and the share that is put up with."""

CHUNK = 20_000_000
"""Numbers kept of one chunk of attempts, which bounds the memory a record needs at once."""


class Past:
    """The values of delayed formulas at the times of the steps, and before the start."""

    def __init__(self, advance: Advance, column: np.ndarray, p: np.ndarray, start: float) -> None:
        self.advance = advance
        self.start = start
        self.p = p
        self.column = column.copy()
        self.times: deque[float] = deque()
        self.values: deque[np.ndarray] = deque()
        self.longest = 0.0
        self.count = len(advance.delay_list)

    def _before(self, entry: int, time: float) -> np.ndarray:
        """A value before the start: its formula with that time."""
        offset, length = self.advance.delay_list[entry]
        none = np.zeros(self.advance.delayed)
        values = np.atleast_1d(
            self.advance.delay_start_kernel(self.column, self.p, np.array(time), none)
        )
        return values[offset : offset + length]

    def keep(self, column: np.ndarray, time: float, given: np.ndarray) -> np.ndarray:
        """Keep the values of now; returns the delays."""
        both = self.advance.delay_kernel(column, self.p, np.array(time), given)
        both = np.atleast_1d(both)
        delays, values = both[: self.count], both[self.count :]
        if np.any(delays < 0) or not np.all(np.isfinite(delays)):
            raise NetworkError(f"a delay is {delays.min():g} s at {time:g} s; 0 or more is needed")
        if not self.times or time > self.times[-1]:
            self.times.append(time)
            self.values.append(values)
        else:
            self.values[-1] = values
        self.longest = max(self.longest, float(delays.max(initial=0.0)))
        while len(self.times) > 4 and self.times[1] < time - self.longest - 1e-9:
            self.times.popleft()
            self.values.popleft()
        return delays

    def at(self, times: np.ndarray) -> np.ndarray:
        """Each delayed value at its own time, on straight lines between steps."""
        result = np.zeros(self.advance.delayed)
        known = np.fromiter(self.times, float, len(self.times))
        for entry, (offset, length) in enumerate(self.advance.delay_list):
            where = slice(offset, offset + length)
            time = times[entry]
            if time < self.start or not len(known):
                result[where] = self._before(entry, time)
                continue
            k = int(np.searchsorted(known, time, side="right")) - 1
            k = min(max(k, 0), len(known) - 2) if len(known) > 1 else 0
            if len(known) == 1 or time >= known[-1]:
                result[where] = self.values[-1][where]
                continue
            share = (time - known[k]) / (known[k + 1] - known[k])
            result[where] = (1 - share) * self.values[k][where] + share * self.values[k + 1][where]
        return result


def with_delays(
    advance: Advance,
    column: np.ndarray,
    p: np.ndarray,
    run: np.ndarray,
    compiled: bool,
    past: Past | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Columns and delayed values of every row of one run whose formulas look back.

    A run that goes on has its ``past`` with it.
    """
    step = advance.attempt.compile() if compiled else advance.attempt.as_interpreted()
    t0, dt, _ = run
    slices = advance.slices
    past = Past(advance, column, p, float(t0)) if past is None else past
    rows, looked = [column], []
    done = np.array(0.0)
    k, s = (float(column[slices[name]][0]) for name in ("k", "s"))
    begin = float(t0 + k * dt + s)
    now = past.at(np.full(past.count, begin - 1e-300) if past.count else np.zeros(0))
    delays = past.keep(column, begin, now)
    now = past.at(begin - delays)
    delays = past.keep(column, begin, now)
    looked.append(now)
    while not done:
        k, s, length = (float(column[slices[name]][0]) for name in ("k", "s", "step"))
        time = t0 + k * dt + s
        length = length if length > 0 else dt - s
        given = np.concatenate(
            [past.at(time + fraction * length - delays) for fraction in (0.0, 0.5, 1.0)]
        )
        column, done = step(column, np.asarray(done), p, run, given)
        k, s = (float(column[slices[name]][0]) for name in ("k", "s"))
        end = t0 + k * dt + s
        if end > time:
            now = past.at(end - delays)
            delays = past.keep(column, end, now)
        if column[slices["row"]][0] or column[slices["fired"]].any():
            rows.append(column)
            looked.append(past.at(end - delays))
    return np.array(rows), np.array(looked)


def recorded(
    advance: Advance, column: np.ndarray, p: np.ndarray, run: np.ndarray, compiled: bool
) -> np.ndarray:
    """The column at the start and after every attempt of one run that made a row or an event."""
    slices = advance.slices
    none = np.zeros(3 * advance.delayed)
    if not compiled:
        step = advance.attempt.as_interpreted()
        rows = [column]
        state = np.array(0.0)
        while not state:
            column, state = step(column, np.asarray(state), p, run, none)
            if column[slices["row"]][0] or column[slices["fired"]].any():
                rows.append(column)
        return np.array(rows)
    kept: list[np.ndarray] = []
    done = 0.0
    limit = max(64, CHUNK // len(column))
    while not done:
        left = int(run[2] - column[slices["k"]][0]) + (16 if advance.events else 0)
        count = max(1, min(left, limit))
        inputs = {"c": column, "done": np.array(done), "p": p, "run": run, "d": none}
        # The first chunk begins with the column of the start.
        first = not kept
        block = np.empty((count + first, len(column)))
        block[0] = column
        course = advance.iteration(count, inputs, record=["c"], out={"c": block[first:]})
        kept.append(_of_note(block, slices, first))
        column = course.states["c"][0]
        done = float(course.states["done"].reshape(-1)[0])
    return kept[0] if len(kept) == 1 else np.concatenate(kept)


def _of_note(rows: np.ndarray, slices: dict[str, slice], first: bool) -> np.ndarray:
    wanted = rows[:, slices["row"]][:, 0].astype(bool) | rows[:, slices["fired"]].any(axis=1)
    wanted[0] |= first
    return rows if wanted.all() else rows[wanted]


def finals(
    advance: Advance, column: np.ndarray, p: np.ndarray, run: np.ndarray, compiled: bool
) -> np.ndarray:
    """The last columns of many runs, one in each lane."""
    none = np.zeros(3 * advance.delayed)
    done = np.zeros(len(column))
    steps = int(run[2])
    if not compiled:
        step = advance.attempt.as_interpreted()
        open_lanes = np.arange(len(column))
        while len(open_lanes):
            column[open_lanes], ended = step(
                column[open_lanes], np.zeros(len(open_lanes)), p[open_lanes], run, none
            )
            open_lanes = open_lanes[ended == 0]
        return column
    # Lanes that have ended make room between the chunks; without events all end together.
    chunk = max(1, min(steps, CUT)) if advance.events else max(1, steps)
    lanes = np.arange(len(column))
    result = column
    while len(lanes):
        inputs = {"c": column, "done": done, "p": p, "run": run, "d": none}
        course = advance.iteration(chunk, inputs)
        column, done = course.states["c"], course.states["done"].reshape(-1)
        ended = done != 0
        # Moving lanes together costs as much as some of their steps.
        if ended.mean() > SPARE or ended.all():
            over, left = np.flatnonzero(ended), np.flatnonzero(~ended)
            result[lanes[over]] = column[over]
            lanes, done = lanes.take(left), done.take(left)
            column, p = column.take(left, axis=0), p.take(left, axis=0)
    return result
