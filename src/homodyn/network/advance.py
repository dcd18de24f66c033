"""One attempt of a step as a single kernel: integrate, watch events, cut the step or carry out.

All that changes in a run is one column, so that the kernel can be repeated on its own result in
native code, every lane with events of its own. An attempt integrates to the end of the step. If an
event with a tolerance crossed too far, the attempt is taken back and the step cut where a straight
line puts the zero. Once a crossing has been seen, coming within the tolerance from before counts
too: else ever smaller cuts could stop short of the zero for good. After a few cuts the step is
halved instead, and after many the event is taken as it is, so a run always goes on.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from homodyn.network.crossing import crossing, near, true_at
from homodyn.network.integrators import METHODS
from homodyn.network.system import System, Watched
from homodyn.network.tree import Variable
from homodyn.symbolic import Iteration, Kernel, Shortcut, kernel

M1, A1 = 2147483563.0, 40014.0
M2, A2 = 2147483399.0, 40692.0
"""L'Ecuyer's two combined generators: products stay below 2^53, so doubles hold them exactly."""

HALVE_AFTER = 6
SPENT = 2
MANY = 1000
"""Lanes from which initial values are worked out in native code."""
GIVE_UP_AFTER = 200
"""Cuts and instant events in one step before an event is taken as it is."""


class Advance:
    """The kernels of a network: start, one attempt of a step, and what can be observed."""

    def __init__(self, system: System, method: str) -> None:
        self.system = system
        self.method = method
        self.events, zeros = system.watched
        values = [ca.vec(system.value(variable)) for variable in system.variables.values()]
        self._rates = system.rates
        kept = system.next_kept
        bound = [system.constrained(system.states), system.constrained(system.kept)]
        sets = [system.assigned(watched) for watched in self.events]
        self._starts = [system.starts(system.states), system.starts(system.kept)]
        self._delays = list(system.delays.values())
        delay_starts = [ca.vec(system.delay_start(delay)) for delay in self._delays]
        self.symbols = [
            *[system.column(bank) for bank in "xh"],
            system.e,
            *[system.column(bank) for bank in "pud"],
            system.t,
        ]
        self.rates = self._function("rates", self._rates)
        self.zeros = self._function("zeros", zeros)
        self.kept = self._function("kept", kept)
        self.bound = self._function("bound", *bound)
        self.sets = [
            [(bank, at, self._function("set", value)) for bank, at, value in one] for one in sets
        ]
        self.delay_now = [ca.vec(delay.value) for delay in self._delays]
        self.delay_starts = delay_starts
        used = [self._rates, zeros, kept, *bound, *values, *delay_starts, *self.delay_now]
        used += [value for one in sets for _, _, value in one]
        used += [delay.delay for delay in self._delays]
        self.drawn = self._drawn(used)
        """Which draws are renewed in every step: those that more than initial values need."""
        self.slices = self._layout(zeros.numel())
        self.size = max(part.stop for part in self.slices.values())

    def _function(self, name: str, *outputs: ca.SX) -> ca.Function:
        return ca.Function(name, self.symbols, list(outputs))

    def _drawn(self, used: list[ca.SX]) -> list[int]:
        column = self.system.column("u")
        needed = ca.which_depends(ca.vertcat(*used), column, 1, False)
        return [k for k in range(self.system.length("u")) if needed[k]]

    def draws(self, renewed: ca.SX) -> ca.SX:
        """All draws in a column, from those that are renewed; of the others nothing depends."""
        whole = ca.SX.zeros(self._draws, 1)
        for entry, place in enumerate(self.drawn):
            whole[place] = renewed[entry]
        return whole

    def _layout(self, zeros: int) -> dict[str, slice]:
        draws = len(self.drawn)
        sizes = {
            "x": self._rates.numel(),
            "h": self._starts[1].numel(),
            "e": self.system.e.numel(),
            "u": draws,
            "r1": draws,
            "r2": draws,
            "z": zeros,
            "seen": max(1, len(self.events)),
            "fired": max(1, len(self.events)),
            **dict.fromkeys(("k", "s", "step", "cuts", "fresh", "row"), 1),
        }
        slices = {}
        begin = 0
        for name, length in sizes.items():
            slices[name] = slice(begin, begin + length)
            begin += length
        return slices

    @property
    def parameters(self) -> int:
        """How many parameters there are; at least 1, so that kernels have an input for them."""
        return max(1, self.system.length("p"))

    @property
    def delayed(self) -> int:
        """How many delayed numbers there are; at least 1, as with parameters."""
        return max(1, self.system.length("d"))

    # -- the start

    @cached_property
    def begin(self) -> Kernel:
        """Initial states and kept values from parameters, draws and time."""

        def started(p: ca.SX, u: ca.SX, t: ca.SX) -> dict[str, ca.SX]:
            function = self._function("start", *self._starts)
            zero = [ca.DM.zeros(*symbol.shape) for symbol in self.symbols]
            x, h = function(zero[0], zero[1], zero[2], p, u, zero[5], t)
            return {"x": x, "h": h}

        sizes: dict[str, Any] = {"p": self.parameters, "u": self._draws, "t": ()}
        shapes = {"x": self._rates.numel(), "h": self._starts[1].numel()}
        return kernel(started, sizes, outputs=shapes, name="start")

    @property
    def _draws(self) -> int:
        return max(1, self.system.length("u"))

    def first_draws(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Both generators and the draws they begin with, for all places that draw."""
        generator = np.random.Generator(np.random.Philox(seed))
        r1 = generator.integers(1, int(M1), self._draws).astype(float)
        r2 = generator.integers(1, int(M2), self._draws).astype(float)
        return r1, r2, np.mod(r1 - r2, M1 - 1) / M1

    def seeded(
        self, seed: int, lanes: int, parameters: np.ndarray, start: float, native: bool = False
    ) -> np.ndarray:
        """The column every lane starts from; lanes draw the same numbers for the same seed."""
        r1, r2, u = self.first_draws(seed)
        # Few lanes stay on the virtual machine, whatever has been compiled: same bits every time.
        many = native and lanes >= MANY
        begin = self.begin.compile() if many else self.begin.interpreted()
        first = begin(parameters, u, np.array(start))
        column = np.zeros((lanes, self.size))
        states = [node.states.index(node.initial_state) for node in self.system.nodes_with_states]
        parts = {"x": first["x"], "h": first["h"], "fresh": 1.0}
        parts |= {"u": u[self.drawn], "r1": r1[self.drawn], "r2": r2[self.drawn]}
        for name, value in parts.items():
            column[:, self.slices[name]] = value
        if states:
            column[:, self.slices["e"]] = states
        return column

    # -- one attempt

    @cached_property
    def attempt(self) -> Kernel:
        """``c, done`` after one attempt from ``c, done, p, run, d``; run = t0, dt, steps.

        ``d`` holds the delayed values at the begin, the middle and the end of the step.
        """
        sizes = {
            "c": self.size,
            "done": (),
            "p": self.parameters,
            "run": 3,
            "d": 3 * self.delayed,
        }
        outputs = {"c": self.size, "done": ()}
        return kernel(self._attempted, sizes, outputs=outputs, name="network_step")

    @cached_property
    def iteration(self) -> Iteration:
        """Attempts repeated in native code."""
        if not self._has_uneventful:
            return Iteration(self.attempt, ["c", "done"], stop="done", packed=True)
        sizes = {port.name: port.shape for port in self.attempt.inputs}

        def both(c: ca.SX, done: ca.SX, p: ca.SX, run: ca.SX, d: ca.SX) -> tuple[ca.SX, ...]:
            return *self._attempted(c, done, p, run, d), *self._uneventful(c, done, p, run, d)

        outputs = {"c": self.size, "done": (), "uneventful": self.size, "usable": ()}
        step = kernel(both, sizes, outputs=outputs, name="network_step")
        shortcut = Shortcut("c", "uneventful", "usable")
        return Iteration(step, ["c", "done"], stop="done", packed=True, shortcut=shortcut)

    @property
    def _has_uneventful(self) -> bool:
        """Whether there are events, none of which watches time, draws or the past.

        What those watch may change between two steps, which only a whole attempt looks at.
        """
        others = ca.vertcat(self.system.t, *[self.system.column(bank) for bank in "ud"])
        watched = self.system.watched[1]
        return bool(self.events) and not any(ca.which_depends(watched, others, 1, False))

    def _uneventful(
        self, c: ca.SX, done: ca.SX, p: ca.SX, run: ca.SX, d: ca.SX
    ) -> tuple[ca.SX, ca.SX]:
        """A whole step in which nothing happens, and whether it is what an attempt would give."""
        part = {name: c[where] for name, where in self.slices.items()}
        t0, dt, steps = run[0], run[1], run[2]
        x, h, e, k, s, length = (part[name] for name in ("x", "h", "e", "k", "s", "step"))
        t = t0 + k * dt + s
        renewed, r1, r2 = self._renewed(part)
        u = self.draws(renewed)
        none = d[: self.delayed]

        def rates(state: ca.SX, fraction: float) -> ca.SX:
            return self.rates(state, h, e, p, u, none, t + fraction * length)

        t1 = t + length
        x1 = METHODS[self.method](x, length, rates, self.system.positions)
        x1, h1 = self.bound(x1, self.kept(x1, h, e, p, u, none, t1), e, p, u, none, t1)
        z1 = self.zeros(x1, h1, e, p, u, none, t1)
        plain = ca.logic_and(part["fresh"], k > 0)
        plain = ca.logic_and(plain, k + 1 < steps)
        plain = ca.logic_and(plain, ca.eq(length, dt))
        untouched = ca.fabs(s) + part["cuts"] + ca.sum1(part["seen"]) + ca.sum1(part["fired"])
        plain = ca.logic_and(plain, ca.eq(untouched, 0))
        for watched in self.events:
            crossed = crossing(watched.tree, part["z"], z1).crossed
            happens = ca.logic_and(self._active(watched, e), crossed)
            plain = ca.logic_and(plain, ca.logic_not(happens))
        new = {**part, "x": x1, "h": h1, "z": z1, "k": k + 1, "row": ca.SX(1)}
        new |= {"u": renewed, "r1": r1, "r2": r2}
        column = ca.vertcat(*[ca.densify(new[name]) for name in self.slices])
        return ca.if_else(done, self._resting(part), column), ca.logic_or(done, plain)

    def _resting(self, part: dict[str, ca.SX]) -> ca.SX:
        """The column of a run that is over."""
        resting = {**part, "row": ca.SX(0), "fired": 0 * part["fired"]}
        return ca.vertcat(*[resting[name] for name in self.slices])

    def _renewed(self, part: dict[str, ca.SX]) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Draws, and both generators, renewed where a step begins."""
        r1 = ca.if_else(part["fresh"], ca.fmod(A1 * part["r1"], M1), part["r1"])
        r2 = ca.if_else(part["fresh"], ca.fmod(A2 * part["r2"], M2), part["r2"])
        apart = r1 - r2
        u = ca.if_else(apart < 0, apart + (M1 - 1), apart) / M1
        return ca.if_else(part["fresh"], u, part["u"]), r1, r2

    def _attempted(
        self, c: ca.SX, done: ca.SX, p: ca.SX, run: ca.SX, d: ca.SX
    ) -> tuple[ca.SX, ca.SX]:
        part = {name: c[where] for name, where in self.slices.items()}
        t0, dt, steps = run[0], run[1], run[2]
        x, h, e, k, s = (part[name] for name in ("x", "h", "e", "k", "s"))
        t = t0 + k * dt + s
        renewed, r1, r2 = self._renewed(part)
        u = self.draws(renewed)
        count = self.delayed
        past = {0.0: d[:count], 0.5: d[count : 2 * count], 1.0: d[2 * count :]}

        starting = k + s + part["cuts"] <= 0
        zn = self.zeros(x, h, e, p, u, past[0.0], t)
        stale = ca.if_else(starting, zn, part["z"])
        jump = ca.SX(0)
        for number, watched in enumerate(self.events):
            crossed = crossing(watched.tree, stale, zn).crossed
            able = ca.logic_and(self._active(watched, e), part["seen"][number] < SPENT)
            jump = ca.logic_or(jump, ca.logic_and(able, crossed))
        jump = ca.logic_and(jump, part["cuts"] < GIVE_UP_AFTER)

        step = ca.if_else(part["step"] > 0, part["step"], dt - s)
        length = ca.if_else(jump, 0, step)

        def rates(state: ca.SX, fraction: float) -> ca.SX:
            return self.rates(state, h, e, p, u, past[fraction], t + fraction * length)

        x1 = METHODS[self.method](x, length, rates, self.system.positions)
        t1 = t + length
        grid = ca.logic_and(ca.logic_not(jump), length >= (dt - s) * (1 - 1e-9))
        h1 = ca.if_else(grid, self.kept(x1, h, e, p, u, past[1.0], t1), h)
        x1, h1 = self.bound(x1, h1, e, p, u, past[1.0], t1)
        x1, h1 = ca.if_else(jump, x, x1), ca.if_else(jump, h, h1)
        z1 = self.zeros(x1, h1, e, p, u, past[1.0], t1)

        fired, cut, fraction, wanted = self._judged(
            part, ca.if_else(jump, stale, zn), z1, e, jump, length, dt
        )
        keep = ca.logic_not(cut)
        x2, h2, e2, end = self._carried_out(fired, keep, x1, h1, e, p, u, past[1.0], t1)
        grid = ca.logic_and(grid, keep)
        # A step that an event shortened is completed, so that rows stay on the grid of time.
        s1 = ca.if_else(keep, ca.if_else(grid, 0, s + length), s)
        any_fired = ca.SX(0)
        for k_event in range(len(self.events)):
            any_fired = ca.logic_or(any_fired, ca.logic_and(keep, fired[k_event]))
        forget = ca.logic_or(grid, any_fired)
        k1 = k + grid
        new = {
            "x": ca.if_else(keep, x2, x),
            "h": ca.if_else(keep, h2, h),
            "e": ca.if_else(keep, e2, e),
            "u": renewed,
            "r1": r1,
            "r2": r2,
            "z": ca.if_else(keep, z1, part["z"]),
            "seen": self._seen_next(part["seen"], fired, wanted, z1, keep, forget),
            "fired": ca.if_else(keep, fired, 0),
            "k": k1,
            "s": s1,
            "step": ca.if_else(keep, ca.if_else(grid, dt, dt - s1), length * fraction),
            "cuts": ca.if_else(grid, 0, part["cuts"] + ca.logic_or(cut, jump)),
            "fresh": grid,
            "row": ca.logic_or(grid, end),
        }
        column = ca.vertcat(*[ca.densify(new[name]) for name in self.slices])
        over = ca.logic_or(end, k1 >= steps)
        return ca.if_else(done, self._resting(part), column), ca.logic_or(done, over)

    def _active(self, watched: Watched, e: ca.SX) -> ca.SX:
        if not watched.event.begin:
            return ca.SX(1)
        active = ca.SX(0)
        for state in watched.event.begin:
            here = ca.eq(e[watched.place], watched.node.states.index(state))
            active = ca.logic_or(active, here)
        return active

    def _judged(
        self,
        part: dict[str, ca.SX],
        z0: ca.SX,
        z1: ca.SX,
        e: ca.SX,
        jump: ca.SX,
        length: ca.SX,
        dt: ca.SX,
    ) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """Which events fired, whether the step is cut and where, and which events want that."""
        cut, fraction = ca.SX(0), ca.SX(1)
        fired, cutting = [], []
        for number, watched in enumerate(self.events):
            active = ca.logic_and(self._active(watched, e), part["seen"][number] < SPENT)
            found = crossing(watched.tree, z0, z1)
            happened = found.crossed
            wanted = ca.SX(0)
            tolerance = watched.event.within
            if tolerance is not None:
                before = part["seen"][number]
                close = near(watched.tree, z1, tolerance)
                happened = ca.logic_or(happened, ca.logic_and(before, close))
                settled = ca.logic_or(found.miss <= tolerance, length <= 1e-9 * dt)
                settled = ca.logic_or(settled, ca.logic_or(jump, part["cuts"] > GIVE_UP_AFTER))
                wanted = ca.logic_and(active, ca.logic_and(found.crossed, ca.logic_not(settled)))
            cut = ca.logic_or(cut, wanted)
            fraction = ca.if_else(wanted, ca.fmin(fraction, found.fraction), fraction)
            fired.append(ca.logic_and(active, happened))
            cutting.append(wanted)
        fraction = ca.fmin(ca.fmax(fraction, 1e-6), 0.999)
        fraction = ca.if_else(part["cuts"] > HALVE_AFTER, 0.5, fraction)
        if not fired:
            return ca.SX(0), cut, fraction, ca.SX(0)
        return ca.vertcat(*fired), cut, fraction, ca.vertcat(*cutting)

    def _seen_next(
        self,
        seen: ca.SX,
        fired: ca.SX,
        wanted: ca.SX,
        z: ca.SX,
        keep: ca.SX,
        forget: ca.SX,
    ) -> ca.SX:
        """1 for events whose crossing was seen in this step, 2 for those that are spent.

        An event that fired just before its zero must not fire again at the zero itself: it is spent
        until its condition is true, or no longer near.
        """
        result = []
        for number, watched in enumerate(self.events):
            before = seen[number]
            tolerance = watched.event.within
            if tolerance is None:
                result.append(ca.SX(0))
                continue
            short = ca.logic_and(
                ca.logic_not(true_at(watched.tree, z)), near(watched.tree, z, tolerance)
            )
            marked = ca.if_else(forget, 0, ca.logic_or(before, wanted[number]))
            marked = ca.if_else(ca.logic_and(fired[number], short), SPENT, marked)
            spent = ca.if_else(ca.logic_and(keep, ca.logic_not(short)), 0, SPENT)
            cut_short = ca.logic_or(before, wanted[number])
            open_next = ca.if_else(keep, marked, cut_short)
            result.append(ca.if_else(before >= SPENT, spent, open_next))
        return ca.vertcat(*result) if result else ca.SX(0)

    def _carried_out(
        self,
        fired: ca.SX,
        keep: ca.SX,
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
        for number, (watched, sets) in enumerate(zip(self.events, self.sets, strict=True)):
            now = ca.logic_and(fired[number], keep)
            for bank, at, function in sets:
                value = function(x, h, e, p, u, d, t)
                for k in range(value.numel()):
                    old = after[bank][at + k]
                    after[bank][at + k] = ca.if_else(now, value[k], old)
            if watched.event.end is None:
                end = ca.logic_or(end, now)
            else:
                target = watched.node.states.index(watched.event.end)
                states[watched.place] = ca.if_else(now, target, states[watched.place])
        return after["x"], after["h"], states, end

    # -- what can be observed

    def observe(self, variable: Variable) -> Kernel:
        """The value of a variable from the column ``c``, parameters, time and delayed values."""
        value = self.system.value(variable)
        return self._seen(variable.path, value)

    def _seen(self, name: str, value: ca.SX) -> Kernel:
        rows, columns = value.shape
        shape: tuple[int, ...] = (rows, columns)
        if columns == 1:
            shape = () if rows == 1 else (rows,)
        function = self._function("observed", value)

        def observed(c: ca.SX, p: ca.SX, t: ca.SX, d: ca.SX) -> Any:
            part = {key: c[where] for key, where in self.slices.items()}
            u = self.draws(part["u"])
            return function(part["x"], part["h"], part["e"], p, u, d, t)

        sizes = {"c": self.size, "p": self.parameters, "t": (), "d": self.delayed}
        return kernel(observed, sizes, outputs={"value": shape}, name=name)

    @cached_property
    def delay_kernel(self) -> Kernel:
        """Delays and the values to be delayed, from the column."""
        delays = ca.vertcat(*[delay.delay for delay in self._delays])
        values = ca.vertcat(*self.delay_now)
        return self._seen("delays", ca.vertcat(delays, values)).interpreted()

    @cached_property
    def delay_start_kernel(self) -> Kernel:
        """Values before the start."""
        return self._seen("delay_starts", ca.vertcat(*self.delay_starts)).interpreted()

    @property
    def delay_list(self) -> list[tuple[int, int]]:
        """First entry and length of every delayed value."""
        return [(delay.offset, delay.symbol.numel()) for delay in self._delays]
