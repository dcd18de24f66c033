"""Contact points of a model, and their forces summed per foot."""

from __future__ import annotations

import casadi as ca
import numpy as np

from homodyn.capture.kinetics.feet import find_feet
from homodyn.capture.world_frame import world_axes
from homodyn.dynamics.tree import Tree
from homodyn.errors import CaptureError
from homodyn.foundation import Record, record
from homodyn.model import Model
from homodyn.motion import ContactForce
from homodyn.simulate import ContactGeometry, SpringLaw

FOOT_STIFFNESS = 32e3
"""Vertical stiffness of a foot (N/m): that of a heel pad at first contact (Wearing 2014), which is
much softer than bone, ground and the rows of the paper."""


@record
class FootContacts(Record):
    """The contact points of a model, by the foot that they belong to."""

    model: Model
    feet: tuple[str, ...]
    """Bodies with contacts; toes count to the foot that carries them."""
    members: tuple[tuple[int, ...], ...]
    """Indices of the contact points of each foot."""

    @staticmethod
    def of(model: Model) -> FootContacts:
        """The contact points of a model on level ground.

        Args:
            model: The model.

        Returns:
            Its contact points.
        """
        gaps = ContactGeometry(model).gaps(Tree(model, ca.SX.sym("q", model.nq)))
        try:
            carriers = {body: foot.body for foot in find_feet(model) for body in foot.bodies}
        except CaptureError:
            carriers = {}
        bodies = [model.body_names[gap.body] for gap in gaps]
        owners = [carriers.get(body, body) for body in bodies]
        feet = tuple(dict.fromkeys(owners))
        members = tuple(tuple(k for k, o in enumerate(owners) if o == foot) for foot in feet)
        return FootContacts(model, feet, members)

    def forces(self, forces: np.ndarray, points: np.ndarray) -> tuple[ContactForce, ...]:
        """The force on each foot at its center of pressure.

        Args:
            forces: (frames, points, 3), N, world of the model.
            points: (frames, points, 3), m.

        Returns:
            One force per foot.
        """
        up = world_axes(self.model)[2]
        return tuple(
            ContactForce.from_points(foot, forces[:, list(own)], points[:, list(own)], up)
            for foot, own in zip(self.feet, self.members, strict=True)
        )


def foot_springs(model: Model) -> SpringLaw:
    """The springs of each contact point, so that all points of a foot are one foot.

    The points of a foot share `FOOT_STIFFNESS`. Their damping is critical for the body on one foot,
    2 sqrt(k m): pads and soles do not bounce, and their loss is larger than that of a light damper.

    Args:
        model: A model with contacts.

    Returns:
        Stiffness and damping of a point.
    """
    members = FootContacts.of(model).members
    points = max((len(own) for own in members), default=1)
    damping = 2.0 * float(np.sqrt(FOOT_STIFFNESS * float(model.mass)))
    return SpringLaw(kp=FOOT_STIFFNESS / points, kd=damping / points)
