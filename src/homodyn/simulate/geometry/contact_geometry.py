"""Contact geometry: which contact shapes of a model can touch which obstacles and each other.

``geometry.gaps(tree)`` gives one `Gap` for each place that may touch, in a fixed order and number,
as expressions of the state: signed distance, normal, point, and the rows of a Jacobian through the
``PairWrench`` records of `homodyn.dynamics.wrenches`. Every contact law builds on these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np

from homodyn.dynamics import jacobian
from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.foundation import Record, count_of, record, unknown_name
from homodyn.model import Model
from homodyn.motion import MeshObstacle, Obstacle, Scene
from homodyn.simulate.geometry.distance_fields import (
    GroundPart,
    MeshPlanes,
    level_ground,
    require_supported,
)
from homodyn.simulate.geometry.gap import Gap
from homodyn.simulate.geometry.obstacle_gaps import obstacle_gaps
from homodyn.simulate.geometry.shape_gaps import PlacedShape, pair_gaps
from homodyn.spatial import Array
from homodyn.symbolic import Kernel, kernel

MAX_GRAVITY_ANGLE_SINE = 1e-6
"""Sine of the angle between the gravity of a scene and that of a model that counts as zero."""


@record
class ContactGeometry(Record):
    """Which contact shapes of a model can touch which obstacles and each other.

    Raises:
        ModelError: A contact is unknown, two shapes cannot touch each other, an obstacle is not
            supported, or gravity of model and scene have different directions.
    """

    model: Model
    contacts: tuple[str, ...] | None = None
    """Names of contact shapes that can touch obstacles; None: all."""
    ground: tuple[GroundPart, ...] | GroundPart | Scene | None = None
    """Obstacles, or a scene for its ground and obstacles; None: the horizontal plane through the
    origin. Stored as a tuple."""
    pairs: tuple[tuple[str, str], ...] = ()
    """Names of two shapes on different bodies each that can touch each other."""

    def __post_init__(self) -> None:
        known = [shape.name for shape in self.model.contacts]
        chosen = known if self.contacts is None else list(self.contacts)
        for name in [*chosen, *(name for pair in self.pairs for name in pair)]:
            if name not in known:
                message = unknown_name("contact", name, known)
                raise ModelError(f"model {self.model.name!r} has {message}")
        object.__setattr__(self, "contacts", tuple(chosen))
        object.__setattr__(self, "pairs", tuple((a, b) for a, b in self.pairs))
        object.__setattr__(self, "ground", _ground_parts(self.model, self.ground))
        for part in self.obstacles:
            require_supported(part)
        for pair in self.pairs:
            self._check_pair(*pair)

    def _check_pair(self, a: str, b: str) -> None:
        shapes = [self.model.contacts[self._index(name)] for name in (a, b)]
        if shapes[0].body == shapes[1].body:
            raise ModelError(f"contacts {a!r} and {b!r} are on one body and cannot touch")
        if all(shape.kind in ("point", "line") for shape in shapes):
            raise ModelError(
                f"contacts {a!r} and {b!r} have no thickness and pass through each other; make "
                "one of them a sphere, capsule or box"
            )

    def headline(self) -> str:
        """Model, and numbers of contacts and obstacles."""
        contacts = count_of(len(self.contacts or ()), "contact")
        obstacles = count_of(len(self.obstacles), "obstacle")
        return f"ContactGeometry of {self.model.name!r}: {contacts}, {obstacles}"

    @property
    def obstacles(self) -> tuple[GroundPart, ...]:
        """What the contact shapes can touch besides each other."""
        assert isinstance(self.ground, tuple)
        return self.ground

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the gaps, in their order."""
        q = ca.SX.sym("q", self.model.nq)
        return tuple(gap.name for gap in self._all_gaps(Tree(self.model, q)))

    @cached_property
    def surface_velocities(self) -> np.ndarray:
        """Velocity of the surface that each gap leads to (m/s, world), (gaps, 3)."""
        tree = Tree(self.model, ca.SX.sym("q", self.model.nq))
        rows: list[np.ndarray] = []
        for name in self.contacts or ():
            placed = self._placed_shape(tree, name)
            for part in self.obstacles:
                moving = part.obstacle if isinstance(part, MeshPlanes) else part
                velocity = moving.surface_velocity if isinstance(moving, Obstacle) else np.zeros(3)
                rows += [np.asarray(velocity)] * len(obstacle_gaps(tree, placed, part))
        rows += [np.zeros(3)] * (len(self.names) - len(rows))
        return np.array(rows).reshape(-1, 3)

    def gaps(self, tree: Tree) -> list[Gap]:
        """Evaluate all gaps.

        Args:
            tree: The model at a state.

        Returns:
            The gaps, in the order of ``names``.

        Raises:
            ModelError: A contact shape cannot touch an obstacle, or the place of a mesh that is
                nearest is not known (`homodyn.simulate.run` and `start` find it before each
                step).
        """
        for part in self.obstacles:
            if isinstance(part, MeshObstacle):
                raise ModelError(
                    f"{part.title} can be touched in homodyn.simulate.run and start with a force "
                    "law or step law and fixed steps only, because the nearest places are found "
                    "before each step; elsewhere use boxes, capsules or a height field"
                )
        return self._all_gaps(tree)

    def _all_gaps(self, tree: Tree) -> list[Gap]:
        gaps: list[Gap] = []
        for name in self.contacts or ():
            placed = self._placed_shape(tree, name)
            for number, part in enumerate(self.obstacles):
                suffix = f" on {_label(part, number)}" if len(self.obstacles) > 1 else ""
                gaps += [
                    replace(gap, name=gap.name + suffix)
                    for gap in obstacle_gaps(tree, placed, part)
                ]
        for a, b in self.pairs:
            gaps += pair_gaps(tree, self._placed_shape(tree, a), self._placed_shape(tree, b))
        return gaps

    def _index(self, name: str) -> int:
        return [shape.name for shape in self.model.contacts].index(name)

    def _placed_shape(self, tree: Tree, name: str) -> PlacedShape:
        index = self._index(name)
        shape = self.model.contacts[index]
        body = self.model.body_names.index(shape.body)
        return PlacedShape(shape, body, index, tree.placements[body])


SceneArgument = Scene | ContactGeometry | GroundPart | Sequence[GroundPart] | None
"""What simulations accept as scene: a `Scene`, obstacles, a `ContactGeometry`, or None."""


def scene_geometry(model: Model, scene: SceneArgument = None) -> ContactGeometry:
    """The contact geometry of a model in a scene.

    Args:
        model: The model.
        scene: A scene or obstacles that all contact shapes can touch, or a geometry, which is
            returned as it is; None: level ground.

    Returns:
        The geometry.

    Raises:
        ModelError: The scene does not fit the model, or an obstacle is not supported.
    """
    if isinstance(scene, ContactGeometry):
        return scene
    if isinstance(scene, Sequence):
        return ContactGeometry(model, ground=tuple(scene))
    return ContactGeometry(model, ground=scene)


def _label(part: GroundPart, number: int) -> str:
    part = part.obstacle if isinstance(part, MeshPlanes) else part
    name = part.name if isinstance(part, Obstacle) else ""
    return name or str(number)


def _ground_parts(
    model: Model, ground: tuple[GroundPart, ...] | GroundPart | Scene | None
) -> tuple[GroundPart, ...]:
    """The obstacles of the argument ``ground`` of a geometry."""
    if ground is None:
        return (level_ground(model),)
    if isinstance(ground, Scene):
        _check_gravity(model, ground)
        plane = ground.ground
        if plane is None:
            return ground.obstacles
        return (plane if plane.name else replace(plane, name="ground"), *ground.obstacles)
    if isinstance(ground, Obstacle) or not isinstance(ground, Sequence):
        return (ground,)
    return tuple(ground)


def _check_gravity(model: Model, scene: Scene) -> None:
    """Refuse a scene whose vertical is not that of the model."""
    own = np.asarray(model.nominal_value(model.gravity), dtype=float)
    lengths = np.linalg.norm(own) * np.linalg.norm(scene.gravity)
    if not lengths:
        return
    sine = np.linalg.norm(np.cross(own, scene.gravity)) / lengths
    if sine > MAX_GRAVITY_ANGLE_SINE or own @ scene.gravity < 0:
        raise ModelError(
            f"gravity of model {model.name!r} is {own.tolist()} m/s2, that of scene "
            f"{scene.name!r} {scene.gravity.tolist()} m/s2; their directions must be equal"
        )


def gap_distances(geometry: ContactGeometry) -> Kernel:
    """Build a kernel that evaluates all gaps.

    Args:
        geometry: The gaps.

    Returns:
        A kernel from positions ``q`` (..., nq) to ``"distance"`` (..., gaps), ``"normal"`` and
        ``"point"`` (..., gaps, 3), m, world.
    """

    def distances(q: Array) -> dict[str, Array]:
        gaps = geometry.gaps(Tree(geometry.model, q))
        return {
            "distance": ca.vertcat(ca.SX(0, 1), *[gap.distance for gap in gaps]),
            "normal": ca.horzcat(ca.SX(3, 0), *[gap.normal for gap in gaps]).T,
            "point": ca.horzcat(ca.SX(3, 0), *[gap.point for gap in gaps]).T,
        }

    count = len(geometry.names)
    shapes: dict[str, int | tuple[int, ...]] = {
        "distance": count,
        "normal": (count, 3),
        "point": (count, 3),
    }
    name = f"gaps of {geometry.model.name}"
    return kernel(distances, q=geometry.model.nq, outputs=shapes, name=name)


def place_on_ground(
    model: Model, q: np.ndarray, height: float = 0.0, scene: SceneArgument = None
) -> np.ndarray:
    """Raise or lower poses until their lowest contact is at a height above the ground.

    A pose moves along gravity by the coordinates of the first joint, which must allow that.

    Args:
        model: The model.
        q: Poses, (..., nq).
        height: Height of the lowest contact (m).
        scene: What the contacts can touch; None: level ground.

    Returns:
        The poses, (..., nq).

    Raises:
        ModelError: The model has no contacts, or its first joint cannot lift it.
    """
    gravity = np.asarray(model.nominal_value(model.gravity), dtype=float)
    up = -gravity / np.linalg.norm(gravity) if np.any(gravity) else np.array([0.0, 0.0, 1.0])
    poses = np.asarray(q, dtype=float)
    kernel = _level_ground_kernel(model) if scene is None else None
    kernel = kernel or gap_distances(scene_geometry(model, scene))
    distances = kernel(poses)["distance"]
    if not distances.shape[-1]:
        raise ModelError(f"model {model.name!r} has no contacts to stand on")
    slots = model.joint_slots[0]
    step = np.zeros((*poses.shape[:-1], model.nv))
    root_jacobian = jacobian(model, poses, model.body_names[0])
    columns = root_jacobian[..., slots.v.start : slots.v.stop]
    displacement = (height - distances.min(axis=-1, keepdims=True)) * up
    change = (np.linalg.pinv(columns) @ displacement[..., None])[..., 0]
    if not np.allclose((columns @ change[..., None])[..., 0], displacement, atol=1e-9):
        raise ModelError(
            f"model {model.name!r}: joint {model.joint_names[0]!r} cannot lift the whole body"
        )
    step[..., slots.v.start : slots.v.stop] = change
    return np.asarray(model.integrate(poses, step))


_LEVEL_GROUND_KERNELS: WeakKeyDictionary[Model, Kernel] = WeakKeyDictionary()


def _level_ground_kernel(model: Model) -> Kernel:
    """The gaps of all contact shapes to level ground; built once for a model."""
    if model not in _LEVEL_GROUND_KERNELS:
        _LEVEL_GROUND_KERNELS[model] = gap_distances(scene_geometry(model, None))
    return _LEVEL_GROUND_KERNELS[model]
