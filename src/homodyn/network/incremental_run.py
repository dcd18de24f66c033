"""Runs that advance in parts: parameters may change in between, and formulas can be evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from homodyn.errors import NetworkError
from homodyn.foundation import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.network.evaluation import evaluate
from homodyn.network.result import NetworkResult
from homodyn.network.run import DelayHistory, record_delayed_run, record_run
from homodyn.network.run_result import run_result
from homodyn.network.scope import Environment
from homodyn.network.step_kernels import StepKernels
from homodyn.network.system import EquationSystem
from homodyn.network.tree import Variable, to_formula

if TYPE_CHECKING:
    from homodyn.network.network import Network, Tier


@record
class FormulaDerivatives(Record):
    """The current value of a formula and its derivatives."""

    value: Any
    """A number, or an array for vectors and matrices."""
    rate: Any
    """Time derivative (per s)."""
    partials: dict[str, Any]
    """Partial derivatives with respect to all states, discrete variables and parameters on which
    the formula depends, by dotted name; one row per entry of the formula."""


class IncrementalRun:
    """A run that advances in parts; see `Network.start`.

    Parameters that `Network.set` changes between two parts take effect in the next part. Changed
    initial values have no effect on a run that has started.

    Attributes:
        network: The network.
        timestep: Time step (s).
    """

    def __init__(
        self,
        network: Network,
        kernels: StepKernels,
        time_grid: np.ndarray,
        state: np.ndarray,
        tier: Tier | None,
    ) -> None:
        self.network = network
        self._kernels = kernels
        self._start, self.timestep = float(time_grid[0]), float(time_grid[1])
        self._state = state
        self._tier = tier
        self._past: DelayHistory | None = None
        self._ended = False

    @property
    def t(self) -> float:
        """Current time (s)."""
        k, s = (float(self._state[self._kernels.slices[name]][0]) for name in ("k", "s"))
        return self._start + k * self.timestep + s

    @property
    def ended(self) -> bool:
        """Whether an event has ended the run."""
        return self._ended

    def _current_kernels(self) -> StepKernels:
        if self.network._kernels() is not self._kernels:
            raise NetworkError(
                "the equations of the network have changed since this run began; start another run"
            )
        return self._kernels

    def advance(self, duration: float) -> NetworkResult:
        """Advance the run.

        Args:
            duration: Time to advance (s), rounded up to whole steps.

        Returns:
            The result of this part; its first row has the values before it.

        Raises:
            NetworkError: The duration is negative, the equations have changed, or the run
                diverges.
        """
        kernels = self._current_kernels()
        if not np.isfinite(duration) or duration < 0:
            raise NetworkError(f"the duration is {duration} s; expected 0 s or more")
        steps = int(np.ceil(duration / self.timestep - 1e-9)) if not self._ended else 0
        at = float(self._state[kernels.slices["k"]][0])
        time_grid = np.array([self._start, self.timestep, at + steps])
        p = self.network.values()
        compiled = self.network._compiled(self._tier, steps)
        delays = None
        if not steps:
            rows = self._state[None]
            if kernels.delay_slots:
                delays = np.zeros((1, kernels.delayed_count))
        elif kernels.delay_slots:
            if self._past is None:
                self._past = DelayHistory(kernels, self._state, p, self._start)
            self._past.p = p
            rows, delays = record_delayed_run(
                kernels, self._state, p, time_grid, compiled, self._past
            )
        else:
            rows = record_run(kernels, self._state, p, time_grid, compiled)
        result = run_result(kernels, rows, delays, p, time_grid, compiled)
        self._state = rows[-1].copy()
        self._ended = self._ended or result.terminated
        return result

    # -- formulas

    def __getitem__(self, name: str) -> Any:
        """The current value of a variable.

        Raises:
            NetworkError: There is no such variable.
        """
        kernels = self._current_kernels()
        if name not in kernels.system.variables:
            raise NetworkError(unknown_name("variable", name, kernels.system.variables))
        return self._to_numbers(kernels.system.value(kernels.system.variables[name]))

    def evaluate(self, text: str) -> Any:
        """The current value of a formula.

        Args:
            text: A formula of variables of the network: ``"slip.leg - 1"``.

        Returns:
            A number, or an array for vectors and matrices.

        Raises:
            NetworkError: The formula is wrong, or it uses ``rand`` or ``delayed``.
        """
        return self._to_numbers(self._formula(text))

    def derivatives(self, text: str) -> FormulaDerivatives:
        """The current value of a formula with its time derivative and all partial derivatives.

        Args:
            text: A formula of variables of the network.

        Returns:
            Value, rate and partial derivatives.

        Raises:
            NetworkError: The formula is wrong, or it uses ``rand`` or ``delayed``.
        """
        value = self._formula(text)
        system = self._kernels.system
        involved: dict[Variable, ca.SX] = {}
        variables = {symbol.element_hash(): each for each, symbol in system.named_symbols()}
        symbols = dict(system.named_variables())
        for symbol in ca.symvar(value):
            variable = variables.get(symbol.element_hash())
            if variable is not None:
                involved[variable] = symbols[variable]
        partials = {
            variable.path: self._to_numbers(ca.densify(ca.jacobian(ca.vec(value), ca.vec(symbol))))
            for variable, symbol in involved.items()
        }
        return FormulaDerivatives(
            self._to_numbers(value), self._to_numbers(system.rate(value)), partials
        )

    def _formula(self, text: str) -> ca.SX:
        return evaluate(
            to_formula(text), _QueryEnvironment(self._current_kernels().system), self.network
        )

    def _to_numbers(self, value: ca.SX) -> Any:
        kernels = self._current_kernels()
        if kernels.delay_slots and ca.which_depends(
            ca.vec(value), kernels.system.symbols("d"), 1, True
        ).count(True):
            raise NetworkError("delayed values are not available here; see the result of a run")
        function = ca.Function("formula", kernels.symbols, [ca.densify(value)])
        part = {name: self._state[where] for name, where in kernels.slices.items()}
        draws = np.zeros(len(kernels.first_draws(0)[0]))
        draws[kernels.layout.redrawn] = part["u"]
        p, none = self.network.values(), np.zeros(kernels.delayed_count)
        value_now = function(part["x"], part["h"], part["e"], p, draws, none, self.t)
        array = np.array(ca.DM(value_now))
        if array.size == 1:
            return float(array[0, 0])
        return array[:, 0] if array.shape[1] == 1 else array


class _QueryEnvironment(Environment):
    """The environment of a system for formulas that are not part of it and must not extend it."""

    def __init__(self, system: EquationSystem) -> None:
        self.system = system

    def value(self, variable: Variable) -> ca.SX:
        return self.system.value(variable)

    def number(self, variable: Variable) -> np.ndarray | None:
        return self.system.number(variable)

    def time(self) -> ca.SX:
        return self.system.time()

    def rate(self, value: ca.SX) -> ca.SX:
        return self.system.rate(value)

    def draw(self, key: tuple[Any, ...], shape: tuple[int, int]) -> ca.SX:
        raise NetworkError("rand is only available in formulas of the network; use a variable")

    def delayed_value(self, key: tuple[Any, ...], value: ca.SX, start: Any, delay: ca.SX) -> ca.SX:
        raise NetworkError("delayed is only available in formulas of the network; use a variable")
