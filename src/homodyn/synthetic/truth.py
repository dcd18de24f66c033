"""What really happened in a made trial: motion, torques, forces, events, markers without noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.capture import Signals
from homodyn.dynamics import inverse_dynamics, marker_positions, position
from homodyn.model import Model
from homodyn.model.side import Side
from homodyn.motion import (
    Event,
    FootForce,
    Loads,
    Motion,
)
from homodyn.synthetic.balance import ROOT, Wrench
from homodyn.synthetic.emg import LEAD, MUSCLES, emg_drive
from homodyn.synthetic.markers import Interval
from homodyn.synthetic.steps import SIDES
from homodyn.synthetic.walk import Walk

UNLOADED = 1e-6
"""Vertical force (N) below which a foot has no centre of pressure."""


@dataclass(frozen=True, eq=False)
class WalkTruth:
    """The movement behind a made trial, at the instants of its frames."""

    motion: Motion
    loads: Loads
    markers: np.ndarray
    """(frames, markers, 3), m, in the order of the model's: without noise, gaps and exchanges."""
    events: tuple[Event, ...]
    drive: Signals
    """How strongly each muscle was driven, between nothing and one, at the rate of the EMG."""
    gaps: tuple[Interval, ...] = ()
    swaps: tuple[Interval, ...] = ()
    clean: tuple[str, ...] = ()
    """Plates that one foot alone stepped on, and which: ``"Plate 1: Right"``."""

    @property
    def model(self) -> Model:
        """The body that walked."""
        return self.motion.model


def true_torques(walk: Walk, clock: np.ndarray) -> tuple[np.ndarray, tuple[Wrench, ...]]:
    """Generalised forces (instants, nv) that the walk takes, and the wrenches of both feet."""
    q, v, a = walk.state(clock)
    ground = walk.ground(clock)
    external = {
        f"Foot{side}": wrench.about(np.asarray(position(walk.model, q, f"Foot{side}")))
        for side, wrench in zip(SIDES, ground, strict=True)
    }
    return np.asarray(inverse_dynamics(walk.model, q, v, a, external=external)), ground


def true_loads(walk: Walk, motion: Motion, clock: np.ndarray) -> Loads:
    """Torques, forces and power at the frames of a motion."""
    tau, ground = true_torques(walk, clock)
    root = tuple(walk.model.coordinate_index(name) for name in ROOT)
    power = tau * motion.v
    power[:, root] = 0.0
    feet = []
    for side, wrench in zip(SIDES, ground, strict=True):
        loaded = wrench.force[:, 2] > UNLOADED
        torque = np.zeros_like(wrench.force)
        torque[:, 2] = wrench.torque
        point = np.where(loaded[:, None], wrench.point, np.nan)
        feet.append(FootForce(f"Foot{side}", Side(side.lower()), wrench.force, point, torque))
    return Loads(
        motion,
        tau,
        root,
        residual_force=tau[:, root[:3]],
        residual_moment=tau[:, root[3:]],
        feet=tuple(feet),
        power=power,
        method="exact: the ground forces are those the motion needs",
    )


def true_motion(walk: Walk, time: np.ndarray, clock: np.ndarray) -> Motion:
    """The motion at some instants; ``clock`` is the time since a strike of the right foot."""
    return Motion(
        walk.model, time, *walk.state(clock), method="made: Fourier series of a walk in balance"
    )


def true_markers(motion: Motion) -> np.ndarray:
    """Markers without noise, (frames, markers, 3), m."""
    return np.asarray(marker_positions(motion.model, motion.q))


def true_events(walk: Walk, start: float, last: float) -> tuple[Event, ...]:
    """Strikes and offs on the clock of a trial that lasts until ``last`` (s).

    ``start`` is the time of its first frame on the clock of the walk.
    """
    steps = walk.steps
    found = [
        Event(float(instant - start), label, side)
        for side in SIDES
        for label, instants in (
            ("Foot Strike", steps.strikes(side, start, start + last)),
            ("Foot Off", steps.offs(side, start, start + last)),
        )
        for instant in instants
    ]
    return tuple(sorted(found, key=lambda event: event.time))


def true_drive(walk: Walk, clock: np.ndarray, rate: float) -> Signals:
    """The drive of the muscles, ahead of the torques they make."""
    tau, _ = true_torques(walk, clock + LEAD)
    return Signals(tuple(MUSCLES), rate, emg_drive(walk.model, tau), ("",) * len(MUSCLES))
