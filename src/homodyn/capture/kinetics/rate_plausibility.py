"""Whether the frame rate of a recording agrees with gravity.

A wrong frame rate by a factor f makes accelerations wrong by f², while the weight stays. In single
support the ground force acts below one foot, so that the moment of weight and inertia about the
foot vanishes; the factor follows from the two parts. It needs no force plates, and it is the same
for a wrong time base of any origin.
"""

from __future__ import annotations

import numpy as np

from homodyn.capture.kinetics.feet import find_feet
from homodyn.capture.kinetics.foot_trajectories import foot_trajectories
from homodyn.capture.kinetics.newton_euler import required_wrench
from homodyn.capture.world_frame import world_axes
from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.motion.motion import Motion

PLAUSIBLE_RATE_FACTORS = (0.92, 1.3)
"""Estimated by the stated rate in walks with a right clock. The center of pressure moves from heel
to toes and is taken as the middle of the contact, which makes estimates too large: 1.02 to 1.23 in
nine recordings of walks, 1.01 to 1.03 in synthetic ones."""
POSSIBLE_RATE_FACTORS = (0.72, 1.5)
"""Factors outside of which no error of model or foot explains the estimate. Rates that are wrong by
a factor of two gave 0.54 to 0.63, and 1.96 to 2.4."""
MIN_SINGLE_SUPPORT_S = 0.2
"""Duration of the single support of each foot (s) that an estimate needs."""
MIN_INERTIAL_SHIFT_M = 0.012
"""Shift of the center of pressure by inertia (m, rms) below which the movement is too slow: where
the center of pressure is within the foot matters more then."""
MAX_REMAINING_SHARE = 0.8
"""Remaining distance from the foot, relative to that shift, above which nothing is decided."""


@record(eq=True)
class RatePlausibility(Record):
    """The frame rate that balances a recorded motion over its feet."""

    stated: float
    """Hz: the rate of the recording."""
    factor: float
    """Estimated by the stated rate, over both feet."""
    sides: tuple[float, float]
    """The same for each foot alone: smallest, largest."""

    @property
    def plausible(self) -> bool:
        """Whether the stated rate may be right; each foot by itself has to contradict it."""
        low, high = PLAUSIBLE_RATE_FACTORS
        return not (self.sides[1] < low or self.sides[0] > high)

    @property
    def possible(self) -> bool:
        """Whether an error of the model may explain the difference."""
        return POSSIBLE_RATE_FACTORS[0] <= self.factor <= POSSIBLE_RATE_FACTORS[1]

    @property
    def sentence(self) -> str:
        """The estimate, in words."""
        if self.plausible:
            low, high = (self.factor / bound for bound in reversed(PLAUSIBLE_RATE_FACTORS))
            return (
                f"at the stated {self.stated:.4g} frames per second the weight stays over the "
                f"feet; it would also at {low * self.stated:.0f} to {high * self.stated:.0f}"
            )
        return (
            f"the recording states {self.stated:.4g} frames per second, but the weight stays over "
            f"the feet at about {self.factor * self.stated:.0f}: check the frame rate"
        )


def check_frame_rate(motion: Motion) -> RatePlausibility | None:
    """The frame rate at which weight and inertia are balanced over the foot in single support.

    With the moments M_g of the weight and M_i of the inertia about the middle of the contact, both
    horizontal, the least-squares solution of M_g + s M_i = 0 is s = -Σ M_i·M_g / Σ M_i·M_i, and the
    factor of the rate is √s.

    Args:
        motion: A filtered motion with accelerations, of a free root.

    Returns:
        The estimate; None where the motion does not decide it: without single support of both feet,
        in slow movement, or where the model does not stand over its feet.
    """
    model = motion.model
    try:
        paths = foot_trajectories(motion, find_feet(model))
    except CaptureError:
        return None
    stance = np.array([path.in_stance for path in paths])
    single = stance.sum(axis=0) == 1
    if motion.edge.size:
        single &= ~motion.edge
    force, moment, center = required_wrench(motion)
    weight = -model.mass * np.asarray(model.gravity, dtype=float)
    up = world_axes(model)[2]
    total = np.zeros(2)
    factors = []
    for path, own in zip(paths, stance & single, strict=True):
        if own.sum() < MIN_SINGLE_SUPPORT_S * motion.rate:
            continue
        foot = path.contact_center[own]
        of_weight = np.cross(up, np.cross(center[own] - foot, weight))
        whole = np.cross(up, moment[own] - np.cross(foot, force[own]))
        sums = _moment_sums(of_weight, whole - of_weight)
        if not _is_decided(of_weight, whole - of_weight, sums, float(np.linalg.norm(weight))):
            return None
        total += sums
        factors.append(float(np.sqrt(sums[0] / sums[1])))
    if len(factors) < 2:
        return None
    factor = float(np.sqrt(total[0] / total[1]))
    return RatePlausibility(motion.rate, factor, (min(factors), max(factors)))


def _moment_sums(of_weight: np.ndarray, of_inertia: np.ndarray) -> np.ndarray:
    """Numerator and denominator of the factor s."""
    return np.array([-np.sum(of_inertia * of_weight), np.sum(of_inertia**2)])


def _is_decided(
    of_weight: np.ndarray, of_inertia: np.ndarray, sums: np.ndarray, weight: float
) -> bool:
    """Whether the inertia shifts the center of pressure enough, and brings it to the foot."""
    if sums[0] <= 0 or sums[1] <= 0:
        return False
    balance = sums[0] / sums[1]
    shift = np.sqrt(sums[1] / len(of_weight)) / weight
    rest = np.sqrt(np.sum((of_weight + balance * of_inertia) ** 2) / len(of_weight)) / weight
    decided = rest <= MAX_REMAINING_SHARE * balance * shift
    return bool(decided and shift >= MIN_INERTIAL_SHIFT_M)
