"""Recordings of a walk that is known: markers, plates and EMG as a laboratory would have them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import homodyn as hd
from homodyn.capture import (
    Signals,
    Trial,
)
from homodyn.motion import (
    FitStatus,
    ForcePlate,
    Motion,
)
from support.walker import Walker

WALKER = Walker(duration=2.6, rate=100.0, first=0.15, surge=0.018)
MASS, HEIGHT = 76.0, 1.79
RATE = 1000.0
"""Hz, of plates and EMG."""
NOISE = 0.001
"""m, of each coordinate of a marker."""


def fitted(walker: Walker = WALKER) -> Motion:
    """The walk as a fit would return it: with markers, their residuals and what the fit did."""
    motion = walker.motion()
    names = tuple(marker.name for marker in motion.model.markers)
    placed = hd.dynamics.marker_positions(motion.model, motion.q)
    rng = np.random.default_rng(5)
    measured = placed + rng.normal(scale=NOISE, size=placed.shape)
    frames = len(motion.time)
    return replace(
        motion,
        markers=names,
        measured=measured,
        residual=np.linalg.norm(measured - placed, axis=-1),
        weights=np.ones(len(names)),
        status=np.full(frames, FitStatus.CONVERGED, dtype=object),
        iterations=rng.integers(3, 8, frames),
    )


def plates(motion: Motion) -> tuple[ForcePlate, ...]:
    """A long plate on each side that reads what the motion needs."""
    created = []
    time = _samples(motion)
    reach = (float(motion.q[:, 0].min()) - 0.5, float(motion.q[:, 0].max()) + 0.8)
    for k, foot in enumerate(hd.capture.kinetics.predict_ground_forces(motion)):
        y0, y1 = (-0.6, 0.0) if foot.side == "right" else (0.0, 0.6)
        ends = [(reach[1], y1), (reach[0], y1), (reach[0], y0), (reach[1], y0)]
        created.append(
            ForcePlate(
                f"plate {k + 1}",
                RATE,
                _at(time, motion.time, foot.force),
                _at(time, motion.time, np.nan_to_num(foot.point)),
                _at(time, motion.time, foot.torque),
                corners=np.array([(x, y, 0.0) for x, y in ends]),
            )
        )
    return tuple(created)


def emg(motion: Motion, period: float) -> Signals:
    """Noise that is loud once a stride, for four muscles of each side."""
    rng = np.random.default_rng(8)
    time = _samples(motion)
    names, columns = [], []
    for side, lag in (("R", 0.0), ("L", 0.5)):
        for muscle, part in (("TibAnt", 0.95), ("Gastro", 0.42), ("RectFem", 0.1), ("BicFem", 0.9)):
            phase = 2 * np.pi * (time / period - lag - part)
            loud = 0.02 + 0.3 * np.exp((np.cos(phase) - 1) / 0.16)
            names.append(f"{side}_{muscle}")
            columns.append(loud * rng.normal(size=len(time)))
    return Signals(tuple(names), RATE, np.column_stack(columns), ("mV",) * len(names))


def recording(walker: Walker = WALKER, *, forces: bool = True) -> Trial:
    """What cameras, plates and EMG record of the walk."""
    motion = fitted(walker)
    return Trial(
        "stroll",
        motion.markers,
        motion.measured,
        motion.rate,
        plates=plates(motion) if forces else (),
        analog=emg(motion, walker.period),
    )


def standing(model: hd.Model | None = None) -> Trial:
    """The neutral pose for half a second."""
    model = model or hd.catalog.heiman(height=HEIGHT, mass=MASS)
    placed = hd.dynamics.marker_positions(model, model.neutral())
    positions = np.tile(placed, (50, 1, 1))
    positions += np.random.default_rng(3).normal(scale=NOISE, size=positions.shape)
    return Trial("stand", tuple(m.name for m in model.markers), positions, 100.0)


def _samples(motion: Motion) -> np.ndarray:
    per_frame = round(RATE / motion.rate)
    return motion.time[0] + np.arange(len(motion.time) * per_frame) / RATE


def _at(instants: np.ndarray, time: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.column_stack([np.interp(instants, time, column) for column in values.T])
