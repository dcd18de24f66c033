"""Small models that fall, slide, roll and swing."""

import pytest

from homodyn.model import Assembly, box, joints, rod, sphere


@pytest.fixture(scope="session")
def ball():
    """A free ball of 1 kg and radius 0.1 m."""
    return (
        Assembly("ball")
        .add(sphere("ball", 1.0, 0.1), joints.free())
        .contact("skin", "ball", "sphere", radius=0.1)
        .model()
    )


@pytest.fixture(scope="session")
def block():
    """A free box of 10 kg, 0.4 m wide and 0.2 m high, with contacts at its corners (g = 9.8)."""
    return (
        Assembly("block")
        .add(box("block", 10.0, (0.4, 0.4, 0.2)), joints.free())
        .contact("sole", "block", "box", size=(0.4, 0.4, 0.2))
        .model(gravity=(0.0, 0.0, -9.8))
    )


@pytest.fixture(scope="session")
def chain():
    """Three rods without gravity, connected by a hinge and a ball joint."""
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


@pytest.fixture(scope="module")
def interpreted():
    """Kernels run on the virtual machine: compiling does not pay for a few hundred steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOMODYN_TIER", "interpreted")
        yield
