"""Runs of a network: attempts of steps, repeated in native code or on the virtual machine."""

from __future__ import annotations

from collections import deque

import numpy as np

from homodyn.errors import NetworkError
from homodyn.network.step_kernels import StepKernels

COMPACTION_INTERVAL_ATTEMPTS = 200
"""Attempts after which lanes that have ended are removed from a sweep."""
MIN_ENDED_SHARE = 0.01
"""Share of ended lanes below which they are not removed."""

MAX_CHUNK_NUMBERS = 20_000_000
"""Numbers that one chunk of attempts records, which limits the memory of a run."""


class DelayHistory:
    """The values of delayed formulas at the times of past steps, and before the start."""

    def __init__(
        self, kernels: StepKernels, state: np.ndarray, p: np.ndarray, start: float
    ) -> None:
        self.kernels = kernels
        self.start = start
        self.p = p
        self.state = state.copy()
        self.times: deque[float] = deque()
        self.values: deque[np.ndarray] = deque()
        self.longest = 0.0
        self.count = len(kernels.delay_slots)

    def _value_before_start(self, entry: int, time: float) -> np.ndarray:
        """The value of a delayed formula at a time before the start."""
        offset, length = self.kernels.delay_slots[entry]
        none = np.zeros(self.kernels.delayed_count)
        values = np.atleast_1d(
            self.kernels.delay_start_kernel(self.state, self.p, np.array(time), none)
        )
        return values[offset : offset + length]

    def append(self, state: np.ndarray, time: float, delayed: np.ndarray) -> np.ndarray:
        """Store the current values.

        Args:
            state: Column of the run.
            time: Current time (s).
            delayed: Delayed values at this time.

        Returns:
            The delays (s).

        Raises:
            NetworkError: A delay is negative or not finite.
        """
        both = self.kernels.delay_kernel(state, self.p, np.array(time), delayed)
        both = np.atleast_1d(both)
        delays, values = both[: self.count], both[self.count :]
        if np.any(delays < 0) or not np.all(np.isfinite(delays)):
            raise NetworkError(f"a delay is {delays.min():g} s at {time:g} s; expected 0 s or more")
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
        """Delayed values, interpolated linearly between steps.

        Args:
            times: (delayed values,), time of each (s).

        Returns:
            The values in one column.
        """
        result = np.zeros(self.kernels.delayed_count)
        known = np.fromiter(self.times, float, len(self.times))
        for entry, (offset, length) in enumerate(self.kernels.delay_slots):
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
    """Run a network with delayed values.

    Args:
        kernels: Kernels of the network.
        state: Column at the start.
        p: Parameters.
        run: Start time (s), time step (s) and number of steps.
        compiled: Whether to use native code.
        past: History of an incremental run; None for a new run.

    Returns:
        (rows, size), the column, and (rows, delayed), the delayed values, at the start and after
        every attempt that completed a step or fired an event.
    """
    step = kernels.attempt.compile() if compiled else kernels.attempt.as_interpreted()
    t0, dt, _ = run
    slices = kernels.slices
    past = DelayHistory(kernels, state, p, float(t0)) if past is None else past
    rows, delayed_rows = [state], []
    done = np.array(0.0)
    k, s = (float(state[slices[name]][0]) for name in ("k", "s"))
    begin = float(t0 + k * dt + s)
    now = past.at(np.full(past.count, begin - 1e-300) if past.count else np.zeros(0))
    delays = past.append(state, begin, now)
    now = past.at(begin - delays)
    delays = past.append(state, begin, now)
    delayed_rows.append(now)
    while not done:
        k, s, length = (float(state[slices[name]][0]) for name in ("k", "s", "step"))
        time = t0 + k * dt + s
        length = length if length > 0 else dt - s
        delayed = np.concatenate(
            [past.at(time + fraction * length - delays) for fraction in (0.0, 0.5, 1.0)]
        )
        state, done = step(state, np.asarray(done), p, run, delayed)
        k, s = (float(state[slices[name]][0]) for name in ("k", "s"))
        end = t0 + k * dt + s
        if end > time:
            now = past.at(end - delays)
            delays = past.append(state, end, now)
        if state[slices["row"]][0] or state[slices["fired"]].any():
            rows.append(state)
            delayed_rows.append(past.at(end - delays))
    return np.array(rows), np.array(delayed_rows)


def record_run(
    kernels: StepKernels, state: np.ndarray, p: np.ndarray, run: np.ndarray, compiled: bool
) -> np.ndarray:
    """Run a network.

    Args:
        kernels: Kernels of the network.
        state: Column at the start.
        p: Parameters.
        run: Start time (s), time step (s) and number of steps.
        compiled: Whether to use native code.

    Returns:
        (rows, size), the column at the start and after every attempt that completed a step or fired
        an event.
    """
    slices = kernels.slices
    none = np.zeros(3 * kernels.delayed_count)
    if not compiled:
        step = kernels.attempt.as_interpreted()
        rows = [state]
        ended = np.array(0.0)
        while not ended:
            state, ended = step(state, np.asarray(ended), p, run, none)
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
        # The first chunk begins with the initial state.
        first = not chunks
        block = np.empty((count + first, len(state)))
        block[0] = state
        scan = kernels.iteration(count, inputs, record=["c"], out={"c": block[first:]})
        chunks.append(_recorded_rows(block, slices, first))
        state = scan.states["c"][0]
        done = float(scan.states["done"].reshape(-1)[0])
    return chunks[0] if len(chunks) == 1 else np.concatenate(chunks)


def _recorded_rows(rows: np.ndarray, slices: dict[str, slice], first: bool) -> np.ndarray:
    recorded = rows[:, slices["row"]][:, 0].astype(bool) | rows[:, slices["fired"]].any(axis=1)
    recorded[0] |= first
    return rows if recorded.all() else rows[recorded]


def final_states(
    kernels: StepKernels, state: np.ndarray, p: np.ndarray, run: np.ndarray, compiled: bool
) -> np.ndarray:
    """Run many sets of parameters, one per lane.

    Args:
        kernels: Kernels of the network.
        state: (lanes, size), columns at the start; they are overwritten.
        p: (lanes, parameters).
        run: Start time (s), time step (s) and number of steps.
        compiled: Whether to use native code.

    Returns:
        (lanes, size), the final columns.
    """
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
    # Ended lanes are removed between chunks; without events all lanes end together.
    chunk = max(1, min(steps, COMPACTION_INTERVAL_ATTEMPTS)) if kernels.events else max(1, steps)
    lanes = np.arange(len(state))
    result = state
    while len(lanes):
        inputs = {"c": state, "done": done, "p": p, "run": run, "d": none}
        scan = kernels.iteration(chunk, inputs)
        state, done = scan.states["c"], scan.states["done"].reshape(-1)
        ended = done != 0
        # Compacting costs as much as some steps.
        if ended.mean() > MIN_ENDED_SHARE or ended.all():
            finished, running = np.flatnonzero(ended), np.flatnonzero(~ended)
            result[lanes[finished]] = state[finished]
            lanes, done = lanes.take(running), done.take(running)
            state, p = state.take(running, axis=0), p.take(running, axis=0)
    return result
