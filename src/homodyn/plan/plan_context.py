"""The model in its scene: bodies on supports, obstacles with names, distances to keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from homodyn.control import CollisionLimit
from homodyn.model import Model
from homodyn.motion import Scene
from homodyn.motion.supports import Support
from homodyn.plan.body_targets import BodyTarget, Targets
from homodyn.plan.collision_pairs import (
    DEFAULT_CLEARANCE_M,
    clearance_limit,
    contact_margins,
    named_obstacles,
)
from homodyn.plan.posture_batch import BatchSolver
from homodyn.plan.support_targets import SupportBody, heading, support_bodies


@dataclass(frozen=True, eq=False)
class PlanContext:
    """A model in a scene, with what all steps of a plan share."""

    model: Model
    scene: Scene
    """Its obstacles have names, and the ground is one of them."""
    clearance: float = DEFAULT_CLEARANCE_M
    """m."""
    bodies: Mapping[str, SupportBody] = field(default_factory=dict)
    """Bodies that use supports of the scene."""

    @staticmethod
    def of(model: Model, scene: Scene, clearance: float = DEFAULT_CLEARANCE_M) -> PlanContext:
        """The context of a scene as a user wrote it.

        Args:
            model: The model.
            scene: The scene.
            clearance: Distance that capsules keep from obstacles, m.

        Raises:
            ModelError: A support names no body of the model.
        """
        if model.parameters:
            model = model.at(model.parameter_values)
        bodies = support_bodies(model, scene)
        return PlanContext(model, named_obstacles(scene), clearance, bodies)

    @cached_property
    def solver(self) -> BatchSolver:
        """Solver of postures for targets of the bodies."""
        return BatchSolver(self.model, self.bodies)

    def limit(self, uses: Iterable[tuple[str, Support]]) -> CollisionLimit:
        """Distances to keep while bodies use, leave or reach supports."""
        margins = contact_margins(
            self.scene, [(self.bodies[name], support) for name, support in uses]
        )
        return clearance_limit(self.model, self.scene, margins, self.clearance)

    def body_target(self, support: Support, *, landing: bool = False) -> BodyTarget:
        """The target of the body of a support.

        Args:
            support: The support.
            landing: Whether a seated body may land anywhere on it.
        """
        body = self.bodies[support.body]
        position, rotation = body.pose(support)
        if body.is_sole:
            return BodyTarget(body, position, rotation)
        axes = (0.0, 0.0, 1.0) if body.is_seat and landing else (1.0, 1.0, 1.0)
        return BodyTarget(body, position, None, axes)

    def targets(
        self,
        bodies: Iterable[BodyTarget],
        com: np.ndarray | None,
        reference: np.ndarray,
        feet: Iterable[Support],
    ) -> Targets:
        """Targets with an upright root that faces where the feet point.

        Args:
            bodies: Targets of bodies.
            com: Center of mass, (..., 3), m; None where it is free.
            reference: Posture to stay near, (..., nq).
            feet: Supports that give the direction.
        """
        return Targets(self.model, tuple(bodies), com, reference, self.upright(heading([*feet])))

    def upright(self, yaw: float) -> np.ndarray:
        """(3, 3): orientation of the root standing upright and turned by a yaw (rad)."""
        from homodyn import dynamics

        c, s = np.cos(yaw), np.sin(yaw)
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        neutral = dynamics.orientation(self.model, self.model.neutral(), self.model.body_names[0])
        return np.asarray(turn @ neutral)
