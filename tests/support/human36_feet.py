"""Human36 on the eight contact points of its feet."""

import numpy as np

from homodyn.catalog.humans_order import from_humans
from homodyn.simulate.rigid.contact_modes import ContactModes

STICKING = np.full(8, 100.0)
"""Coefficients of friction so large that no contact slides, as HuMAnS assumes."""


def closed_modes(state):
    """The modes of a state with all contacts closed."""
    modes = ContactModes.from_state(state, 8)
    assert modes.closed.all()
    return modes


def sinking(human, speed):
    """Velocities of a human that moves downwards (m/s), (42,)."""
    return from_humans(human, -speed * np.eye(42)[37])
