"""Newton-Euler equations of all frames of a motion at once, ground forces included."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from homodyn.capture.kinetics.residuals import root_projections
from homodyn.capture.scaling.marker_model import strip_to_markers
from homodyn.dynamics.momentum import tree_center_of_mass
from homodyn.dynamics.rnea import armature
from homodyn.dynamics.tree import Tree
from homodyn.model import Model
from homodyn.model.model_cache import ModelCache
from homodyn.model.shared_kernels import with_dimension_parameters
from homodyn.motion.contact_force import ContactForce
from homodyn.motion.loads import Loads
from homodyn.motion.motion import Motion
from homodyn.symbolic import Kernel
from homodyn.symbolic.trace import trace

_ROOT_PROJECTIONS: ModelCache[tuple[np.ndarray, np.ndarray]] = ModelCache("root projections")
_LOAD_KERNELS: ModelCache[Callable[..., Any]] = ModelCache("load kernels")


def newton_euler_loads(motion: Motion, feet: Sequence[ContactForce]) -> Loads:
    """Torques and residuals for given ground forces; nothing is filtered or checked."""
    model = motion.model
    kernel = _newton_euler_kernel(model, tuple(foot.body for foot in feet))
    wrenches = [part for foot in feet for part in _acting_wrench(foot)]
    tau, residual, center, ground, moment = kernel(motion.q, motion.v, motion.a, *wrenches)
    root = model.root.v
    angular, linear = _ROOT_PROJECTIONS.get(model, "", lambda: root_projections(model))
    force = residual[:, 3:]
    if not root:
        force, moment = np.zeros((2, len(tau), 3))
    power = tau * motion.v
    power[:, list(root)] = 0.0
    return Loads(
        motion=motion,
        tau=tau,
        root=root,
        residual_force=force @ linear,
        residual_moment=moment @ angular,
        feet=tuple(feet),
        power=power,
        usable=np.ones(len(tau), dtype=bool),
        ground_power=ground,
        center_of_mass=center,
    )


def required_wrench(motion: Motion) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Force (N) and moment about the origin (N m) that the motion requires from the world.

    Returns:
        Force, moment and center of mass (m), (frames, 3) each.
    """
    _, wrench, center, _, _ = _newton_euler_kernel(motion.model, ())(motion.q, motion.v, motion.a)
    return wrench[:, 3:], wrench[:, :3], center


def wrench_at_origin(foot: ContactForce) -> np.ndarray:
    """(frames, 6): moment about the origin of the world and force; zero where unloaded."""
    point = np.nan_to_num(foot.point)
    return np.concatenate([foot.torque + np.cross(point, foot.force), foot.force], -1)


def _acting_wrench(foot: ContactForce) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Force, point and torque; the point of an unloaded foot is arbitrary."""
    return foot.force, np.where(np.isnan(foot.point), 0.0, foot.point), foot.torque


def _newton_euler_kernel(model: Model, bodies: tuple[str, ...]) -> Callable[..., Any]:
    """Kernel of torques, residual wrench, center of mass, ground power and residual moment.

    Inputs are q, v and a, then force, point and torque of the ground on each body. The residual
    wrench is about the origin, the residual moment about the center of mass. Lengths and masses are
    inputs of the kernel, so that all subjects of a generic model share it.
    """

    def build() -> Callable[..., Any]:
        own = with_dimension_parameters(_inertial_model(model), masses=True)
        sizes: dict[str, Any] = {"q": model.nq, "v": model.nv, "a": model.nv}
        for k in range(len(bodies)):
            sizes |= {f"force{k}": 3, f"point{k}": 3, f"torque{k}": 3}
        sizes["measures"] = len(own.parameters)

        def equations(q: ca.SX, v: ca.SX, a: ca.SX, *rest: ca.SX) -> tuple[ca.SX, ...]:
            wrenches = {}
            for k, body in enumerate(bodies):
                force, point, torque = rest[3 * k : 3 * k + 3]
                wrenches[body] = ca.vertcat(torque + ca.cross(point, force), force)
            tau, residual, center, ground = _balance(own, q, v, a, wrenches)
            moment = residual[:3] - ca.cross(center, residual[3:])
            return tau, residual, center, ground, moment

        outputs: dict[str, Any] = {"tau": model.nv, "residual": 6, "center": 3, "ground": ()}
        outputs["moment"] = 3
        given = {"measures": own.parameter_symbols}
        kernel = Kernel(trace(equations, sizes, outputs, f"loads of {model.name}", given=given))
        return lambda *arrays: kernel(*arrays, own.parameter_values)

    return _LOAD_KERNELS.get(model, bodies, build)


def _inertial_model(model: Model) -> Model:
    """The bodies and joints of a model."""
    plain = model.at(model.parameter_values) if model.parameters else model
    return strip_to_markers(plain, ())


def _balance(
    model: Model, q: ca.SX, v: ca.SX, a: ca.SX, wrenches: Mapping[str, ca.SX]
) -> tuple[ca.SX, ...]:
    """Recursive Newton-Euler with external wrenches about the origin of the world.

    The wrench of the root body, accumulated along the tree, is the wrench that the world exerts on
    the model beyond the external wrenches.
    """
    tree = Tree(model, q, v)
    forces = [
        inertia.force(velocity, acceleration)
        for inertia, velocity, acceleration in zip(
            tree.inertias, tree.velocities, tree.accelerations(a, gravity=True), strict=True
        )
    ]
    ground = ca.SX(0)
    for name, wrench in wrenches.items():
        body = model.body_names.index(name)
        acting = tree.placements[body].force(wrench)
        forces[body] = forces[body] - acting
        ground = ground + ca.dot(ca.SX(acting), ca.SX(tree.velocities[body]))
    accumulated = tree.accumulate_inward(forces)
    tau = tree.project(accumulated) + armature(model) * a
    residual = ca.SX.zeros(6)
    for body, parent in enumerate(model.parents):
        if parent < 0:
            residual = residual + tree.joints[body].X.force_back(accumulated[body])
    return tau, residual, tree_center_of_mass(tree), ground
