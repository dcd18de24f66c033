"""Human36 on its feet."""

import pytest

import homodyn as hd
from homodyn.simulate import ContactGeometry
from homodyn.simulate.rigid.contact_state import contact_states


@pytest.fixture(scope="session")
def human():
    return hd.catalog.human36(variant="code")


@pytest.fixture(scope="session")
def feet(human):
    """The geometry of the eight contact points of the feet."""
    return ContactGeometry(
        human, tuple(shape.name for shape in human.contacts if shape.body.endswith("foot"))
    )


@pytest.fixture(scope="session")
def state_at(feet):
    """The contact state of a position and a velocity, without joint limits."""
    return contact_states(feet, limits=False)
