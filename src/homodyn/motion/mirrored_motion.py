"""Mirror image of a movement: left and right exchanged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from homodyn.catalog.mirror import MirrorMap, mirror_map
from homodyn.motion.contact_force import ContactForce
from homodyn.motion.event import Event
from homodyn.motion.motion import Motion

VECTOR_IMAGE = np.array([1.0, -1.0, 1.0])
"""Signs of a force or a point in the reflection of Y."""
MOMENT_IMAGE = np.array([-1.0, 1.0, -1.0])
"""Signs of a moment, which is an axial vector, in the reflection of Y."""


def mirror_motion(motion: Motion) -> Motion:
    """The mirror image of a movement: left and right exchanged by the reflection of Y.

    Coordinates, torques, contact forces and the sides of events are mirrored. Marker residuals, fit
    results and activations are dropped.

    Args:
        motion: The movement of a model with symmetric left and right sides.

    Returns:
        The mirrored movement, at the same times.

    Raises:
        ModelError: The model is not symmetric.
    """
    image = mirror_map(motion.model)
    return Motion(
        motion.model,
        motion.time,
        np.asarray(image.position(motion.q)),
        np.asarray(image.velocity(motion.v)),
        np.asarray(image.velocity(motion.a)),
        method=motion.method,
        notes=motion.notes,
        tau=np.asarray(image.velocity(motion.tau)) if motion.tau.size else motion.tau,
        contact_forces=tuple(_mirror_force(f, image) for f in motion.contact_forces),
        events=tuple(_mirror_event(event) for event in motion.events),
        source=motion.source,
        result=motion.result,
    )


def _mirror_force(force: ContactForce, image: MirrorMap) -> ContactForce:
    return replace(
        force,
        body=image.names.get(force.body, force.body),
        side=None if force.side is None else force.side.other,
        force=force.force * VECTOR_IMAGE,
        point=force.point * VECTOR_IMAGE,
        torque=force.torque * MOMENT_IMAGE,
    )


def _mirror_event(event: Event) -> Event:
    return event if event.side is None else replace(event, context=event.side.other.title)
