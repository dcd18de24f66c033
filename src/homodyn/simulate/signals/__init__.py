"""Signals: named values of controllers, with memory where they need it."""

from homodyn.simulate.signals.controller_memory import (
    Delay,
    DynamicState,
    ForceFeedback,
    Hold,
    LowPass,
)
from homodyn.simulate.signals.modulation import PeriodicCubic
from homodyn.simulate.signals.network_signal import NetworkSignal
from homodyn.simulate.signals.random_numbers import RandomNumber
from homodyn.simulate.signals.signal import (
    FunctionSignal,
    Quantity,
    Signal,
    SignalInput,
    StepSample,
)
from homodyn.simulate.signals.stimulation_control import ImpulseSchedule, StimulationControl
from homodyn.simulate.signals.timing import (
    LONG_AGO_S,
    PhaseVariable,
    Pulse,
    StateMachine,
    Timer,
    Transition,
)

__all__ = [
    "LONG_AGO_S",
    "Delay",
    "DynamicState",
    "ForceFeedback",
    "FunctionSignal",
    "Hold",
    "ImpulseSchedule",
    "LowPass",
    "NetworkSignal",
    "PeriodicCubic",
    "PhaseVariable",
    "Pulse",
    "Quantity",
    "RandomNumber",
    "Signal",
    "SignalInput",
    "StateMachine",
    "StepSample",
    "StimulationControl",
    "Timer",
    "Transition",
]
