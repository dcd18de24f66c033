"""A run that goes on piece by piece: parameters may change in between, and formulas be asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from homodyn.errors import NetworkError
from homodyn.foundation.text import unknown_name
from homodyn.network.evaluation import evaluate
from homodyn.network.result import NetworkResult
from homodyn.network.run import DelayHistory, record_delayed_run, record_run
from homodyn.network.scope import Environment
from homodyn.network.step_kernels import StepKernels
from homodyn.network.system import EquationSystem
from homodyn.network.tree import Variable, to_formula

if TYPE_CHECKING:
    from homodyn.network.network import Network, Tier


@dataclass(frozen=True)
class FormulaDerivatives:
    """A formula now: its value, how fast it changes, and what it would do if others changed.

    ``towards`` has, by the name of each state, kept value or parameter that the formula depends on
    through whatever is between, its derivative towards that; a row for each entry of the formula.
    """

    value: Any
    rate: Any
    partials: dict[str, Any]


class IncrementalRun:
    """A run that has come to time ``t``; made by `Network.start`.

    What `Network.set` changes between pieces acts from then on; values that states start from do
    not, for they have started.
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
        """The time it has come to, in seconds."""
        k, s = (float(self._state[self._kernels.slices[name]][0]) for name in ("k", "s"))
        return self._start + k * self.timestep + s

    @property
    def ended(self) -> bool:
        """Whether an event has ended the run."""
        return self._ended

    def _current_kernels(self) -> StepKernels:
        if self.network._kernels() is not self._kernels:
            raise NetworkError(
                "the equations of the network were made anew since this run began; start another"
            )
        return self._kernels

    def advance(self, duration: float) -> NetworkResult:
        """Go on for so many seconds; the record begins with the present values."""
        kernels = self._current_kernels()
        if not np.isfinite(duration) or duration < 0:
            raise NetworkError(f"a run cannot go on for {duration} s; 0 or more is needed")
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
        record = self.network._checked_result(kernels, rows, delays, p, time_grid, compiled)
        self._state = rows[-1].copy()
        self._ended = self._ended or record.terminated
        return record

    # -- formulas

    def __getitem__(self, name: str) -> Any:
        """The present value of a variable."""
        kernels = self._current_kernels()
        if name not in kernels.system.variables:
            raise NetworkError(unknown_name("variable", name, kernels.system.variables))
        return self._to_numbers(kernels.system.value(kernels.system.variables[name]))

    def evaluate(self, text: str) -> Any:
        """The present value of any formula in the network's own names: ``"slip.leg - 1"``."""
        return self._to_numbers(self._formula(text))

    def derivatives(self, text: str) -> FormulaDerivatives:
        """The present value of a formula with its time derivative and all partial derivatives."""
        value = self._formula(text)
        system = self._kernels.system
        owners: dict[Variable, ca.SX] = {}
        known = {symbol.element_hash(): one for one, symbol in system.named_symbols()}
        whole = dict(system.named_variables())
        for symbol in ca.symvar(value):
            owner = known.get(symbol.element_hash())
            if owner is not None:
                owners[owner] = whole[owner]
        towards = {
            owner.path: self._to_numbers(ca.densify(ca.jacobian(ca.vec(value), ca.vec(symbol))))
            for owner, symbol in owners.items()
        }
        return FormulaDerivatives(
            self._to_numbers(value), self._to_numbers(system.rate(value)), towards
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
            raise NetworkError("delayed values are found in records, not asked of a run under way")
        function = ca.Function("asked", kernels.symbols, [ca.densify(value)])
        part = {name: self._state[where] for name, where in kernels.slices.items()}
        draws = np.zeros(len(kernels.first_draws(0)[0]))
        draws[kernels.layout.redrawn] = part["u"]
        p, none = self.network.values(), np.zeros(kernels.delayed_count)
        found = function(part["x"], part["h"], part["e"], p, draws, none, self.t)
        array = np.array(ca.DM(found))
        if array.size == 1:
            return float(array[0, 0])
        return array[:, 0] if array.shape[1] == 1 else array


class _QueryEnvironment(Environment):
    """The world of a system for formulas that are not part of it: they must not add to it."""

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
        raise NetworkError("rand draws in formulas of the network; name a variable that holds it")

    def delayed_value(self, key: tuple[Any, ...], value: ca.SX, start: Any, delay: ca.SX) -> ca.SX:
        raise NetworkError("delayed values are kept for formulas of the network alone")
