"""Contact schedules: which parts of the feet are on the ground, and when."""

from homodyn.gait.contact_schedule.foot_contact_phases import (
    FootContact,
    FootContactPhase,
    complete_steps,
    contact_phases,
)
from homodyn.gait.contact_schedule.schedule_file import (
    read_contact_schedule,
    write_contact_schedule,
)

__all__ = [
    "FootContact",
    "FootContactPhase",
    "complete_steps",
    "contact_phases",
    "read_contact_schedule",
    "write_contact_schedule",
]
