"""Contact points at heel and toes for models without them, in axes with Z up.

Reconstruction needs the contacts that HeiMan has: a heel, a hallux and a fifth metatarsal on each
foot. Models of OpenSim have none, and their vertical axis is Y.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from homodyn.capture.world_frame import world_axes
from homodyn.dynamics import position
from homodyn.errors import ModelError
from homodyn.gait.legs import Leg, SolePoint, find_legs
from homodyn.model import ContactShape, Marker, Model
from homodyn.model.joint import WORLD
from homodyn.motion import ContactForce, Loads, Motion, Side
from homodyn.spatial import Transform

HEEL_RADIUS_M = 0.03
"""Radius of the heel sphere, as that of HeiMan."""
METATARSAL_SHARE = 0.7
"""Place of the fifth metatarsal, as a share of the way from heel to toes."""
METATARSAL_OFFSET_M = 0.03
"""Distance of the fifth metatarsal from the line of the foot, outward."""


def with_foot_contacts(motion: Motion) -> Motion:
    """The motion of the model with contacts at heels and toes, in axes with Z up.

    Coordinates are unchanged: the world is turned, not the body. Contacts that the model has are
    kept; where a foot lacks some, they are placed at the ends of its sole, which
    `homodyn.gait.foot_calibration.fit_foot_contacts` moves to the floor.

    Args:
        motion: The motion of a model with two legs, with Z or Y up.

    Returns:
        The motion; measured markers are turned too.

    Raises:
        ModelError: No left and right leg are found.
        CaptureError: The vertical axis of the model is neither Z nor Y.
    """
    axes = world_axes(motion.model)
    model = _turn(motion.model, axes)
    measured = motion.measured @ axes.T if motion.measured.size else motion.measured
    forces = tuple(_turn_force(force, axes) for force in motion.contact_forces)
    turned = replace(motion, model=model, measured=measured, contact_forces=forces)
    known = {contact.name for contact in model.contacts}
    needed = {f"{point}{side.title}" for side in Side for point in ("Heel", "Hallux", "Meta5")}
    if needed <= known:
        return turned
    added = [c for leg in find_legs(model) for c in _leg_contacts(model, leg)]
    contacts = (*model.contacts, *(c for c in added if c.name not in known))
    return replace(turned, model=replace(model, contacts=contacts))


def turn_loads(loads: Loads, motion: Motion) -> Loads:
    """Loads in the axes of the same motion with Z up.

    Args:
        loads: Loads in the axes of their own model.
        motion: What `with_foot_contacts` returned.

    Returns:
        The loads; joint torques are unchanged.
    """
    axes = world_axes(loads.motion.model)
    return replace(
        loads,
        motion=motion,
        residual_force=loads.residual_force @ axes.T,
        residual_moment=loads.residual_moment @ axes.T,
        feet=tuple(_turn_force(foot, axes) for foot in loads.feet),
        center_of_mass=loads.center_of_mass @ axes.T,
    )


def _turn(model: Model, axes: np.ndarray) -> Model:
    """The model in a world turned by a rotation into Z-up axes."""
    if np.allclose(axes, np.eye(3)):
        return model
    if model.parameters:
        raise ModelError(
            f"model {model.name!r} has parameters and another vertical axis than Z; give them "
            "values with model.at(...)"
        )
    joints = tuple(
        replace(j, placement=Transform(j.placement.E @ axes.T, axes @ j.placement.r))
        if j.parent == WORLD
        else j
        for j in model.joints
    )
    gravity = axes @ np.asarray(model.gravity, dtype=float)
    return replace(model, joints=joints, gravity=gravity)


def _turn_force(force: ContactForce, axes: np.ndarray) -> ContactForce:
    return replace(
        force, force=force.force @ axes.T, point=force.point @ axes.T, torque=force.torque @ axes.T
    )


def _leg_contacts(model: Model, leg: Leg) -> list[ContactShape]:
    """Heel, hallux and fifth metatarsal at the ends of the sole, in the neutral pose."""
    heel, toe = _place(model, leg.heel), _place(model, leg.toe)
    outward = 1.0 if leg.side is Side.LEFT else -1.0
    ahead = (toe - heel) * (1.0, 1.0, 0.0)
    across = np.cross((0.0, 0.0, 1.0), ahead / max(float(np.linalg.norm(ahead)), 1e-6))
    lateral = heel + METATARSAL_SHARE * (toe - heel) + outward * METATARSAL_OFFSET_M * across
    title = leg.side.title
    raised = np.array([0.0, 0.0, HEEL_RADIUS_M])
    return [
        _contact(model, f"Heel{title}", leg.heel.body, heel + raised, HEEL_RADIUS_M),
        _contact(model, f"Hallux{title}", leg.toe.body, toe),
        _contact(model, f"Meta5{title}", leg.heel.body, lateral),
    ]


def _contact(
    model: Model, name: str, body: str, place: np.ndarray, radius: float = 0.0
) -> ContactShape:
    """A contact at a place of the world in the neutral pose."""
    corners = tuple(
        Marker(f"corner {k}", body, point) for k, point in enumerate([np.zeros(3), *np.eye(3)])
    )
    with_corners = replace(model, markers=corners)
    seen = np.array(
        [np.asarray(position(with_corners, model.neutral(), c.name)) for c in corners]
    ).reshape(4, 3)
    inside = (seen[1:] - seen[0]) @ (place - seen[0])
    return ContactShape(name, body, "sphere" if radius else "point", inside, radius)


def _place(model: Model, point: SolePoint) -> np.ndarray:
    """Place of a point of the sole in the world, in the neutral pose."""
    marker = Marker("sole point", point.body, point.point)
    found = position(replace(model, markers=(marker,)), model.neutral(), marker.name)
    return np.asarray(found, dtype=float).reshape(3)
