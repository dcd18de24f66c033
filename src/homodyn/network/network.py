"""Networks: load or build them, set parameters, run them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from homodyn.errors import NetworkError
from homodyn.foundation.resource_guard import ResourceLimitExceeded, limit_resources
from homodyn.foundation.text import count_of, unknown_name
from homodyn.network.c_source import write_c
from homodyn.network.constant_folding import constant_value
from homodyn.network.declarations import Expectation
from homodyn.network.graph import dot_text, svg_text
from homodyn.network.incremental_run import IncrementalRun
from homodyn.network.integrators import METHODS
from homodyn.network.result import LazyValues, NetworkResult, SweepResult
from homodyn.network.run import final_states, record_delayed_run, record_run
from homodyn.network.run_result import not_finite_names, run_result
from homodyn.network.step_kernels import StepKernels
from homodyn.network.sweep_batch import batch_parameters, sweep_values
from homodyn.network.system import EquationSystem
from homodyn.network.tree import Edge, Node, Variable, to_formula
from homodyn.symbolic import Kernel

Tier = Literal["compiled", "interpreted"]

MIN_COMPILED_WORK = 3e6
"""Instructions times steps times lanes above which compiling native code pays off."""

MAX_ASSEMBLY_CPU_S = 120.0
"""Processor time (s) in which the equations of a network are assembled."""

MAX_ASSEMBLY_BYTES = 4_000_000_000
"""Memory that the equations of a network may take while they are assembled."""


class Network(Node):
    """A network of coupled systems: the root of its nodes and edges.

    Args:
        method: Name of the integration method, one of `METHODS`.
        timestep: Time step (s).

    Attributes:
        method: Name of the integration method.
        timestep: Default time step (s).
        sparse: Whether zeros of matrices are left out of products. False keeps them, to measure
            what that saves.
        expectations: Expected values that are written in the text; see `check`.

    Raises:
        NetworkError: There is no such method.
    """

    def __init__(self, *, method: str = "euler", timestep: float = 0.001) -> None:
        super().__init__("", None)
        if method not in METHODS:
            raise NetworkError(unknown_name("method", method, METHODS))
        self.method = method
        self.timestep = timestep
        self.sparse = True
        self.expectations: tuple[Expectation, ...] = ()
        self._cached_kernels: StepKernels | None = None
        self._values: np.ndarray | None = None
        self._builds = 0

    def __repr__(self) -> str:
        """Numbers of nodes, edges and variables, method and time step."""
        parts = list(self.walk())
        edges = sum(isinstance(part, Edge) for part in parts)
        variables = sum(len(part.variables) for part in parts)
        return (
            f"Network: {count_of(len(parts) - edges - 1, 'node')}, {count_of(edges, 'edge')}, "
            f"{count_of(variables, 'variable')}, {self.method}, time step {self.timestep:g} s"
        )

    def invalidate(self) -> None:
        """Discard the equations and kernels, because the network was changed."""
        self._cached_kernels = None

    @property
    def builds(self) -> int:
        """How often the equations were assembled; setting parameters does not count."""
        return self._builds

    # -- equations

    def prepare(self) -> Network:
        """Check all formulas and assemble the equations; a run does this when needed.

        Returns:
            The network.

        Raises:
            NetworkError: A formula is wrong; the error gives file, line and column.
        """
        self._kernels()
        return self

    def _kernels(self) -> StepKernels:
        cached = self._cached_kernels
        if cached is None or (cached.method, cached.system.sparse) != (self.method, self.sparse):
            if self.method not in METHODS:
                raise NetworkError(unknown_name("method", self.method, METHODS))
            system, self._cached_kernels = self._assemble()
            self._values = np.zeros(self._cached_kernels.parameter_count)
            for variable, number in system.numbers.items():
                begin, _ = system.slot(variable)
                self._values[begin : begin + number.size] = number.flatten("F")
            self._builds += 1
        assert self._cached_kernels is not None
        return self._cached_kernels

    def _assemble(self) -> tuple[EquationSystem, StepKernels]:
        """The equations of all nodes and edges; functions may contain each other many times."""
        try:
            with limit_resources(MAX_ASSEMBLY_CPU_S, MAX_ASSEMBLY_BYTES):
                system = EquationSystem(self, sparse=self.sparse)
                return system, StepKernels(system, self.method)
        except ResourceLimitExceeded as error:
            raise NetworkError(
                f"the equations of the network need {error} to assemble; its functions contain "
                "each other too often"
            ) from None

    @property
    def system(self) -> EquationSystem:
        """The variables by kind and their symbolic equations."""
        return self._kernels().system

    @property
    def attempt(self) -> Kernel:
        """The kernel of one attempt of a step, which a run repeats."""
        return self._kernels().attempt

    @property
    def names(self) -> tuple[str, ...]:
        """Dotted names of all variables."""
        return tuple(self.system.variables)

    @property
    def parameters(self) -> dict[str, float | np.ndarray]:
        """Values that `set` changes without new equations: parameters and initial values."""
        return {variable.path: self.get(variable.path) for variable in self.system.numbers}

    def _variable(self, name: str) -> Variable:
        variables = self.system.variables
        if name not in variables:
            raise NetworkError(unknown_name("variable", name, variables))
        return variables[name]

    def get(self, name: str) -> float | np.ndarray:
        """The value of a parameter, or the initial value of a state.

        Args:
            name: Dotted name.

        Returns:
            A number, or an array for vectors and matrices.

        Raises:
            NetworkError: There is no such variable, or its value is a formula.
        """
        variable = self._variable(name)
        if variable not in self.system.numbers:
            raise NetworkError(f"{name} is the formula {variable.expression.text!r}, not a number")
        begin, shape = self.system.slot(variable)
        assert self._values is not None
        values = self._values[begin : begin + shape[0] * shape[1]].reshape(shape, order="F")
        return float(values[0, 0]) if shape == (1, 1) else values

    def set(self, values: Mapping[str, Any] | None = None, **named: Any) -> Network:
        """Set parameters and initial values of states.

        Numbers of the same size need no new equations. Formulas, other sizes, and numbers on which
        sizes or indices depend do.

        Args:
            values: Numbers, arrays or formulas by dotted name.
            **named: The same, for names without dots.

        Returns:
            The network.

        Raises:
            NetworkError: There is no such variable, or a number is not finite.
        """
        for name, value in {**(values or {}), **named}.items():
            variable = self._variable(name)
            formula = to_formula(value)
            number = constant_value(formula)
            system = self.system
            if number is not None and system.fits(variable, number):
                if not np.all(np.isfinite(number)):
                    raise NetworkError(f"{name} cannot be {value!r}; finite numbers are accepted")
                begin, _ = system.slot(variable)
                assert self._values is not None
                self._values[begin : begin + number.size] = number.flatten("F")
            else:
                others = {each: self.get(each) for each in self.parameters if each != name}
                variable.expression = formula
                self.invalidate()
                self.set(others)
        return self

    # -- runs

    def _time_grid(self, t_end: float, dt: float | None, start: float) -> np.ndarray:
        step = self.timestep if dt is None else float(dt)
        if not (np.isfinite(t_end) and np.isfinite(start)) or t_end < start:
            raise NetworkError(f"a run from {start} s to {t_end} s; expected start <= end")
        if not step > 0 or not np.isfinite(step):
            raise NetworkError(f"the time step is {step} s; expected more than 0 s")
        return np.array([start, step, float(np.ceil((t_end - start) / step - 1e-9))])

    def _compiled(self, tier: Tier | None, steps: float, lanes: int = 1) -> bool:
        """Whether a run of so many steps and lanes uses native code."""
        if tier is not None and tier not in ("compiled", "interpreted"):
            raise NetworkError(unknown_name("tier", tier, ["compiled", "interpreted"]))
        kernels = self._kernels()
        work = steps * lanes * kernels.attempt.instructions
        chosen = tier == "compiled" or (tier is None and work > MIN_COMPILED_WORK)
        return chosen and (kernels.system.length("d") > 0 or kernels.iteration.prepare(lanes))

    def run(
        self,
        t_end: float,
        dt: float | None = None,
        *,
        start: float = 0.0,
        seed: int = 0,
        tier: Tier | None = None,
    ) -> NetworkResult:
        """Simulate the network.

        Args:
            t_end: End time (s).
            dt: Time step (s); `timestep` by default.
            start: Start time (s).
            seed: Seed of the random numbers of ``rand``.
            tier: ``"compiled"`` for native code, ``"interpreted"`` for the virtual machine; by
                default the length of the run decides.

        Returns:
            The result with one row per time step.

        Raises:
            NetworkError: A formula is wrong, the times are invalid, or the run diverges.
        """
        kernels = self._kernels()
        assert self._values is not None
        p = self._values.copy()
        time_grid = self._time_grid(t_end, dt, start)
        state = kernels.initial_state(seed, 1, p, start)[0]
        if not np.all(np.isfinite(state)):
            raise NetworkError(f"initial values are not finite: {not_finite_names(kernels, state)}")
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
        return run_result(kernels, rows, delays, p, time_grid, compiled)

    def start(
        self,
        dt: float | None = None,
        *,
        start: float = 0.0,
        seed: int = 0,
        tier: Tier | None = None,
    ) -> IncrementalRun:
        """Begin a run that advances in parts: ``live.advance(0.1)``, then ``live["slip.y"]``.

        Args:
            dt: Time step (s); `timestep` by default.
            start: Start time (s).
            seed: Seed of the random numbers of ``rand``.
            tier: ``"compiled"`` or ``"interpreted"``; by default the length of each part decides.

        Returns:
            The run at its start time.

        Raises:
            NetworkError: A formula is wrong, or initial values are not finite.
        """
        kernels = self._kernels()
        time_grid = self._time_grid(start, dt, start)
        state = kernels.initial_state(seed, 1, self.values(), start)[0]
        if not np.all(np.isfinite(state)):
            raise NetworkError(f"initial values are not finite: {not_finite_names(kernels, state)}")
        return IncrementalRun(self, kernels, time_grid, state, tier)

    def values(self) -> np.ndarray:
        """A copy of all parameters in one array."""
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
        """Run many sets of parameters at once, one per SIMD lane, each with its own events.

        Networks with delayed values run one after the other.

        Args:
            values: Numbers by dotted name of the parameter.
            t_end: End time (s).
            dt: Time step (s); `timestep` by default.
            grid: Whether to run all combinations, with one axis per parameter; else the values of
                all parameters are taken in step.
            start: Start time (s).
            seed: Seed of the random numbers of ``rand``, the same for all runs.
            tier: ``"compiled"`` or ``"interpreted"``; by default the amount of work decides.

        Returns:
            Final values of all runs; ``diverged`` marks runs without finite values.

        Raises:
            NetworkError: A parameter is unknown, not a single number or determines sizes; or all
                runs diverge.
        """
        kernels = self._kernels()
        system = kernels.system
        shape, axes, columns = sweep_values(values, grid)
        lanes = int(np.prod(shape))
        p = batch_parameters(system, self.values(), columns)
        time_grid = self._time_grid(t_end, dt, start)
        compiled = self._compiled(tier, time_grid[2], lanes)
        state = kernels.initial_state(seed, lanes, p, start, compiled)
        delays = np.zeros((lanes, kernels.delayed_count))
        if time_grid[2] and kernels.delay_slots:
            # Each run has its own history, so they run one after the other.
            for lane in range(lanes):
                rows, delayed = record_delayed_run(
                    kernels, state[lane], p[lane], time_grid, compiled
                )
                state[lane], delays[lane] = rows[-1], delayed[-1]
        elif time_grid[2]:
            state = final_states(kernels, state, p, time_grid, compiled)
        diverged = ~np.isfinite(state).all(axis=1)
        if diverged.all():
            raise NetworkError(
                f"all {lanes} runs diverge: {not_finite_names(kernels, state[0])} not finite; "
                "a smaller time step or another method may help"
            )
        slices = kernels.slices
        time = (
            time_grid[0] + time_grid[1] * state[:, slices["k"]][:, 0] + state[:, slices["s"]][:, 0]
        )

        def compute(name: str) -> np.ndarray:
            kernel = kernels.observe(kernels.system.variables[name])
            return np.asarray(kernel(state, p, time, delays))

        return SweepResult(
            shape,
            axes,
            time.reshape(shape),
            diverged.reshape(shape),
            LazyValues(system.variables, compute),
            "compiled" if compiled else "interpreted",
        )

    # -- expectations, drawings, C

    def check(self) -> list[tuple[Expectation, float]]:
        """Run the network and evaluate the expectations in its text.

        Returns:
            Each expectation with the computed value.

        Raises:
            NetworkError: An expectation names an unknown variable or one that is not a number.
        """
        if not self.expectations:
            return []
        result = self.run(max(expected.time for expected in self.expectations))
        found = []
        for expected in self.expectations:
            if expected.path not in result:
                raise expected.place.error(unknown_name("variable", expected.path, result.names))
            row = int(np.argmin(np.abs(result.t - expected.time)))
            value = np.asarray(result[expected.path][row], dtype=float)
            if value.size != 1:
                raise expected.place.error(
                    f"{expected.path} has {value.size} entries; expected a single number"
                )
            found.append((expected, float(value)))
        return found

    def graph(self, format: Literal["dot", "svg"] = "dot") -> str:
        """Draw the nodes and edges.

        Args:
            format: ``"dot"`` for Graphviz text, ``"svg"`` for an SVG figure.

        Returns:
            The text.

        Raises:
            NetworkError: There is no such format.
        """
        if format not in ("dot", "svg"):
            raise NetworkError(unknown_name("format", format, ["dot", "svg"]))
        return dot_text(self) if format == "dot" else svg_text(self)

    def to_c(self, path: str | Path, name: str | None = None) -> tuple[Path, Path]:
        """Write the network as C without dependencies.

        Args:
            path: The C file; its header is written to the same folder.
            name: Prefix of the C names; the stem of the file by default.

        Returns:
            Paths of the C file and the header.

        Raises:
            NetworkError: The name is not a C identifier, or a formula has no C form.
            FormatError: A file cannot be written.
        """
        return write_c(self._kernels(), self.values(), Path(path), name, self.timestep)
