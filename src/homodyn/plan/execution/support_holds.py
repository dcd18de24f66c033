"""How well supports are held in a simulation: slips, placements, and available wrenches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn import dynamics
from homodyn.motion.supports import ContactPatch, Grasp, Support
from homodyn.plan.execution.execution_options import ExecutionOptions
from homodyn.plan.execution.plan_execution import SupportHold
from homodyn.plan.execution.support_contacts import Interval
from homodyn.plan.execution.support_inclusion import is_included
from homodyn.plan.phase_sequence import PhaseSequence
from homodyn.plan.support_targets import SupportBody
from homodyn.simulate import SimulationResult

SETTLING_TIME_S = 0.06
"""Time after the start of a support, and before its end, that does not count."""


def support_holds(
    sequence: PhaseSequence,
    intervals: Sequence[tuple[Support, Interval]],
    simulation: SimulationResult,
    options: ExecutionOptions,
) -> tuple[SupportHold, ...]:
    """Slips and placements of all supports that the simulation reached.

    Args:
        sequence: Phases of the plan.
        intervals: Supports and when they are used, s.
        simulation: The simulation.
        options: Contact law, whose friction counts for the available wrenches.
    """
    found = []
    for support, (start, end) in intervals:
        body = sequence.context.bodies[support.body]
        time = simulation.time
        first = start if start == 0.0 else start + SETTLING_TIME_S
        own = np.flatnonzero((time >= first - 1e-9) & (time <= end - SETTLING_TIME_S + 1e-9))
        if not len(own):
            continue
        q = simulation.q[own]
        places = _touching_points(body, sequence, q)
        middles = np.array([_place(body, sequence, pose) for pose in q])
        slip = float(np.linalg.norm(middles - middles[0], axis=-1).max())
        offset = middles[0] - np.asarray(support.middle)
        included = None
        if isinstance(support, ContactPatch) and body.is_sole:
            offset = offset - (offset @ support.normal) * support.normal
            friction = getattr(options.contact, "friction", 0.0)
            if isinstance(friction, float | int):
                included = all(
                    is_included(support, places[k], float(friction)) for k in (0, len(own) - 1)
                )
        elif not isinstance(support, Grasp):
            # A seated body lands where its center of mass takes it.
            offset = np.zeros(3)
        found.append(
            SupportHold(
                support.name,
                support.body,
                start,
                min(end, float(time[-1])),
                slip,
                float(np.linalg.norm(offset)),
                included,
            )
        )
    return tuple(found)


def _place(body: SupportBody, sequence: PhaseSequence, q: np.ndarray) -> np.ndarray:
    """(3,), m: center of a sole, the grip of a hand, or the seated root."""
    model = sequence.context.model
    if not body.is_sole:
        return np.asarray(dynamics.position(model, q, body.name if body.is_seat else body.grip))
    turn = np.asarray(dynamics.orientation(model, q, body.name))
    return np.asarray(dynamics.position(model, q, body.name)) + turn @ body.sole[0]


def _touching_points(body: SupportBody, sequence: PhaseSequence, q: np.ndarray) -> np.ndarray:
    """(samples, points, 3), m: corners of a sole, the grip of a hand, or the seated root."""
    model = sequence.context.model
    names = [body.name]
    if body.is_sole:
        names = [contact.name for contact in model.contacts if contact.body in body.family]
    elif not body.is_seat:
        names = [body.grip]
    return np.stack([np.asarray(dynamics.position(model, q, name)) for name in names], axis=1)
