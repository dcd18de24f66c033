"""Quadriceps and hamstrings of HuMAnS at the knees of a model.

HuMAnS (INRIA, User Documentation of 23 October 2006), sections 1.2.3 and 1.2.5. The quadriceps
turns around a pulley at the knee; the hamstrings are a straight line behind it. With the flexion
angle q, the distances L_00, L_iq and L_ii of the attachments from the knee and the radius r::

    L_quadriceps = r q + sqrt(L_00^2 - r^2) + sqrt(L_iq^2 - r^2) + r asin(r/L_00) + r asin(r/L_iq)
    L_hamstrings = sqrt(L_00^2 + L_ii^2 + 2 L_00 L_ii cos q)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from homodyn.dynamics import orientation
from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.model import Joint, Model
from homodyn.model.muscles import Muscle, PathPoint, PathWrap, WrapObject
from homodyn.muscle.stimulation.calcium_muscle import CALCIUM_KIND, DEFAULT_SETTINGS
from homodyn.spatial import Transform

PULLEY_LENGTH_M = 0.2
MUSCLE_LENGTHS_M = {"quadriceps": (0.082, 0.492), "hamstrings": (0.107, 0.492)}
"""Rest lengths L_c0 and L_0 (table 1.3)."""
MAX_FORCE_N = 500.0
"""F_m of both muscles (table 1.3)."""


@record
class KneeGeometry(Record):
    """Attachments of the muscles of a knee, and its friction.

    The document gives no numbers. These are assumed: with the attachments of the hamstrings 0.41
    and 0.082 m from the knee, their rest length of 0.492 m is that of the straight knee.

    Raises:
        ModelError: A length is not positive, or an attachment lies in the pulley.
    """

    pulley_radius_m: float = 0.04
    """r."""
    thigh_distance_m: float = 0.41
    """L_00: from the knee to the attachments on the thigh."""
    quadriceps_distance_m: float = 0.08
    """L_iq: from the knee to the attachment of the quadriceps on the shank."""
    hamstrings_distance_m: float = 0.082
    """L_ii: from the knee to the attachment of the hamstrings on the shank."""
    friction_n_m_s: float = 0.5
    """F_v: viscous friction of the knee, N m s/rad."""
    strength: float = 1.0
    """Factor of the forces and stiffnesses of table 1.3: muscles that act side by side."""

    def __post_init__(self) -> None:
        sizes = self.to_dict()
        for name in ("thigh_distance_m", "quadriceps_distance_m", "hamstrings_distance_m"):
            limit = self.pulley_radius_m if name != "hamstrings_distance_m" else 0.0
            if not (np.isfinite(sizes[name]) and sizes[name] > limit):
                raise ModelError(
                    f"{name} of a knee must be larger than {limit:g} m, got {sizes[name]:g}"
                )
        if not (self.pulley_radius_m > 0 and self.strength > 0 and self.friction_n_m_s >= 0):
            raise ModelError(
                "a knee needs a pulley radius and a strength above zero and a friction that is not "
                f"negative, got {self.pulley_radius_m:g} m, {self.strength:g} and "
                f"{self.friction_n_m_s:g} N m s/rad"
            )


def add_knee_muscles(
    model: Model,
    knees: Sequence[str] = ("right_knee", "left_knee"),
    geometry: KneeGeometry | None = None,
) -> Model:
    """A model with a quadriceps and hamstrings at knees that are straight in the neutral pose.

    Args:
        model: The model; X is forward in its neutral pose.
        knees: Joints with one rotation, such as those of `homodyn.catalog.human36`.
        geometry: Attachments, friction and strength; the defaults when left out.

    Returns:
        A new model with the muscles ``<knee>_quadriceps`` and ``<knee>_hamstrings``, a wrap object
        ``<knee>_pulley``, and the friction as damping of the coordinate.

    Raises:
        ModelError: A joint is unknown or has no single rotation, or its thigh has no length.
    """
    geometry = geometry or KneeGeometry()
    known = {joint.name: joint for joint in model.joints}
    for name in knees:
        if name not in known:
            raise ModelError(unknown_name("joint", name, known))
        model = _with_knee(model, known[name], geometry)
    return model


def _with_knee(model: Model, joint: Joint, geometry: KneeGeometry) -> Model:
    if len(joint.coordinates) != 1 or joint.kind != "revolute":
        raise ModelError(f"joint {joint.name!r} is no knee: one rotation is needed")
    center = np.asarray(joint.placement.r, dtype=float)
    length = float(np.linalg.norm(center))
    if length == 0:
        raise ModelError(
            f"joint {joint.name!r}: the knee lies in the origin of {joint.parent!r}, so the "
            "direction of the thigh is unknown"
        )
    up = -center / length
    neutral = model.neutral()
    thigh, shank = (orientation(model, neutral, body) for body in (joint.parent, joint.child))
    forward = thigh.T @ np.array([1.0, 0.0, 0.0])
    forward = forward - up * (up @ forward)
    forward /= np.linalg.norm(forward)
    axes = np.array([forward, np.cross(up, forward), up])
    # The pulley has z along the axis of the knee and x forward.
    pulley = np.array([axes[0], -axes[2], axes[1]])
    down = -shank.T @ thigh @ up
    start = Transform(np.asarray(joint.child_placement.E), np.asarray(joint.child_placement.r))
    knee_in_shank = np.asarray(start.r)
    origin = center + geometry.thigh_distance_m * up
    insertions = {
        "quadriceps": geometry.quadriceps_distance_m,
        "hamstrings": geometry.hamstrings_distance_m,
    }
    muscles = []
    for name, distance in insertions.items():
        contractile, rest = MUSCLE_LENGTHS_M[name]
        stiffness = geometry.strength * DEFAULT_SETTINGS["series_stiffness"]
        points = (
            PathPoint("origin", joint.parent, origin),
            PathPoint("insertion", joint.child, knee_in_shank + distance * down),
        )
        muscles.append(
            Muscle(
                f"{joint.name}_{name}",
                CALCIUM_KIND,
                points,
                (PathWrap(f"{joint.name}_pulley"),) if name == "quadriceps" else (),
                max_isometric_force=geometry.strength * MAX_FORCE_N,
                optimal_fiber_length=contractile,
                tendon_slack_length=rest - contractile,
                settings={
                    **DEFAULT_SETTINGS,
                    "contractile_stiffness": stiffness,
                    "series_stiffness": stiffness,
                    "ignore_tendon_compliance": True,
                },
            )
        )
    wrap = WrapObject(
        f"{joint.name}_pulley",
        joint.parent,
        "cylinder",
        (geometry.pulley_radius_m, PULLEY_LENGTH_M),
        Transform(pulley, center),
        quadrant="x",
    )
    coordinate = joint.coordinates[0]
    damped = replace(
        joint,
        coordinates=(replace(coordinate, damping=coordinate.damping + geometry.friction_n_m_s),),
    )
    return replace(
        model,
        joints=tuple(damped if one.name == joint.name else one for one in model.joints),
        wraps=(*model.wraps, wrap),
        muscles=(*model.muscles, *muscles),
    )
