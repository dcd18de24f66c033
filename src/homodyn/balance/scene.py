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
    """A height that decreases along x: ``level - drop * atan(steepness (x - middle)) / pi`` (m)."""

    level: float
    drop: float
    steepness: float
    """1/m."""
    middle: float

    def height(self, x: np.ndarray) -> np.ndarray:
        """Evaluate the height.

        Args:
            x: Positions along x, (...,), m.

        Returns:
            (...,), m.
        """
        return self.level - self.drop * np.arctan(self.steepness * (x - self.middle)) / np.pi


@dataclass(frozen=True, eq=False)
class ComPlanRequest:
    """Boundary conditions and bounds for a plan of the centre of mass."""

    start: np.ndarray
    """(3,), m."""
    finish: np.ndarray
    """(3,), m."""
    degree: int = 5
    reach: float = np.inf
    """m: maximum distance of the centre of mass from a support in use."""
    upper: HeightRamp | None = None
    lower: HeightRamp | None = None
    start_at_rest: bool = True
    finish_at_rest: bool = True
    margin: str = "wrench"
    """Margin to maximise: ``wrench`` (M_s3, N m) or ``force`` (M_s1, N)."""
    pieces: int = 1
    """Spline spans per phase."""
    height_weight: float | None = None
    """Weight of 1 m2/s of squared vertical velocity; None for the default of `PlanWeights`."""


@dataclass(frozen=True, eq=False)
class ComPath:
    """A clamped B-spline of the centre of mass with inner knots at the changes of support."""

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
        """Evaluate the path or a time derivative.

        Args:
            time: Instants, (...,), s.
            derivative: Order of the derivative; 0 for the position.

        Returns:
            (..., 3): position (m), velocity (m/s), acceleration (m/s2) and so on.
        """
        span = self.instants[-1] - self.instants[0]
        share = (np.asarray(time, dtype=float) - self.instants[0]) / span
        found = self._spline.derivative(derivative) if derivative else self._spline
        return np.asarray(found(share)) / span**derivative


@dataclass(frozen=True, eq=False)
class Box:
    """An axis-aligned box: an obstacle or a surface to stand on; centre and size in m."""

    name: str
    center: np.ndarray
    size: np.ndarray


@dataclass(frozen=True)
class SceneStep:
    """One phase of a scene: names of the supports, and its duration."""

    name: str
    supports: tuple[str, ...]
    duration: float | None = None
    """s; None where the planner chooses it."""
    shortest: float = 0.0
    """s: minimum duration."""


@dataclass(frozen=True, eq=False)
class Scene:
    """Supports, their sequence of use, and an optional plan request or path."""

    name: str
    mass: float
    """kg."""
    supports: Mapping[str, Support]
    steps: tuple[SceneStep, ...]
    limit: float = np.inf
    """N: maximum sum of the normal forces."""
    gravity: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
    plan: ComPlanRequest | None = None
    path: ComPath | None = None
    boxes: tuple[Box, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def stances(self) -> tuple[Stance, ...]:
        """One stance per phase."""
        return tuple(
            Stance(tuple(self.supports[n] for n in step.supports), self.limit, step.name)
            for step in self.steps
        )

    @property
    def timed(self) -> bool:
        """Whether the duration of every phase is known."""
        return self.path is not None or all(step.duration is not None for step in self.steps)

    @cached_property
    def phases(self) -> tuple[SupportPhase, ...]:
        """The stances with their times, from the path or else from the durations of the steps.

        Raises:
            ModelError: There is no path, and a step has no duration.
        """
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
        """Compute the wrench that a point mass requires to follow the path of the scene.

        Args:
            time: Instants, (instants,), s.

        Returns:
            The required wrench.

        Raises:
            ModelError: The scene has no path.
        """
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
