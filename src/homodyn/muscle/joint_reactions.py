"""Joint reactions: what bones transmit in a joint, muscles, weight and inertia considered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import casadi as ca
import numpy as np

from homodyn.dynamics.tree import Tree
from homodyn.errors import HomodynError
from homodyn.foundation.arguments import require_type
from homodyn.foundation.record import record
from homodyn.foundation.text import count_of, unknown_name
from homodyn.foundation.time_series import Curve, TimeSeries
from homodyn.model import Model
from homodyn.model.model_cache import ModelCache
from homodyn.motion import Loads
from homodyn.muscle.geometry.path_lines import PathLines
from homodyn.muscle.geometry.tangent_rule import OPENSIM
from homodyn.muscle.muscle_activations import MuscleActivations
from homodyn.muscle.paths import traced_paths
from homodyn.spatial import Array
from homodyn.symbolic import Kernel
from homodyn.symbolic.trace import trace

EXPRESSION_FRAMES = ("ground", "parent", "child")
BODIES = ("child", "parent")
_REACTION_KERNELS: ModelCache[Callable[..., Any]] = ModelCache("joint reaction kernels")


@record
class JointReactions(TimeSeries):
    """Forces and moments that joints transmit, muscles included.

    Columns are ``<joint> force`` (N) and ``<joint> moment`` (N m), with three components each.
    """

    loads: Loads
    """The motion and its ground forces."""
    joints: tuple[str, ...]
    """Names of the joints."""
    force: np.ndarray
    """(frames, joints, 3), N: on the body ``on``, in the axes of ``frame``."""
    moment: np.ndarray
    """(frames, joints, 3), N m: about the origin of the joint frame in that body."""
    frame: str = "child"
    """Axes of the components: ``"ground"``, or the joint frame in the ``"parent"`` or ``"child"``
    body."""
    on: str = "child"
    """The body of each joint that the reactions act on."""
    method: str = ""
    """Which forces were considered, in one sentence."""

    @property
    def time(self) -> np.ndarray:
        """(frames,), s."""
        return self.loads.time

    @property
    def body_weight(self) -> float:
        """Weight of the model, N."""
        model = self.loads.motion.model
        return float(model.mass * np.linalg.norm(np.asarray(model.gravity, dtype=float)))

    @property
    def per_weight(self) -> np.ndarray:
        """(frames, joints): sizes of the forces in body weights."""
        return np.asarray(np.linalg.norm(self.force, axis=2) / self.body_weight)

    def joint(self, name: str) -> int:
        """Column of a joint.

        Args:
            name: Name of the joint.

        Raises:
            HomodynError: The joint is not among the results.
        """
        if name not in self.joints:
            raise HomodynError(unknown_name("joint", name, self.joints))
        return self.joints.index(name)

    def headline(self) -> str:
        """Model, joints and largest force."""
        return (
            f"JointReactions of {self.loads.motion.model.name!r}: "
            f"{count_of(len(self.joints), 'joint')}, {count_of(len(self.force), 'frame')}, peak "
            f"{self.per_weight.max(initial=0.0):.2f} body weights"
        )

    @cached_property
    def _columns(self) -> dict[str, Curve]:
        found: dict[str, Curve] = {}
        for k, name in enumerate(self.joints):
            for label, unit, values in (("force", "N", self.force), ("moment", "N m", self.moment)):
                title = f"{name} {label}"
                found[title] = Curve(title, unit, self.time, values[:, k])
        return found

    def columns(self) -> Mapping[str, Curve]:
        """Forces (N) and moments (N m) by joint.

        Returns:
            Curves by name.
        """
        return self._columns


def joint_reactions(
    source: MuscleActivations | Loads,
    forces: np.ndarray | None = None,
    *,
    joints: Sequence[str] | None = None,
    frame: Literal["ground", "parent", "child"] = "child",
    on: Literal["child", "parent"] = "child",
    wrapping: str = OPENSIM,
) -> JointReactions:
    """Forces and moments that joints transmit between their bodies.

    The reaction on the child of a joint is what remains of the inertia and weight of the bodies
    beyond the joint after the ground forces and the pull of the muscles on them (Newton-Euler). It
    contains bones, cartilage and ligaments, and the torques of reserves about the axes of the
    joint.

    Args:
        source: The result of static optimization, or loads.
        forces: (frames, muscles), N, of all muscles of the model, instead of those of the result.
            Loads without forces give the reactions without muscles.
        joints: Names of joints; all by default.
        frame: Axes of the components: ``"ground"``, or the joint frame in the ``"parent"`` or
            ``"child"`` body.
        on: The body that the reactions act on. Moments are about the origin of the joint frame in
            that body.
        wrapping: ``"opensim"`` or ``"geodesic"``; see `lengths`.

    Returns:
        Forces and moments by frame and joint.

    Raises:
        HomodynError: A joint, frame or body is unknown, or the forces have a wrong shape or are not
            finite.
    """
    require_type("source", source, MuscleActivations, Loads)
    for label, value, accepted in (("frame", frame, EXPRESSION_FRAMES), ("on", on, BODIES)):
        if value not in accepted:
            raise HomodynError(unknown_name(label, value, accepted))
    loads = source if isinstance(source, Loads) else source.loads
    motion, model = loads.motion, loads.motion.model
    names = [joint.name for joint in model.joints]
    chosen = tuple(names if joints is None else joints)
    for name in chosen:
        if name not in names:
            raise HomodynError(unknown_name("joint", name, names))
    pulls = _muscle_forces(source, forces)
    kernel = _reaction_kernel(model, tuple(foot.body for foot in loads.feet), pulls, wrapping)
    ground = [
        part for foot in loads.feet for part in (foot.force, np.nan_to_num(foot.point), foot.torque)
    ]
    given = [] if pulls is None else [pulls]
    wrench, origins, rotations = kernel(motion.q, motion.v, motion.a, *given, *ground)
    columns = [names.index(name) for name in chosen]
    moment, force = wrench[:, columns, :3], wrench[:, columns, 3:]
    if on == "parent":
        shift = origins[:, columns, :3] - origins[:, columns, 3:]
        moment, force = -(moment + np.cross(shift, force)), -force
    if frame != "ground":
        start = 9 if frame == "parent" else 0
        axes = rotations[:, columns, start : start + 9].reshape(*force.shape[:2], 3, 3)
        moment, force = (np.einsum("fjab,fjb->fja", axes, x) for x in (moment, force))
    method = "Newton-Euler with " + ("no muscles" if pulls is None else "the pull of all muscles")
    return JointReactions(loads, chosen, force, moment, frame, on, method)


def _muscle_forces(
    source: MuscleActivations | Loads, forces: np.ndarray | None
) -> np.ndarray | None:
    """Forces of all muscles of the model, (frames, muscles); None without muscles."""
    loads = source if isinstance(source, Loads) else source.loads
    names = [muscle.name for muscle in loads.motion.model.muscles]
    shape = (loads.motion.frames, len(names))
    if forces is None:
        if isinstance(source, Loads):
            return None
        result = np.zeros(shape)
        result[:, [names.index(name) for name in source.muscles]] = source.forces
        return result
    result = np.asarray(forces, dtype=float)
    if result.shape != shape:
        raise HomodynError(
            f"muscle forces have shape {result.shape}; {shape} is expected: one row per frame and "
            f"one column per muscle of model {loads.motion.model.name!r}"
        )
    missing = np.argwhere(~np.isfinite(result))
    if len(missing):
        frame, k = (int(x) for x in missing[0])
        raise HomodynError(f"the force of muscle {names[k]!r} is not a number in frame {frame}")
    return result


def _reaction_kernel(
    model: Model, bodies: tuple[str, ...], pulls: np.ndarray | None, wrapping: str
) -> Callable[..., Any]:
    """Kernel of wrenches (joints, 6), origins (joints, 6) and axes (joints, 18) of joint frames.

    Wrenches act on children, about the origin of the joint frame in the child, in world axes.
    Origins and axes are those of the frame in the child, then of that in the parent.
    """
    muscles = 0 if pulls is None else len(model.muscles)

    def build() -> Callable[..., Any]:
        sizes: dict[str, Any] = {"q": model.nq, "v": model.nv, "a": model.nv}
        if muscles:
            sizes["pulls"] = muscles
        for k in range(len(bodies)):
            sizes |= {f"force{k}": 3, f"point{k}": 3, f"torque{k}": 3}

        def equations(q: ca.SX, v: ca.SX, a: ca.SX, *rest: ca.SX) -> tuple[ca.SX, ...]:
            tension = rest[0] if muscles else None
            ground = rest[1:] if muscles else rest
            own = model.at(model.parameter_values) if model.parameters else model
            tree = Tree(own, q, v)
            external = [ca.SX.zeros(6) for _ in own.bodies]
            for k, name in enumerate(bodies):
                force, point, torque = ground[3 * k : 3 * k + 3]
                body = own.body_names.index(name)
                external[body] += ca.vertcat(torque + ca.cross(point, force), force)
            if tension is not None:
                _, paths = traced_paths(own, q, wrapping, "muscles")
                for k, path in enumerate(paths):
                    _add_pull(external, path, tension[k])
            return _reactions(tree, a, external)

        count = len(model.joints)
        outputs = {"wrench": (count, 6), "origins": (count, 6), "axes": (count, 18)}
        return Kernel(trace(equations, sizes, outputs, f"joint reactions of {model.name}"))

    return _REACTION_KERNELS.get(model, (bodies, bool(muscles), wrapping), build)


def _add_pull(external: list[Array], path: PathLines, tension: Array) -> None:
    """Add the pull of a muscle on its bodies, about the origin of the world."""
    for one in path.forces:
        if one.node.body >= 0:
            force = tension * one.force
            moment = ca.cross(ca.SX(one.node.position), ca.SX(force))
            external[one.node.body] += ca.vertcat(moment, force)


def _reactions(tree: Tree, a: ca.SX, external: list[Array]) -> tuple[ca.SX, ...]:
    """Wrenches of joints on their children, and the joint frames."""
    accelerations = tree.accelerations(a, gravity=True)
    forces = [
        inertia.force(velocity, acceleration) - placement.force(wrench)
        for inertia, velocity, acceleration, placement, wrench in zip(
            tree.inertias, tree.velocities, accelerations, tree.placements, external, strict=True
        )
    ]
    rows: list[tuple[ca.SX, ...]] = []
    for body, total in enumerate(tree.accumulate_inward(forces)):
        joint, parent = tree.model.joints[body], tree.model.parents[body]
        placement = tree.placements[body]
        inner = joint.child_placement @ placement
        outer = joint.placement if parent < 0 else joint.placement @ tree.placements[parent]
        about_world = placement.force_back(total)
        moment = about_world[:3] - ca.cross(ca.SX(inner.r), ca.SX(about_world[3:]))
        axes = [ca.vec(ca.SX(frame.E).T) for frame in (inner, outer)]
        rows.append(
            (
                ca.vertcat(moment, about_world[3:]).T,
                ca.vertcat(ca.SX(inner.r), ca.SX(outer.r)).T,
                ca.vertcat(*axes).T,
            )
        )
    return tuple(ca.vertcat(*column) for column in zip(*rows, strict=True))
