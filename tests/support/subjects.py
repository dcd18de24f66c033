"""Persons of known sizes and attachments, and what cameras would see of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import homodyn as hd
from homodyn.capture import Trial
from homodyn.dynamics import marker_positions
from homodyn.model import Model


@dataclass(frozen=True)
class Subject:
    """The truth behind a synthetic recording."""

    model: Model
    scales: np.ndarray
    """(bodies, 3)."""
    shifts: np.ndarray
    """(markers, 3), m."""
    q: np.ndarray
    trial: Trial


def subject(
    generic: Model,
    seed: int,
    *,
    spread: float = 0.08,
    shift: float = 0.01,
    noise: float = 0.001,
    frames: int = 30,
    reach: float = 0.4,
    scales: np.ndarray | None = None,
    shifts: np.ndarray | None = None,
) -> Subject:
    """A person with scales within ``1 +- spread``, who takes poses all over the joint ranges."""
    rng = np.random.default_rng(seed)
    if scales is None:
        scales = rng.uniform(1 - spread, 1 + spread, (len(generic.bodies), 3))
    if shifts is None:
        shifts = rng.normal(0.0, shift, (len(generic.markers), 3))
    stretched = hd.catalog.scale(generic, dict(zip(generic.body_names, scales, strict=True)))
    model = replace(
        stretched,
        markers=tuple(
            replace(marker, position=marker.position + off)
            for marker, off in zip(stretched.markers, shifts, strict=True)
        ),
    )
    q = poses(model, rng, frames, reach)
    positions = marker_positions(model, q)
    positions = positions + rng.normal(0.0, noise, positions.shape)
    names = tuple(marker.name for marker in generic.markers)
    return Subject(model, scales, shifts, q, Trial("moving", names, positions, rate=100.0))


def poses(model: Model, rng: np.random.Generator, frames: int, reach: float) -> np.ndarray:
    """Poses around the middle of the ranges, the person turned and displaced a little."""
    low, high = np.maximum(model.lower, -1.2), np.minimum(model.upper, 1.2)
    dv = reach * (high - low) * rng.uniform(-1, 1, (frames, model.nv))
    root = model.joints[0].nv
    dv[:, root:] += ((low + high) / 2)[root:]
    dv[:, :root] = rng.normal(0.0, 0.3, (frames, root))
    start = np.tile(model.neutral(), (frames, 1))
    start[:, model.joint_slots[0].q.stop :] = 0.0
    result: np.ndarray = model.integrate(start, dv)
    return result
