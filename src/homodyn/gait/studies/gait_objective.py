"""What an objective of a gait study is, and what it knows of the study."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.model.side import Side
from homodyn.simulate.measures import Integral, Mean, Measure
from homodyn.simulate.signals import StepSample

GRAVITY_M_S2 = 9.81


@dataclass(frozen=True)
class GaitContext:
    """What objectives know of a study."""

    model: Model
    duration: float
    """s."""
    speed: float
    """Target (m/s)."""
    pitch: str
    """Coordinate of the pitch of the trunk."""
    neutral_zone: float
    """Pitch (rad) beyond which the assistance acts."""
    motors: tuple[int, ...]
    """Indices in v of the coordinates that the controller drives."""
    phases: Mapping[Side, str] = field(default_factory=dict)
    """Names of the signals with the phase of each leg (cycles from foot strike); empty without."""

    @property
    def forward(self) -> int:
        """Index in v of the forward translation."""
        return self.model.root.v[0]

    @property
    def second_half(self) -> float:
        """Start of the window that counts (s)."""
        return self.duration / 2

    @property
    def mass(self) -> float:
        """Kg."""
        return float(self.model.nominal_value(self.model.mass))


Values = Mapping[str, np.ndarray]
"""Values of measures by name, (candidates,); ``"time"`` is the end of the simulation (s)."""


@record
class GaitObjective(Record):
    """A number that describes a gait."""

    name: str
    unit: str
    maximize: bool
    worst: float
    """Value of a gait that ended before the window began."""
    description: str
    measures: Callable[[GaitContext], dict[str, Measure]]
    """Measures of the simulation by name."""
    value: Callable[[Values, GaitContext], np.ndarray]
    """The value for every candidate, from the measures."""
    needs_window: bool = True
    """Whether a candidate must reach the second half of the simulation to have a value."""

    def headline(self) -> str:
        """Name and unit."""
        return f"GaitObjective {self.name!r} ({self.unit or '1'}): {self.description}"


def measure_mean(name: str, function: Callable[[StepSample, GaitContext], Any]) -> Any:
    """A factory of the measures of an objective: one mean over the window.

    Args:
        name: Name of the measure.
        function: ``f(step, context)`` over symbols.

    Returns:
        A function of the context.
    """
    return lambda at: {name: Mean(lambda step: function(step, at), start=at.second_half)}


def measure_integral(name: str, function: Callable[[StepSample, GaitContext], Any]) -> Any:
    """A factory of the measures of an objective: one integral over the window.

    Args:
        name: Name of the measure.
        function: ``f(step, context)`` over symbols.

    Returns:
        A function of the context.
    """
    return lambda at: {name: Integral(lambda step: function(step, at), start=at.second_half)}


def read_measure(name: str) -> Callable[[Values, GaitContext], np.ndarray]:
    """The value of an objective that is a measure.

    Args:
        name: Name of the measure.

    Returns:
        A function of the measures and the context.
    """
    return lambda values, at: values[name]
