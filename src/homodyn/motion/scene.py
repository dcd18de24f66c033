"""Scenes: ground, obstacles, supports and the sequence in which the supports are used.

One `Scene` serves balance, planning of the center of mass, simulation and the studio. Balance uses
the supports and their sequence; simulation uses the ground and the obstacles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of, duplicate_names, unknown_name
from homodyn.motion.bspline import ComSpline
from homodyn.motion.obstacles import Obstacle, PlaneObstacle
from homodyn.motion.supports import ContactPatch, Grasp, Support

MARGIN_KINDS = ("wrench", "force")
"""Margins that a plan can maximize: M_s3 (N m) and M_s1 (N)."""


@record(eq=True)
class HeightRamp(Record):
    """A height that decreases along x: ``level - drop * atan(steepness (x - middle)) / pi`` (m).

    With a place of ``rise``, the height returns there: ``level`` before and after, ``level - drop``
    in between, ``level - drop (atan(steepness (x - middle)) - atan(steepness (x - rise))) / pi``.
    """

    level: float
    """m."""
    drop: float
    """m."""
    steepness: float
    """1/m."""
    middle: float
    """m."""
    rise: float = np.inf
    """m: where the height returns; infinite for never."""

    def height(self, x: np.ndarray) -> np.ndarray:
        """Evaluate the height.

        Args:
            x: Positions along x, (...,), m.

        Returns:
            (...,), m.
        """
        angle = np.arctan(self.steepness * (x - self.middle))
        if np.isfinite(self.rise):
            angle = angle - np.arctan(self.steepness * (x - self.rise))
        return self.level - self.drop * angle / np.pi


@record
class ComPlanRequest(Record):
    """Boundary conditions and bounds for a plan of the center of mass.

    Raises:
        ModelError: A position is not three finite numbers, or the margin is unknown.
    """

    start: np.ndarray
    """(3,), m."""
    finish: np.ndarray
    """(3,), m."""
    degree: int = 5
    """Degree of the spline."""
    reach: float = np.inf
    """m: maximum distance of the center of mass from a support in use."""
    upper: HeightRamp | None = None
    """Upper bound of the height of the center of mass."""
    lower: HeightRamp | None = None
    """Lower bound of the height of the center of mass."""
    start_at_rest: bool = True
    finish_at_rest: bool = True
    margin: str = "wrench"
    """Margin to maximize: ``wrench`` (M_s3, N m) or ``force`` (M_s1, N)."""
    pieces: int = 1
    """Spline spans per phase."""
    height_weight: float | None = None
    """Weight of 1 m2/s of squared vertical velocity; None for the default of the planner."""

    def __post_init__(self) -> None:
        for name in ("start", "finish"):
            place = np.array(getattr(self, name), dtype=float)
            if place.shape != (3,) or not np.isfinite(place).all():
                raise ModelError(f"{name} of a plan is 3 finite numbers, got {place.tolist()}")
            object.__setattr__(self, name, place)
        if self.margin not in MARGIN_KINDS:
            raise ModelError(unknown_name("margin", self.margin, MARGIN_KINDS))


@record(eq=True)
class SceneStep(Record):
    """One phase of a scene: names of the supports in use, and its duration."""

    name: str
    supports: tuple[str, ...]
    duration: float | None = None
    """s; None where a planner chooses it."""
    min_duration: float = 0.0
    """s: minimum duration where a planner chooses it."""

    def headline(self) -> str:
        """Name and supports."""
        return f"SceneStep {self.name!r} on {' and '.join(self.supports)}"


@record
class Scene(Record):
    """Ground, obstacles, supports and the sequence of the supports.

    Raises:
        ModelError: Two obstacles or phases have the same name, a phase uses an unknown support, a
            key of ``supports`` is not the name of its support, the path does not fit the phases, or
            a value is invalid.
    """

    name: str = ""
    ground: Obstacle | None = field(default_factory=PlaneObstacle)
    """What bodies stand on: the horizontal plane z = 0 by default, None for none."""
    obstacles: tuple[Obstacle, ...] = ()
    supports: Mapping[str, Support] = field(default_factory=dict)
    """Supports by name."""
    steps: tuple[SceneStep, ...] = ()
    """The phases: which supports are used in which order."""
    mass: float | None = None
    """kg: mass of the body; None where it is not known."""
    limit: float = np.inf
    """N: maximum sum of the normal forces of all contacts in use."""
    gravity: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
    """(3,), m/s2."""
    plan: ComPlanRequest | None = None
    """Request for a plan of the center of mass."""
    path: ComSpline | None = None
    """Path of the center of mass, with its inner knots at the changes of support."""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("obstacles", "steps", "notes"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "supports", dict(self.supports))
        gravity = np.array(self.gravity, dtype=float)
        if gravity.shape != (3,) or not np.isfinite(gravity).all():
            raise ModelError(f"{self._title}: gravity is 3 finite numbers, got {self.gravity!r}")
        object.__setattr__(self, "gravity", gravity)
        if self.mass is not None and not (np.isfinite(self.mass) and self.mass > 0):
            raise ModelError(f"{self._title}: mass is a number above 0 kg, got {self.mass!r}")
        if not self.limit > 0:
            raise ModelError(f"{self._title}: limit is a force above 0 N, got {self.limit!r}")
        self._check_obstacles()
        self._check_supports()
        if self.path is not None and len(self.path.instants) != len(self.steps) + 1:
            raise ModelError(
                f"{self._title}: {count_of(len(self.steps), 'phase')} need a path with "
                f"{len(self.steps) + 1} instants, got {len(self.path.instants)}"
            )

    def _check_obstacles(self) -> None:
        for obstacle in self.all_obstacles:
            if not isinstance(obstacle, Obstacle):
                raise ModelError(
                    f"{self._title}: an obstacle is a record such as BoxObstacle, got {obstacle!r}"
                )
        duplicates = duplicate_names(each.name for each in self.all_obstacles if each.name)
        if duplicates:
            raise ModelError(
                f"{self._title} has several obstacles of one name: {', '.join(duplicates)}"
            )

    def _check_supports(self) -> None:
        for name, support in self.supports.items():
            if not isinstance(support, ContactPatch | Grasp):
                raise ModelError(
                    f"{self._title}: a support is a ContactPatch or a Grasp, got {support!r}"
                )
            if support.name != name:
                raise ModelError(
                    f"{self._title}: support {support.name!r} has the key {name!r}; use its name"
                )
        for step in self.steps:
            for name in step.supports:
                if name not in self.supports:
                    message = unknown_name("support", name, self.supports)
                    raise ModelError(f"{self._title}, phase {step.name!r}: {message}")

    @property
    def _title(self) -> str:
        return f"scene {self.name!r}" if self.name else "the scene"

    @property
    def all_obstacles(self) -> tuple[Obstacle, ...]:
        """The ground, where there is one, and the obstacles."""
        return (*(() if self.ground is None else (self.ground,)), *self.obstacles)

    @property
    def timed(self) -> bool:
        """Whether the duration of every phase is known."""
        return self.path is not None or all(step.duration is not None for step in self.steps)

    @property
    def instants(self) -> np.ndarray:
        """(phases + 1,), s: start and end of the phases, from the path or from the durations.

        Raises:
            ModelError: There is no path, and a phase has no duration.
        """
        if self.path is not None:
            return self.path.instants
        unknown = [step.name for step in self.steps if step.duration is None]
        if unknown:
            raise ModelError(
                f"{self._title}: phases {', '.join(unknown)} have no duration; add durations or a "
                "path"
            )
        return np.r_[0.0, np.cumsum([float(step.duration or 0) for step in self.steps])]

    def headline(self) -> str:
        """Name and numbers of obstacles, supports and phases."""
        parts = (
            count_of(len(self.obstacles), "obstacle"),
            count_of(len(self.supports), "support"),
            count_of(len(self.steps), "phase"),
        )
        return f"Scene {self.name!r}: {', '.join(parts)}"
