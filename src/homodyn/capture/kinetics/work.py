"""Power and work of the joints, energy of the body, and the balance of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from homodyn.capture.filters.signal_derivatives import derivatives
from homodyn.dynamics import kinetic_energy, potential_energy
from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.foundation.time_series import Curve, TimeSeries, require_pandas
from homodyn.motion.clinical import clinical_titles
from homodyn.motion.loads import Loads
from homodyn.motion.motion import Motion

if TYPE_CHECKING:
    import pandas as pd

WORK_KINDS = ("net", "positive", "negative", "absolute")


@record
class Work(Record):
    """Work of the joint coordinates over a time interval; the root is left out.

    Publications define mechanical work differently: ``net`` is the integral of power, ``positive``
    and ``negative`` are the integrals of its positive and negative parts, ``absolute`` is the
    integral of its magnitude.
    """

    coordinates: tuple[str, ...]
    """Names in the model."""
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
    titles: tuple[str, ...] = ()
    """Clinical names of the coordinates, such as ``"Right knee flexion"``; the name in the model
    for coordinates that are not recognized."""

    @property
    def absolute(self) -> np.ndarray:
        """(coordinates,), J: positive work minus negative work."""
        return self.positive - self.negative

    @property
    def total_net(self) -> float:
        """Net work of all coordinates (J)."""
        return float(self.net.sum())

    @property
    def total_positive(self) -> float:
        """Positive work of all coordinates (J)."""
        return float(self.positive.sum())

    @property
    def total_negative(self) -> float:
        """Negative work of all coordinates (J), at most zero."""
        return float(self.negative.sum())

    @property
    def total_absolute(self) -> float:
        """Absolute work of all coordinates (J)."""
        return float(self.absolute.sum())

    @property
    def mean_power(self) -> float:
        """Net work of all coordinates per time (W)."""
        return self.total_net / (self.end - self.start)

    def of(self, coordinate: str) -> dict[str, float]:
        """The work of one coordinate.

        Args:
            coordinate: Its name in the model, or its clinical name in any case.

        Returns:
            ``net``, ``positive``, ``negative`` and ``absolute`` work (J).

        Raises:
            CaptureError: There is no such coordinate; the message lists those there are.
        """
        titles = [title.lower() for title in self.titles]
        if coordinate in self.coordinates:
            k = self.coordinates.index(coordinate)
        elif coordinate.lower().replace("_", " ") in titles:
            k = titles.index(coordinate.lower().replace("_", " "))
        else:
            accepted = (*self.coordinates, *self.titles)
            raise CaptureError(unknown_name("coordinate", coordinate, accepted))
        return {kind: float(getattr(self, kind)[k]) for kind in WORK_KINDS}

    def headline(self) -> str:
        """Time interval and total net work."""
        return f"Work from {self.start:g} to {self.end:g} s: {self.total_net:.4g} J net"

    def to_pandas(self) -> pd.DataFrame:
        """The work (J) as a data frame, one row per coordinate.

        Raises:
            HomodynError: pandas is not installed.
        """
        pandas = require_pandas()
        columns: dict[str, Any] = {"clinical name": self.titles} if self.titles else {}
        columns |= {f"{kind} (J)": getattr(self, kind) for kind in WORK_KINDS}
        index = pandas.Index(self.coordinates, name="coordinate")
        frame: pd.DataFrame = pandas.DataFrame(columns, index=index)
        return frame


def joint_work(loads: Loads, *, between: tuple[float, float] | None = None) -> Work:
    """Work of each joint coordinate.

    Power is torque times velocity; integrals use the trapezoidal rule.

    Args:
        loads: Loads of a motion.
        between: Start and end, s; when left out, the whole motion without the ends that its filter
            makes unreliable (``Loads.edge``).

    Returns:
        The work per coordinate.

    Raises:
        CaptureError: The interval is not within the motion.
    """
    time = loads.motion.time
    reliable = time[~loads.edge] if loads.edge.size else time
    start, end = (float(reliable[0]), float(reliable[-1])) if between is None else between
    if not time[0] - 1e-9 <= start < end <= time[-1] + 1e-9:
        raise CaptureError(
            f"the interval from {start:g} to {end:g} s is not within the motion, which lasts from "
            f"{time[0]:g} to {time[-1]:g} s"
        )
    joints = list(loads.joints)
    inside = (time > start) & (time < end)
    instants = np.concatenate([[start], time[inside], [end]])
    power = _interpolate_columns(instants, time, loads.power[:, joints])
    torque = np.abs(_interpolate_columns(instants, time, loads.tau[:, joints]))
    model = loads.motion.model
    names = [model.coordinate_names[k] for k in joints]
    titles = clinical_titles(model)
    return Work(
        coordinates=tuple(names),
        net=np.trapezoid(power, instants, axis=0),
        positive=np.trapezoid(np.maximum(power, 0.0), instants, axis=0),
        negative=np.trapezoid(np.minimum(power, 0.0), instants, axis=0),
        effort=np.trapezoid(torque, instants, axis=0),
        start=start,
        end=end,
        titles=tuple(titles.get(name, name) for name in names),
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
class Energy(TimeSeries):
    """Mechanical energy of the body over time."""

    time: np.ndarray
    """(frames,), s."""
    kinetic: np.ndarray
    """(frames,), J."""
    potential: np.ndarray
    """(frames,), J, zero with all mass at the origin of the world."""

    @property
    def total(self) -> np.ndarray:
        """(frames,), J: kinetic plus potential energy."""
        return self.kinetic + self.potential

    def columns(self) -> Mapping[str, Curve]:
        """Kinetic, potential and total energy over time.

        Returns:
            One `Curve` (J) per kind of energy.
        """
        return _curves(self, self.time, ("kinetic", "potential", "total"), "J")


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
class PowerBalance(TimeSeries):
    """Balance of energy and power: dE/dt = joints + residual + ground."""

    time: np.ndarray
    """(frames,), s."""
    energy_rate: np.ndarray
    """(frames,), W: derivative of the mechanical energy."""
    joints: np.ndarray
    """(frames,), W: power of all joints."""
    residual: np.ndarray
    """(frames,), W: power of the residual force and moment at the root."""
    ground: np.ndarray
    """(frames,), W: power of the ground forces on moving feet."""

    @property
    def missing(self) -> np.ndarray:
        """(frames,), W: what the powers do not explain; the error of the derivative."""
        return self.energy_rate - self.joints - self.residual - self.ground

    def columns(self) -> Mapping[str, Curve]:
        """All terms over time.

        Returns:
            One `Curve` (W) per term.
        """
        terms = ("energy_rate", "joints", "residual", "ground", "missing")
        return _curves(self, self.time, terms, "W")


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
        time=motion.time,
        energy_rate=rate,
        joints=loads.power.sum(-1),
        residual=(loads.tau[:, root] * motion.v[:, root]).sum(-1),
        ground=loads.ground_power,
    )


def _curves(source: object, time: np.ndarray, names: Sequence[str], unit: str) -> dict[str, Curve]:
    return {name: Curve(name, unit, time, getattr(source, name)) for name in names}


def _interpolate_columns(instants: np.ndarray, time: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.stack([np.interp(instants, time, column) for column in values.T], -1)
