"""A person who lifts a box three times, recorded with markers on trunk, arms and box alone."""

from __future__ import annotations

import numpy as np

import homodyn as hd
from homodyn.capture import Trial

MASS, HEIGHT = 76.0, 1.79
RATE, DURATION, LIFTS = 100.0, 3.0, 3
TRUNK = ("CLAV", "C7", "T10", "STRN")
ARMS = ("RUPA", "RELB", "RWRA", "RWRB", "LUPA", "LELB", "LWRA", "LWRB")
BOX = ("BOX1", "BOX2", "BOX3", "BOX4")


def recording(markers: tuple[str, ...] = TRUNK + ARMS, *, noise: float = 0.001) -> Trial:
    """The recording: some markers of the model, and four on the corners of the box (m)."""
    model = hd.catalog.heiman(height=HEIGHT, mass=MASS)
    time = np.arange(int(RATE * DURATION)) / RATE
    lift = 0.5 - 0.5 * np.cos(2 * np.pi * LIFTS * time / DURATION)
    q = np.tile(model.neutral(), (len(time), 1))
    for side in ("Right", "Left"):
        q[:, model.coordinate_index(f"Shoulder{side}_RY")] = -0.3 - 0.6 * lift
        q[:, model.coordinate_index(f"Elbow{side}_RY")] = -0.8 - 0.5 * lift
    q[:, model.coordinate_index("Lumbar_RY")] = 0.15 * (1 - lift)
    names = [marker.name for marker in model.markers]
    placed = hd.dynamics.marker_positions(model, q)
    body = placed[:, [names.index(name) for name in markers]]
    wrists = placed[:, [names.index("RWRA"), names.index("LWRA")]].mean(axis=1)
    corners = np.array([(0.1, y, z) for y in (-0.2, 0.2) for z in (-0.15, 0.15)])
    positions = np.concatenate([body, wrists[:, None] + corners], axis=1)
    positions += np.random.default_rng(9).normal(scale=noise, size=positions.shape)
    return Trial("lift", (*markers, *BOX), positions, RATE)
