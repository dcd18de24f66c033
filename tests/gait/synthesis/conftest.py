"""The model and the stored steps that tests of synthesis share."""

import pytest

import homodyn as hd


@pytest.fixture(scope="session")
def model():
    return hd.gait.walking_model()


@pytest.fixture(scope="session")
def steps():
    """Stored steps that minimize an objective, by name."""
    return {
        name: step for name, step in hd.gait.stored_steps().items() if step.objective is not None
    }
