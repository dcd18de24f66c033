"""Power and work of joints, energy of the body, and whether the two agree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from homodyn.capture.filters.signal_derivatives import derivatives
from homodyn.dynamics import kinetic_energy, potential_energy
from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.motion.loads import Loads
from homodyn.motion.motion import Motion


@record
class Work(Record):
    """Work of joints over some time, coordinate by coordinate and in all; the root's is left out.

    Published costs differ in what they add up, so all are here: ``net`` is the integral of power,
    ``positive`` and ``negative`` that of its parts, ``absolute`` that of its magnitude.
    """

    coordinates: tuple[str, ...]
    net: np.ndarray
    """(coordinates,), J."""
    positive: np.ndarray
    """(coordinates,), J."""
    negative: np.ndarray
    """(coordinates,), J, at most zero."""
    effort: np.ndarray
    """(coordinates,), N m s or N s: integral of the magnitude of the torque."""
    start: float
    """s."""
    end: float
    """s."""

    @property
    def absolute(self) -> np.ndarray:
        """(coordinates,), J: what was put in and what was taken out, both counted."""
        return self.positive - self.negative

    @property
    def total_net(self) -> float:
        """J."""
        return float(self.net.sum())

    @property
    def total_positive(self) -> float:
        """J."""
        return float(self.positive.sum())

    @property
    def total_negative(self) -> float:
        """J."""
        return float(self.negative.sum())

    @property
    def total_absolute(self) -> float:
        """J."""
        return float(self.absolute.sum())

    @property
    def mean_power(self) -> float:
        """W: net work over the time it took."""
        return self.total_net / (self.end - self.start)

    def of(self, coordinate: str) -> dict[str, float]:
        """The figures of one coordinate by name, J."""
        if coordinate not in self.coordinates:
            raise CaptureError(
                f"no work of {coordinate!r}; the coordinates are {', '.join(self.coordinates)}"
            )
        k = self.coordinates.index(coordinate)
        kinds = ("net", "positive", "negative", "absolute")
        return {kind: float(getattr(self, kind)[k]) for kind in kinds}


def joint_work(loads: Loads, *, between: tuple[float, float] | None = None) -> Work:
    """Work of each joint coordinate.

    Power is torque times velocity; integrals use the trapezoidal rule.

    Args:
        loads: Loads of a motion.
        between: Start and end, s; the whole motion when left out.

    Returns:
        The work per coordinate.

    Raises:
        CaptureError: The interval is not within the motion.
    """
    time = loads.motion.time
    start, end = (float(time[0]), float(time[-1])) if between is None else between
    if not time[0] - 1e-9 <= start < end <= time[-1] + 1e-9:
        raise CaptureError(
            f"work between {start:g} and {end:g} s was asked for; the motion lasts from "
            f"{time[0]:g} to {time[-1]:g} s"
        )
    joints = list(loads.joints)
    inside = (time > start) & (time < end)
    instants = np.concatenate([[start], time[inside], [end]])
    power = _interpolate_columns(instants, time, loads.power[:, joints])
    torque = np.abs(_interpolate_columns(instants, time, loads.tau[:, joints]))
    names = loads.motion.model.coordinate_names
    return Work(
        coordinates=tuple(names[k] for k in joints),
        net=np.trapezoid(power, instants, axis=0),
        positive=np.trapezoid(np.maximum(power, 0.0), instants, axis=0),
        negative=np.trapezoid(np.minimum(power, 0.0), instants, axis=0),
        effort=np.trapezoid(torque, instants, axis=0),
        start=start,
        end=end,
    )


def work_by_cycle(loads: Loads, instants: Sequence[float]) -> tuple[Work, ...]:
    """Work of each cycle.

    Args:
        loads: Loads of a motion.
        instants: Times that separate the cycles, s, such as strikes of one foot.

    Returns:
        One record per cycle.

    Raises:
        CaptureError: A time is not within the motion.
    """
    return tuple(joint_work(loads, between=pair) for pair in pairwise(sorted(instants)))


@record
class Energy(Record):
    """Mechanical energy of the body over time."""

    time: np.ndarray
    """(frames,), s."""
    kinetic: np.ndarray
    """(frames,), J."""
    potential: np.ndarray
    """(frames,), J, zero with all mass at the origin of the world."""

    @property
    def total(self) -> np.ndarray:
        """(frames,), J."""
        return self.kinetic + self.potential


def energy(motion: Motion) -> Energy:
    """Kinetic and gravitational energy in each frame.

    Args:
        motion: The motion.

    Returns:
        The energies, J.
    """
    return Energy(
        motion.time,
        kinetic_energy(motion.model, motion.q, motion.v),
        potential_energy(motion.model, motion.q),
    )


@record
class PowerBalance(Record):
    """Where the energy of the body comes from: dE/dt = joints + residual + ground."""

    energy_rate: np.ndarray
    """(frames,), W: derivative of the mechanical energy."""
    joints: np.ndarray
    """(frames,), W."""
    residual: np.ndarray
    """(frames,), W: of the force and moment left over at the root."""
    ground: np.ndarray
    """(frames,), W: of the ground forces on feet that move."""

    @property
    def missing(self) -> np.ndarray:
        """(frames,), W: zero but for the error of the derivative."""
        return self.energy_rate - self.joints - self.residual - self.ground


def power_balance(loads: Loads) -> PowerBalance:
    """Power balance in each frame: rate of energy against joint, residual and ground power.

    Args:
        loads: Loads of a motion.

    Returns:
        The terms, W.
    """
    motion = loads.motion
    root = list(loads.root)
    rate, _ = derivatives(energy(motion).total, motion.rate)
    return PowerBalance(
        energy_rate=rate,
        joints=loads.power.sum(-1),
        residual=(loads.tau[:, root] * motion.v[:, root]).sum(-1),
        ground=loads.ground_power,
    )


def _interpolate_columns(instants: np.ndarray, time: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.stack([np.interp(instants, time, column) for column in values.T], -1)
