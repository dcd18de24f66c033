"""A model with every kind of contact shape."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.model import ContactShape
from support.obstacles import random_rotation


@pytest.fixture(scope="session")
def dumbbell():
    """Two free bodies: every kind of contact shape on the first, a box and a rod on the second."""
    base = hd.model.Body("left", 1.0, np.zeros(3), np.eye(3) * 0.01)
    other = hd.model.Body("right", 2.0, np.zeros(3), np.eye(3) * 0.02)
    turn = random_rotation(11)
    shapes = (
        ContactShape("tip", "left", "point", [0.1, 0, 0]),
        ContactShape("ball", "left", "sphere", [0, 0.1, 0], radius=0.05),
        ContactShape("edge", "left", "line", [0, 0, 0.1], size=[0.4, 0, 0], rotation=turn),
        ContactShape("bone", "left", "capsule", [0, 0, 0.1], 0.03, [0.4, 0, 0], turn),
        ContactShape("block", "left", "box", [0, 0, 0], 0.0, [0.2, 0.4, 0.6], turn),
        ContactShape("crate", "right", "box", [0.05, 0, 0], 0.0, [0.6, 0.4, 0.2], turn.T),
        ContactShape("rod", "right", "capsule", [0, 0.2, 0], 0.02, [0.3, 0, 0]),
    )
    return hd.Model(
        "dumbbell",
        (base, other),
        (
            hd.joints.free().joint("a", "world", "left"),
            hd.joints.free().joint("b", "world", "right"),
        ),
        contacts=shapes,
    )


@pytest.fixture(scope="session")
def pairs():
    """Pairs of shapes of the dumbbell: every combination of round shapes and boxes."""
    return (
        ("tip", "crate"),
        ("ball", "crate"),
        ("bone", "rod"),
        ("block", "crate"),
        ("ball", "rod"),
    )
