"""Ground truth of a synthetic trial: motion, torques, forces, events, noise-free markers."""

from __future__ import annotations

import numpy as np

from homodyn.capture import Signals
from homodyn.dynamics import inverse_dynamics, marker_positions, position
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.motion import (
    FOOT_OFF,
    FOOT_STRIKE,
    STANCE_THRESHOLD,
    ContactForce,
    Event,
    Loads,
    Motion,
    MotionSource,
    Side,
)
from homodyn.synthetic.emg_signals import EMG_LEAD_S, MUSCLE_TORQUES, emg_drive
from homodyn.synthetic.ground_wrench import ROOT_COORDINATES, GroundWrench
from homodyn.synthetic.marker_artifacts import MarkerInterval
from homodyn.synthetic.steady_walk import SteadyWalk


@record
class GroundTruth(Record):
    """The movement behind a synthetic trial, at the times of its frames."""

    motion: Motion
    """Exact motion, with torques, ground forces and events."""
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
    feet = [f"Foot{side.title}" for side in Side]
    external = {
        foot: wrench.about(np.asarray(position(walk.model, q, foot)))
        for foot, wrench in zip(feet, ground_wrenches, strict=True)
    }
    return np.asarray(inverse_dynamics(walk.model, q, v, a, external=external)), ground_wrenches


def true_loads(motion: Motion, method: str = "exact: ground forces balance the motion") -> Loads:
    """The torques and forces of an exact motion, as loads with power and residual."""
    root = [motion.model.coordinate_index(name) for name in ROOT_COORDINATES]
    return Loads.from_torques(
        motion,
        motion.tau,
        motion.contact_forces,
        residual_force=motion.tau[:, root[:3]],
        residual_moment=motion.tau[:, root[3:]],
        method=method,
    )


def true_motion(
    walk: SteadyWalk, time: np.ndarray, clock: np.ndarray, events: tuple[Event, ...] = ()
) -> Motion:
    """The motion at some times; ``clock`` is the time since a strike of the right foot."""
    tau, ground_wrenches = true_torques(walk, clock)
    return Motion(
        walk.model,
        time,
        *walk.state(clock),
        method="synthetic: Fourier series of a balanced walk",
        tau=tau,
        contact_forces=tuple(map(_contact_force, Side, ground_wrenches)),
        events=events,
        source=MotionSource.SYNTHETIC,
    )


def _contact_force(side: Side, wrench: GroundWrench) -> ContactForce:
    """The wrench of one foot; an unloaded foot has no center of pressure."""
    loaded = wrench.force[:, 2] > STANCE_THRESHOLD.computed_n
    torque = np.zeros_like(wrench.force)
    torque[:, 2] = wrench.torque
    point = np.where(loaded[:, None], wrench.point, np.nan)
    return ContactForce(f"Foot{side.title}", side, wrench.force, point, torque)


def true_markers(motion: Motion) -> np.ndarray:
    """Markers without noise, (frames, markers, 3), m."""
    return np.asarray(marker_positions(motion.model, motion.q))


def true_events(walk: SteadyWalk, start: float, last: float) -> tuple[Event, ...]:
    """Foot strikes and foot offs on the clock of a trial that lasts until ``last`` (s).

    ``start`` is the time of its first frame on the clock of the walk.
    """
    steps = walk.steps
    found = [
        Event(float(time - start), label, side.title)
        for side in Side
        for label, times in (
            (FOOT_STRIKE, steps.strikes(side, start, start + last)),
            (FOOT_OFF, steps.offs(side, start, start + last)),
        )
        for time in times
    ]
    return tuple(sorted(found, key=lambda event: event.time))


def true_drive(walk: SteadyWalk, clock: np.ndarray, rate: float) -> Signals:
    """Neural drive of the muscles, which precedes the torques."""
    tau, _ = true_torques(walk, clock + EMG_LEAD_S)
    return Signals(
        tuple(MUSCLE_TORQUES), rate, emg_drive(walk.model, tau), ("",) * len(MUSCLE_TORQUES)
    )
