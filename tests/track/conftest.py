"""A block that stands, with an arm on it; kernels on the virtual machine."""

import pytest

from support.standing_block import standing_block, standing_pose


@pytest.fixture(scope="session")
def block():
    return standing_block()


@pytest.fixture(scope="session")
def still(block):
    return standing_pose(block)


@pytest.fixture(scope="module")
def interpreted():
    """Kernels run on the virtual machine: compiling does not pay for a few hundred steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOMODYN_TIER", "interpreted")
        yield
