"""A small figure that bends its knees and swings its arms, tracked once."""

import numpy as np
import pytest

import homodyn as hd
from support.small_figure import small_figure
from support.standing_block import RATE, trial_of


@pytest.fixture(scope="session")
def figure():
    return small_figure()


@pytest.fixture(scope="session")
def tracked(figure):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOMODYN_TIER", "interpreted")
        standing = hd.simulate.place_on_ground(figure, figure.neutral())
        poses = np.tile(standing, (60, 1))
        phase = np.sin(2 * np.pi * np.arange(60) / RATE)
        for name, size in {"right_swing": 0.5, "left_swing": -0.5}.items():
            poses[:, figure.position_index[figure.coordinate_index(name)]] += size * phase
        return hd.track.track(figure, trial_of(figure, poses), filter=None)
