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
    contacts = {contact.name: contact for contact in motion.model.contacts}
    for side in Side:
        states = foot_states(motion, side, events)
        labels = np.array([state_at(states, float(t)).contact for t in motion.time])
        for point in FOOT_POINTS:
            part = FootContact.HEEL if point == "Heel" else FootContact.FOREFOOT
            standing = np.isin(labels, (part, FootContact.FLAT))
            name = f"{point}{side.title}"
            contacts[name] = _fit_contact(motion, contacts[name], standing)
    return replace(motion.model, contacts=tuple(contacts.values()))


def _fit_contact(motion: Motion, contact: ContactShape, standing: np.ndarray) -> ContactShape:
    """The contact moved in its body to where it stands, or rolls without slipping."""
    model, radius = motion.model, float(contact.radius)
    rotation = np.asarray(orientation(model, motion.q, contact.body))
    origin = np.asarray(position(model, motion.q, contact.body))
    spin = np.asarray(angular_velocity(model, motion.q, motion.v, contact.body))
    rolling = np.cross(spin, [0.0, 0.0, radius]) * np.gradient(motion.time)[:, None]
    target = np.cumsum(rolling, axis=0) - origin
    target[:, 2] = radius - origin[:, 2]
    thinning = np.sqrt(max(standing.sum() / INDEPENDENT_FRAMES, 1.0))
    rows = [np.eye(3) / PLACEMENT_DEVIATION_M]
    values = [np.asarray(contact.position) / PLACEMENT_DEVIATION_M]
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
    place = np.linalg.lstsq(np.vstack(rows), np.concatenate(values), rcond=None)[0]
    return replace(contact, position=place)
