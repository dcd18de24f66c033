"""A standing human that sways, to test what motions require."""

import numpy as np

import homodyn as hd
from homodyn.motion import Motion


def swaying(frames: int = 41, amplitude: float = 0.15) -> Motion:
    """A standing human that bends its joints to and fro, feet on the ground or not."""
    model = hd.catalog.heiman(height=1.75, mass=70)
    time = np.linspace(0, 1, frames)
    rng = np.random.default_rng(4)
    size = rng.uniform(-amplitude, amplitude, model.nv)
    phase = 2 * np.pi * time[:, None] + rng.uniform(0, 6, model.nv)
    q = np.array([model.integrate(model.neutral(), step) for step in size * np.sin(phase)])
    v = size * 2 * np.pi * np.cos(phase)
    a = -size * 4 * np.pi**2 * np.sin(phase)
    return Motion(model, time, q, v, a)
