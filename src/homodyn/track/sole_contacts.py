"""Contact shapes under the feet of models that have none, from where their feet stand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from homodyn.capture.kinetics.feet import find_feet
from homodyn.capture.world_frame import world_axes
from homodyn.dynamics import position
from homodyn.errors import ModelError
from homodyn.model import ContactShape, Model
from homodyn.motion import Motion

MIN_SOLE_RADIUS_M = 0.005
MAX_SOLE_RADIUS_M = 0.15
"""Heights above the ground of the points of a foot that become centers of contact spheres."""
LOWEST_HEIGHT_PERCENTILE = 5.0
"""Percentile of the height of a point over a recording at which it is on the ground."""


def with_sole_contacts(model: Model, motion: Motion) -> Model:
    """The model with contact spheres under its feet.

    The points of each sole (markers, origins and ends of capsules of the foot and toes) are centers
    of spheres that touch the ground where the point is lowest in a recording. Contacts that the
    model has are kept, and then none are added.

    Args:
        model: The model.
        motion: A movement of the model with stance of all feet, over ground at height 0.

    Returns:
        The model.

    Raises:
        ModelError: No point of a foot comes near the ground.
    """
    if model.contacts:
        return model
    up = world_axes(model)[2]
    added: list[ContactShape] = []
    for foot in find_feet(model):
        count = 0
        for k, (body, local) in enumerate(foot.points):
            height = position(model, motion.q, body, point=np.asarray(local)) @ up
            radius = float(np.percentile(height, LOWEST_HEIGHT_PERCENTILE))
            if MIN_SOLE_RADIUS_M <= radius <= MAX_SOLE_RADIUS_M:
                name = f"{foot.body} sole {k + 1}"
                added.append(ContactShape(name, body, "sphere", np.asarray(local), radius))
                count += 1
        if not count:
            raise ModelError(
                f"no point of {foot.body!r} comes within {MIN_SOLE_RADIUS_M:g} to "
                f"{MAX_SOLE_RADIUS_M:g} m above the ground at height 0; "
                "is the floor of the recording at another height?"
            )
    return replace(model, contacts=tuple(added))
