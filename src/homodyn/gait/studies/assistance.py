"""Support of the trunk outside of a neutral zone, so that early candidates do not fall."""

from __future__ import annotations

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.simulate.rows import ResidualJoint, SpringLaw

MAX_ASSISTANCE_N_M = 1e6
"""Limit of the torque; it is far above what the springs reach."""


@record(eq=True)
class PitchAssistance(Record):
    """Torque on the pitch of the trunk: 3000 (+-5 deg - q) - 20 v outside of +-5 deg.

    Of van den Kieboom (2014), section 4.1.2. Studies ask for gaits that do not use it.
    """

    coordinate: str = "root_ry"
    stiffness: float = 3000.0
    """N m/rad."""
    damping: float = 20.0
    """N m s/rad."""
    neutral_zone: float = float(np.deg2rad(5.0))
    """rad, to both sides."""

    def row(self) -> ResidualJoint:
        """The spring between trunk and world.

        Returns:
            Rows of a simulation.
        """
        law = SpringLaw(kp=self.stiffness, kd=self.damping, dead_zone=self.neutral_zone)
        return ResidualJoint({self.coordinate: MAX_ASSISTANCE_N_M}, law)

    def index(self, model: Model) -> int:
        """Index of the pitch in q and v of a planar root.

        Args:
            model: The model.

        Returns:
            The index.
        """
        return model.coordinate_index(self.coordinate)
