import numpy as np
import pytest

from homodyn.synthetic import walking_trial
from homodyn.synthetic.ground_truth import true_torques


@pytest.fixture(scope="session")
def synthetic():
    return walking_trial(seed=3)


@pytest.fixture(scope="session")
def walk(synthetic):
    return synthetic.walk


@pytest.fixture(scope="session")
def stride(walk):
    """One stride of the right foot: clock, state, torques, wrenches of right and left."""
    clock = np.linspace(0.0, walk.steps.period, 801)
    tau, ground_wrenches = true_torques(walk, clock)
    return clock, walk.state(clock), tau, ground_wrenches
