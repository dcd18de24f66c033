"""Small bodies to let fall, slide, roll and swing."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.model import Assembly, box, joints, rod, sphere


@pytest.fixture(scope="session")
def ball():
    """A free ball of 1 kg and 0.1 m."""
    return (
        Assembly("ball")
        .add(sphere("ball", 1.0, 0.1), joints.free())
        .contact("skin", "ball", "sphere", radius=0.1)
        .model()
    )


@pytest.fixture(scope="session")
def block():
    """A free box of 10 kg, 0.4 m wide and 0.2 m high, that stands on its corners (g = 9.8)."""
    return (
        Assembly("block")
        .add(box("block", 10.0, (0.4, 0.4, 0.2)), joints.free())
        .contact("sole", "block", "box", size=(0.2, 0.2, 0.1))
        .model(gravity=(0.0, 0.0, -9.8))
    )


@pytest.fixture(scope="session")
def chain():
    """Three rods that float free in space, joined by a hinge and a ball joint."""
    tail = (0.0, 0.0, -0.5)
    return (
        Assembly("chain")
        .add(rod("a", 1.0, (0.1, 0, 0), tail), joints.free())
        .add(box("b", 2.0, (0.1, 0.2, 0.3), com=(0, 0.05, 0)), joints.revolute("y"), "a", at=tail)
        .add(box("c", 0.5, (0.3, 0.1, 0.1)), joints.spherical(), "b", at=(0.2, 0, 0))
        .model(gravity=(0.0, 0.0, 0.0))
    )


@pytest.fixture(scope="session")
def pendulum():
    """A rod of 1 kg and 1 m on a hinge."""
    return (
        Assembly("pendulum")
        .add(rod("rod", 1.0, (0, 0, 0), (0, 0, -1.0)), joints.revolute("y"))
        .model()
    )


def standing(model, scene=None):
    """The neutral pose with its lowest contact just on the ground."""
    q = model.neutral()
    scene = scene or hd.simulate.ContactGeometry(model)
    lowest = hd.simulate.gap_distances(scene)(q)["distance"].min()
    up = [k for k, name in enumerate(model.coordinate_names) if name.lower().endswith("tz")]
    q[up[0] if up else 2] -= lowest
    return q


@pytest.fixture(scope="session")
def on_the_ground():
    return standing


def slope(angle):
    """Level ground tilted about y: downhill is +x."""
    return hd.simulate.PlaneObstacle((np.sin(angle), 0.0, np.cos(angle)))


@pytest.fixture(scope="session")
def tilted():
    return slope
