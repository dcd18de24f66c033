"""Targets of bodies and of the center of mass at one or many instants, as tasks of control."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from homodyn import dynamics
from homodyn.control import (
    ComTask,
    FrameTask,
    OrientationTask,
    PositionTask,
    PostureTask,
    Task,
)
from homodyn.model import Model
from homodyn.plan.support_targets import SupportBody

TARGET_COST = 100.0
"""Cost (1/m, 1/rad) of targets; large, since quadratic programs are solved to absolute accuracy."""
FLIGHT_ROTATION_COST = 1.5
"""Cost (1/rad) of the orientation of a foot in flight, which may tilt to get over obstacles."""
POSTURE_COST = 2.0
"""Cost (1/rad) of a joint angle away from the reference."""
COSTS_BY_NAME = {
    ("toe",): 50.0,
    ("lumbar", "torso", "neck", "spine", "back", "trunk"): 6.0,
    ("hip", "knee", "ankle"): 1.0,
}
"""Costs (1/rad) of coordinates with one of these words in their names: flat soles, a straight
trunk, and legs that do most of the work."""
GUIDE_COST, GUIDE_ROTATION_COST = 5.0, 0.5
"""Costs (1/m, 1/rad) of the path of a flight while a motion is smoothed."""
FOLLOWING_COST = 0.1
"""Cost (1/rad, 1/m) of every coordinate away from a reference that is followed."""
MIN_COST = 1e-3
"""Cost of coordinates that are free, so that all postures share one program."""
UPRIGHT_COST = 6.0
"""Cost (1/rad) of a tilt of the root."""
POSITION_TOLERANCE_M = 1e-3
ORIENTATION_TOLERANCE_RAD = np.radians(0.1)
"""Errors of targets that count as reached (Qiu 2012, V29)."""
SEAT_TOLERANCE_M = 0.02
"""Shift of a seated body on its soft support."""
FLIGHT_TOLERANCE_M = 0.02
"""Deviation of a body from the path of its flight: the path is a means, not a target."""


@dataclass(frozen=True, eq=False)
class BodyTarget:
    """Where a body or its grip is, at every instant."""

    body: SupportBody
    position: np.ndarray
    """(..., 3), m."""
    rotation: np.ndarray | None = None
    """(..., 3, 3); None for a grip, whose orientation is free."""
    axes: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """1 for each world axis along which the position is imposed, 0 for free ones."""

    prefers_rotation: bool = False
    """Whether the rotation is a preference, as in flight, where only the place is imposed."""

    is_guide: bool = False
    """Whether even the position is a preference, as for flights while a motion is smoothed."""

    @property
    def frame(self) -> str:
        """Frame that is imposed."""
        return self.body.name if self.rotation is not None or self.body.is_seat else self.body.grip


@dataclass(frozen=True, eq=False)
class Targets:
    """What postures have to reach at one instant, or at many with a leading axis."""

    model: Model
    bodies: Sequence[BodyTarget]
    com: np.ndarray | None
    """(..., 3), m; None where it is free, NaN for a coordinate that is free at all instants."""
    reference: np.ndarray
    """(..., nq): posture to stay near."""
    upright: np.ndarray
    """(3, 3): orientation of the root to stay near."""
    follows: bool = False
    """Whether all coordinates follow the reference closely, as in smoothing; then comfort and an
    upright root do not count."""
    stiffness: float = 1.0
    """Factor of the costs of targets."""

    def tasks(self, every_body: Mapping[str, SupportBody] | None = None) -> tuple[Task, ...]:
        """The tasks; those of level 1 are preferences.

        Args:
            every_body: Bodies that have a task whether they have a target or not, with cost zero,
                so that all instants share one program.
        """
        targets = {target.body.name: target for target in self.bodies}
        tasks: list[Task] = [
            _task(self.model, targets.get(name), body, self.stiffness)
            for name, body in (
                every_body or {name: target.body for name, target in targets.items()}
            ).items()
        ]
        cost = self.stiffness * TARGET_COST
        com = np.full(3, np.nan) if self.com is None else np.asarray(self.com)
        if self.com is not None or every_body is not None:
            imposed = np.isfinite(com).reshape(-1, 3).all(axis=0)
            tasks.append(ComTask(np.nan_to_num(com), cost=cost * imposed))
        costs = posture_costs(self.model, self.follows)
        tasks.append(PostureTask(self.reference, cost=costs, level=1))
        upright = 0.0 if self.follows else UPRIGHT_COST
        tasks.append(OrientationTask(self.model.body_names[0], self.upright, cost=upright, level=1))
        return tuple(tasks)

    def errors(self, q: np.ndarray) -> TargetErrors:
        """Errors of postures, by forward kinematics.

        Args:
            q: Positions, (instants, nq).
        """
        names, lengths, angles, tolerances = [], [], [], []
        for target in self.bodies:
            if target.is_guide:
                continue
            gap = (dynamics.position(self.model, q, target.frame) - target.position) * target.axes
            names.append(target.frame)
            tolerances.append(
                FLIGHT_TOLERANCE_M
                if target.prefers_rotation
                else SEAT_TOLERANCE_M
                if target.body.is_seat
                else POSITION_TOLERANCE_M
            )
            lengths.append(np.linalg.norm(gap, axis=-1))
            if target.rotation is None or target.prefers_rotation:
                angles.append(np.zeros(len(q)))
                continue
            turn = np.swapaxes(target.rotation, -1, -2) @ dynamics.orientation(
                self.model, q, target.frame
            )
            angles.append(np.linalg.norm(rotation_vectors(turn), axis=-1))
        if self.com is not None:
            gap = np.nan_to_num(dynamics.center_of_mass(self.model, q) - self.com)
            names.append("center of mass")
            tolerances.append(POSITION_TOLERANCE_M)
            lengths.append(np.linalg.norm(gap, axis=-1))
            angles.append(np.zeros(len(q)))
        empty = np.zeros((0, len(q)))
        return TargetErrors(
            tuple(names),
            np.array(lengths) if lengths else empty,
            np.array(angles) if angles else empty,
            np.array(tolerances)[:, None] if tolerances else np.zeros((0, 1)),
        )


@dataclass(frozen=True, eq=False)
class TargetErrors:
    """Errors of all targets at all instants."""

    names: tuple[str, ...]
    length: np.ndarray
    """(targets, instants), m."""
    angle: np.ndarray
    """(targets, instants), rad."""
    tolerance: np.ndarray
    """(targets, 1), m."""

    @property
    def reached(self) -> np.ndarray:
        """(instants,): whether all targets are reached."""
        return np.asarray(
            (self.length <= self.tolerance).all(axis=0)
            & (self.angle <= ORIENTATION_TOLERANCE_RAD).all(axis=0)
        )

    def worst(self, instant: int) -> str:
        """The target with the largest error at an instant, with its size."""
        share = np.maximum(
            self.length[:, instant] / self.tolerance[:, 0],
            self.angle[:, instant] / ORIENTATION_TOLERANCE_RAD,
        )
        k = int(share.argmax())
        size = f"{1000 * self.length[k, instant]:.1f} mm"
        if self.angle[k, instant] > ORIENTATION_TOLERANCE_RAD:
            size += f" and {np.degrees(self.angle[k, instant]):.1f} deg"
        return f"{self.names[k]} misses its target by {size}"


def posture_costs(model: Model, follows: bool = False) -> dict[str, float]:
    """Costs of the coordinates of a posture task.

    Args:
        model: The model.
        follows: Whether all coordinates count alike, those of the root too.
    """
    costs: dict[str, float] = dict.fromkeys(model.coordinate_names, POSTURE_COST)
    if follows:
        return dict.fromkeys(costs, FOLLOWING_COST)
    for name in (model.coordinate_names[k] for k in model.root.v):
        costs[name] = MIN_COST
    for index in model.actuated:
        name = model.coordinate_names[index]
        for words, cost in COSTS_BY_NAME.items():
            if any(word in name.lower() for word in words):
                costs[name] = cost
                break
    return costs


def rotation_vectors(turn: np.ndarray) -> np.ndarray:
    """Axis times angle (..., 3), rad, of rotation matrices (..., 3, 3)."""
    flat = Rotation.from_matrix(np.reshape(turn, (-1, 3, 3))).as_rotvec()
    return np.asarray(flat.reshape(*turn.shape[:-2], 3))


def _task(
    model: Model, target: BodyTarget | None, body: SupportBody, stiffness: float = 1.0
) -> Task:
    """The task of a body; without a target its cost is zero."""
    if target is None:
        place = np.zeros(3)
        if body.is_sole:
            return FrameTask(body.name, place, np.eye(3), position_cost=0.0, orientation_cost=0.0)
        return PositionTask(body.name if body.is_seat else body.grip, place, cost=0.0)
    if target.is_guide:
        if target.rotation is None:
            return PositionTask(target.frame, target.position, cost=GUIDE_COST)
        return FrameTask(
            target.frame,
            target.position,
            target.rotation,
            position_cost=GUIDE_COST,
            orientation_cost=GUIDE_ROTATION_COST,
        )
    cost = stiffness * TARGET_COST
    if target.rotation is not None:
        return FrameTask(
            target.frame,
            target.position,
            target.rotation,
            position_cost=cost,
            orientation_cost=FLIGHT_ROTATION_COST if target.prefers_rotation else cost,
        )
    return PositionTask(target.frame, target.position, cost=cost * np.array(target.axes))
