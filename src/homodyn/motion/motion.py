"""The record of a movement: coordinates over time, and what is known besides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from homodyn.errors import HomodynError
from homodyn.foundation.record import record
from homodyn.foundation.text import count_of
from homodyn.foundation.time_series import Curve, TimeSeries
from homodyn.model import Model
from homodyn.motion.clinical import resolve_coordinate
from homodyn.motion.contact_force import ContactForce
from homodyn.motion.coordinate_columns import position_columns
from homodyn.motion.event import Event

MIN_FRAMES_FOR_RATES = 3
"""Frames that a derivative by time needs."""
MAX_SPACING_DIFFERENCE = 1e-6
"""Frames are evenly spaced if their steps differ by less than this fraction of their mean."""


class FitStatus(StrEnum):
    """How the fit of one frame ended."""

    CONVERGED = "converged"
    """The step became smaller than the tolerance."""
    STALLED = "stalled"
    """The iterations were used up; the best pose found is kept."""
    UNSEEN = "unseen"
    """Too few markers were visible to place the model; the pose is interpolated."""


class MotionSource(StrEnum):
    """The kind of computation that a movement is the result of."""

    UNKNOWN = "unknown"
    """Not stated."""
    RECORDED = "recorded"
    """Inverse kinematics of measured markers."""
    SIMULATED = "simulated"
    """Integration of the equations of motion."""
    OPTIMIZED = "optimized"
    """The solution of an optimal-control problem."""
    SYNTHETIC = "synthetic"
    """A synthetic trial, whose ground truth is known."""
    NETWORK = "network"
    """A body inside a network of coupled systems."""
    PLANNED = "planned"
    """Postures planned through a scene."""
    EDITED = "edited"
    """Posed by hand."""
    FILE = "file"
    """A table of coordinates in a file."""


@record
class Motion(TimeSeries):
    """Coordinates, velocities and accelerations of a model over time, and what is known besides.

    Inverse kinematics, simulation, optimal control, synthetic trials, network bodies and the studio
    all return it. Quantities that are not known are empty arrays.

    ``motion["KneeRight_RY"]`` is a coordinate with the sign of the model (rad, m).
    ``motion["right knee flexion"]`` and ``motion["knee_angle_r"]`` are clinical readings, which are
    the same for any model: flexion, adduction and internal rotation are positive on both sides.
    """

    model: Model
    time: np.ndarray
    """(frames,), s, strictly increasing."""
    q: np.ndarray
    """(frames, nq): positions, rad or m."""
    v: np.ndarray
    """(frames, nv): velocities, rad/s or m/s."""
    a: np.ndarray
    """(frames, nv): accelerations, rad/s2 or m/s2."""
    markers: tuple[str, ...] = ()
    """The markers of the model that were compared with measured ones."""
    measured: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 3)))
    """(frames, markers, 3), m, in the model's world; NaN where a marker was not visible."""
    residual: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    """(frames, markers), m: distance of measured and model marker; NaN where not visible."""
    weights: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(markers,): weight of each marker in the fit."""
    status: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=object))
    """(frames,): the `FitStatus` of each frame."""
    iterations: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=int))
    """(frames,): iterations of the fit."""
    unobserved: tuple[str, ...] = ()
    """Coordinates that no marker determines; they keep their initial values."""
    at_limit: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    """(frames, nv): True where a joint limit is active."""
    method: str = ""
    """How the motion was obtained, filters included, in one sentence."""
    notes: tuple[str, ...] = ()
    """Decisions and doubts, one sentence each."""
    tau: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    """(frames, nv), N m or N: generalized forces of actuators, and of springs and devices that are
    not part of the model; empty where not known."""
    contact_forces: tuple[ContactForce, ...] = ()
    """Forces of the environment on bodies; empty where not known."""
    activations: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    """(frames, muscles): activations from 0 to 1; empty where not known."""
    events: tuple[Event, ...] = ()
    """Foot strikes, foot offs and other events."""
    source: MotionSource = MotionSource.UNKNOWN
    """The kind of computation that it is the result of."""
    edge: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    """(frames,): True near the ends of a recording, where a filter had no data on one side and
    accelerations are not reliable; empty without a filter."""
    result: Any = None
    """The full result of that computation, where it contains more than the movement."""

    _transient: ClassVar[tuple[str, ...]] = ("result",)

    def __post_init__(self) -> None:
        frames, nq, nv = len(self.time), self.model.nq, self.model.nv
        expected = {"time": (frames,), "q": (frames, nq), "v": (frames, nv), "a": (frames, nv)}
        if np.size(self.tau):
            expected["tau"] = (frames, nv)
        for name, shape in expected.items():
            if np.shape(getattr(self, name)) != shape:
                raise HomodynError(
                    f"a motion of model {self.model.name!r}: {name} has shape "
                    f"{np.shape(getattr(self, name))}, {shape} is expected"
                )
        # Written so that NaN is refused.
        wrong = np.flatnonzero(~(np.diff(self.time) > 0))
        if len(wrong):
            k = int(wrong[0])
            raise HomodynError(
                f"a motion of model {self.model.name!r}: times must increase, but frame {k} is at "
                f"{self.time[k]:g} s and frame {k + 1} at {self.time[k + 1]:g} s"
            )

    # -- sizes

    @property
    def frames(self) -> int:
        """Number of frames."""
        return len(self.time)

    @property
    def rate(self) -> float:
        """Mean number of frames per second (Hz); 0 for fewer than two frames."""
        return float((self.frames - 1) / self.duration) if self.frames > 1 else 0.0

    @property
    def duration(self) -> float:
        """Time from the first frame to the last (s)."""
        return float(self.time[-1] - self.time[0]) if len(self.time) else 0.0

    @property
    def rms(self) -> float:
        """Root mean square of the residuals of visible markers (m); 0 without markers.

        Markers with weight zero do not count: the fit leaves them out.
        """
        counted = self.residual
        if self.weights.size == len(self.markers) and self.weights.any():
            counted = self.residual[:, self.weights > 0]
        finite = counted[np.isfinite(counted)]
        return float(np.sqrt(np.mean(finite**2))) if finite.size else 0.0

    def headline(self) -> str:
        """Model, length, source and marker error."""
        text = f"Motion of {self.model.name!r}: {count_of(self.frames, 'frame')}"
        if self.frames > 1:
            text += f", {self.time[0]:g} to {self.time[-1]:g} s at {self.rate:.4g} Hz"
        if self.source is not MotionSource.UNKNOWN:
            text += f", {self.source}"
        return f"{text}, marker rms {1000 * self.rms:.3g} mm" if self.residual.size else text

    # -- columns

    @cached_property
    def _columns(self) -> dict[str, Curve]:
        return {
            column.name: Curve(column.name, column.unit, self.time, self.q[:, column.q])
            for column in position_columns(self.model)
        }

    def columns(self) -> Mapping[str, Curve]:
        """Positions by coordinate name, in the order and with the signs of the model (rad, m).

        Quaternions have four columns, ``<joint>_qw`` to ``<joint>_qz``.

        Returns:
            Curves by name.
        """
        return self._columns

    def __getitem__(self, name: str) -> Curve:
        """A coordinate by its own name, or a clinical reading by a clinical or OpenSim name."""
        if name in self._columns:
            return self._columns[name]
        found = resolve_coordinate(self.model, name)
        column = self._columns[found.coordinate]
        return Curve(found.title, column.unit, self.time, found.sign * column.values)

    def resolve_column(self, name: str) -> str:
        """The coordinate that a name, a clinical name or an OpenSim name refers to.

        Args:
            name: ``"KneeRight_RY"``, ``"right knee flexion"``, ``"knee_angle_r"``, ...

        Returns:
            The name of the coordinate in this model.

        Raises:
            HomodynError: The name refers to no coordinate; the message lists what is accepted.
        """
        return name if name in self._columns else resolve_coordinate(self.model, name).coordinate

    # -- parts and resampling

    @property
    def evenly_sampled(self) -> bool:
        """Whether all frames have the same distance in time."""
        steps = np.diff(self.time)
        return not len(steps) or bool(np.ptp(steps) <= MAX_SPACING_DIFFERENCE * steps.mean())

    def crop(self, first: float, last: float) -> Motion:
        """The frames and events from one time to another (s), both included.

        Args:
            first: Time of the first frame to keep (s).
            last: Time of the last frame to keep (s).

        Returns:
            A shorter motion.

        Raises:
            HomodynError: No frame lies between.
        """
        rounding = 1e-9 * max(1.0, abs(first), abs(last))
        kept = np.flatnonzero((self.time >= first - rounding) & (self.time <= last + rounding))
        if not len(kept):
            raise HomodynError(
                f"there is no frame from {first:g} to {last:g} s; the motion runs from "
                f"{self.time[0]:g} to {self.time[-1]:g} s"
            )
        events = tuple(e for e in self.events if first - rounding <= e.time <= last + rounding)
        return replace(self.take(kept), events=events)

    def take(self, frames: np.ndarray) -> Motion:
        """The motion at some of its frames.

        Args:
            frames: (count,): indices of frames, increasing, or a mask.

        Returns:
            A motion of these frames, with all quantities that are known.
        """
        parts: dict[str, Any] = {}
        for name in ("time", "q", "v", "a", "measured", "residual", "status", "iterations"):
            values = getattr(self, name)
            parts[name] = values[frames] if len(values) else values
        for name in ("at_limit", "tau", "activations", "edge"):
            values = getattr(self, name)
            parts[name] = values[frames] if len(values) else values
        forces = tuple(force.take(frames) for force in self.contact_forces)
        return replace(self, **parts, contact_forces=forces)

    def resample(self, time: np.ndarray | None = None, *, rate: float | None = None) -> Motion:
        """The motion at other times, by interpolation between frames.

        Positions are interpolated on the manifold of the model (quaternions stay unit), all other
        quantities linearly. Marker residuals and fit results belong to frames and are dropped.

        Args:
            time: (samples,), s, within the motion.
            rate: Samples per second (Hz), instead of ``time``, from the first frame on.

        Returns:
            The motion at these times.

        Raises:
            HomodynError: Neither or both are given, the rate is not positive, a time lies outside
                of the motion, or the motion has a single frame.
        """
        if self.frames < 2:
            raise HomodynError("a motion of one frame cannot be resampled")
        if (time is None) == (rate is None):
            raise HomodynError("give either the times or the rate to resample a motion at")
        if time is None:
            assert rate is not None
            if not 0 < rate < np.inf:
                raise HomodynError(f"rate must be a positive number (Hz), got {rate:g}")
            count = int(np.floor(self.duration * rate + 1e-9)) + 1
            time = np.minimum(self.time[0] + np.arange(count) / rate, self.time[-1])
        time = np.asarray(time, dtype=float)
        if time.size and (time.min() < self.time[0] or time.max() > self.time[-1]):
            raise HomodynError(
                f"times from {time.min():g} to {time.max():g} s reach beyond the motion, which "
                f"runs from {self.time[0]:g} to {self.time[-1]:g} s"
            )
        left = np.clip(np.searchsorted(self.time, time, side="right") - 1, 0, self.frames - 2)
        share = ((time - self.time[left]) / (self.time[left + 1] - self.time[left]))[:, None]
        step = self.model.difference(self.q[left], self.q[left + 1])
        q = np.asarray(self.model.integrate(self.q[left], share * np.asarray(step)))

        def linear(values: np.ndarray) -> np.ndarray:
            if not len(values):
                return values
            return (1 - share) * values[left] + share * values[left + 1]

        return Motion(
            self.model,
            time,
            q,
            linear(self.v),
            linear(self.a),
            unobserved=self.unobserved,
            method=self.method,
            notes=self.notes,
            tau=linear(self.tau),
            contact_forces=tuple(force.resample(self.time, time) for force in self.contact_forces),
            activations=linear(self.activations),
            events=self.events,
            source=self.source,
            edge=self.edge[left] | self.edge[left + 1] if self.edge.size else self.edge,
            result=self.result,
        )


def motion_from_poses(
    model: Model,
    time: np.ndarray,
    q: np.ndarray,
    *,
    method: str = "",
    source: MotionSource = MotionSource.UNKNOWN,
) -> Motion:
    """A motion of which only the poses are known; rates follow by central differences.

    Args:
        model: The model.
        time: (frames,), s, increasing.
        q: (frames, nq), rad or m.
        method: How it was obtained.
        source: The kind of computation that it is the result of.

    Returns:
        The motion, with velocities and accelerations; zero where there are too few frames.

    Raises:
        HomodynError: The arrays have other shapes, or the times do not increase.
    """
    time, q = np.asarray(time, dtype=float), np.asarray(q, dtype=float)
    v = np.zeros((len(time), model.nv))
    if len(time) >= MIN_FRAMES_FOR_RATES:
        steps = np.asarray(model.difference(q[:-1], q[1:])) / np.diff(time)[:, None]
        middles = (time[1:] + time[:-1]) / 2
        v[1:-1] = _between_middles(time[1:-1], middles, steps)
        v[0], v[-1] = steps[0], steps[-1]
    return Motion(model, time, q, v, differentiate(time, v), method=method, source=source)


def motion_from_states(
    model: Model,
    time: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    *,
    tau: np.ndarray | None = None,
    method: str = "",
    source: MotionSource = MotionSource.UNKNOWN,
) -> Motion:
    """A motion of which positions and velocities are known; accelerations follow by differences.

    Args:
        model: The model.
        time: (frames,), s, increasing.
        q: (frames, nq), rad or m.
        v: (frames, nv), rad/s or m/s.
        tau: (frames, nv), N m or N; None where not known.
        method: How it was obtained.
        source: The kind of computation that it is the result of.

    Returns:
        The motion.

    Raises:
        HomodynError: The arrays have other shapes, or the times do not increase.
    """
    return Motion(
        model,
        time,
        q,
        v,
        differentiate(time, v),
        method=method,
        tau=np.zeros((0, 0)) if tau is None else tau,
        source=source,
    )


def differentiate(time: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Rates of sampled values by central differences; zero for a single sample.

    Args:
        time: (samples,), s, increasing.
        values: (samples, columns).

    Returns:
        (samples, columns), per second.
    """
    if len(time) < 2:
        return np.zeros_like(values, dtype=float)
    return np.asarray(np.gradient(values, time, axis=0))


def _between_middles(time: np.ndarray, middles: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Rates at frames, linear between the middles of the intervals."""
    share = ((time - middles[:-1]) / np.diff(middles))[:, None]
    return (1 - share) * steps[:-1] + share * steps[1:]
