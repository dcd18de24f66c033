"""The convex program of all frames of a motion as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from homodyn.errors import HomodynError, ModelError
from homodyn.foundation.text import count_of, enumerate_names, unknown_name
from homodyn.model import Model
from homodyn.motion import Loads, Motion
from homodyn.muscle.redundancy.interior_point import FrameProgram
from homodyn.muscle.redundancy.options import (
    MIN_ACTIVATION,
    EmgTargets,
    StaticOptimizationOptions,
)

MIN_ARM_M = 1e-6
"""A muscle moves a coordinate if its moment arm is longer in some frame."""
VOLUME_PERCENT = 100.0


@dataclass(frozen=True)
class SharingProblem:
    """Torques, bounds and costs of activations, by frame.

    A torque of the muscles is ``einsum("fmc,fm->fc", torques, activations)``.
    """

    muscles: tuple[str, ...]
    coordinates: tuple[str, ...]
    torques: np.ndarray
    """(frames, muscles, coordinates), N m: torques of full activation."""
    loads: np.ndarray
    """(frames, coordinates), N m: what activations and reserves produce."""
    lower: np.ndarray
    upper: np.ndarray
    """(muscles,)."""
    weight: np.ndarray
    """(frames, muscles): of the power of each activation."""
    pull: np.ndarray
    """(frames, muscles): of squared deviations from the targets."""
    target: np.ndarray
    """(frames, muscles)."""
    strength: np.ndarray
    """(coordinates,), N m: of reserves."""
    power: float

    @property
    def pattern(self) -> np.ndarray:
        """(muscles, coordinates): True where a muscle acts on a coordinate in some frame."""
        return np.asarray(np.any(self.torques != 0, axis=0))

    @property
    def program(self) -> FrameProgram:
        """What the kernel of a frame depends on."""
        return FrameProgram(tuple(tuple(map(bool, row)) for row in self.pattern), self.power)

    @property
    def scales(self) -> np.ndarray:
        """(frames, coordinates), N m: the largest torque of a muscle or reserve."""
        largest = np.maximum(np.abs(self.torques).max(axis=1), self.strength)
        return np.where(largest > 0, largest, 1.0)

    def muscle_torques(self, activations: np.ndarray) -> np.ndarray:
        """(frames, coordinates), N m: torques of activations (frames, muscles)."""
        return np.asarray(np.einsum("fmc,fm->fc", self.torques, activations))

    def objective(self, activations: np.ndarray, reserves: np.ndarray) -> np.ndarray:
        """(frames,): effort, deviations from targets, and cost of reserves (N m)."""
        effort = (self.weight * activations**self.power).sum(axis=1)
        deviation = (self.pull * (activations - self.target) ** 2).sum(axis=1)
        has = self.strength > 0
        return np.asarray(
            effort + deviation + ((reserves[:, has] / self.strength[has]) ** 2).sum(axis=1)
        )

    def gradient(self, activations: np.ndarray) -> np.ndarray:
        """(frames, muscles): derivative of effort and deviations."""
        effort = self.power * self.weight * activations ** (self.power - 1)
        return np.asarray(effort + 2 * self.pull * (activations - self.target))

    def take(self, frames: np.ndarray) -> SharingProblem:
        """The problem of some frames."""
        parts = {
            name: getattr(self, name)[frames]
            for name in ("torques", "loads", "weight", "pull", "target")
        }
        return SharingProblem(**{**self.__dict__, **parts})


def check_movement(motion: Motion, loads: Loads) -> None:
    """Refuse movements whose torques are unknown.

    Args:
        motion: The movement.
        loads: Its loads.

    Raises:
        HomodynError: Frames differ, or a coordinate or torque is not finite; the sentence names the
            coordinate and the frame.
    """
    model = motion.model
    if loads.tau.shape != (motion.frames, model.nv):
        raise HomodynError(
            f"the motion has {count_of(motion.frames, 'frame')} and {model.nv} coordinates, its "
            f"loads have torques of shape {loads.tau.shape}; compute the loads of this motion with "
            "hd.capture.inverse_dynamics"
        )
    names = model.coordinate_names
    for what, values, advice in (
        ("position", motion.q, "fill the gaps or crop the motion"),
        ("velocity", motion.v, "fill the gaps or crop the motion"),
        ("acceleration", motion.a, "fill the gaps or crop the motion"),
        ("torque", loads.tau, "compute the loads again, or crop the motion"),
    ):
        missing = np.argwhere(~np.isfinite(values))
        if len(missing):
            frame, k = (int(x) for x in missing[0])
            name = names[k] if values.shape[1] == len(names) else f"entry {k} of q"
            raise HomodynError(
                f"the {what} of {name} is not a number in frame {frame} "
                f"({motion.time[frame]:.3f} s), one of {count_of(len(missing), 'such value')}; "
                f"{advice}"
            )


def select_coordinates(
    model: Model, loads: Loads, arms: np.ndarray, options: StaticOptimizationOptions
) -> tuple[list[int], tuple[str, ...]]:
    """Coordinates whose torques muscles produce.

    Args:
        model: The model.
        loads: The loads, whose root has no muscles.
        arms: (frames, muscles, nv), m.
        options: The options.

    Returns:
        Entries of v, and names of coordinates of joints that no muscle moves.

    Raises:
        HomodynError: A coordinate of the options is unknown or belongs to the root, or nothing can
            produce its torque.
        ModelError: No muscle moves a coordinate.
    """
    names = list(model.coordinate_names)
    moved = np.abs(arms).max(axis=(0, 1)) > MIN_ARM_M
    hidden = hidden_coordinates(loads.motion)
    if options.coordinates is None:
        open_ = [k for k in range(model.nv) if k not in loads.root and names[k] not in hidden]
        chosen = [k for k in open_ if moved[k]]
        if not chosen:
            raise ModelError(f"no muscle of model {model.name!r} moves a coordinate that is known")
        return chosen, tuple(names[k] for k in open_ if not moved[k])
    chosen = []
    for name in options.coordinates:
        if name not in names:
            raise HomodynError(unknown_name("coordinate", name, names))
        k = names.index(name)
        if k in loads.root:
            raise HomodynError(
                f"coordinate {name!r} belongs to the root; no muscle produces its torque, which is "
                "the residual of inverse dynamics"
            )
        if name in hidden:
            raise HomodynError(
                f"coordinate {name!r} is locked or no marker shows it: its torque is not known"
            )
        if not moved[k] and reserve_strengths((name,), options.reserves)[0] == 0:
            raise HomodynError(
                f"nothing can produce the torque of coordinate {name!r}: no muscle moves it and it "
                f"has no reserve; leave it out of coordinates=, or give it one with "
                f"reserves={{{name!r}: ...}}"
            )
        chosen.append(k)
    return chosen, ()


def hidden_coordinates(motion: Motion) -> set[str]:
    """Coordinates without a known value or torque: not shown by markers, or locked.

    Args:
        motion: The motion.
    """
    return {*motion.unobserved, *(c.name for c in motion.model.coordinates if c.locked)}


def reserve_strengths(
    coordinates: tuple[str, ...], reserves: float | Mapping[str, float]
) -> np.ndarray:
    """Strengths of reserves (N m, N), (coordinates,).

    Args:
        coordinates: Names of coordinates.
        reserves: One strength, or strengths by coordinate; zero for others.

    Raises:
        HomodynError: A name is not among the coordinates.
    """
    if not isinstance(reserves, Mapping):
        return np.full(len(coordinates), float(reserves))
    for name in reserves:
        if name not in coordinates:
            raise HomodynError(
                f"reserve of {name!r}: " + unknown_name("coordinate", name, coordinates)
            )
    return np.array([float(reserves.get(name, 0.0)) for name in coordinates])


def activation_bounds(
    muscles: tuple[str, ...], options: StaticOptimizationOptions
) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest activation of every muscle.

    Args:
        muscles: Names of muscles.
        options: The options.

    Raises:
        HomodynError: A name is no muscle, or the bounds of a muscle contradict each other.
    """
    found = []
    for given, default in (
        (options.lower, MIN_ACTIVATION),
        (options.upper, 1.0),
    ):
        if isinstance(given, Mapping):
            for name in given:
                if name not in muscles:
                    raise HomodynError(unknown_name("muscle", name, muscles))
            found.append(np.array([float(given.get(name, default)) for name in muscles]))
        else:
            found.append(np.full(len(muscles), float(given)))
    lower, upper = found
    wrong = np.flatnonzero(~(lower < upper))
    if len(wrong):
        k = int(wrong[0])
        raise HomodynError(
            f"bounds of the activation of muscle {muscles[k]!r} contradict each other: lower "
            f"{lower[k]:g}, upper {upper[k]:g}; the upper bound must be above the lower one"
        )
    return lower, upper


def effort_weights(model: Model, kept: list[int], weights: str | Mapping[str, float]) -> np.ndarray:
    """Weight of the effort of every muscle.

    Args:
        model: The model.
        kept: Indices of muscles.
        weights: ``"equal"``, ``"volume"``, or weights by muscle.

    Raises:
        HomodynError: A name is no muscle.
    """
    names = [model.muscles[k].name for k in kept]
    if isinstance(weights, Mapping):
        for name in weights:
            if name not in names:
                raise HomodynError(unknown_name("muscle", name, names))
        return np.array([float(weights.get(name, 1.0)) for name in names])
    if weights == "equal":
        return np.ones(len(kept))
    muscles = [model.muscles[k] for k in kept]
    volume = np.array(
        [float(m.max_isometric_force) * float(m.optimal_fiber_length) for m in muscles]
    )
    return np.asarray(VOLUME_PERCENT * volume / volume.sum())


def emg_costs(
    emg: EmgTargets | None, muscles: tuple[str, ...], weight: np.ndarray, frames: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights of efforts and of deviations from targets, and targets, (frames, muscles) each.

    Args:
        emg: Measured activations.
        muscles: Names of muscles.
        weight: (muscles,): weights of efforts.
        frames: Number of frames.

    Raises:
        HomodynError: A muscle of the targets is unknown, or the numbers of frames differ.
    """
    effort = np.tile(weight, (frames, 1))
    pull, target = np.zeros((2, frames, len(muscles)))
    if emg is None:
        return effort, pull, target
    if len(emg.activations) != frames:
        raise HomodynError(
            f"targets have {count_of(len(emg.activations), 'frame')}, the motion has {frames}; "
            "resample them at the times of the motion"
        )
    unknown = [name for name in emg.muscles if name not in muscles]
    if unknown:
        raise HomodynError(
            f"targets name {enumerate_names(unknown)}: "
            + unknown_name("muscle", unknown[0], muscles)
        )
    for column, name in enumerate(emg.muscles):
        k = muscles.index(name)
        known = np.isfinite(emg.activations[:, column])
        pull[known, k] = emg.weight
        target[known, k] = emg.activations[known, column]
        if emg.mode == "tracking":
            effort[known, k] = 0.0
    return effort, pull, target
