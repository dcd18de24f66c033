"""Options and measured activations are checked when they are made."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.muscle import EmgTargets, StaticOptimizationOptions


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"power": 0.5}, "smaller powers are not convex"),
        ({"power": np.nan}, "the power of activations is nan"),
        ({"weights": "mass"}, "no weights 'mass'"),
        ({"weights": {"soleus": -1.0}}, "weight of muscle 'soleus' is -1"),
        ({"tendon": "soft"}, "no tendon 'soft'"),
        ({"tendon": "compliant", "smoothness": 1.0}, "compliant tendons are solved frame by frame"),
        ({"tendon": "compliant", "passive_fibers": False}, "needs force_length_velocity=True"),
        ({"lower": -0.1}, "lower bound of activation of all muscles is -0.1; 0 to 1"),
        ({"upper": {"soleus": 1.5}}, "upper bound of activation of 'soleus' is 1.5"),
        ({"reserves": -1.0}, "reserve of all coordinates has a strength of -1"),
        ({"reserves": {"knee": np.inf}}, "reserve of 'knee'"),
        ({"smoothness": -1.0}, "smoothness is -1"),
        ({"wrapping": "tight"}, "tight"),
    ],
)
def test_wrong_options_are_named(wrong, message):
    with pytest.raises(hd.HomodynError, match=message):
        StaticOptimizationOptions(**wrong)


def test_the_program_is_stated_in_words():
    assert "activation^2; active force by length" in StaticOptimizationOptions().sentence
    chosen = StaticOptimizationOptions(
        power=3, weights="volume", smoothness=0.1, reserves={"knee": 2.0}, passive_fibers=False
    )
    for words in ("activation^3, weighted by volume", "no passive", "0.1 s2", "knee 2"):
        assert words in chosen.sentence


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"activations": np.full((4, 1), 1.2)}, "'soleus' in frame 0 is 1.2; 0 to 1 is accepted"),
        ({"activations": np.zeros((4, 2))}, r"\(frames, 1\) is expected"),
        ({"weight": 0.0}, "weight of targets is 0"),
        ({"mode": "driven"}, "no mode 'driven'"),
    ],
)
def test_wrong_targets_are_named(wrong, message):
    given = {"muscles": ("soleus",), "activations": np.zeros((4, 1))} | wrong
    with pytest.raises(hd.HomodynError, match=message):
        EmgTargets(**given)
