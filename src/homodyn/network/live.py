"""A run that goes on piece by piece: parameters may change in between, and formulas be asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from homodyn.errors import NetworkError
from homodyn.foundation.text import unknown_name
from homodyn.network.advance import Advance
from homodyn.network.evaluate import evaluate
from homodyn.network.record import Record
from homodyn.network.run import Past, recorded, with_delays
from homodyn.network.scope import World
from homodyn.network.system import System
from homodyn.network.tree import Variable, formula_of

if TYPE_CHECKING:
    from homodyn.network.network import Network, Tier


@dataclass(frozen=True)
class Derivatives:
    """A formula now: its value, how fast it changes, and what it would do if others changed.

    ``towards`` has, by the name of each state, kept value or parameter that the formula depends on
    through whatever is between, its derivative towards that; a row for each entry of the formula.
    """

    value: Any
    rate: Any
    towards: dict[str, Any]


class Live:
    """A run that has come to time ``t``; made by `Network.start`.

    What `Network.set` changes between pieces acts from then on; values that states start from do
    not, for they have started.
    """

    def __init__(
        self,
        network: Network,
        advance: Advance,
        course: np.ndarray,
        column: np.ndarray,
        tier: Tier | None,
    ) -> None:
        self.network = network
        self._made = advance
        self._start, self.timestep = float(course[0]), float(course[1])
        self._column = column
        self._tier = tier
        self._past: Past | None = None
        self._ended = False

    @property
    def t(self) -> float:
        """The time it has come to, in seconds."""
        k, s = (float(self._column[self._made.slices[name]][0]) for name in ("k", "s"))
        return self._start + k * self.timestep + s

    @property
    def ended(self) -> bool:
        """Whether an event has ended the run."""
        return self._ended

    def _advance(self) -> Advance:
        if self.network._prepared() is not self._made:
            raise NetworkError(
                "the equations of the network were made anew since this run began; start another"
            )
        return self._made

    def advance(self, duration: float) -> Record:
        """Go on for so many seconds; the record begins with the present values."""
        advance = self._advance()
        if not np.isfinite(duration) or duration < 0:
            raise NetworkError(f"a run cannot go on for {duration} s; 0 or more is needed")
        steps = int(np.ceil(duration / self.timestep - 1e-9)) if not self._ended else 0
        at = float(self._column[advance.slices["k"]][0])
        course = np.array([self._start, self.timestep, at + steps])
        p = self.network.values()
        compiled = self.network._compiled(self._tier, steps)
        delays = None
        if not steps:
            rows = self._column[None]
            if advance.delay_list:
                delays = np.zeros((1, advance.delayed))
        elif advance.delay_list:
            if self._past is None:
                self._past = Past(advance, self._column, p, self._start)
            self._past.p = p
            rows, delays = with_delays(advance, self._column, p, course, compiled, self._past)
        else:
            rows = recorded(advance, self._column, p, course, compiled)
        record = self.network._finished(advance, rows, delays, p, course, compiled)
        self._column = rows[-1].copy()
        self._ended = self._ended or record.terminated
        return record

    # -- formulas

    def __getitem__(self, name: str) -> Any:
        """The present value of a variable."""
        advance = self._advance()
        if name not in advance.system.variables:
            raise NetworkError(unknown_name("variable", name, advance.system.variables))
        return self._shown(advance.system.value(advance.system.variables[name]))

    def evaluate(self, text: str) -> Any:
        """The present value of any formula in the network's own names: ``"slip.leg - 1"``."""
        return self._shown(self._formula(text))

    def derivatives(self, text: str) -> Derivatives:
        """The present value of a formula with its time derivative and all partial derivatives."""
        value = self._formula(text)
        system = self._made.system
        owners: dict[Variable, ca.SX] = {}
        known = {symbol.element_hash(): one for one, symbol in system.named_symbols()}
        whole = dict(system.named_variables())
        for symbol in ca.symvar(value):
            owner = known.get(symbol.element_hash())
            if owner is not None:
                owners[owner] = whole[owner]
        towards = {
            owner.path: self._shown(ca.densify(ca.jacobian(ca.vec(value), ca.vec(symbol))))
            for owner, symbol in owners.items()
        }
        return Derivatives(self._shown(value), self._shown(system.rate(value)), towards)

    def _formula(self, text: str) -> ca.SX:
        return evaluate(formula_of(text), _Asked(self._advance().system), self.network)

    def _shown(self, value: ca.SX) -> Any:
        advance = self._advance()
        if advance.delay_list and ca.which_depends(
            ca.vec(value), advance.system.column("d"), 1, True
        ).count(True):
            raise NetworkError("delayed values are found in records, not asked of a run under way")
        function = ca.Function("asked", advance.symbols, [ca.densify(value)])
        part = {name: self._column[where] for name, where in advance.slices.items()}
        draws = np.zeros(len(advance.first_draws(0)[0]))
        draws[advance.layout.drawn] = part["u"]
        p, none = self.network.values(), np.zeros(advance.delayed)
        found = function(part["x"], part["h"], part["e"], p, draws, none, self.t)
        array = np.array(ca.DM(found))
        if array.size == 1:
            return float(array[0, 0])
        return array[:, 0] if array.shape[1] == 1 else array


class _Asked(World):
    """The world of a system for formulas that are not part of it: they must not add to it."""

    def __init__(self, system: System) -> None:
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

    def delayed(self, key: tuple[Any, ...], value: ca.SX, start: Any, delay: ca.SX) -> ca.SX:
        raise NetworkError("delayed values are kept for formulas of the network alone")
