"""Rigid contact laws: time-stepping, and event by event."""

from homodyn.simulate.rigid.event_driven import (
    ContactEvent,
    Ending,
    EventDriven,
    EventRun,
    run_events,
)
from homodyn.simulate.rigid.time_stepping import TimeStepping

__all__ = [
    "ContactEvent",
    "Ending",
    "EventDriven",
    "EventRun",
    "TimeStepping",
    "run_events",
]
