"""Scenes: supports, the order in which they are used, and what a plan must keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.interpolate import BSpline

from homodyn.balance.contact_phases import SupportPhase
from homodyn.balance.contacts import Support
from homodyn.balance.required_wrench import RequiredWrench, point_mass_wrench
from homodyn.balance.stance import Stance
from homodyn.errors import ModelError


@dataclass(frozen=True)
class HeightRamp:
    """A height that falls along x: ``level - drop * atan(steepness (x - middle)) / pi`` (m)."""

    level: float
    drop: float
    steepness: float
    """1/m."""
    middle: float

    def height(self, x: np.ndarray) -> np.ndarray:
        """(...,), m."""
        return self.level - self.drop * np.arctan(self.steepness * (x - self.middle)) / np.pi


@dataclass(frozen=True, eq=False)
class ComPlanRequest:
    """What a planner of the centre of mass must keep."""

    start: np.ndarray
    """(3,), m."""
    finish: np.ndarray
    """(3,), m."""
    degree: int = 5
    reach: float = np.inf
    """m: largest distance of the centre of mass from a support in use."""
    upper: HeightRamp | None = None
    lower: HeightRamp | None = None
    start_at_rest: bool = True
    finish_at_rest: bool = True
    margin: str = "wrench"
    """What to keep large: ``wrench`` (M_s3, N m) or ``force`` (M_s1, N)."""
    pieces: int = 1
    """Spans of the spline in a phase."""
    height_weight: float | None = None
    """What 1 m2/s of squared vertical velocity is worth; None for that of every plan."""


@dataclass(frozen=True, eq=False)
class ComPath:
    """A clamped B-spline of the centre of mass whose inner knots are the changes of support."""

    degree: int
    instants: np.ndarray
    """(phases + 1,), s."""
    points: np.ndarray
    """(degree + phases, 3), m: control points."""

    @cached_property
    def _spline(self) -> BSpline:
        share = (self.instants - self.instants[0]) / (self.instants[-1] - self.instants[0])
        ends = self.degree + 1
        knots = np.r_[np.zeros(ends), share[1:-1], np.ones(ends)]
        return BSpline(knots, self.points, self.degree)

    def at(self, time: np.ndarray, derivative: int = 0) -> np.ndarray:
        """(..., 3): place (m) at instants (s), or a derivative by time (m/s, m/s2, ...)."""
        span = self.instants[-1] - self.instants[0]
        share = (np.asarray(time, dtype=float) - self.instants[0]) / span
        found = self._spline.derivative(derivative) if derivative else self._spline
        return np.asarray(found(share)) / span**derivative


@dataclass(frozen=True, eq=False)
class Box:
    """An obstacle or a thing to stand on, with sides along the axes."""

    name: str
    center: np.ndarray
    size: np.ndarray


@dataclass(frozen=True)
class SceneStep:
    """One phase of a scene: supports by name, and how long."""

    name: str
    supports: tuple[str, ...]
    duration: float | None = None
    """s; None where a planner is to choose."""
    shortest: float = 0.0
    """s: the least it may last."""


@dataclass(frozen=True, eq=False)
class Scene:
    """Supports, their sequence, and what belongs to a plan."""

    name: str
    mass: float
    """kg."""
    supports: Mapping[str, Support]
    steps: tuple[SceneStep, ...]
    limit: float = np.inf
    """N: largest sum of normal forces."""
    gravity: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
    plan: ComPlanRequest | None = None
    path: ComPath | None = None
    boxes: tuple[Box, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def stances(self) -> tuple[Stance, ...]:
        """One for each phase."""
        return tuple(
            Stance(tuple(self.supports[n] for n in step.supports), self.limit, step.name)
            for step in self.steps
        )

    @property
    def timed(self) -> bool:
        """Whether every phase says how long it lasts."""
        return self.path is not None or all(step.duration is not None for step in self.steps)

    @cached_property
    def phases(self) -> tuple[SupportPhase, ...]:
        """The stances with their times; those of the path, else the durations of the steps."""
        if self.path is not None:
            instants = self.path.instants
        elif self.timed:
            instants = np.r_[0.0, np.cumsum([float(step.duration or 0) for step in self.steps])]
        else:
            open_ = [step.name for step in self.steps if step.duration is None]
            raise ModelError(
                f"scene {self.name!r}: phases {', '.join(open_)} have no duration; give them one, "
                "or a path"
            )
        return tuple(
            SupportPhase(stance, float(a), float(b), step.name)
            for stance, a, b, step in zip(
                self.stances, instants[:-1], instants[1:], self.steps, strict=True
            )
        )

    def required_wrench(self, time: np.ndarray) -> RequiredWrench:
        """What the path of the scene needs at instants (s), as a point mass."""
        if self.path is None:
            raise ModelError(f"scene {self.name!r} has no path of the centre of mass")
        return point_mass_wrench(
            time,
            self.path.at(time),
            self.path.at(time, 2),
            mass=self.mass,
            velocity=self.path.at(time, 1),
            gravity=self.gravity,
        )
