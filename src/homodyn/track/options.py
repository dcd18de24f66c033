"""Options of tracking: stiffness of the rows, limits of motors and residuals, and filters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation import Record, record
from homodyn.simulate.rows import SpringLaw

ERROR_REDUCTION = 0.2
"""Fraction of an error that one step removes (ERP), the value of ODE and of the programs of HDM."""
DEFAULT_FILTER_HZ = 6.0
"""Cutoff frequency of the markers before tracking offline (Hz)."""
DEFAULT_RESIDUAL_TORQUE_NM = 100.0
"""Largest residual torque about the horizontal axes (N m): what HDM needed for a jump."""
DEFAULT_FRICTION = 1.0
"""Coefficient of friction of feet and ground."""


class TrackingKeywords(TypedDict, total=False):
    """The fields of `TrackingOptions` as keywords."""

    marker_law: SpringLaw
    contact_law: SpringLaw | None
    motor_law: SpringLaw
    pose_law: SpringLaw
    residual_law: SpringLaw
    residual_limits: Mapping[str, float] | float
    friction: float
    ground: bool
    filter: float | None
    relax_steps: int


@record
class TrackingOptions(Record):
    """How a body follows markers, and how the torques are computed that move it so.

    All springs are solved at the end of the step. The paper has a constraint force mixing (CFM) of
    1e-4 for markers, 1e-5 for contacts and 1e-8 for motors. Contacts are softer here, like heel
    pads (the stiff ones double the peaks of the ground force), and motors too.

    Raises:
        ModelError: A value is out of range.
    """

    marker_law: SpringLaw = SpringLaw(erp=ERROR_REDUCTION, cfm=1e-4)
    """Springs from markers of the body to measured markers."""
    contact_law: SpringLaw | None = None
    """Springs of the ground at each contact point, linear and without bounds; None: those of
    `homodyn.track.foot_springs`, from the stiffness of a foot and the mass of the body."""
    motor_law: SpringLaw = SpringLaw(erp=0.25, cfm=1e-5)
    """Motors that move the joints like those of the body that follows the markers. ``max_force``
    limits their torques (N m, N); steps with stiff motors at their limit may have no solution."""
    pose_law: SpringLaw = SpringLaw(kp=2.0, kd=0.2, max_force=50.0)
    """Weak springs to the neutral pose while markers are followed. They decide what markers
    leave open."""
    residual_law: SpringLaw = SpringLaw(kp=2000.0, kd=200.0)
    """Spring of the residual joint, between the root and its recorded pose."""
    residual_limits: Mapping[str, float] | float = DEFAULT_RESIDUAL_TORQUE_NM
    """Largest force (N) or torque (N m) of the residual joint by coordinate of the root; a number
    limits the torques about the horizontal axes, and the other coordinates have none."""
    friction: float = DEFAULT_FRICTION
    """Coefficient of friction of the ground."""
    ground: bool = True
    """Whether the ground also supports the body that follows the markers."""
    filter: float | None = DEFAULT_FILTER_HZ
    """Cutoff frequency (Hz) of a zero-lag filter of the markers before tracking a whole trial; None
    for none. Live tracking does not use it."""
    relax_steps: int = 80
    """Steps on the first frame before the markers begin to move."""

    def __post_init__(self) -> None:
        if not (np.isfinite(self.friction) and self.friction >= 0):
            raise ModelError(f"friction must be finite and not negative, got {self.friction}")
        if self.filter is not None and not self.filter > 0:
            raise ModelError(f"filter is a frequency above zero (Hz) or None, got {self.filter}")
        if self.relax_steps < 1:
            raise ModelError(f"relax_steps must be at least 1, got {self.relax_steps}")
        if self.contact_law is not None and not self.contact_law.is_linear:
            raise ModelError("contact_law has neither bounds nor dead zone: contacts bound it")
        given = self.residual_limits
        limits = given.values() if isinstance(given, Mapping) else (given,)
        if any(not (np.isfinite(limit) and limit >= 0) for limit in limits):
            raise ModelError(
                f"residual_limits must be finite and not negative (N m, N), got {given}"
            )
