"""Contacts of bodies with the environment, with their schedule."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.model import Model

MIN_SINGULAR_RATIO = 1e-6
"""Ratio of singular values below which points lie on a line."""


@record
class BodyContact(Record):
    """Points of a body that do not move, and push with forces in friction pyramids or pull too.

    The motion of the body is held by as many rows as are independent: six for a sole, five for an
    edge, three for a point.

    Raises:
        ModelError: There is no point, or friction, normal, force or schedule is invalid.
    """

    body: str
    """Name of the body."""
    points: tuple[str, ...]
    """Names of contacts, markers or frames of that body."""
    friction: float = 0.7
    """Coefficient of Coulomb friction. The pyramid is inside the cone."""
    normal: np.ndarray | Sequence[float] = (0.0, 0.0, 1.0)
    """(3,): from the environment to the body, world."""
    max_force: float = np.inf
    """N: largest force along each edge of a pyramid, or along each world axis of a grasp."""
    schedule: tuple[tuple[float, float], ...] = ((-np.inf, np.inf),)
    """Start and end (s) of the intervals in which the contact acts."""
    ramp: float = 0.0
    """s: time before an end and after a start in which the largest force falls and rises."""
    grasps: bool = False
    """Whether the points also pull: forces in both directions of the world axes."""

    def __post_init__(self) -> None:
        where = f"contact of {self.body}"
        points = (self.points,) if isinstance(self.points, str) else tuple(self.points)
        object.__setattr__(self, "points", points)
        if not points:
            raise ModelError(f"{where} has no points; name contacts, markers or frames of the body")
        normal = np.array(self.normal, dtype=float)
        length = float(np.linalg.norm(normal)) if normal.shape == (3,) else 0.0
        if not (np.isfinite(length) and length > 0):
            raise ModelError(f"{where}: normal is a direction (3,), got {self.normal!r}")
        object.__setattr__(self, "normal", normal / length)
        if not (self.friction >= 0 and self.max_force > 0 and self.ramp >= 0):
            raise ModelError(
                f"{where}: friction and ramp are from 0 up and max_force is above 0, got "
                f"{self.friction!r}, {self.ramp!r} and {self.max_force!r}"
            )
        for start, end in self.schedule:
            if not start < end:
                raise ModelError(f"{where}: an interval ends before it starts: {start!r}, {end!r}")

    def headline(self) -> str:
        """Body and number of points."""
        return f"BodyContact of {self.body} at {', '.join(self.points)}"

    def strength(self, t: float) -> float:
        """Part of the largest force that is available.

        Args:
            t: Time, s.

        Returns:
            0 where the contact does not act, up to 1.
        """
        for start, end in self.schedule:
            if start <= t < end:
                if not self.ramp:
                    return 1.0
                return float(np.clip(min(t - start, end - t) / self.ramp, 0.0, 1.0))
        return 0.0

    @cached_property
    def edges(self) -> np.ndarray:
        """Edges of the set of forces of a point.

        Of the friction pyramid (4, 3), the normal plus friction along two tangents; of a grasp
        (6, 3), the world axes in both directions.
        """
        if self.grasps:
            return np.vstack([np.eye(3), -np.eye(3)])
        n = np.asarray(self.normal)
        guess = np.eye(3)[np.abs(n).argmin()]
        s = guess - (guess @ n) * n
        s = s / np.linalg.norm(s)
        t = np.cross(n, s)
        return np.array([n + self.friction * side for side in (s, t, -s, -t)])

    def local_points(self, model: Model) -> np.ndarray:
        """The points in the axes of the body.

        Args:
            model: The model.

        Returns:
            (points, 3), m.

        Raises:
            ModelError: A point is unknown or belongs to another body.
        """
        index, _ = model.locate(self.body)
        places = []
        for point in self.points:
            body, placement = model.locate(point)
            if body != index:
                other = model.body_names[body] if body >= 0 else "world"
                raise ModelError(f"contact of {self.body}: {point} belongs to {other}")
            places.append(np.asarray(placement.r, dtype=float))
        return np.array(places)

    def motion_rows(self, model: Model) -> np.ndarray:
        """Independent rows of the motion (angular, linear at the body) that the points fix.

        Args:
            model: The model.

        Returns:
            (rows, 6): orthonormal rows of the velocities of the points, in the axes of the body.
        """
        places = self.local_points(model)
        blocks = []
        for r in places:
            cross = np.array([[0, r[2], -r[1]], [-r[2], 0, r[0]], [r[1], -r[0], 0]])
            blocks.append(np.hstack([cross, np.eye(3)]))
        _, values, rows = np.linalg.svd(np.vstack(blocks))
        return np.asarray(rows[: int((values > MIN_SINGULAR_RATIO * values[0]).sum())])
