"""A network to load, build, set and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from homodyn.errors import NetworkError
from homodyn.foundation.text import unknown_name
from homodyn.network.builder import NetworkBuilder
from homodyn.network.c_source import write_c
from homodyn.network.constant_folding import constant_value
from homodyn.network.declarations import Expectation
from homodyn.network.graph import dot_text, svg_text
from homodyn.network.incremental_run import IncrementalRun
from homodyn.network.integrators import METHODS
from homodyn.network.result import NetworkResult, StateTransition, SweepResult
from homodyn.network.run import final_states, record_delayed_run, record_run
from homodyn.network.search_path import read_text
from homodyn.network.source import SourceText
from homodyn.network.step_kernels import StepKernels
from homodyn.network.sweep_batch import batch_parameters, sweep_values
from homodyn.network.system import EquationSystem
from homodyn.network.tree import Node, Variable, to_formula
from homodyn.symbolic import Kernel

Tier = Literal["compiled", "interpreted"]

MIN_COMPILED_WORK = 3e6
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
        self._cached_kernels: StepKernels | None = None
        self._values: np.ndarray | None = None
        self._builds = 0

    def invalidate(self) -> None:
        """Drop what was compiled: the network was changed."""
        self._cached_kernels = None

    @property
    def builds(self) -> int:
        """How often equations were put together: setting parameters does not add to it."""
        return self._builds

    # -- equations

    def prepare(self) -> Network:
        """Check all formulas and put the equations together; a run does it when needed."""
        self._kernels()
        return self

    def _kernels(self) -> StepKernels:
        made = self._cached_kernels
        if made is None or (made.method, made.system.sparse) != (self.method, self.sparse):
            if self.method not in METHODS:
                raise NetworkError(unknown_name("method", self.method, METHODS))
            system = EquationSystem(self, sparse=self.sparse)
            self._cached_kernels = StepKernels(system, self.method)
            self._values = np.zeros(self._cached_kernels.parameter_count)
            for variable, number in system.numbers.items():
                begin, _ = system.slot(variable)
                self._values[begin : begin + number.size] = number.flatten("F")
            self._builds += 1
        assert self._cached_kernels is not None
        return self._cached_kernels

    @property
    def system(self) -> EquationSystem:
        """The variables by kind and their equations in symbols."""
        return self._kernels().system

    @property
    def attempt(self) -> Kernel:
        """One attempt of a step as a kernel, which runs repeat."""
        return self._kernels().attempt

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
        begin, shape = self.system.slot(variable)
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
            given = to_formula(value)
            number = constant_value(given)
            system = self.system
            if number is not None and system.fits(variable, number):
                if not np.all(np.isfinite(number)):
                    raise NetworkError(f"{name} cannot be {value!r}; finite numbers are accepted")
                begin, _ = system.slot(variable)
                assert self._values is not None
                self._values[begin : begin + number.size] = number.flatten("F")
            else:
                kept = {one: self.get(one) for one in self.parameters if one != name}
                variable.expression = given
                self.invalidate()
                self.set(kept)
        return self

    # -- runs

    def _time_grid(self, t_end: float, dt: float | None, start: float) -> np.ndarray:
        step = self.timestep if dt is None else float(dt)
        if not (np.isfinite(t_end) and np.isfinite(start)) or t_end < start:
            raise NetworkError(f"a run from {start} s to {t_end} s; the end must not come before")
        if not step > 0 or not np.isfinite(step):
            raise NetworkError(f"the time step is {step} s; above 0 is needed")
        return np.array([start, step, float(np.ceil((t_end - start) / step - 1e-9))])

    def _compiled(self, tier: Tier | None, work: float, lanes: int = 1) -> bool:
        if tier is not None and tier not in ("compiled", "interpreted"):
            raise NetworkError(unknown_name("tier", tier, ["compiled", "interpreted"]))
        kernels = self._kernels()
        load = work * lanes * kernels.attempt.instructions
        wanted = tier == "compiled" or (tier is None and load > MIN_COMPILED_WORK)
        return wanted and (kernels.system.length("d") > 0 or kernels.iteration.prepare(lanes))

    def run(
        self,
        t_end: float,
        dt: float | None = None,
        *,
        start: float = 0.0,
        seed: int = 0,
        tier: Tier | None = None,
    ) -> NetworkResult:
        """Run from ``start`` to ``t_end`` in steps of ``dt`` seconds; a row for every step.

        ``seed`` decides what ``rand`` draws. ``tier`` holds the run in native code or on the
        virtual machine; without it the length of the run decides.
        """
        kernels = self._kernels()
        assert self._values is not None
        p = self._values.copy()
        time_grid = self._time_grid(t_end, dt, start)
        state = kernels.initial_state(seed, 1, p, start)[0]
        if not np.all(np.isfinite(state)):
            raise NetworkError(
                f"the run starts from values that are not finite: {self._not_finite_names(state)}"
            )
        delays = None
        compiled = self._compiled(tier, time_grid[2])
        if time_grid[2] == 0:
            rows = state[None]
            if kernels.delay_slots:
                delays = np.zeros((1, kernels.delayed_count))
        elif kernels.delay_slots:
            rows, delays = record_delayed_run(kernels, state, p, time_grid, compiled)
        else:
            rows = record_run(kernels, state, p, time_grid, compiled)
        return self._checked_result(kernels, rows, delays, p, time_grid, compiled)

    def _checked_result(
        self,
        kernels: StepKernels,
        rows: np.ndarray,
        delays: np.ndarray | None,
        p: np.ndarray,
        time_grid: np.ndarray,
        compiled: bool,
    ) -> NetworkResult:
        """The record of rows, unless they have broken down."""
        if not np.all(np.isfinite(rows[-1])):
            bad = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
            time = time_grid[0] + time_grid[1] * rows[max(bad - 1, 0)][kernels.slices["k"]][0]
            raise NetworkError(
                f"the run diverges after {time:g} s: {self._not_finite_names(rows[bad])} "
                "not finite; a smaller dt or another method may help"
            )
        return self._result(kernels, rows, delays, p, time_grid, compiled)

    def _not_finite_names(self, state: np.ndarray) -> str:
        system = self.system
        kernels = self._kernels()
        names = []
        for table, variables in (("x", system.states), ("h", system.discrete)):
            values = state[kernels.slices[table]]
            for variable in variables:
                begin, shape = system.slot(variable, table)
                if not np.all(np.isfinite(values[begin : begin + shape[0] * shape[1]])):
                    names.append(variable.path)
        return ", ".join(names[:6]) or "values"

    def _result(
        self,
        kernels: StepKernels,
        rows: np.ndarray,
        delays: np.ndarray | None,
        p: np.ndarray,
        time_grid: np.ndarray,
        compiled: bool,
    ) -> NetworkResult:
        slices = kernels.slices
        time = time_grid[0] + time_grid[1] * rows[:, slices["k"]][:, 0] + rows[:, slices["s"]][:, 0]
        happened = []
        # What happened at the first row has been told by the piece of the run before it.
        fired = rows[:, slices["fired"]] != 0
        fired[0] = False
        for row, number in np.argwhere(fired):
            watched = kernels.events[number]
            end = watched.event.to_state if watched.event.to_state is not None else "terminate"
            happened.append(StateTransition(float(time[row]), watched.node.path, end))
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
        given = np.zeros(kernels.delayed_count) if delays is None else delays[picked]
        names = {}
        for place, node in enumerate(kernels.system.nodes_with_states):
            numbers = kept[:, slices["e"]][:, place].astype(int)
            names[node.path] = np.array(node.states)[numbers]

        def look_up(name: str) -> np.ndarray:
            variable = kernels.system.variables[name]
            return np.asarray(kernels.observe(variable)(kept, p, t, given))

        tier = "compiled" if compiled else "interpreted"
        return NetworkResult(t, tuple(happened), kernels.system.variables, look_up, names, tier)

    def start(
        self,
        dt: float | None = None,
        *,
        start: float = 0.0,
        seed: int = 0,
        tier: Tier | None = None,
    ) -> IncrementalRun:
        """A run to go on with piece by piece: ``live.advance(0.1)``, then ``live["slip.y"]``."""
        kernels = self._kernels()
        time_grid = self._time_grid(start, dt, start)
        state = kernels.initial_state(seed, 1, self.values(), start)[0]
        if not np.all(np.isfinite(state)):
            raise NetworkError(
                f"the run starts from values that are not finite: {self._not_finite_names(state)}"
            )
        return IncrementalRun(self, kernels, time_grid, state, tier)

    def values(self) -> np.ndarray:
        """All parameters in one array, a copy."""
        self._kernels()
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
    ) -> SweepResult:
        """Run many sets of parameters at once, each in a lane of its own with its own events.

        With ``grid`` all combinations of the values are run and results have an axis for each
        parameter; without, the values of all parameters are taken in step. Runs that break down
        are told by ``broken`` of the result. Networks with delayed values run one after the other.
        """
        kernels = self._kernels()
        system = kernels.system
        shape, axes, given = sweep_values(values, grid)
        lanes = int(np.prod(shape))
        p = batch_parameters(system, self.values(), given)
        time_grid = self._time_grid(t_end, dt, start)
        compiled = self._compiled(tier, time_grid[2], lanes)
        state = kernels.initial_state(seed, lanes, p, start, compiled)
        delays = np.zeros((lanes, kernels.delayed_count))
        if time_grid[2] and kernels.delay_slots:
            # Each looks back into a past of its own, so they run one after the other.
            for lane in range(lanes):
                rows, looked = record_delayed_run(
                    kernels, state[lane], p[lane], time_grid, compiled
                )
                state[lane], delays[lane] = rows[-1], looked[-1]
        elif time_grid[2]:
            state = final_states(kernels, state, p, time_grid, compiled)
        broken = ~np.isfinite(state).all(axis=1)
        if broken.all():
            raise NetworkError(
                f"all {lanes} runs diverge: {self._not_finite_names(state[0])} not finite; "
                "a smaller dt or another method may help"
            )
        slices = kernels.slices
        time = (
            time_grid[0] + time_grid[1] * state[:, slices["k"]][:, 0] + state[:, slices["s"]][:, 0]
        )

        def look_up(name: str) -> np.ndarray:
            kernel = kernels.observe(kernels.system.variables[name])
            return np.asarray(kernel(state, p, time, delays))

        tier_name = "compiled" if compiled else "interpreted"
        ends, bad = time.reshape(shape), broken.reshape(shape)
        return SweepResult(shape, axes, ends, bad, system.variables, look_up, tier_name)

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
        return write_c(self._kernels(), self.values(), Path(path), name, self.timestep)


def load(path: str | Path, *, allow_outside: bool = False) -> Network:
    """Load a network from a ``.cdn`` file.

    Args:
        path: The file, UTF-8 text.
        allow_outside: Allow included files outside the folder of ``path`` and the bundled library.

    Returns:
        The network, ready to set and run.

    Raises:
        NetworkError: The file or an included file cannot be read, or its text is not a valid
            network. The error gives file, line and column.
    """
    file = Path(path)
    return _build(SourceText(read_text(file), str(file)), file.parent, allow_outside)


def parse(text: str, *, name: str = "network", folder: str | Path | None = None) -> Network:
    """Build a network from a text in the ``.cdn`` language.

    Args:
        text: The network text.
        name: Name of the text in error messages.
        folder: Folder of included files; only the bundled library if left out.

    Returns:
        The network, ready to set and run.

    Raises:
        NetworkError: The text is not a valid network, or an included file cannot be read. The error
            gives file, line and column.
    """
    return _build(SourceText(text, name), Path(folder) if folder is not None else None, False)


def _build(source: SourceText, folder: Path | None, outside: bool) -> Network:
    network = Network()
    builder = NetworkBuilder(network, folder, outside=outside)
    try:
        builder.build(source)
    except RecursionError:
        raise source.error("blocks or templates are nested too deeply", 0) from None
    network.expectations = tuple(builder.expectations)
    return network
