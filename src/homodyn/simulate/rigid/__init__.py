"""Rigid contact laws: time-stepping, and event by event."""

from homodyn.simulate.rigid.event_driven import EventDriven
from homodyn.simulate.rigid.event_loop import run_events
from homodyn.simulate.rigid.event_run import ContactEvent, Ending, EventRun
from homodyn.simulate.rigid.time_stepping import TimeStepping

__all__ = [
    "ContactEvent",
    "Ending",
    "EventDriven",
    "EventRun",
    "TimeStepping",
    "run_events",
]
