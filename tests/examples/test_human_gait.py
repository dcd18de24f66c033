"""The gait of the example is like that of people, by the evidence of its own numbers."""


import pytest

from examples import human_gait


@pytest.fixture(scope="module")
def gait():
    return human_gait.load_found()
