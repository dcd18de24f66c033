"""What a run begins with: times, a checked state, torques on the grid, and what is odd about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from homodyn.errors import ModelError
from homodyn.model import Model
from homodyn.simulate.actuation import SampledTorques
from homodyn.simulate.geometry import Scene, gap_distances
from homodyn.simulate.marching import Point
from homodyn.simulate.setup import Setup

DEEP = 0.01
"""Penetration (m) at the start that is worth a note."""


def time_grid(duration: float, dt: float, record: float | None) -> tuple[np.ndarray, int]:
    """Times of all steps, and how many steps lie between records."""
    if not (dt > 0 and duration > 0 and np.isfinite(dt) and np.isfinite(duration)):
        raise ModelError(f"duration {duration} and dt {dt} (s) must be positive numbers")
    if record is not None and not record > 0:
        raise ModelError(f"what is kept is kept every so many seconds > 0, got {record}")
    steps = max(1, int(np.ceil(duration / dt - 1e-9)))
    every = 1 if record is None else max(1, round(record / (duration / steps)))
    return np.linspace(0.0, duration, steps + 1), every


def start_point(setup: Setup, q0: Any, v0: Any, lane: Mapping[str, float]) -> Point:
    """The checked first point of a run."""
    model = setup.model
    q = checked_state(model, q0, "q0")
    v = np.zeros(model.nv) if v0 is None else checked_state(model, v0, "v0")
    numbers = np.array([float(value) for value in lane.values()])
    wrong = [name for name, number in zip(lane, numbers, strict=True) if not np.isfinite(number)]
    if wrong:
        raise ModelError(f"lane parameters must be finite; {', '.join(wrong)} is not")
    return Point(0.0, q, v, np.zeros(setup.memory), np.zeros(3), numbers, np.zeros(model.nv))


def checked_state(model: Model, given: Any, name: str) -> np.ndarray:
    """Positions ("q0") or velocities ("v0") as an array of finite numbers."""
    size = model.nq if name == "q0" else model.nv
    array = np.array(given, dtype=float)
    if array.shape != (size,):
        raise ModelError(f"{name} of model {model.name!r} has {size} entries, got {array.shape}")
    if not np.all(np.isfinite(array)):
        raise ModelError(f"{name} must be finite numbers")
    return unit_quaternions(model, array) if name == "q0" else array


def unit_quaternions(model: Model, q: np.ndarray) -> np.ndarray:
    """Positions with their quaternions made of length one, over leading axes.

    Those that are off by more than rounding in a file would be are refused.
    """
    made = q.copy()
    for joint, slots in zip(model.joints, model.joint_slots, strict=True):
        if not joint.quaternion:
            continue
        turn = made[..., slots.q.stop - 4 : slots.q.stop]
        length = np.linalg.norm(turn, axis=-1, keepdims=True)
        off = np.abs(length - 1)
        if np.any(off > 1e-3):
            worst = float(np.ravel(length)[np.nanargmax(off)])
            raise ModelError(
                f"the quaternion of joint {joint.name!r} has length {worst:.4g}; it must be 1"
            )
        np.divide(turn, length, out=turn, where=off > 1e-12)
    return made


def inside_at_start(scene: Scene, q: np.ndarray) -> tuple[str, ...]:
    """Which contacts begin deep in what they should touch, in words."""
    distances = gap_distances(scene)(q)["distance"]
    return tuple(
        f"{name} starts {-d * 1e3:.0f} mm inside what it touches"
        for name, d in zip(scene.names, distances, strict=True)
        if d < -DEEP
    )


def sampled_torques(setup: Setup, grid: np.ndarray) -> np.ndarray | None:
    """Sum of all sampled torques on the grid; None without any."""
    parts = [part for part in setup.actuation if isinstance(part, SampledTorques)]
    if not parts:
        return None
    total = sum(part.at(grid) for part in parts)
    if total.shape[-1] != setup.model.nv:  # type: ignore[union-attr]
        raise ModelError(
            f"sampled torques have {total.shape[-1]} columns; model "  # type: ignore[union-attr]
            f"{setup.model.name!r} has {setup.model.nv} degrees of freedom"
        )
    return np.asarray(total)
