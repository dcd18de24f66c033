"""The movement of a body in a network, with the torques and forces that edges apply to it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from homodyn import dynamics
from homodyn.model import Model
from homodyn.motion import Axes, ContactForce, Motion, MotionSource

WRENCH_SIZE = 6
"""Entries of a wrench: moment, then force."""


def body_motion(
    model: Model, time: np.ndarray, variable: Callable[[str], np.ndarray], name: str
) -> Motion:
    """The movement of a body from the variables of its node.

    Accelerations follow from the equations of motion under the torques and wrenches of the network,
    as in the run itself.

    Args:
        model: The model of the body.
        time: (rows,), s.
        variable: Returns the values (rows, ...) of a variable of the node by its name.
        name: Dotted name of the node.

    Returns:
        The motion, with torques and the forces on segments and contacts, gathered by body.
    """
    # Rows of events repeat the time of the row before.
    kept = np.flatnonzero(np.append(np.diff(time) > 0, True))
    rows = len(kept)
    q, v, tau = (variable(key)[kept].reshape(rows, -1) for key in ("q", "v", "tau"))
    wrenches = variable("wrenches")[kept].reshape(rows, -1, WRENCH_SIZE)
    frames = [*model.body_names, *(shape.name for shape in model.contacts)]
    acting = {f: w for f, w in zip(frames, np.swapaxes(wrenches, 0, 1), strict=True) if w.any()}
    drive = tau + np.asarray(dynamics.passive_force(model, q, v))
    a = np.asarray(dynamics.forward_dynamics(model, q, v, drive, external=acting or None))
    return Motion(
        model,
        time[kept],
        q,
        v,
        a,
        method=f"body {name!r} of a network",
        tau=tau,
        contact_forces=_contact_forces(model, q, acting),
        source=MotionSource.NETWORK,
    )


def _contact_forces(
    model: Model, q: np.ndarray, acting: dict[str, np.ndarray]
) -> tuple[ContactForce, ...]:
    """Wrenches (rows, 6) by frame as one force per body; those of spheres act on their surface."""
    up = Axes.of(model).up
    radii = {shape.name: float(shape.radius) for shape in model.contacts if shape.kind == "sphere"}
    parts: dict[str, list[tuple[np.ndarray, np.ndarray, np.ndarray]]] = {}
    for frame, wrench in acting.items():
        moment, force = wrench[:, :3], wrench[:, 3:]
        depth = radii.get(frame, 0.0) * up
        point = np.asarray(dynamics.position(model, q, frame)) - depth
        body = model.body_names[model.locate(frame)[0]]
        parts.setdefault(body, []).append((force, point, moment + np.cross(depth, force)))
    found = []
    for body, own in parts.items():
        forces, points, couples = (np.stack(part, axis=1) for part in zip(*own, strict=True))
        found.append(ContactForce.from_points(body, forces, points, up, couples=couples))
    return tuple(found)
