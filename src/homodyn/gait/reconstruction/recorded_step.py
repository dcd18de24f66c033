"""A recorded walk made ready for reconstruction: on still ground, with feet on the floor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.gait.contact_schedule import FootContactPhase, complete_steps, contact_phases
from homodyn.gait.contact_schedule.load_transfer import align_events
from homodyn.gait.events import find_events
from homodyn.gait.foot_calibration import fit_foot_contacts
from homodyn.gait.foot_contact_points import turn_loads, with_foot_contacts
from homodyn.gait.treadmill import belt_velocity, loads_over_ground, motion_over_ground
from homodyn.motion import Event, Loads, Motion


@record
class RecordedStep(Record):
    """What `homodyn.gait.reconstruct` needs of a recorded walk."""

    motion: Motion
    """The walk in axes with Z up, relative to the belt, with fitted contact points."""
    loads: Loads | None
    """Loads under measured forces in the same axes."""
    phases: tuple[FootContactPhase, ...]
    """The contact schedule."""
    events: tuple[Event, ...]
    """Foot strikes and foot offs."""
    belt: np.ndarray
    """(3,), m/s: velocity of the belt in the laboratory; zero overground."""

    def headline(self) -> str:
        """Phases and time span."""
        names = ", ".join(phase.name for phase in self.phases)
        return f"RecordedStep {self.phases[0].begin:.3f} to {self.phases[-1].end:.3f} s: {names}"

    @property
    def belt_speed(self) -> float:
        """Speed of the belt (m/s)."""
        return float(np.linalg.norm(self.belt))


def prepare_step(
    motion: Motion,
    loads: Loads | None = None,
    *,
    events: Sequence[Event] | None = None,
    phases: Sequence[FootContactPhase] | None = None,
    span: tuple[float, float] | None = None,
    steps: int = 1,
    belt_speed: float | None = None,
    fit_contacts: bool = True,
) -> RecordedStep:
    """Prepare a recorded walk for reconstruction.

    Models without contacts at heels and toes get them, and models with Y up are turned to Z up. The
    velocity of a belt is removed, events that were found in the motion alone are aligned with the
    transfer of the load, and contact points are fitted to the floor.

    Args:
        motion: The walk, low-pass filtered.
        loads: Loads under measured forces.
        events: Foot strikes and foot offs; found in the motion when left out.
        phases: Contact schedule; found when left out.
        span: Time span (s); when left out the first steps that plates measured, or else the first
            ones.
        steps: Number of consecutive steps, where neither phases nor span are given.
        belt_speed: Speed of the belt (m/s) where it is known; 0 is still ground.
        fit_contacts: Whether contact points are fitted to the floor.

    Returns:
        The step.

    Raises:
        CaptureError: There is no complete step, or the belt contradicts the feet.
        ModelError: No left and right leg are found.
    """
    body = with_foot_contacts(motion)
    forces = None if loads is None else turn_loads(loads, body)
    belt = belt_velocity(body, belt_speed)
    if belt.any():
        body = motion_over_ground(body, belt)
        forces = None if forces is None else loads_over_ground(forces, body, belt)
    found = align_events(body, events or find_events(body))
    if phases is None:
        span = span or first_steps(found, forces, steps)
        phases = contact_phases(body, events=found, span=span)
    if fit_contacts:
        body = replace(body, model=fit_foot_contacts(body, found))
        forces = None if forces is None else replace(forces, motion=body)
    return RecordedStep(body, forces, tuple(phases), found, belt)


def first_steps(
    events: Sequence[Event], loads: Loads | None = None, steps: int = 1
) -> tuple[float, float]:
    """The first consecutive steps, those during which plates measured all forces before others.

    Args:
        events: Foot strikes and foot offs.
        loads: Loads under measured forces.
        steps: Number of consecutive steps.

    Returns:
        Begin and end (s).

    Raises:
        CaptureError: There are fewer steps in sequence.
    """
    complete = complete_steps(events)
    spans = []
    for k in range(len(complete) - steps + 1):
        chosen = complete[k : k + steps]
        if all(one[1] == two[0] for one, two in pairwise(chosen)):
            spans.append((chosen[0][0], chosen[-1][1]))
    if not spans:
        found = f"there are {len(complete)} complete steps in the motion, not {steps} in sequence"
        raise CaptureError(
            f"{found if complete else 'there is no complete step in the motion'}: a step takes a "
            "foot off, the strike of that foot and the foot off of the other; record longer, or "
            "give a time span"
        )
    if loads is not None:
        time = loads.motion.time
        for begin, end in spans:
            inside = (time >= begin) & (time <= end)
            if inside.any() and loads.covered[inside].all():
                return begin, end
    return spans[0]
