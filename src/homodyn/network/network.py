"""A network to load, build, set and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from homodyn.errors import NetworkError
from homodyn.foundation.text import unknown_name
from homodyn.network.advance import Advance
from homodyn.network.build import Builder
from homodyn.network.c_source import write
from homodyn.network.constants import constant
from homodyn.network.declare import Expectation
from homodyn.network.files import read_text
from homodyn.network.graph import dot_text, svg_text
from homodyn.network.integrators import METHODS
from homodyn.network.live import Live
from homodyn.network.record import Happened, Record, Sweep
from homodyn.network.run import finals, recorded, with_delays
from homodyn.network.source import Source
from homodyn.network.sweeping import lane_parameters, lanes_of
from homodyn.network.system import System
from homodyn.network.tree import Node, Variable, formula_of
from homodyn.symbolic import Kernel

Tier = Literal["compiled", "interpreted"]

PAYS = 3e6
"""Instructions times steps times lanes from which native code repays its building."""


class Network(Node):
    """The outermost node of coupled systems, with an integration method and a time step in s."""

    def __init__(self, *, method: str = "euler", timestep: float = 0.001) -> None:
        super().__init__("", None)
        if method not in METHODS:
            raise NetworkError(unknown_name("method", method, METHODS))
        self.method = method
        self.timestep = timestep
        self.sparse = True
        """Whether zeros of matrices are left out of products; without, what that saves is seen."""
        self.expectations: tuple[Expectation, ...] = ()
        self._advance: Advance | None = None
        self._values: np.ndarray | None = None
        self._builds = 0

    def forget(self) -> None:
        """Drop what was compiled: the network was changed."""
        self._advance = None

    @property
    def builds(self) -> int:
        """How often equations were put together: setting parameters does not add to it."""
        return self._builds

    # -- equations

    def prepare(self) -> Network:
        """Check all formulas and put the equations together; a run does it when needed."""
        self._prepared()
        return self

    def _prepared(self) -> Advance:
        made = self._advance
        if made is None or (made.method, made.system.sparse) != (self.method, self.sparse):
            if self.method not in METHODS:
                raise NetworkError(unknown_name("method", self.method, METHODS))
            system = System(self, sparse=self.sparse)
            self._advance = Advance(system, self.method)
            self._values = np.zeros(self._advance.parameters)
            for variable, number in system.numbers.items():
                begin, _ = system.place_of(variable)
                self._values[begin : begin + number.size] = number.flatten("F")
            self._builds += 1
        assert self._advance is not None
        return self._advance

    @property
    def system(self) -> System:
        """The variables by kind and their equations in symbols."""
        return self._prepared().system

    @property
    def attempt(self) -> Kernel:
        """One attempt of a step as a kernel, which runs repeat."""
        return self._prepared().attempt

    @property
    def names(self) -> tuple[str, ...]:
        """All variables by their dotted names."""
        return tuple(self.system.variables)

    @property
    def parameters(self) -> dict[str, Any]:
        """What ``set`` changes without new equations: parameters and constant initial values."""
        return {variable.path: self.get(variable.path) for variable in self.system.numbers}

    def _variable(self, name: str) -> Variable:
        variables = self.system.variables
        if name not in variables:
            raise NetworkError(unknown_name("variable", name, variables))
        return variables[name]

    def get(self, name: str) -> Any:
        """The number a parameter has, or a state starts from."""
        variable = self._variable(name)
        if variable not in self.system.numbers:
            raise NetworkError(f"{name} is the formula {variable.expression.text!r}, not a number")
        begin, shape = self.system.place_of(variable)
        assert self._values is not None
        values = self._values[begin : begin + shape[0] * shape[1]].reshape(shape, order="F")
        return float(values[0, 0]) if shape == (1, 1) else values

    def set(self, values: Mapping[str, Any] | None = None, **named: Any) -> Network:
        """Give parameters, or the values states start from, other numbers; returns the network.

        Names with dots go in a mapping. Numbers of the same size need no new equations; for
        formulas, other sizes and numbers that sizes or indices depend on they are made anew.
        """
        for name, value in {**(values or {}), **named}.items():
            variable = self._variable(name)
            given = formula_of(value)
            number = constant(given)
            system = self.system
            if number is not None and system.fits(variable, number):
                if not np.all(np.isfinite(number)):
                    raise NetworkError(f"{name} cannot be {value!r}; finite numbers are accepted")
                begin, _ = system.place_of(variable)
                assert self._values is not None
                self._values[begin : begin + number.size] = number.flatten("F")
            else:
                kept = {one: self.get(one) for one in self.parameters if one != name}
                variable.expression = given
                self.forget()
                self.set(kept)
        return self

    # -- runs

    def _course(self, t_end: float, dt: float | None, start: float) -> np.ndarray:
        step = self.timestep if dt is None else float(dt)
        if not (np.isfinite(t_end) and np.isfinite(start)) or t_end < start:
            raise NetworkError(f"a run from {start} s to {t_end} s; the end must not come before")
        if not step > 0 or not np.isfinite(step):
            raise NetworkError(f"the time step is {step} s; above 0 is needed")
        return np.array([start, step, float(np.ceil((t_end - start) / step - 1e-9))])

    def _compiled(self, tier: Tier | None, work: float, lanes: int = 1) -> bool:
        if tier is not None and tier not in ("compiled", "interpreted"):
            raise NetworkError(unknown_name("tier", tier, ["compiled", "interpreted"]))
        advance = self._prepared()
        load = work * lanes * advance.attempt.instructions
        wanted = tier == "compiled" or (tier is None and load > PAYS)
        return wanted and (advance.system.length("d") > 0 or advance.iteration.prepare(lanes))

    def run(
        self,
        t_end: float,
        dt: float | None = None,
        *,
        start: float = 0.0,
        seed: int = 0,
        tier: Tier | None = None,
    ) -> Record:
        """Run from ``start`` to ``t_end`` in steps of ``dt`` seconds; a row for every step.

        ``seed`` decides what ``rand`` draws. ``tier`` holds the run in native code or on the
        virtual machine; without it the length of the run decides.
        """
        advance = self._prepared()
        assert self._values is not None
        p = self._values.copy()
        course = self._course(t_end, dt, start)
        column = advance.seeded(seed, 1, p, start)[0]
        if not np.all(np.isfinite(column)):
            raise NetworkError(
                f"the run starts from values that are not finite: {self._bad(column)}"
            )
        delays = None
        compiled = self._compiled(tier, course[2])
        if course[2] == 0:
            rows = column[None]
            if advance.delay_list:
                delays = np.zeros((1, advance.delayed))
        elif advance.delay_list:
            rows, delays = with_delays(advance, column, p, course, compiled)
        else:
            rows = recorded(advance, column, p, course, compiled)
        return self._finished(advance, rows, delays, p, course, compiled)

    def _finished(
        self,
        advance: Advance,
        rows: np.ndarray,
        delays: np.ndarray | None,
        p: np.ndarray,
        course: np.ndarray,
        compiled: bool,
    ) -> Record:
        """The record of rows, unless they have broken down."""
        if not np.all(np.isfinite(rows[-1])):
            bad = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
            time = course[0] + course[1] * rows[max(bad - 1, 0)][advance.slices["k"]][0]
            raise NetworkError(
                f"the run breaks down after {time:g} s: {self._bad(rows[bad])} not finite; "
                "a smaller dt or another method may help"
            )
        return self._record(advance, rows, delays, p, course, compiled)

    def _bad(self, column: np.ndarray) -> str:
        system = self.system
        advance = self._prepared()
        names = []
        for bank, variables in (("x", system.states), ("h", system.kept)):
            values = column[advance.slices[bank]]
            for variable in variables:
                begin, shape = system.place_of(variable, bank)
                if not np.all(np.isfinite(values[begin : begin + shape[0] * shape[1]])):
                    names.append(variable.path)
        return ", ".join(names[:6]) or "values"

    def _record(
        self,
        advance: Advance,
        rows: np.ndarray,
        delays: np.ndarray | None,
        p: np.ndarray,
        course: np.ndarray,
        compiled: bool,
    ) -> Record:
        slices = advance.slices
        time = course[0] + course[1] * rows[:, slices["k"]][:, 0] + rows[:, slices["s"]][:, 0]
        happened = []
        # What happened at the first row has been told by the piece of the run before it.
        fired = rows[:, slices["fired"]] != 0
        fired[0] = False
        for row, number in np.argwhere(fired):
            watched = advance.events[number]
            end = watched.event.end if watched.event.end is not None else "terminate"
            happened.append(Happened(float(time[row]), watched.node.path, end))
        wanted = rows[:, slices["row"]][:, 0] != 0
        wanted[0] = True
        # An event that ends the run at the very end of a step takes the place of that row.
        same = np.flatnonzero(wanted)[-2:]
        if len(same) == 2 and time[same[0]] == time[same[1]]:
            wanted[same[0]] = False
        # Of a run without events all rows are wanted, and none is copied.
        picked = slice(None) if wanted.all() else wanted
        kept = rows[picked]
        t = time[picked]
        given = np.zeros(advance.delayed) if delays is None else delays[picked]
        names = {}
        for place, node in enumerate(advance.system.nodes_with_states):
            numbers = kept[:, slices["e"]][:, place].astype(int)
            names[node.path] = np.array(node.states)[numbers]

        def look_up(name: str) -> np.ndarray:
            variable = advance.system.variables[name]
            return np.asarray(advance.observe(variable)(kept, p, t, given))

        tier = "compiled" if compiled else "interpreted"
        return Record(t, tuple(happened), advance.system.variables, look_up, names, tier)

    def start(
        self,
        dt: float | None = None,
        *,
        start: float = 0.0,
        seed: int = 0,
        tier: Tier | None = None,
    ) -> Live:
        """A run to go on with piece by piece: ``live.advance(0.1)``, then ``live["slip.y"]``."""
        advance = self._prepared()
        course = self._course(start, dt, start)
        column = advance.seeded(seed, 1, self.values(), start)[0]
        if not np.all(np.isfinite(column)):
            raise NetworkError(
                f"the run starts from values that are not finite: {self._bad(column)}"
            )
        return Live(self, advance, course, column, tier)

    def values(self) -> np.ndarray:
        """All parameters in one array, a copy."""
        self._prepared()
        assert self._values is not None
        return self._values.copy()

    def sweep(
        self,
        values: Mapping[str, Sequence[float] | np.ndarray],
        t_end: float,
        dt: float | None = None,
        *,
        grid: bool = True,
        start: float = 0.0,
        seed: int = 0,
        tier: Tier | None = None,
    ) -> Sweep:
        """Run many sets of parameters at once, each in a lane of its own with its own events.

        With ``grid`` all combinations of the values are run and results have an axis for each
        parameter; without, the values of all parameters are taken in step. Runs that break down
        are told by ``broken`` of the result. Networks with delayed values run one after the other.
        """
        advance = self._prepared()
        system = advance.system
        shape, axes, given = lanes_of(values, grid)
        lanes = int(np.prod(shape))
        p = lane_parameters(system, self.values(), given)
        course = self._course(t_end, dt, start)
        compiled = self._compiled(tier, course[2], lanes)
        column = advance.seeded(seed, lanes, p, start, compiled)
        delays = np.zeros((lanes, advance.delayed))
        if course[2] and advance.delay_list:
            # Each looks back into a past of its own, so they run one after the other.
            for lane in range(lanes):
                rows, looked = with_delays(advance, column[lane], p[lane], course, compiled)
                column[lane], delays[lane] = rows[-1], looked[-1]
        elif course[2]:
            column = finals(advance, column, p, course, compiled)
        broken = ~np.isfinite(column).all(axis=1)
        if broken.all():
            raise NetworkError(
                f"all {lanes} runs break down: {self._bad(column[0])} not finite; "
                "a smaller dt or another method may help"
            )
        slices = advance.slices
        time = course[0] + course[1] * column[:, slices["k"]][:, 0] + column[:, slices["s"]][:, 0]

        def look_up(name: str) -> np.ndarray:
            kernel = advance.observe(advance.system.variables[name])
            return np.asarray(kernel(column, p, time, delays))

        tier_name = "compiled" if compiled else "interpreted"
        ends, bad = time.reshape(shape), broken.reshape(shape)
        return Sweep(shape, axes, ends, bad, system.variables, look_up, tier_name)

    # -- other faces

    def check(self) -> list[tuple[Expectation, float]]:
        """Run to the expectations written in the text; returns each with the value found."""
        if not self.expectations:
            return []
        record = self.run(max(one.time for one in self.expectations))
        found = []
        for one in self.expectations:
            if one.path not in record:
                raise one.place.error(unknown_name("variable", one.path, record.names))
            row = int(np.argmin(np.abs(record.t - one.time)))
            value = np.asarray(record[one.path][row], dtype=float)
            if value.size != 1:
                raise one.place.error(f"{one.path} has {value.size} entries; one is expected")
            found.append((one, float(value)))
        return found

    def graph(self, format: Literal["dot", "svg"] = "dot") -> str:
        """The nodes and edges as a drawing: text for Graphviz, or an SVG picture."""
        if format not in ("dot", "svg"):
            raise NetworkError(unknown_name("format", format, ["dot", "svg"]))
        return dot_text(self) if format == "dot" else svg_text(self)

    def to_c(self, path: str | Path, name: str | None = None) -> tuple[Path, Path]:
        """Write C without dependencies, and its header; returns both paths."""
        return write(self._prepared(), self.values(), Path(path), name, self.timestep)


def load(path: str | Path, *, outside: bool = False) -> Network:
    """A network from a ``.cdn`` file; files it includes stay in its folder unless ``outside``."""
    file = Path(path)
    return _built(Source(read_text(file), str(file)), file.parent, outside)


def parse(text: str, *, name: str = "network", folder: str | Path | None = None) -> Network:
    """A network from a text; files it includes are looked for in ``folder`` and the library."""
    return _built(Source(text, name), Path(folder) if folder is not None else None, False)


def _built(source: Source, folder: Path | None, outside: bool) -> Network:
    network = Network()
    builder = Builder(network, folder, outside=outside)
    try:
        builder.build(source)
    except RecursionError:
        raise source.error("blocks or templates are nested too deeply", 0) from None
    network.expectations = tuple(builder.expectations)
    return network
