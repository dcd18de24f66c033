"""The result of static optimization: activations, forces, reserves and a status by frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from functools import cached_property

import numpy as np

from homodyn.errors import HomodynError
from homodyn.foundation.record import record
from homodyn.foundation.text import count_of, enumerate_names, unknown_name
from homodyn.foundation.time_series import Curve, TimeSeries
from homodyn.motion import Loads
from homodyn.motion.coordinate_columns import angular_coordinates

MIN_TORQUE = 1e-9
"""Torques (N m, N) that are smaller are zero but for rounding."""


class ActivationStatus(StrEnum):
    """What the activations of a frame are."""

    SOLVED = "solved"
    """The muscles produce the torques; reserves are small."""
    RESERVES = "reserves"
    """Solved, but a reserve is a large part of the torque of its coordinate."""
    INFEASIBLE = "infeasible"
    """The muscles are not strong enough and a coordinate has no reserve; activations are those
    with the smallest missing torques."""
    NOT_CONVERGED = "not converged"
    """The iterations ended before the conditions of an optimum were satisfied."""
    LOADS_UNKNOWN = "loads unknown"
    """Ground forces or accelerations are not known in the frame, so the torques are not valid."""


@record
class MuscleActivations(TimeSeries):
    """Activations and forces of muscles that produce the torques of a motion.

    Columns are named after muscles (activations), ``<muscle> force`` (N), ``<muscle> fiber length``
    (in optimal fiber lengths) and ``<coordinate> reserve`` (N m, N).
    """

    loads: Loads
    """The motion and its torques."""
    muscles: tuple[str, ...]
    """Names of the muscles with a result."""
    coordinates: tuple[str, ...]
    """Names of the coordinates whose torques the muscles produce."""
    activations: np.ndarray
    """(frames, muscles), 0 to 1."""
    forces: np.ndarray
    """(frames, muscles), N: forces along tendons, passive forces included."""
    passive_forces: np.ndarray
    """(frames, muscles), N: parts of the forces that need no activation."""
    reserves: np.ndarray
    """(frames, coordinates), N m or N: torques of reserve actuators; missing torques of coordinates
    without a reserve."""
    moment_arms: np.ndarray
    """(frames, muscles, coordinates), m."""
    status: np.ndarray
    """(frames,): the `ActivationStatus` of each frame."""
    residual: np.ndarray
    """(frames,), N m: largest deviation of the torque of a coordinate, reserves included."""
    optimality: np.ndarray
    """(frames,): largest step of an activation along the gradient within its bounds."""
    objective: np.ndarray
    """(frames,): effort, deviations from measured activations, and cost of reserves."""
    iterations: np.ndarray
    """(frames,)."""
    fiber_lengths: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    """(frames, muscles), in optimal fiber lengths; empty where no muscle model is used."""
    fiber_speeds: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    """(frames, muscles), in largest contraction speeds, positive where fibers lengthen."""
    strengths: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(coordinates,), N m or N: strengths of the reserves; 0 without a reserve."""
    method: str = ""
    """The program in one sentence."""
    notes: tuple[str, ...] = ()
    """Decisions and doubts, one sentence each."""

    @property
    def time(self) -> np.ndarray:
        """(frames,), s."""
        return self.loads.time

    @property
    def peak_reserves(self) -> np.ndarray:
        """(coordinates,), N m or N: largest reserves over valid frames."""
        valid = self.valid if self.valid.any() else np.ones(len(self.status), dtype=bool)
        return np.asarray(np.abs(self.reserves[valid]).max(axis=0))

    @property
    def peak_torques(self) -> np.ndarray:
        """(coordinates,), N m or N: largest torques of the loads over valid frames."""
        names = self.loads.motion.model.coordinate_names
        columns = [names.index(name) for name in self.coordinates]
        valid = self.valid if self.valid.any() else np.ones(len(self.status), dtype=bool)
        return np.asarray(np.abs(self.loads.tau[valid][:, columns]).max(axis=0))

    @property
    def valid(self) -> np.ndarray:
        """(frames,): True where the torques are known."""
        return np.asarray(self.status != ActivationStatus.LOADS_UNKNOWN)

    def count(self, status: ActivationStatus) -> int:
        """Number of frames with a status.

        Args:
            status: One of `ActivationStatus`.
        """
        return int((self.status == status).sum())

    def muscle(self, name: str) -> int:
        """Column of a muscle.

        Args:
            name: Name of the muscle.

        Raises:
            HomodynError: The muscle has no result.
        """
        if name not in self.muscles:
            raise HomodynError(unknown_name("muscle", name, self.muscles))
        return self.muscles.index(name)

    def contributions(self, coordinate: str) -> dict[str, np.ndarray]:
        """Torques of all muscles that act on a coordinate, by muscle.

        Args:
            coordinate: Name of a coordinate.

        Returns:
            (frames,), N m or N, by muscle; with the reserve, they add up to the torque.

        Raises:
            HomodynError: The coordinate has no result.
        """
        if coordinate not in self.coordinates:
            raise HomodynError(unknown_name("coordinate", coordinate, self.coordinates))
        arms = self.moment_arms[:, :, self.coordinates.index(coordinate)]
        return {
            name: self.forces[:, k] * arms[:, k]
            for k, name in enumerate(self.muscles)
            if arms[:, k].any()
        }

    def headline(self) -> str:
        """Model, muscles and frames by status."""
        counts = [
            f"{self.count(status)} {status}" for status in ActivationStatus if self.count(status)
        ]
        return (
            f"MuscleActivations of {self.loads.motion.model.name!r}: "
            f"{count_of(len(self.muscles), 'muscle')}, {count_of(len(self.status), 'frame')} "
            f"({', '.join(counts)})"
        )

    @property
    def sentence(self) -> str:
        """Frames by status, and the largest reserve."""
        solved = self.count(ActivationStatus.SOLVED)
        text = f"{solved} of {count_of(len(self.status), 'frame')} solved by muscles"
        parts = (
            (ActivationStatus.RESERVES, "with large reserves"),
            (ActivationStatus.INFEASIBLE, "beyond the strength of muscles"),
            (ActivationStatus.NOT_CONVERGED, "not converged"),
            (ActivationStatus.LOADS_UNKNOWN, "without known torques"),
        )
        for status, words in parts:
            if self.count(status):
                text += f", {self.count(status)} {words}"
        peaks = self.peak_torques
        ratio = np.where(peaks > MIN_TORQUE, self.peak_reserves / np.maximum(peaks, MIN_TORQUE), 0)
        k = int(np.argmax(ratio if ratio.any() else self.peak_reserves))
        text += f"; the largest reserve is {self.peak_reserves[k]:.2g} N m at {self.coordinates[k]}"
        if peaks[k] <= MIN_TORQUE:
            return f"{text}, whose torque is zero"
        return f"{text} ({100 * ratio[k]:.1f} % of its largest torque)"

    @property
    def saturated(self) -> tuple[str, ...]:
        """Muscles that are fully active in a valid frame."""
        full = self.activations[self.valid].max(axis=0, initial=0.0) > 1 - 1e-3
        return tuple(name for name, is_full in zip(self.muscles, full, strict=True) if is_full)

    @cached_property
    def _columns(self) -> dict[str, Curve]:
        time = self.time
        found: dict[str, Curve] = {}
        for k, name in enumerate(self.muscles):
            found[name] = Curve(name, "", time, self.activations[:, k])
        for k, name in enumerate(self.muscles):
            found[f"{name} force"] = Curve(f"{name} force", "N", time, self.forces[:, k])
        if self.fiber_lengths.size:
            for k, name in enumerate(self.muscles):
                label = f"{name} fiber length"
                found[label] = Curve(label, "", time, self.fiber_lengths[:, k])
        model = self.loads.motion.model
        angular = dict(zip(model.coordinate_names, angular_coordinates(model), strict=True))
        for k, name in enumerate(self.coordinates):
            label = f"{name} reserve"
            found[label] = Curve(label, "N m" if angular[name] else "N", time, self.reserves[:, k])
        return found

    def columns(self) -> Mapping[str, Curve]:
        """Activations, forces (N), fiber lengths and reserves (N m, N) by name.

        Returns:
            Curves by name.
        """
        return self._columns


def shortage_sentence(result: MuscleActivations, frame: int) -> str:
    """The coordinates that lack strength in an infeasible frame.

    Args:
        result: The activations.
        frame: Index of the frame.

    Returns:
        A sentence with the coordinates, their missing torques and the muscles that are fully
        active.
    """
    missing = np.where(result.strengths > 0, 0.0, result.reserves[frame])
    largest = np.abs(missing).max()
    short = [k for k in np.argsort(-np.abs(missing)) if abs(missing[k]) > 0.05 * largest]
    names = [f"{result.coordinates[k]} ({missing[k]:+.1f} N m)" for k in short]
    full = [
        name
        for k, name in enumerate(result.muscles)
        if result.activations[frame, k] > 1 - 1e-3 and result.moment_arms[frame, k, short].any()
    ]
    text = (
        f"in frame {frame} ({result.time[frame]:.3f} s) the muscles are not strong enough for "
        f"{enumerate_names(names)}"
    )
    return f"{text}; fully active: {enumerate_names(full)}" if full else text
