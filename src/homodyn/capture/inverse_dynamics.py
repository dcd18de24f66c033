"""Joint torques of a recorded motion under the forces of the ground, and what is left over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import casadi as ca
import numpy as np

from homodyn.capture.assignment import Assignment, assign, foot_path
from homodyn.capture.feet import find_feet
from homodyn.capture.ground import sample_plates
from homodyn.capture.load import FootForce, Loads
from homodyn.capture.motion import Motion
from homodyn.capture.residuals import residuals, root_motions
from homodyn.capture.smoothing import smoothed
from homodyn.capture.trial import ForcePlate
from homodyn.dynamics.momentum import whole_center
from homodyn.dynamics.rnea import armature
from homodyn.dynamics.tree import Tree
from homodyn.errors import CaptureError
from homodyn.model import Model
from homodyn.symbolic import Kernel, kernel

CUTOFF = 6.0
"""Hz: the usual low-pass for walking, on coordinates and forces alike."""
LOADED = 20.0
"""N: below this a plate or a foot counts as unloaded."""


def loads(
    motion: Motion,
    plates: Sequence[ForcePlate] = (),
    *,
    cutoff: float | None = CUTOFF,
    force_cutoff: float | Literal["same"] | None = "same",
    feet: Mapping[str, str | None] | None = None,
    residual: Literal["report", "redistribute"] = "report",
    threshold: float = LOADED,
) -> Loads:
    """Generalised forces that explain a motion under what the plates measured.

    Coordinates and plates are low-pass filtered without lag at ``cutoff`` (Hz), the coordinates
    then differentiated by splines; with ``None`` the speeds and accelerations of the motion are
    taken as they are, and the plates too. Filtering both alike keeps impacts from appearing as
    torques (Kristianslund et al. 2012); ``force_cutoff`` gives the plates another.

    Plates stand in our axes, as in ``Trial.plates``, and find their feet by themselves; ``feet``
    tells the body for a plate by name (None leaves the plate out). Without plates the ground
    forces are predicted from the motion. Below ``threshold`` (N) a plate counts as unloaded.

    ``residual="redistribute"`` removes the force and moment left over at the root by the smallest
    weighted change of accelerations and ground forces; see ``redistributed``.
    """
    if residual not in ("report", "redistribute"):
        raise CaptureError(f"residual is {residual!r}; it may be 'report' or 'redistribute'")
    _check(motion)
    forces = cutoff if force_cutoff == "same" else force_cutoff
    moved = motion if cutoff is None else smoothed(motion, cutoff=cutoff)
    found = _ground(moved, plates, forces, dict(feet or {}), threshold)
    result = explained(moved, found.feet)
    notes = (*found.notes, residuals(result).sentence)
    how = "speeds and accelerations as given" if cutoff is None else f"low-pass {cutoff:g} Hz"
    told = f"inverse dynamics; coordinates: {how}; {_force_sentence(plates, forces, threshold)}"
    return replace(result, usable=found.usable, method=told, notes=notes)


def explained(motion: Motion, feet: Sequence[FootForce]) -> Loads:
    """Torques for given ground forces, all frames at once; nothing is filtered or checked."""
    model = motion.model
    law = _law(model, tuple(foot.body for foot in feet))
    wrenches = [wrench_at_origin(foot) for foot in feet]
    tau, left, center, ground = law(motion.q, motion.v, motion.a, *wrenches)
    root = root_columns(model)
    angular, linear = root_motions(model)
    force, moment = left[:, 3:], left[:, :3] - np.cross(center, left[:, 3:])
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


def wrench_at_origin(foot: FootForce) -> np.ndarray:
    """(frames, 6): moment about the origin of the world and force; zero where unloaded."""
    point = np.nan_to_num(foot.point)
    return np.concatenate([foot.torque + np.cross(point, foot.force), foot.force], -1)


def root_columns(model: Model) -> tuple[int, ...]:
    """Entries of v that belong to the joint between the model and the world."""
    places = [
        place.v
        for parent, place in zip(model.parents, model.joint_slots, strict=True)
        if parent < 0
    ]
    return tuple(k for place in places for k in range(place.start, place.stop))


def _law(model: Model, bodies: tuple[str, ...]) -> Kernel:
    """Torques, wrench left at the root, centre of mass and power of the ground in one pass."""
    key = ("loads", bodies)
    if key not in model.kernels:
        sizes: dict[str, Any] = {"q": model.nq, "v": model.nv, "a": model.nv}
        sizes |= {f"wrench{k}": 6 for k in range(len(bodies))}
        fixed = model.at(model.parameter_values) if model.parameters else model
        model.kernels[key] = kernel(
            lambda q, v, a, *wrenches: _balance(fixed, q, v, a, dict(zip(bodies, wrenches))),
            sizes,
            outputs={"tau": model.nv, "left": 6, "center": 3, "ground": ()},
            name=f"loads of {model.name}",
        )
    return model.kernels[key]


def _balance(
    model: Model, q: ca.SX, v: ca.SX, a: ca.SX, wrenches: Mapping[str, ca.SX]
) -> tuple[ca.SX, ...]:
    """Newton-Euler with wrenches about the origin of the world.

    The wrench that the root's body needs, gathered along the tree, is what all of the world must
    do to the model; what the plates did is taken off on the way.
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
    gathered = tree.inward(forces)
    tau = tree.project(gathered) + armature(model) * a
    left = ca.SX.zeros(6)
    for body, parent in enumerate(model.parents):
        if parent < 0:
            left = left + tree.joints[body].X.force_back(gathered[body])
    return tau, left, whole_center(tree), ground


def _check(motion: Motion) -> None:
    model, frames = motion.model, len(motion.time)
    for name, size in (("q", model.nq), ("v", model.nv), ("a", model.nv)):
        values = np.asarray(getattr(motion, name))
        if values.shape != (frames, size):
            raise CaptureError(
                f"{name} of the motion has shape {values.shape}, ({frames}, {size}) is expected"
            )
        broken = ~np.isfinite(values).all(-1)
        if broken.any():
            first = int(np.flatnonzero(broken)[0])
            raise CaptureError(
                f"{name} of the motion is no number in {int(broken.sum())} of {frames} frames, the "
                f"first at {motion.time[first]:.3f} s; fill the gaps or cut the motion"
            )


def _ground(
    motion: Motion,
    plates: Sequence[ForcePlate],
    cutoff: float | None,
    named: dict[str, str | None],
    threshold: float,
) -> Assignment:
    """Forces on the feet, measured or predicted."""
    names = [plate.name for plate in plates]
    for name in named:
        if name not in names:
            raise CaptureError(
                f"feet= names a plate {name!r}; the plates are {', '.join(map(repr, names)) or 'none'}"
            )
    feet = find_feet(motion.model)
    others = [b for b in named.values() if b is not None and b not in [f.body for f in feet]]
    feet += find_feet(motion.model, tuple(dict.fromkeys(others))) if others else ()
    paths = [foot_path(motion, foot) for foot in feet]
    sampled = sample_plates(motion, plates, cutoff=cutoff, threshold=threshold)
    return assign(motion, sampled, paths, named)


def _force_sentence(plates: Sequence[ForcePlate], cutoff: float | None, threshold: float) -> str:
    filtered = "not filtered" if cutoff is None else f"low-pass {cutoff:g} Hz"
    return (
        f"{len(plates)} plates: {filtered}, interpolated at the frames, nothing below "
        f"{threshold:g} N"
    )
