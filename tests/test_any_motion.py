"""Measures, margins, reports, the studio and exporters accept any motion, whoever made it."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.motion import Motion, MotionSource

SOURCES = ("recorded", "simulated", "optimized", "synthetic")


@pytest.fixture(scope="module")
def walk():
    """A synthetic walk without noise, with its truth."""
    return hd.synthetic.walking_trial(noise=0.0, gaps=0.0, strides=3, mass=70.0)


@pytest.fixture(scope="module")
def motions(walk) -> dict[str, Motion]:
    """One walk from each maker of motions."""
    truth = walk.truth.motion
    recorded = hd.capture.inverse_kinematics(walk.model, walk.trial)
    replayed = replay_by_simulation(truth)
    optimized = hd.gait.synthesize(speed=1.3)
    return {
        "recorded": recorded,
        "simulated": replayed,
        "optimized": optimized,
        "synthetic": truth,
    }
