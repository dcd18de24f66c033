"""Contact laws: the interfaces of their three kinds, springs, and spheres of Hertz.

The rigid laws `homodyn.simulate.TimeStepping` and `homodyn.simulate.EventDrivenContact` are in
`homodyn.simulate.rigid`.
"""

from homodyn.simulate.laws.contact_law import (
    ContactForces,
    ContactLaw,
    EventDrivenLaw,
    ForceLaw,
    StepLaw,
    StepProblem,
    VelocityStep,
)
from homodyn.simulate.laws.hunt_crossley import HuntCrossleyContact, osim_contact
from homodyn.simulate.laws.implicit_springs import ImplicitSprings
from homodyn.simulate.laws.pad_contact import (
    PadContact,
    dissipation_of_loss,
    heel_pads,
    pad_force,
)
from homodyn.simulate.laws.soft_contact import SoftContact, SpringContact

__all__ = [
    "ContactForces",
    "ContactLaw",
    "EventDrivenLaw",
    "ForceLaw",
    "HuntCrossleyContact",
    "ImplicitSprings",
    "PadContact",
    "SoftContact",
    "SpringContact",
    "StepLaw",
    "StepProblem",
    "VelocityStep",
    "dissipation_of_loss",
    "heel_pads",
    "osim_contact",
    "pad_force",
]
