"""Ground truth of a synthetic trial: motion, torques, forces, events, markers without noise."""

from __future__ import annotations

import numpy as np

from homodyn.capture import Signals
from homodyn.dynamics import inverse_dynamics, marker_positions, position
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.model.side import Side
from homodyn.motion import (
    ContactForce,
    Event,
    Loads,
    Motion,
    MotionSource,
)
from homodyn.synthetic.emg_signals import EMG_LEAD_S, MUSCLE_TORQUES, emg_drive
from homodyn.synthetic.footsteps import SIDES
from homodyn.synthetic.ground_wrench import ROOT_COORDINATES, GroundWrench
from homodyn.synthetic.marker_artifacts import MarkerInterval
from homodyn.synthetic.steady_walk import SteadyWalk

MIN_COP_FORCE_N = 1e-6
"""Vertical force (N) below which a foot has no center of pressure."""


@record
class GroundTruth(Record):
    """The movement behind a synthetic trial, at the times of its frames."""

    motion: Motion
    """Exact motion, with events."""
    loads: Loads
    """Exact torques and ground forces."""
    markers: np.ndarray
    """(frames, markers, 3), m, in the order of the model: without noise, gaps and exchanges."""
    events: tuple[Event, ...]
    """Foot strikes and foot offs."""
    drive: Signals
    """Neural drive of each muscle, 0 to 1, at the rate of the EMG."""
    gaps: tuple[MarkerInterval, ...] = ()
    """Hidden markers."""
    swaps: tuple[MarkerInterval, ...] = ()
    """Exchanged labels."""
    clean_strikes: tuple[str, ...] = ()
    """Plates loaded by one foot only, and that foot: ``"Plate 1: Right"``."""

    @property
    def model(self) -> Model:
        """The body that walked."""
        return self.motion.model


def true_torques(
    walk: SteadyWalk, clock: np.ndarray
) -> tuple[np.ndarray, tuple[GroundWrench, ...]]:
    """Generalized forces (times, nv) of the walk, and the ground wrenches of both feet."""
    q, v, a = walk.state(clock)
    ground_wrenches = walk.ground_wrenches(clock)
    external = {
        f"Foot{side}": wrench.about(np.asarray(position(walk.model, q, f"Foot{side}")))
        for side, wrench in zip(SIDES, ground_wrenches, strict=True)
    }
    return np.asarray(inverse_dynamics(walk.model, q, v, a, external=external)), ground_wrenches


def true_loads(walk: SteadyWalk, motion: Motion, clock: np.ndarray) -> Loads:
    """Torques, forces and power at the frames of a motion."""
    tau, ground_wrenches = true_torques(walk, clock)
    root = tuple(walk.model.coordinate_index(name) for name in ROOT_COORDINATES)
    power = tau * motion.v
    power[:, root] = 0.0
    feet = []
    for side, wrench in zip(SIDES, ground_wrenches, strict=True):
        loaded = wrench.force[:, 2] > MIN_COP_FORCE_N
        torque = np.zeros_like(wrench.force)
        torque[:, 2] = wrench.torque
        point = np.where(loaded[:, None], wrench.point, np.nan)
        feet.append(ContactForce(f"Foot{side}", Side(side.lower()), wrench.force, point, torque))
    return Loads(
        motion,
        tau,
        root,
        residual_force=tau[:, root[:3]],
        residual_moment=tau[:, root[3:]],
        feet=tuple(feet),
        power=power,
        method="exact: ground forces balance the motion",
    )


def true_motion(
    walk: SteadyWalk, time: np.ndarray, clock: np.ndarray, events: tuple[Event, ...] = ()
) -> Motion:
    """The motion at some times; ``clock`` is the time since a strike of the right foot."""
    return Motion(
        walk.model,
        time,
        *walk.state(clock),
        method="synthetic: Fourier series of a balanced walk",
        events=events,
        source=MotionSource.SYNTHETIC,
    )


def true_markers(motion: Motion) -> np.ndarray:
    """Markers without noise, (frames, markers, 3), m."""
    return np.asarray(marker_positions(motion.model, motion.q))


def true_events(walk: SteadyWalk, start: float, last: float) -> tuple[Event, ...]:
    """Foot strikes and foot offs on the clock of a trial that lasts until ``last`` (s).

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


def true_drive(walk: SteadyWalk, clock: np.ndarray, rate: float) -> Signals:
    """Neural drive of the muscles, which precedes their torques."""
    tau, _ = true_torques(walk, clock + EMG_LEAD_S)
    return Signals(
        tuple(MUSCLE_TORQUES), rate, emg_drive(walk.model, tau), ("",) * len(MUSCLE_TORQUES)
    )
