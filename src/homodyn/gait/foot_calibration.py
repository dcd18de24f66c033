"""Contact points of the feet, fitted to where the recorded feet stand and roll.

While a heel rolls or a forefoot stands, its contact point is on the floor and does not slip. Every
point solves a linear least-squares problem: height on the floor, no slip, near to where it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from homodyn.dynamics import angular_velocity, orientation, position
from homodyn.gait.contact_schedule.foot_contact_phases import (
    FOOT_POINTS,
    FootContact,
    foot_states,
    state_at,
)
from homodyn.model import ContactShape, Model
from homodyn.motion import Event, Motion, Side

HEIGHT_DEVIATION_M = 0.003
"""Expected deviation of a standing point from the floor."""
SLIP_DEVIATION_M = 0.01
"""Expected horizontal deviation of a standing point."""
PLACEMENT_DEVIATION_M = 0.03
"""Expected deviation of a contact point of the model from that of the person."""
INDEPENDENT_FRAMES = 10
"""Frames of a stance that count as independent, however fast the camera."""
MIN_STANCE_FRAMES = 3
"""Shorter stances are not used."""


def fit_foot_contacts(motion: Motion, events: Sequence[Event]) -> Model:
    """The model with contact points that touch the floor while the recorded feet stand on it.

    Args:
        motion: A walk over ground at height 0 (`homodyn.gait.treadmill.motion_over_ground` on a
            belt), of a model with contacts at heel, hallux and fifth metatarsal.
        events: Foot strikes and foot offs.

    Returns:
        The model; masses and joints are unchanged.

    Raises:
        CaptureError: A foot has no events.
    """
    return fit_shared_foot_contacts([(motion, events)])


def fit_shared_foot_contacts(trials: Sequence[tuple[Motion, Sequence[Event]]]) -> Model:
    """One set of contact points for several walks of a person.

    Args:
        trials: Walks with their foot strikes and foot offs; see `fit_foot_contacts`. The contacts
            of the first one are the start.

    Returns:
        The model of the first walk with fitted contacts.

    Raises:
        CaptureError: A foot has no events.
    """
    model = trials[0][0].model
    contacts = {contact.name: contact for contact in model.contacts}
    for side in Side:
        labels = [_contact_labels(motion, side, events) for motion, events in trials]
        for point in FOOT_POINTS:
            part = FootContact.HEEL if point == "Heel" else FootContact.FOREFOOT
            name = f"{point}{side.title}"
            stances = [
                (motion, np.isin(own, (part, FootContact.FLAT)))
                for (motion, _), own in zip(trials, labels, strict=True)
            ]
            contacts[name] = _fit_contact(contacts[name], stances)
    return replace(model, contacts=tuple(contacts.values()))


def _contact_labels(motion: Motion, side: Side, events: Sequence[Event]) -> np.ndarray:
    """The contact of a foot in each frame."""
    states = foot_states(motion, side, events)
    return np.array([state_at(states, float(t)).contact for t in motion.time])


def _fit_contact(
    contact: ContactShape, stances: Sequence[tuple[Motion, np.ndarray]]
) -> ContactShape:
    """The contact moved in its body to where it stands, or rolls without slipping."""
    rows = [np.eye(3) / PLACEMENT_DEVIATION_M]
    values = [np.asarray(contact.position) / PLACEMENT_DEVIATION_M]
    for motion, standing in stances:
        own_rows, own_values = _stance_equations(motion, contact, standing)
        rows += own_rows
        values += own_values
    place = np.linalg.lstsq(np.vstack(rows), np.concatenate(values), rcond=None)[0]
    return replace(contact, position=place)


def _stance_equations(
    motion: Motion, contact: ContactShape, standing: np.ndarray
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Rows and values of the least-squares problem: on the floor, and no slip."""
    model, radius = motion.model, float(contact.radius)
    rotation = np.asarray(orientation(model, motion.q, contact.body))
    origin = np.asarray(position(model, motion.q, contact.body))
    spin = np.asarray(angular_velocity(model, motion.q, motion.v, contact.body))
    rolling = np.cross(spin, [0.0, 0.0, radius]) * np.gradient(motion.time)[:, None]
    target = np.cumsum(rolling, axis=0) - origin
    target[:, 2] = radius - origin[:, 2]
    thinning = np.sqrt(max(standing.sum() / INDEPENDENT_FRAMES, 1.0))
    rows, values = [], []
    frames = np.flatnonzero(standing)
    for stance in np.split(frames, np.flatnonzero(np.diff(frames) > 1) + 1):
        if len(stance) < MIN_STANCE_FRAMES:
            continue
        for axis, deviation in enumerate((SLIP_DEVIATION_M, SLIP_DEVIATION_M, HEIGHT_DEVIATION_M)):
            row, value = rotation[stance, axis], target[stance, axis]
            if axis < 2:
                row, value = row - row.mean(axis=0), value - value.mean()
            rows.append(row / (deviation * thinning))
            values.append(value / (deviation * thinning))
    return rows, values
