"""The start of a run: time grid, checked state, sampled torques, and notes about contacts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from homodyn.errors import ModelError
from homodyn.model import Model
from homodyn.simulate.geometry import ContactGeometry, gap_distances
from homodyn.simulate.motion_system import WORK_SIZE
from homodyn.simulate.setup import SimulationSetup
from homodyn.simulate.simulation_point import SimulationPoint

MIN_REPORTED_DEPTH_M = 0.01
"""Penetration at the start from which there is a note."""
MAX_STEP_ROUNDING = 1e-12
"""Relative difference of two lengths of a step that are equal but for rounding."""
MAX_NORM_ERROR = 1e-3
"""Deviation of the norm of a quaternion from 1 that is corrected; a larger one is refused."""


def time_grid(duration: float, dt: float, interval: float | None) -> tuple[np.ndarray, int]:
    """Times of all steps, and the number of steps between records."""
    if not (dt > 0 and duration > 0 and np.isfinite(dt) and np.isfinite(duration)):
        raise ModelError(f"duration {duration} and dt {dt} (s) must be positive numbers")
    if interval is not None and not interval > 0:
        raise ModelError(f"record_interval must be positive (s), got {interval}")
    steps = max(1, int(np.ceil(duration / dt - 1e-9)))
    every = 1 if interval is None else max(1, round(interval / (duration / steps)))
    return np.linspace(0.0, duration, steps + 1), every


def step_length(grid: np.ndarray, dt: float) -> float:
    """Length of the steps of a grid (s): ``dt`` itself if the duration is a multiple of it."""
    length = float(grid[-1]) / (len(grid) - 1)
    return float(dt) if abs(length - dt) <= MAX_STEP_ROUNDING * dt else length


def initial_point(
    setup: SimulationSetup,
    q0: ArrayLike,
    v0: ArrayLike | None,
    batch: Mapping[str, float],
    parameters: np.ndarray | None = None,
) -> SimulationPoint:
    """The checked first point of a run."""
    model = setup.model
    q = check_state(model, q0, "q0")
    v = np.zeros(model.nv) if v0 is None else check_state(model, v0, "v0")
    numbers = np.array([float(value) for value in batch.values()])
    invalid = [name for name, number in zip(batch, numbers, strict=True) if not np.isfinite(number)]
    if invalid:
        raise ModelError(
            f"batch parameters must be finite; {', '.join(invalid)} "
            f"{'is' if len(invalid) == 1 else 'are'} not"
        )
    return SimulationPoint(
        0.0,
        q,
        v,
        setup.initial_memory(q, v, parameters),
        np.zeros(WORK_SIZE),
        numbers,
        np.zeros(model.nv),
        memory=setup.step_memory.initial(q, v, numbers, parameters),
    )


def check_state(model: Model, given: ArrayLike, name: str) -> np.ndarray:
    """Positions ("q0") or velocities ("v0") as an array of finite numbers."""
    size = model.nq if name == "q0" else model.nv
    array = np.array(given, dtype=float)
    if array.shape != (size,):
        raise ModelError(f"{name} of model {model.name!r} has {size} entries, got {array.shape}")
    if not np.all(np.isfinite(array)):
        raise ModelError(f"{name} must be finite numbers")
    return normalize_quaternions(model, array) if name == "q0" else array


def normalize_quaternions(model: Model, q: np.ndarray) -> np.ndarray:
    """Positions with unit quaternions, over leading axes; larger errors are refused."""
    q = q.copy()
    for joint, slots in zip(model.joints, model.joint_slots, strict=True):
        if not joint.quaternion:
            continue
        quaternion = q[..., slots.q.stop - 4 : slots.q.stop]
        norm = np.linalg.norm(quaternion, axis=-1, keepdims=True)
        error = np.abs(norm - 1)
        if np.any(error > MAX_NORM_ERROR):
            worst = float(np.ravel(norm)[np.nanargmax(error)])
            raise ModelError(
                f"the quaternion of joint {joint.name!r} has length {worst:.4g}; it must be 1"
            )
        np.divide(quaternion, norm, out=quaternion, where=error > 1e-12)
    return q


def penetration_notes(geometry: ContactGeometry, q: np.ndarray) -> tuple[str, ...]:
    """Notes about contacts that start deep inside an obstacle."""
    distances = gap_distances(geometry)(q)["distance"]
    return tuple(
        f"{name} starts {-distance * 1e3:.0f} mm inside an obstacle"
        for name, distance in zip(geometry.names, distances, strict=True)
        if distance < -MIN_REPORTED_DEPTH_M
    )


def sampled_torques_on_grid(setup: SimulationSetup, grid: np.ndarray) -> np.ndarray | None:
    """Sum of all sampled torques on the grid; None without any."""
    parts = [part.sample(grid) for part in setup.sampled_torques]
    if not parts:
        return None
    total = np.asarray(sum(parts))
    if total.shape[-1] != setup.model.nv:
        raise ModelError(
            f"sampled torques have {total.shape[-1]} columns; model {setup.model.name!r} has "
            f"{setup.model.nv} degrees of freedom"
        )
    return total
