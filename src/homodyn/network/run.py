"""Runs of a network: attempts repeated until the end, in native code or on the virtual machine."""

from __future__ import annotations

from collections import deque

import numpy as np

from homodyn.errors import NetworkError
from homodyn.network.step_kernels import StepKernels

COMPACTION_INTERVAL_ATTEMPTS, MIN_ENDED_SHARE = 200, 0.01
"""Attempts after which lanes that have ended are looked for, and the share that is put up with."""

MAX_CHUNK_NUMBERS = 20_000_000
"""Numbers kept of one chunk of attempts, which bounds the memory a record needs at once."""


class DelayHistory:
    """The values of delayed formulas at the times of the steps, and before the start."""

    def __init__(
        self, kernels: StepKernels, state: np.ndarray, p: np.ndarray, start: float
    ) -> None:
        self.advance = kernels
        self.start = start
        self.p = p
        self.state = state.copy()
        self.times: deque[float] = deque()
        self.values: deque[np.ndarray] = deque()
        self.longest = 0.0
        self.count = len(kernels.delay_slots)

    def _value_before_start(self, entry: int, time: float) -> np.ndarray:
        """A value before the start: its formula with that time."""
        offset, length = self.advance.delay_slots[entry]
        none = np.zeros(self.advance.delayed_count)
        values = np.atleast_1d(
            self.advance.delay_start_kernel(self.state, self.p, np.array(time), none)
        )
        return values[offset : offset + length]

    def append(self, state: np.ndarray, time: float, given: np.ndarray) -> np.ndarray:
        """Keep the values of now; returns the delays."""
        both = self.advance.delay_kernel(state, self.p, np.array(time), given)
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
        result = np.zeros(self.advance.delayed_count)
        known = np.fromiter(self.times, float, len(self.times))
        for entry, (offset, length) in enumerate(self.advance.delay_slots):
            where = slice(offset, offset + length)
            time = times[entry]
            if time < self.start or not len(known):
                result[where] = self._value_before_start(entry, time)
                continue
            k = int(np.searchsorted(known, time, side="right")) - 1
            k = min(max(k, 0), len(known) - 2) if len(known) > 1 else 0
            if len(known) == 1 or time >= known[-1]:
                result[where] = self.values[-1][where]
                continue
            share = (time - known[k]) / (known[k + 1] - known[k])
            result[where] = (1 - share) * self.values[k][where] + share * self.values[k + 1][where]
        return result


def record_delayed_run(
    kernels: StepKernels,
    state: np.ndarray,
    p: np.ndarray,
    run: np.ndarray,
    compiled: bool,
    past: DelayHistory | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Columns and delayed values of every row of one run whose formulas look back.

    A run that goes on has its ``past`` with it.
    """
    step = kernels.attempt.compile() if compiled else kernels.attempt.as_interpreted()
    t0, dt, _ = run
    slices = kernels.slices
    past = DelayHistory(kernels, state, p, float(t0)) if past is None else past
    rows, looked = [state], []
    done = np.array(0.0)
    k, s = (float(state[slices[name]][0]) for name in ("k", "s"))
    begin = float(t0 + k * dt + s)
    now = past.at(np.full(past.count, begin - 1e-300) if past.count else np.zeros(0))
    delays = past.append(state, begin, now)
    now = past.at(begin - delays)
    delays = past.append(state, begin, now)
    looked.append(now)
    while not done:
        k, s, length = (float(state[slices[name]][0]) for name in ("k", "s", "step"))
        time = t0 + k * dt + s
        length = length if length > 0 else dt - s
        given = np.concatenate(
            [past.at(time + fraction * length - delays) for fraction in (0.0, 0.5, 1.0)]
        )
        state, done = step(state, np.asarray(done), p, run, given)
        k, s = (float(state[slices[name]][0]) for name in ("k", "s"))
        end = t0 + k * dt + s
        if end > time:
            now = past.at(end - delays)
            delays = past.append(state, end, now)
        if state[slices["row"]][0] or state[slices["fired"]].any():
            rows.append(state)
            looked.append(past.at(end - delays))
    return np.array(rows), np.array(looked)


def record_run(
    kernels: StepKernels, state: np.ndarray, p: np.ndarray, run: np.ndarray, compiled: bool
) -> np.ndarray:
    """The state at the start and after every attempt of one run that made a row or an event."""
    slices = kernels.slices
    none = np.zeros(3 * kernels.delayed_count)
    if not compiled:
        step = kernels.attempt.as_interpreted()
        rows = [state]
        over = np.array(0.0)
        while not over:
            state, over = step(state, np.asarray(over), p, run, none)
            if state[slices["row"]][0] or state[slices["fired"]].any():
                rows.append(state)
        return np.array(rows)
    chunks: list[np.ndarray] = []
    done = 0.0
    limit = max(64, MAX_CHUNK_NUMBERS // len(state))
    while not done:
        left = int(run[2] - state[slices["k"]][0]) + (16 if kernels.events else 0)
        count = max(1, min(left, limit))
        inputs = {"c": state, "done": np.array(done), "p": p, "run": run, "d": none}
        # The first chunk begins with the state of the start.
        first = not chunks
        block = np.empty((count + first, len(state)))
        block[0] = state
        scan = kernels.iteration(count, inputs, record=["c"], out={"c": block[first:]})
        chunks.append(_recorded_rows(block, slices, first))
        state = scan.states["c"][0]
        done = float(scan.states["done"].reshape(-1)[0])
    return chunks[0] if len(chunks) == 1 else np.concatenate(chunks)


def _recorded_rows(rows: np.ndarray, slices: dict[str, slice], first: bool) -> np.ndarray:
    wanted = rows[:, slices["row"]][:, 0].astype(bool) | rows[:, slices["fired"]].any(axis=1)
    wanted[0] |= first
    return rows if wanted.all() else rows[wanted]


def final_states(
    kernels: StepKernels, state: np.ndarray, p: np.ndarray, run: np.ndarray, compiled: bool
) -> np.ndarray:
    """The last columns of many runs, one in each lane."""
    none = np.zeros(3 * kernels.delayed_count)
    done = np.zeros(len(state))
    steps = int(run[2])
    if not compiled:
        step = kernels.attempt.as_interpreted()
        open_lanes = np.arange(len(state))
        while len(open_lanes):
            state[open_lanes], ended = step(
                state[open_lanes], np.zeros(len(open_lanes)), p[open_lanes], run, none
            )
            open_lanes = open_lanes[ended == 0]
        return state
    # Lanes that have ended make room between the chunks; without events all end together.
    chunk = max(1, min(steps, COMPACTION_INTERVAL_ATTEMPTS)) if kernels.events else max(1, steps)
    lanes = np.arange(len(state))
    result = state
    while len(lanes):
        inputs = {"c": state, "done": done, "p": p, "run": run, "d": none}
        scan = kernels.iteration(chunk, inputs)
        state, done = scan.states["c"], scan.states["done"].reshape(-1)
        ended = done != 0
        # Moving lanes together costs as much as some of their steps.
        if ended.mean() > MIN_ENDED_SHARE or ended.all():
            over, left = np.flatnonzero(ended), np.flatnonzero(~ended)
            result[lanes[over]] = state[over]
            lanes, done = lanes.take(left), done.take(left)
            state, p = state.take(left, axis=0), p.take(left, axis=0)
    return result
