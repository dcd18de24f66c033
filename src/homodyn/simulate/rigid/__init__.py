"""Rigid contact laws: time stepping and event-driven."""

from homodyn.simulate.rigid.event_driven import EventDrivenContact
from homodyn.simulate.rigid.event_run import ContactEvent, EventRun, TerminationReason
from homodyn.simulate.rigid.event_sampling import run_events
from homodyn.simulate.rigid.time_stepping import TimeStepping

__all__ = [
    "ContactEvent",
    "EventDrivenContact",
    "EventRun",
    "TerminationReason",
    "TimeStepping",
    "run_events",
]
