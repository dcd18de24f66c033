"""What moved the body: joint torques, ground forces, what is left over, and the power of it all."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from homodyn.model.side import Side
from homodyn.motion.motion import Motion


@dataclass(frozen=True, eq=False)
class FootForce:
    """What the ground did to one body of the model, in the model's world, once a frame."""

    body: str
    """The body it acts on."""
    side: Side | None
    """None where the body has no side."""
    force: np.ndarray
    """(frames, 3), N."""
    point: np.ndarray
    """(frames, 3), m: centre of pressure; NaN where the foot is unloaded."""
    torque: np.ndarray
    """(frames, 3), N m: free moment."""
    plates: tuple[str, ...] = ()
    """Plates whose readings are in it."""
    predicted: bool = False
    """True when no plate measured it and it was computed from the motion."""


@dataclass(frozen=True, eq=False)
class Loads:
    """Generalised forces that explain a motion under its ground forces.

    ``tau`` has ``model.nv`` columns in the order of the coordinates (N m, N): net values, muscles
    and passive tissue together. The columns of the root are what no muscle can do: the residual.
    """

    motion: Motion
    tau: np.ndarray
    """(frames, nv), N m or N."""
    root: tuple[int, ...]
    """Columns of ``tau`` that belong to the root joint."""
    residual_force: np.ndarray
    """(frames, 3), N: the force at the root that is left over, world axes."""
    residual_moment: np.ndarray
    """(frames, 3), N m: the moment that is left over about the centre of mass, world axes."""
    feet: tuple[FootForce, ...] = ()
    power: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    """(frames, nv), W: torque times speed; zero in the columns of the root."""
    method: str = ""
    """One sentence: filters, assignment, prediction, redistribution."""
    notes: tuple[str, ...] = ()
    usable: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    """(frames,): False where the ground forces are not known well enough for torques."""
    ground_power: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(frames,), W: power of the ground forces on the feet."""
    center_of_mass: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    """(frames, 3), m."""

    @property
    def per_kg(self) -> np.ndarray:
        """``tau`` divided by the mass of the person, N m/kg or N/kg."""
        return self.tau / self.motion.model.mass

    @property
    def joints(self) -> tuple[int, ...]:
        """Columns of ``tau`` that muscles or motors can drive: all but the root's."""
        return tuple(k for k in range(self.tau.shape[1]) if k not in self.root)

    @property
    def ground_force(self) -> np.ndarray:
        """(frames, 3), N: the sum over the feet."""
        return sum((foot.force for foot in self.feet), np.zeros((len(self.tau), 3)))

    @property
    def per_weight(self) -> dict[str, np.ndarray]:
        """By body of each foot, its ground force (frames, 3) divided by the weight."""
        gravity = np.asarray(self.motion.model.gravity, dtype=float)
        weight = self.motion.model.mass * float(np.linalg.norm(gravity))
        return {foot.body: foot.force / weight for foot in self.feet}

    @property
    def covered(self) -> np.ndarray:
        """(frames,): ``usable``, or all frames where nobody told which are."""
        return self.usable if self.usable.size else np.ones(len(self.tau), dtype=bool)

    @property
    def predicted(self) -> bool:
        """True when the ground forces were computed from the motion, not measured."""
        return any(foot.predicted for foot in self.feet)

    def torque(self, coordinate: str) -> np.ndarray:
        """(frames,), N m or N: the generalised force along one coordinate."""
        return self.tau[:, self.motion.model.coordinate_index(coordinate)]
