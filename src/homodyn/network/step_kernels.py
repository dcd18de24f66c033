"""The kernels of a network: its start, one attempt of a step, and what can be observed.

All that changes in a run is one column, so that the kernel of an attempt can be repeated on its own
result in native code, every lane with events of its own. An attempt integrates to the end of the
step, or to where the one before it was cut. If an event asks for a cut it is taken back; otherwise
it is kept, and events that fired are carried out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from homodyn.network.event_step import (
    MAX_CUTS_PER_STEP,
    StepEvents,
    any_event_crosses,
    next_event_marks,
    resolve_events,
)
from homodyn.network.integrators import integrate_step
from homodyn.network.state_vector import StateLayout, first_draws
from homodyn.network.system import EquationSystem
from homodyn.network.tree import Variable
from homodyn.symbolic import Assumption, FastPath, Kernel, Scan, kernel

MIN_COMPILED_START_BATCH = 1000
"""Lanes from which initial values are worked out in native code."""


@dataclass(frozen=True)
class StepAttempt:
    """What an attempt came to, and what the short way through a step is known by.

    ``plain`` holds where a whole step begins in which nothing is left over from before, ``quiet``
    where no event comes true in it; ``before`` and ``within`` are values with the numbers that they
    then have.
    """

    state: ca.SX
    done: ca.SX
    starts_clean: ca.SX
    clean_values: list[tuple[ca.SX, float]]
    no_events: ca.SX
    no_event_values: list[tuple[ca.SX, float]]


class StepKernels:
    """The kernels of a network, for one method of integration."""

    def __init__(self, system: EquationSystem, method: str) -> None:
        self.system = system
        self.method = method
        self.events, zeros = system.events
        values = [ca.vec(system.value(variable)) for variable in system.variables.values()]
        rates, kept = system.rates, system.next_discrete
        bound = [system.apply_constraints(system.states), system.apply_constraints(system.discrete)]
        sets = [system.assignments(watched) for watched in self.events]
        self._starts = [system.starts(system.states), system.starts(system.discrete)]
        self._delays = list(system.delays.values())
        delay_starts = [ca.vec(system.delay_start(delay)) for delay in self._delays]
        self.symbols = [
            *[system.symbols(table) for table in "xh"],
            system.e,
            *[system.symbols(table) for table in "pud"],
            system.t,
        ]
        self.rates = self._function("rates", rates)
        self.zero_functions = self._function("zeros", zeros)
        self.discrete = self._function("kept", kept)
        self.constrain = self._function("bound", *bound)
        self.assignments = [
            [(table, at, self._function("set", value)) for table, at, value in one] for one in sets
        ]
        self.delay_now = [ca.vec(delay.value) for delay in self._delays]
        self.delay_starts = delay_starts
        used = [rates, zeros, kept, *bound, *values, *delay_starts, *self.delay_now]
        used += [value for one in sets for _, _, value in one]
        used += [delay.delay for delay in self._delays]
        self.layout = StateLayout(
            rates.numel(),
            kept.numel(),
            system.e.numel(),
            self._redrawn_indices(used),
            zeros.numel(),
            len(self.events),
        )

    def _function(self, name: str, *outputs: ca.SX) -> ca.Function:
        return ca.Function(name, self.symbols, list(outputs))

    def _redrawn_indices(self, used: list[ca.SX]) -> list[int]:
        column = self.system.symbols("u")
        needed = ca.which_depends(ca.vertcat(*used), column, 1, False)
        return [k for k in range(self.system.length("u")) if needed[k]]

    @property
    def slices(self) -> dict[str, slice]:
        """Where in the column everything is."""
        return self.layout.slices

    @property
    def size(self) -> int:
        """How many numbers change in a run."""
        return self.layout.size

    @property
    def parameter_count(self) -> int:
        """How many parameters there are; at least 1, so that kernels have an input for them."""
        return max(1, self.system.length("p"))

    @property
    def delayed_count(self) -> int:
        """How many delayed numbers there are; at least 1, as with parameters."""
        return max(1, self.system.length("d"))

    @property
    def _draws(self) -> int:
        return max(1, self.system.length("u"))

    def draws(self, renewed: ca.SX) -> ca.SX:
        """All draws in a column, from those that are renewed; of the others nothing depends."""
        whole = ca.SX.zeros(self._draws, 1)
        for entry, place in enumerate(self.layout.redrawn):
            whole[place] = renewed[entry]
        return whole

    # -- the start

    @cached_property
    def begin(self) -> Kernel:
        """Initial states and kept values from parameters, draws and time."""

        def started(p: ca.SX, u: ca.SX, t: ca.SX) -> dict[str, ca.SX]:
            function = self._function("start", *self._starts)
            zero = [ca.DM.zeros(*symbol.shape) for symbol in self.symbols]
            x, h = function(zero[0], zero[1], zero[2], p, u, zero[5], t)
            return {"x": x, "h": h}

        sizes: dict[str, Any] = {"p": self.parameter_count, "u": self._draws, "t": ()}
        shapes = {"x": self._starts[0].numel(), "h": self._starts[1].numel()}
        return kernel(started, sizes, outputs=shapes, name="start")

    def first_draws(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Both generators and the draws they begin with, for all places that draw."""
        return first_draws(seed, self._draws)

    def initial_state(
        self, seed: int, lanes: int, parameters: np.ndarray, start: float, native: bool = False
    ) -> np.ndarray:
        """The column every lane starts from; lanes draw the same numbers for the same seed."""
        generated = self.first_draws(seed)
        # Few lanes stay on the virtual machine, whatever has been compiled: same bits every time.
        many = native and lanes >= MIN_COMPILED_START_BATCH
        begin = self.begin.compile() if many else self.begin.as_interpreted()
        first = begin(parameters, generated[2], np.array(start))
        states = [node.states.index(node.initial_state) for node in self.system.nodes_with_states]
        return self.layout.start(first["x"], first["h"], states, generated, lanes)

    # -- one attempt

    @property
    def _sizes(self) -> dict[str, Any]:
        """Inputs of an attempt: column, whether it is over, parameters, t0 with dt and steps, past.

        The past holds the delayed values at the begin, the middle and the end of the step.
        """
        past = 3 * self.delayed_count
        return {"c": self.size, "done": (), "p": self.parameter_count, "run": 3, "d": past}

    @cached_property
    def attempt(self) -> Kernel:
        """``c, done`` after one attempt."""

        def tried(*given: ca.SX) -> tuple[ca.SX, ca.SX]:
            made = self._trace_attempt(*given)
            return made.state, made.done

        outputs: dict[str, Any] = {"c": self.size, "done": ()}
        return kernel(tried, self._sizes, outputs=outputs, name="network_step")

    @cached_property
    def iteration(self) -> Scan:
        """Attempts repeated in native code."""
        if not self._events_autonomous:
            return Scan(self.attempt, ["c", "done"], stop="done", packed=True)
        known: dict[str, tuple[float, ...]] = {}

        def tried(*given: ca.SX) -> dict[str, ca.SX]:
            made = self._trace_attempt(*given)
            found = {
                "c": made.state,
                "done": made.done,
                "plain": made.starts_clean,
                "quiet": made.no_events,
            }
            for name, pairs in (("before", made.clean_values), ("within", made.no_event_values)):
                found[name] = ca.densify(ca.vertcat(*[value for value, _ in pairs]))
                known[name] = tuple(number for value, number in pairs for _ in range(value.numel()))
            return found

        step = kernel(tried, self._sizes, name="network_step")
        shortcut = FastPath(
            (
                Assumption("plain", "before", known["before"]),
                Assumption("quiet", "within", known["within"]),
            )
        )
        return Scan(step, ["c", "done"], stop="done", packed=True, fast_path=shortcut)

    @cached_property
    def _events_autonomous(self) -> bool:
        """Whether there are events, none of which watches time, draws or the past.

        What they watch then changes in steps and by what events set, and not in between.
        """
        others = ca.vertcat(self.system.t, *[self.system.symbols(table) for table in "ud"])
        watched = self.system.events[1]
        return bool(self.events) and not any(ca.which_depends(watched, others, 1, False))

    def _trace_attempt(self, c: ca.SX, done: ca.SX, p: ca.SX, run: ca.SX, d: ca.SX) -> StepAttempt:
        part = self.layout.parts(c)
        t0, dt, steps = run[0], run[1], run[2]
        x, h, e, k, s = (part[name] for name in ("x", "h", "e", "k", "s"))
        t = t0 + k * dt + s
        renewed = self.layout.redraw(part)
        u = self.draws(renewed["u"])
        count = self.delayed_count
        past = {0.0: d[:count], 0.5: d[count : 2 * count], 1.0: d[2 * count :]}

        starting = k + s + part["cuts"] <= 0
        touched = ca.logic_or(starting, ca.sum1(part["fired"]) > 0)
        now = self.zero_functions(x, h, e, p, u, past[0.0], t)
        if self._events_autonomous:
            now = ca.if_else(touched, now, part["z"])
        stale = ca.if_else(starting, now, part["z"])
        jump = any_event_crosses(self.events, part, stale, now)
        jump = ca.logic_and(jump, part["cuts"] < MAX_CUTS_PER_STEP)

        # In a jump the step is integrated too, and not used: a choice of its length would stand
        # between all products and sums of the method.
        ahead = part["step"] > 0
        step = ca.if_else(ahead, part["step"], dt - s)

        def rates(state: ca.SX, fraction: float) -> ca.SX:
            return self.rates(state, h, e, p, u, past[fraction], t + fraction * step)

        x1 = integrate_step(self.method, x, step, rates, self.system.positions)
        t1 = t + step
        whole = ca.logic_and(ca.logic_not(jump), step >= (dt - s) * (1 - 1e-9))
        h1 = ca.if_else(whole, self.discrete(x1, h, e, p, u, past[1.0], t1), h)
        x1, h1 = self.constrain(x1, h1, e, p, u, past[1.0], t1)
        x1, h1 = ca.if_else(jump, x, x1), ca.if_else(jump, h, h1)
        length, t1 = ca.if_else(jump, 0, step), ca.if_else(jump, t, t1)
        z1 = self.zero_functions(x1, h1, e, p, u, past[1.0], t1)

        verdict = resolve_events(
            self.events, part, ca.if_else(jump, stale, now), z1, jump, length, dt
        )
        keep = ca.logic_not(verdict.cut)
        x2, h2, e2, end = self._apply_events(verdict, x1, h1, e, p, u, past[1.0], t1)
        grid = ca.logic_and(whole, keep)
        # A step that an event shortened is completed, so that rows stay on the grid of time.
        s1 = ca.if_else(keep, ca.if_else(grid, 0, s + length), s)
        forget = ca.logic_or(grid, ca.logic_and(keep, ca.sum1(verdict.fired) > 0))
        k1 = k + grid
        seen = next_event_marks(self.events, part["seen"], verdict, z1, forget)
        left_over = ca.sum1(seen) + ca.sum1(verdict.fired) > 0
        new = {
            **renewed,
            "x": ca.if_else(keep, x2, x),
            "h": ca.if_else(keep, h2, h),
            "e": ca.if_else(keep, e2, e),
            "z": ca.if_else(keep, z1, part["z"]),
            "seen": seen,
            "fired": ca.if_else(keep, verdict.fired, 0),
            "k": k1,
            "s": s1,
            "step": ca.if_else(keep, ca.if_else(grid, dt, dt - s1), length * verdict.share),
            "cuts": ca.if_else(grid, 0, part["cuts"] + ca.logic_or(verdict.cut, jump)),
            "fresh": grid,
            "calm": ca.logic_and(grid, ca.logic_not(left_over)),
            "row": ca.logic_or(grid, end),
        }
        over = ca.logic_or(end, k1 >= steps)
        column = ca.if_else(done, self.layout.finish(part), self.layout.concatenate(new))
        return StepAttempt(
            column,
            ca.logic_or(done, over),
            ca.logic_and(part["calm"], k + 1 < steps),
            [(one, 1.0) for one in (part["calm"], part["fresh"], part["row"], ahead, whole)]
            + [(part[name], 0.0) for name in ("s", "cuts", "seen", "fired")]
            + [(one, 0.0) for one in (starting, touched, jump)],
            ca.logic_not(any_event_crosses(self.events, part, part["z"], z1)),
            [
                (one, 0.0)
                for one in (verdict.fired, verdict.wants, verdict.cut, left_over, end, over)
            ],
        )

    def _apply_events(
        self,
        verdict: StepEvents,
        x: ca.SX,
        h: ca.SX,
        e: ca.SX,
        p: ca.SX,
        u: ca.SX,
        d: ca.SX,
        t: ca.SX,
    ) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """Values and event-states after the events that fired, and whether one ends the run."""
        after = {"x": ca.SX(x), "h": ca.SX(h)}
        states = ca.SX(e)
        end = ca.SX(0)
        for number, (watched, sets) in enumerate(zip(self.events, self.assignments, strict=True)):
            now = ca.logic_and(verdict.fired[number], ca.logic_not(verdict.cut))
            for table, at, function in sets:
                value = function(x, h, e, p, u, d, t)
                for k in range(value.numel()):
                    old = after[table][at + k]
                    after[table][at + k] = ca.if_else(now, value[k], old)
            if watched.event.to_state is None:
                end = ca.logic_or(end, now)
            else:
                target = watched.node.states.index(watched.event.to_state)
                states[watched.state_index] = ca.if_else(now, target, states[watched.state_index])
        return after["x"], after["h"], states, end

    # -- what can be observed

    def observe(self, variable: Variable) -> Kernel:
        """The value of a variable from the column ``c``, parameters, time and delayed values."""
        value = self.system.value(variable)
        return self._observer(variable.path, value)

    def _observer(self, name: str, value: ca.SX) -> Kernel:
        rows, columns = value.shape
        shape: tuple[int, ...] = (rows, columns)
        if columns == 1:
            shape = () if rows == 1 else (rows,)
        function = self._function("observed", value)

        def observed(c: ca.SX, p: ca.SX, t: ca.SX, d: ca.SX) -> Any:
            part = self.layout.parts(c)
            u = self.draws(part["u"])
            return function(part["x"], part["h"], part["e"], p, u, d, t)

        sizes: dict[str, Any] = {
            "c": self.size,
            "p": self.parameter_count,
            "t": (),
            "d": self.delayed_count,
        }
        return kernel(observed, sizes, outputs={"value": shape}, name=name)

    @cached_property
    def delay_kernel(self) -> Kernel:
        """Delays and the values to be delayed, from the column."""
        delays = ca.vertcat(*[delay.delay for delay in self._delays])
        values = ca.vertcat(*self.delay_now)
        return self._observer("delays", ca.vertcat(delays, values)).as_interpreted()

    @cached_property
    def delay_start_kernel(self) -> Kernel:
        """Values before the start."""
        return self._observer("delay_starts", ca.vertcat(*self.delay_starts)).as_interpreted()

    @property
    def delay_slots(self) -> list[tuple[int, int]]:
        """First entry and length of every delayed value."""
        return [(delay.offset, delay.symbol.numel()) for delay in self._delays]
