"""What a step kernel carries along besides the state: variables, signals and measures.

Variables are batch parameters that actions of events change. The memory of a step is one column:
variables first, then the memories of the signals, then those of the measures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation import enumerate_names
from homodyn.model import Model
from homodyn.simulate.constants import BatchParameters
from homodyn.simulate.measures import Measure, measure_values
from homodyn.simulate.signals import RandomNumber, Signal, SignalInput, StepSample
from homodyn.simulate.signals.signal import as_signal
from homodyn.spatial import Array
from homodyn.symbolic import Kernel
from homodyn.symbolic.trace import trace


def named_signals(given: Mapping[str, Any] | None) -> dict[str, Signal]:
    """Signals by name, from signals, functions, names and numbers."""
    signals = {name: as_signal(one) for name, one in (given or {}).items()}
    for name, signal in signals.items():
        if isinstance(signal, RandomNumber) and not signal.stream:
            signals[name] = replace(signal, stream=name)
    return signals


@dataclass(frozen=True, eq=False)
class StepMemory:
    """Signals, measures and variables of a simulation, and where their memories are.

    Raises:
        ModelError: A signal has the name of a batch parameter, or sizes do not fit.
    """

    model: Model
    batch_names: tuple[str, ...]
    signals: Mapping[str, Signal]
    measures: Mapping[str, Measure]
    variables: tuple[str, ...] = ()
    """Batch parameters that actions of events change."""

    def __post_init__(self) -> None:
        twice = [name for name in self.signals if name in self.batch_names]
        if twice:
            raise ModelError(
                f"{enumerate_names(twice)}: the name of a signal and of a batch parameter; choose "
                "different names"
            )
        wrong = [name for name, one in self.measures.items() if not isinstance(one, Measure)]
        if wrong:
            raise ModelError(
                f"measure {wrong[0]!r} is no Measure such as Integral(function); got "
                f"{self.measures[wrong[0]]!r}"
            )

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to carry along, and no signal."""
        return not (self.signals or self.measures or self.variables)

    @property
    def size(self) -> int:
        """Entries of the memory."""
        return sum(self._sizes)

    @property
    def measure_start(self) -> int:
        """Index of the first entry of the measures."""
        return sum(self._sizes[: len(self._sizes) - len(self.measures)])

    @property
    def stateful_signals(self) -> tuple[str, ...]:
        """Names of the signals with memory."""
        sizes = self._sizes[1 : 1 + len(self.signals)]
        return tuple(name for name, size in zip(self.signals, sizes, strict=True) if size)

    @cached_property
    def _sizes(self) -> tuple[int, ...]:
        """Entries of the variables together, of each signal, and of each measure."""
        if self.is_empty:
            return (0,)
        start, initial = self._initial_parts(self._symbols())
        sample = self._dummy_sample(start)
        sizes = [len(self.variables), *(part.shape[0] for part in initial)]
        sizes += [measure.initial(sample).shape[0] for measure in self.measures.values()]
        return tuple(sizes)

    @cached_property
    def signal_sizes(self) -> dict[str, int]:
        """Entries of each signal."""
        start, _ = self._initial_parts(self._symbols())
        return {name: ca.SX(start.batch[name]).shape[0] for name in self.signals}

    def symbols(self) -> SignalInput:
        """State, batch parameters and signals as symbols."""
        at = self._symbols()
        signals = {name: ca.SX.sym(name, size) for name, size in self.signal_sizes.items()}
        return replace(at, batch={**at.batch, **signals})

    def _symbols(self) -> SignalInput:
        batch = {name: ca.SX.sym(name) for name in self.batch_names}
        t, h = ca.SX.sym("t"), ca.SX.sym("h")
        q, v = ca.SX.sym("q", self.model.nq), ca.SX.sym("v", self.model.nv)
        return SignalInput(self.model, t, h, q, v, batch)

    def _initial_parts(self, at: SignalInput) -> tuple[SignalInput, list[Array]]:
        """The input with all signals at the start, and the initial memory of each signal."""
        parts = []
        for name, signal in self.signals.items():
            memory = ca.densify(ca.SX(signal.initial_memory(at)))
            parts.append(memory)
            at = replace(at, batch={**at.batch, name: signal.value(at, memory)})
        return at, parts

    def _dummy_sample(self, at: SignalInput) -> StepSample:
        """A step for the sizes of what measures evaluate."""
        # Contacts are not known here; forces and distances have the sizes without any.
        return StepSample(
            at.model, at.t, at.h, at.q, at.v, at.batch, at.q, at.v, at.v, [], []
        )  # fmt: skip

    def _memory_parts(self, memory: Array) -> list[Array]:
        """Memory of the variables, each signal and each measure."""
        return list(ca.vertsplit(memory, [0, *np.cumsum(self._sizes).tolist()]))

    def values(self, at: SignalInput, memory: Array) -> BatchParameters:
        """Batch parameters with variables and signals, by name."""
        if self.is_empty:
            return at.batch
        variables, *parts = self._memory_parts(memory)
        batch = dict(at.batch)
        batch.update({name: variables[k] for k, name in enumerate(self.variables)})
        for (name, signal), part in zip(self.signals.items(), parts, strict=False):
            batch[name] = _require_column(signal.value(replace(at, batch=batch), part), name)
        return batch

    def values_within_step(self, at: SignalInput) -> BatchParameters:
        """Batch parameters and signals at a state within a step; signals with memory are held."""
        if not self.signals:
            return at.batch
        batch = dict(at.batch)
        held = self.stateful_signals
        for name, signal in self.signals.items():
            if name not in held:
                batch[name] = _require_column(
                    signal.value(replace(at, batch=batch), ca.SX(0, 1)), name
                )
        return batch

    def next(self, step: StepSample, memory: Array) -> Array:
        """The memory after a step; its ``batch`` has variables and signals."""
        if self.is_empty:
            return memory
        variables, *parts = self._memory_parts(memory)
        laws: list[tuple[str, Signal | Measure]] = [*self.signals.items(), *self.measures.items()]
        after = [variables]
        for (name, law), part in zip(laws, parts, strict=True):
            new = ca.densify(ca.SX(law.next_memory(step, part)))
            if new.shape != part.shape:
                raise ModelError(
                    f"signal or measure {name!r} has a memory of {part.shape[0]} numbers, its "
                    f"next_memory returns {new.shape[0]}"
                )
            after.append(new)
        return ca.vertcat(ca.SX(0, 1), *after)

    def variable_values(self, memory: Array) -> dict[str, Array]:
        """Values of the variables by name."""
        return {name: memory[k] for k, name in enumerate(self.variables)}

    def with_variables(self, memory: Array, changes: Mapping[str, Array]) -> Array:
        """The memory with new values of variables."""
        variables, *parts = self._memory_parts(memory)
        new = [changes.get(name, variables[k]) for k, name in enumerate(self.variables)]
        return ca.vertcat(ca.SX(0, 1), *new, *parts)

    @cached_property
    def _initial_kernel(self) -> Kernel:
        model, count = self.model, len(self.batch_names)
        sizes: dict[str, Any] = {"q": model.nq, "v": model.nv, "batch": count}
        known = {}
        if model.parameters:
            sizes["parameters"] = len(model.parameters)
            known["parameters"] = model.parameter_symbols

        def initial(*symbols: ca.SX) -> Array:
            q, v, numbers, *_ = symbols
            batch = {name: numbers[k] for k, name in enumerate(self.batch_names)}
            at = SignalInput(model, ca.SX(0.0), ca.SX(1.0), q, v, batch)
            start, parts = self._initial_parts(at)
            sample = self._dummy_sample(start)
            parts += [measure.initial(sample) for measure in self.measures.values()]
            return ca.vertcat(ca.SX(0, 1), *[batch[name] for name in self.variables], *parts)

        traced = trace(
            initial, sizes, {"memory": self.size}, f"memory of {model.name}", given=known
        )
        return Kernel(traced)

    def initial(
        self,
        q: np.ndarray,
        v: np.ndarray,
        batch: np.ndarray,
        parameters: np.ndarray | None = None,
    ) -> np.ndarray:
        """The memory at the start: (size,), or (batch, size) where inputs differ."""
        if not self.size:
            return np.zeros(0)
        inputs = {"q": q, "v": v, "batch": batch}
        if self.model.parameters:
            assert parameters is not None
            inputs["parameters"] = parameters
        return np.asarray(self._initial_kernel(**inputs))

    def split_signals(self, recorded: np.ndarray | None) -> dict[str, np.ndarray]:
        """Recorded signals by name, (..., size), without the last axis for single numbers."""
        if recorded is None or not self.signals:
            return {}
        ends = np.cumsum([0, *self.signal_sizes.values()])
        parts = [recorded[..., a:b] for a, b in pairwise(ends)]
        return {
            name: part[..., 0] if part.shape[-1] == 1 else part
            for name, part in zip(self.signals, parts, strict=True)
        }

    def results(self, memory: np.ndarray) -> dict[str, np.ndarray]:
        """Values of the measures by name, (batch, ...), from memories (batch, size)."""
        places = len(self._sizes) - len(self.measures)
        ends = np.cumsum(self._sizes)
        return {
            name: measure_values(measure, memory[:, ends[k - 1] if k else 0 : ends[k]])
            for k, (name, measure) in enumerate(self.measures.items(), places)
        }


def _require_column(value: Array, name: str) -> Array:
    value = ca.densify(ca.SX(value))
    if value.shape[1] != 1:
        raise ModelError(
            f"signal {name!r} returns {value.shape[0]} x {value.shape[1]} numbers; a number or a "
            "column is needed"
        )
    return value
