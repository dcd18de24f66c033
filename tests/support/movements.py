"""Movements of models and the trials that cameras would make of them."""

from dataclasses import replace

import numpy as np

from homodyn.capture import Trial
from homodyn.capture.kinematics import world_axes
from homodyn.dynamics import marker_positions
from homodyn.model import Marker, Model
from homodyn.model.configuration import clamp


def trial_of(model: Model, q: np.ndarray, *, rate: float = 100.0, noise: float = 0.0) -> Trial:
    """What error-free cameras, or such with some noise (m), would record of poses."""
    seen = marker_positions(model, q) @ world_axes(model).T
    seen = seen + noise * np.random.default_rng(5).normal(size=seen.shape)
    return Trial("made", tuple(marker.name for marker in model.markers), seen, rate)


def swaying(
    model: Model,
    frames: int,
    *,
    seed: int = 0,
    amplitude: float = 0.3,
    place: tuple[float, ...] = (),
    still: tuple[str, ...] = (),
) -> np.ndarray:
    """Smooth motion of all coordinates within their limits, about neutral moved by ``place``."""
    rng = np.random.default_rng(seed)
    time = np.arange(frames)[:, None] / 100
    steps = rng.uniform(0.3, 1, model.nv) * amplitude
    steps = steps * np.sin(rng.uniform(2, 8, model.nv) * time + rng.uniform(0, 6, model.nv))
    steps[:, : len(place)] += place
    for name in still:
        steps[:, model.coordinate_index(name)] = 0.0
    return clamp(model, model.integrate(model.neutral(), steps))


def marked(model: Model, *, each: int = 3, seed: int = 0) -> Model:
    """The model with some markers on every body and with weight along z."""
    rng = np.random.default_rng(seed)
    markers = [
        Marker(f"{body.name}_{k}", body.name, 0.3 * rng.normal(size=3))
        for body in model.bodies
        for k in range(each)
    ]
    return replace(model, markers=tuple(markers), gravity=(0.0, 0.0, -9.81))
