"""Postures of a model on supports, clear of the obstacles of a scene."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from homodyn import dynamics
from homodyn.control import PostureOptions, PostureResult, PostureStatus, solve_posture
from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.model.configuration import clamp
from homodyn.motion import Scene
from homodyn.motion.supports import Support
from homodyn.plan.body_targets import BodyTarget, Targets
from homodyn.plan.collision_pairs import ClosestPair
from homodyn.plan.comfort import comfortable_posture
from homodyn.plan.plan_context import PlanContext
from homodyn.plan.posture_batch import PostureBatch
from homodyn.plan.support_targets import heading, stance_by_body

POSTURE_TOLERANCE = 5e-4
"""Error (m, rad) that the search for a posture aims at."""


@record
class KeyPosture(Record):
    """A posture on supports, and how well it meets what was asked."""

    q: np.ndarray
    """(nq,)."""
    status: PostureStatus
    reason: str
    """What is wrong; empty where nothing is."""
    closest: ClosestPair | None
    """The pair with the least distance beyond what it has to keep; None without obstacles."""
    limits: tuple[str, ...]
    """Limits that hold the posture back, the most important first."""
    starts: int
    """Number of starts that were tried."""
    iterations: int

    @property
    def solved(self) -> bool:
        """Whether all targets are reached and all distances kept."""
        return self.status.success

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        if self.solved:
            near = "" if self.closest is None else f"; closest are {self.closest.headline()}"
            return f"All targets are reached within 1 mm and 0.1 deg{near}."
        held = f", held by {', '.join(self.limits[:3])}" if self.limits else ""
        return f"{self.reason[:1].upper()}{self.reason[1:]} after {self.starts} starts{held}."

    def headline(self) -> str:
        """The result in one sentence."""
        return f"KeyPosture: {self.sentence}"


@record(eq=True)
class PostureSearch(Record):
    """Distances and effort of a search for a posture."""

    clearance: float = 0.01
    """m: distance that capsules keep from obstacles and from each other."""
    starts: int = 16
    """Number of starts; further ones are only tried where the first fails."""
    max_iterations: int = 80
    seed: int = 0
    """Of the further starts."""


def posture(
    model: Model,
    supports: Sequence[Support],
    *,
    scene: Scene | None = None,
    com: ArrayLike | None = None,
    reference: ArrayLike | None = None,
    search: PostureSearch | None = None,
) -> KeyPosture:
    """Find a posture on supports, clear of obstacles and of the body itself.

    Soles lie on their patches, grips are at their grasps, the root sits on its patch. What these
    leave free follows the reference posture, with an upright trunk that faces where the feet point.

    Args:
        model: The model; capsules are its shape.
        supports: Supports in use; each names the body of the model that uses it.
        scene: Ground and obstacles; None: the ground z = 0 alone.
        com: Center of mass, (3,), m; None where it is free, NaN for a height that is free.
        reference: Posture to stay near, (nq,); a comfortable one when left out.
        search: Clearance and effort.

    Returns:
        The posture with its status. An impossible one is no error: the status and the sentence name
        the target, pair or limit, and what is missing in mm.

    Raises:
        ModelError: A support names no body of the model, or an argument is invalid.
    """
    chosen = search or PostureSearch()
    given = scene or Scene()
    known = {support.name: support for support in supports}
    whole = Scene(given.name, given.ground, given.obstacles, known)
    context = PlanContext.of(model, whole, chosen.clearance)
    stance = stance_by_body(context.scene, known)
    place = None if com is None else _vector("com", com, 3)
    pose = None if reference is None else _vector("reference", reference, context.model.nq)
    return stance_posture(context, stance.values(), place, pose, chosen)


def stance_posture(
    context: PlanContext,
    supports: Iterable[Support],
    com: np.ndarray | None,
    reference: np.ndarray | None,
    search: PostureSearch,
    *,
    landing: Iterable[str] = (),
    free: Iterable[Support] = (),
) -> KeyPosture:
    """A posture on supports in a context.

    Args:
        context: Model and scene.
        supports: Supports in use.
        com: Center of mass, (3,), m; None where it is free.
        reference: Posture to stay near; None: a comfortable one.
        search: Clearance and effort.
        landing: Seated bodies that may land anywhere on their support.
        free: Supports that other bodies leave or reach, whose obstacles these may touch.
    """
    stance = tuple(supports)
    loose = set(landing)
    bodies = [context.body_target(each, landing=each.body in loose) for each in stance]
    uses = [(each.body, each) for each in (*stance, *free)]
    start = facing(context, bodies, com, stance) if reference is None else np.array(reference)
    targets = context.targets(bodies, com, start, stance)
    return solve_targets(context, targets, start, uses, search)


def solve_targets(
    context: PlanContext,
    targets: Targets,
    start: np.ndarray,
    uses: Iterable[tuple[str, Support]],
    search: PostureSearch,
) -> KeyPosture:
    """A posture that reaches targets, from several starts.

    Args:
        context: Model and scene.
        targets: Targets of one instant.
        start: First start, (nq,).
        uses: Bodies with the supports that they use, leave or reach.
        search: Clearance and effort.
    """
    limit = context.limit(uses)
    found = solve_posture(
        context.model,
        targets.tasks(context.bodies),
        start,
        limits=[limit],
        options=PostureOptions(
            POSTURE_TOLERANCE, search.max_iterations, search.starts, search.seed
        ),
    )
    # The solver may violate a range by its tolerance.
    q = clamp(context.model, found.q)
    return _key_posture(found, context.solver.evaluate(targets, q[None], limit))


def _key_posture(found: PostureResult, checked: PostureBatch) -> KeyPosture:
    status = found.status
    if checked.valid[0]:
        status = PostureStatus.SOLVED
    elif status.success:
        status = PostureStatus.HELD_BY_LIMITS
    return KeyPosture(
        checked.q[0],
        status,
        checked.failure(0),
        checked.pairs[0] if checked.pairs else None,
        () if checked.valid[0] else found.held_by,
        found.starts,
        found.iterations,
    )


def facing(
    context: PlanContext,
    bodies: Sequence[BodyTarget],
    com: np.ndarray | None,
    feet: Sequence[Support],
    posture_of: Callable[[Model], np.ndarray] = comfortable_posture,
) -> np.ndarray:
    """A posture over supports, turned to where the feet point.

    Args:
        context: Model and scene.
        bodies: Targets of bodies.
        com: Center of mass, (3,), m; None: over the supports.
        feet: Supports that give the direction.
        posture_of: Joint angles.
    """
    model = context.model
    turned = _turn_about_vertical(model, posture_of(model), heading(feet))
    center = dynamics.center_of_mass(model, turned)
    if com is not None:
        goal = np.where(np.isfinite(com), com, center)
    elif bodies:
        seat = [target.position for target in bodies if target.body.is_seat]
        places = np.array(seat or [target.position for target in bodies])
        goal = places.mean(axis=0)
        goal = goal + center - dynamics.position(model, turned, model.body_names[0])
        if not seat:
            goal[2] = places[:, 2].min() + center[2]
    else:
        return turned
    shift = np.zeros(model.nv)
    shift[list(model.root.v)[:3]] = goal - center
    moved = np.asarray(model.integrate(turned, shift))
    better = np.linalg.norm(dynamics.center_of_mass(model, moved) - goal) < 1e-6
    return moved if better else turned


def _turn_about_vertical(model: Model, q: np.ndarray, yaw: float) -> np.ndarray:
    """A posture turned about the vertical, where the root has a coordinate for it."""
    entries = list(model.root.v)
    names = [model.coordinate_names[k] for k in entries]
    step = np.zeros(model.nv)
    for k, name in zip(entries, names, strict=True):
        if name.endswith("rz"):
            step[k] = yaw
    return np.asarray(model.integrate(q, step))


def _vector(name: str, value: ArrayLike, size: int) -> np.ndarray:
    numbers = np.asarray(value, dtype=float)
    # The height of the center of mass alone may be free.
    free = name == "com" and numbers.shape == (size,) and np.isnan(numbers[2])
    if numbers.shape != (size,) or not np.isfinite(numbers[:2] if free else numbers).all():
        raise ModelError(f"{name} is {size} finite numbers, got {np.asarray(value).tolist()!r}")
    return numbers
