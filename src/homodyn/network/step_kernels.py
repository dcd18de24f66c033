"""The kernels of a network: initial values, one attempt of a step, and observed variables.

All changing quantities of a run are one column, so native code can repeat the kernel of an attempt
on its own result, with separate events in every lane. An attempt integrates to the end of the step,
or to the point where the previous attempt was cut. If an event requires a cut, the attempt is
discarded; otherwise it is accepted and the assignments of fired events are executed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from homodyn.network.event_step import (
    StepEvents,
    any_event_crosses,
    begin_attempt,
    next_event_marks,
    resolve_events,
)
from homodyn.network.integrators import integrate_step
from homodyn.network.state_vector import StateLayout, StateParts, first_draws
from homodyn.network.system import EquationSystem
from homodyn.network.tree import Variable
from homodyn.symbolic import Assumption, FastPath, Kernel, Scan, kernel

MIN_COMPILED_START_BATCH = 1000
"""Number of lanes above which native code computes the initial values."""


@dataclass(frozen=True)
class StepAttempt:
    """The result of an attempt, and the conditions of the fast path through a step."""

    state: ca.SX
    """The column after the attempt."""
    done: ca.SX
    """Whether the run has ended."""
    starts_clean: ca.SX
    """Whether a whole step begins without pending events or cuts."""
    clean_values: list[tuple[ca.SX, float]]
    """Expressions with their values when the step starts clean."""
    no_events: ca.SX
    """Whether no event fires in the step."""
    no_event_values: list[tuple[ca.SX, float]]
    """Expressions with their values when no event fires."""


class StepKernels:
    """The kernels of a network for one integration method.

    Args:
        system: Equations of the network.
        method: Name of the integration method.
    """

    def __init__(self, system: EquationSystem, method: str) -> None:
        self.system = system
        self.method = method
        self.events, zeros = system.events
        values = [ca.vec(system.value(variable)) for variable in system.variables.values()]
        rates, next_discrete = system.rates, system.next_discrete
        constrained = [
            system.apply_constraints(system.states),
            system.apply_constraints(system.discrete),
        ]
        assignments = [system.assignments(monitored) for monitored in self.events]
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
        self.discrete = self._function("kept", next_discrete)
        self.constrain = self._function("bound", *constrained)
        self.assignments = [
            [(table, at, self._function("set", value)) for table, at, value in event_sets]
            for event_sets in assignments
        ]
        self.delay_now = [ca.vec(delay.value) for delay in self._delays]
        self.delay_starts = delay_starts
        used = [rates, zeros, next_discrete, *constrained, *values, *delay_starts, *self.delay_now]
        used += [value for event_sets in assignments for _, _, value in event_sets]
        used += [delay.delay for delay in self._delays]
        self.layout = StateLayout(
            rates.numel(),
            next_discrete.numel(),
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
        """Slices of the column by name; see `StateLayout`."""
        return self.layout.slices

    @property
    def size(self) -> int:
        """Size of the column."""
        return self.layout.size

    @property
    def parameter_count(self) -> int:
        """Number of parameters; at least 1, so that kernels have an input for them."""
        return max(1, self.system.length("p"))

    @property
    def delayed_count(self) -> int:
        """Number of delayed values; at least 1, so that kernels have an input for them."""
        return max(1, self.system.length("d"))

    @property
    def _draws(self) -> int:
        return max(1, self.system.length("u"))

    def draws(self, renewed: ca.SX) -> ca.SX:
        """All random numbers in a column; those that are not renewed are not used.

        Args:
            renewed: Random numbers that are renewed in every step.

        Returns:
            The column.
        """
        column = ca.SX.zeros(self._draws, 1)
        for entry, place in enumerate(self.layout.redrawn):
            column[place] = renewed[entry]
        return column

    # -- initial values

    @cached_property
    def begin(self) -> Kernel:
        """Initial states and discrete variables from parameters, random numbers and time."""

        def initial_values(p: ca.SX, u: ca.SX, t: ca.SX) -> dict[str, ca.SX]:
            function = self._function("start", *self._starts)
            zero = [ca.DM.zeros(*symbol.shape) for symbol in self.symbols]
            x, h = function(zero[0], zero[1], zero[2], p, u, zero[5], t)
            return {"x": x, "h": h}

        sizes: dict[str, Any] = {"p": self.parameter_count, "u": self._draws, "t": ()}
        shapes = {"x": self._starts[0].numel(), "h": self._starts[1].numel()}
        return kernel(initial_values, sizes, outputs=shapes, name="start")

    def first_draws(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Generators and random numbers at the start; see `state_vector.first_draws`."""
        return first_draws(seed, self._draws)

    def initial_state(
        self, seed: int, lanes: int, parameters: np.ndarray, start: float, native: bool = False
    ) -> np.ndarray:
        """Initial columns.

        Args:
            seed: Seed of the random numbers, the same for all lanes.
            lanes: Number of lanes.
            parameters: (parameters,) or (lanes, parameters).
            start: Start time (s).
            native: Whether native code may be used.

        Returns:
            (lanes, size).
        """
        generated = self.first_draws(seed)
        # Few lanes always use the virtual machine, so that results are bit-identical.
        many = native and lanes >= MIN_COMPILED_START_BATCH
        begin = self.begin.compile() if many else self.begin.as_interpreted()
        first = begin(parameters, generated[2], np.array(start))
        states = [node.states.index(node.initial_state) for node in self.system.nodes_with_states]
        return self.layout.start(first["x"], first["h"], states, generated, lanes)

    # -- one attempt

    @property
    def _sizes(self) -> dict[str, Any]:
        """Inputs of an attempt: column, whether the run has ended, parameters, run, delayed values.

        ``run`` is start time, time step and number of steps. Delayed values are those at the
        beginning, the middle and the end of the step.
        """
        delayed = 3 * self.delayed_count
        return {"c": self.size, "done": (), "p": self.parameter_count, "run": 3, "d": delayed}

    @cached_property
    def attempt(self) -> Kernel:
        """Column and end of the run after one attempt."""

        def attempt(*inputs: ca.SX) -> tuple[ca.SX, ca.SX]:
            traced = self._trace_attempt(*inputs)
            return traced.state, traced.done

        outputs: dict[str, Any] = {"c": self.size, "done": ()}
        return kernel(attempt, self._sizes, outputs=outputs, name="network_step")

    @cached_property
    def iteration(self) -> Scan:
        """Attempts repeated in native code."""
        if not self._events_autonomous:
            return Scan(self.attempt, ["c", "done"], stop="done", packed=True)
        assumed: dict[str, tuple[float, ...]] = {}

        def attempt(*inputs: ca.SX) -> dict[str, ca.SX]:
            traced = self._trace_attempt(*inputs)
            outputs = {
                "c": traced.state,
                "done": traced.done,
                "plain": traced.starts_clean,
                "quiet": traced.no_events,
            }
            for name, pairs in (
                ("before", traced.clean_values),
                ("within", traced.no_event_values),
            ):
                outputs[name] = ca.densify(ca.vertcat(*[value for value, _ in pairs]))
                assumed[name] = tuple(
                    number for value, number in pairs for _ in range(value.numel())
                )
            return outputs

        step = kernel(attempt, self._sizes, name="network_step")
        fast_path = FastPath(
            (
                Assumption("plain", "before", assumed["before"]),
                Assumption("quiet", "within", assumed["within"]),
            )
        )
        return Scan(step, ["c", "done"], stop="done", packed=True, fast_path=fast_path)

    @cached_property
    def _events_autonomous(self) -> bool:
        """Whether there are events and none depends on time, random numbers or delayed values.

        Their conditions then change only by steps and by assignments of events.
        """
        others = ca.vertcat(self.system.t, *[self.system.symbols(table) for table in "ud"])
        zeros = self.system.events[1]
        return bool(self.events) and not any(ca.which_depends(zeros, others, 1, False))

    def _trace_attempt(self, c: ca.SX, done: ca.SX, p: ca.SX, run: ca.SX, d: ca.SX) -> StepAttempt:
        part = self.layout.parts(c)
        t0, dt, steps = run[0], run[1], run[2]
        x, h, e, k, s = (part[name] for name in ("x", "h", "e", "k", "s"))
        t = t0 + k * dt + s
        renewed = self.layout.redraw(part)
        u = self.draws(renewed["u"])
        count = self.delayed_count
        past = {0.0: d[:count], 0.5: d[count : 2 * count], 1.0: d[2 * count :]}
        current = self.zero_functions(x, h, e, p, u, past[0.0], t)
        begin = begin_attempt(self.events, part, current, autonomous=self._events_autonomous)

        # The step of a jump is integrated as well and discarded: selecting its length would put a
        # branch between all products and sums of the method.
        ahead = part["step"] > 0
        step = ca.if_else(ahead, part["step"], dt - s)

        def rates(state: ca.SX, fraction: float) -> ca.SX:
            return self.rates(state, h, e, p, u, past[fraction], t + fraction * step)

        x1 = integrate_step(self.method, x, step, rates, self.system.positions)
        t1 = t + step
        whole = ca.logic_and(ca.logic_not(begin.jump), step >= (dt - s) * (1 - 1e-9))
        h1 = ca.if_else(whole, self.discrete(x1, h, e, p, u, past[1.0], t1), h)
        x1, h1 = self.constrain(x1, h1, e, p, u, past[1.0], t1)
        x1, h1 = ca.if_else(begin.jump, x, x1), ca.if_else(begin.jump, h, h1)
        length, t1 = ca.if_else(begin.jump, 0, step), ca.if_else(begin.jump, t, t1)
        z1 = self.zero_functions(x1, h1, e, p, u, past[1.0], t1)
        z0 = ca.if_else(begin.jump, begin.previous, begin.current)
        fires = resolve_events(self.events, part, z0, z1, begin.jump, length, dt)
        x2, h2, e2, end = self._apply_events(fires, x1, h1, e, p, u, past[1.0], t1)

        reached = {**renewed, "x": x2, "h": h2, "e": e2, "z": z1}
        new, pending = self._next_parts(part, reached, fires, begin.jump, whole, length, dt)
        new["row"] = ca.logic_or(new["fresh"], end)
        over = ca.logic_or(end, new["k"] >= steps)
        column = ca.if_else(done, self.layout.finish(part), self.layout.concatenate(new))
        return StepAttempt(
            column,
            ca.logic_or(done, over),
            ca.logic_and(part["calm"], k + 1 < steps),
            [(value, 1.0) for value in (part["calm"], part["fresh"], part["row"], ahead, whole)]
            + [(part[name], 0.0) for name in ("s", "cuts", "seen", "fired")]
            + [(value, 0.0) for value in (begin.starting, begin.event_before, begin.jump)],
            ca.logic_not(any_event_crosses(self.events, part, part["z"], z1)),
            [
                (value, 0.0)
                for value in (fires.fired, fires.cut_requests, fires.cut, pending, end, over)
            ],
        )

    def _next_parts(
        self,
        part: StateParts,
        reached: StateParts,
        events: StepEvents,
        jump: ca.SX,
        whole: ca.SX,
        length: ca.SX,
        dt: ca.SX,
    ) -> tuple[StateParts, ca.SX]:
        """Entries of the column after an attempt, and whether events are pending then.

        Args:
            part: Entries before the attempt.
            reached: Draws for the next step, and values and zero functions at the end.
            events: Events of the attempt.
            jump: Whether the attempt only executes events at the current time.
            whole: Whether the attempt reaches the end of the step.
            length: Length of the attempt (s).
            dt: Time step (s).
        """
        keep = ca.logic_not(events.cut)
        grid = ca.logic_and(whole, keep)
        # A step that an event shortened is completed, so that rows stay on the time grid.
        s = ca.if_else(keep, ca.if_else(grid, 0, part["s"] + length), part["s"])
        forget = ca.logic_or(grid, ca.logic_and(keep, ca.sum1(events.fired) > 0))
        seen = next_event_marks(self.events, part["seen"], events, reached["z"], forget)
        pending = ca.sum1(seen) + ca.sum1(events.fired) > 0
        kept = {name: ca.if_else(keep, reached[name], part[name]) for name in ("x", "h", "e", "z")}
        new = {
            **reached,
            **kept,
            "seen": seen,
            "fired": ca.if_else(keep, events.fired, 0),
            "k": part["k"] + grid,
            "s": s,
            "step": ca.if_else(keep, ca.if_else(grid, dt, dt - s), length * events.fraction),
            "cuts": ca.if_else(grid, 0, part["cuts"] + ca.logic_or(events.cut, jump)),
            "fresh": grid,
            "calm": ca.logic_and(grid, ca.logic_not(pending)),
        }
        return new, pending

    def _apply_events(
        self,
        events: StepEvents,
        x: ca.SX,
        h: ca.SX,
        e: ca.SX,
        p: ca.SX,
        u: ca.SX,
        d: ca.SX,
        t: ca.SX,
    ) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """Values and event-states after the fired events, and whether one of them ends the run."""
        after = {"x": ca.SX(x), "h": ca.SX(h)}
        states = ca.SX(e)
        end = ca.SX(0)
        for number, (monitored, sets) in enumerate(zip(self.events, self.assignments, strict=True)):
            now = ca.logic_and(events.fired[number], ca.logic_not(events.cut))
            for table, at, function in sets:
                value = function(x, h, e, p, u, d, t)
                for k in range(value.numel()):
                    old = after[table][at + k]
                    after[table][at + k] = ca.if_else(now, value[k], old)
            if monitored.event.to_state is None:
                end = ca.logic_or(end, now)
            else:
                target = monitored.node.states.index(monitored.event.to_state)
                k = monitored.state_index
                states[k] = ca.if_else(now, target, states[k])
        return after["x"], after["h"], states, end

    # -- observed variables

    def observe(self, variable: Variable) -> Kernel:
        """The kernel of a variable: its value from column, parameters, time and delayed values.

        Args:
            variable: The variable.

        Returns:
            The kernel.
        """
        value = self.system.value(variable)
        return self._observer(variable.path, value)

    def _observer(self, name: str, value: ca.SX) -> Kernel:
        rows, columns = value.shape
        shape: tuple[int, ...] = (rows, columns)
        if columns == 1:
            shape = () if rows == 1 else (rows,)
        function = self._function("observed", value)

        def value_of(c: ca.SX, p: ca.SX, t: ca.SX, d: ca.SX) -> Any:
            part = self.layout.parts(c)
            u = self.draws(part["u"])
            return function(part["x"], part["h"], part["e"], p, u, d, t)

        sizes: dict[str, Any] = {
            "c": self.size,
            "p": self.parameter_count,
            "t": (),
            "d": self.delayed_count,
        }
        return kernel(value_of, sizes, outputs={"value": shape}, name=name)

    @cached_property
    def delay_kernel(self) -> Kernel:
        """Kernel of the delays and of the values to be delayed."""
        delays = ca.vertcat(*[delay.delay for delay in self._delays])
        values = ca.vertcat(*self.delay_now)
        return self._observer("delays", ca.vertcat(delays, values)).as_interpreted()

    @cached_property
    def delay_start_kernel(self) -> Kernel:
        """Kernel of delayed values before the start."""
        return self._observer("delay_starts", ca.vertcat(*self.delay_starts)).as_interpreted()

    @property
    def delay_slots(self) -> list[tuple[int, int]]:
        """Offset and length of every delayed value."""
        return [(delay.offset, delay.symbol.numel()) for delay in self._delays]
