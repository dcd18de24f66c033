"""Strength of the joints: published curves of the legs, and the torque limits of the model.

Largest voluntary torque of hips, knees and ankles by angle q and velocity w (Anderson, Madigan and
Nussbaum 2007, Journal of Biomechanics 40:3105, table 3)::

    T = m g h  C1 cos(C2 (q - C3))  (2 C4 C5 + w (C5 - 3 C4)) / (2 C4 C5 + w (2 C5 - 4 C4))

where muscles shorten; where they lengthen, w has the opposite sign in the last factor, and
``1 - C6 w`` multiplies it. Both branches agree with the implementation of the same table in the
torque muscles of RBDL (Millard 2016). Lengthening muscles were measured at 60 degrees per second
alone: beyond that speed the torque stays what it is there. Other joints have the limits of the
model, or none.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record

MAX_LENGTHENING_RAD_S = np.radians(60.0)
"""Speed at which lengthening muscles were measured."""
GRAVITY_M_S2 = 9.81
"""Of the scale of the table."""


class Sex(StrEnum):
    """Sex of the people measured."""

    MALE = "male"
    FEMALE = "female"


class AgeGroup(StrEnum):
    """Age of the people measured."""

    YOUNG = "18 to 25"
    MIDDLE = "55 to 65"
    SENIOR = "over 65"


CURVES: dict[tuple[str, str], tuple[tuple[float, ...], ...]] = {
    ("Hip", "extension"): (
        (0.161, 0.958, 0.932, 1.578, 3.190, 0.242),
        (0.181, 0.697, 1.242, 1.567, 3.164, 0.164),
        (0.171, 0.922, 1.176, 1.601, 3.236, 0.320),
        (0.140, 0.830, 1.241, 1.444, 2.919, 0.317),
        (0.144, 0.896, 1.125, 1.561, 3.152, 0.477),
        (0.138, 0.707, 1.542, 1.613, 3.256, 0.360),
    ),
    ("Hip", "flexion"): (
        (0.113, 0.738, -0.214, 2.095, 4.267, 0.218),
        (0.127, 0.650, -0.350, 2.136, 4.349, 0.156),
        (0.107, 0.712, -0.192, 2.038, 4.145, 0.206),
        (0.091, 0.812, -0.196, 2.145, 4.366, 0.186),
        (0.101, 0.762, -0.269, 1.875, 3.819, 0.296),
        (0.081, 0.625, -0.422, 2.084, 4.245, 0.196),
    ),
    ("Knee", "extension"): (
        (0.163, 1.258, 1.133, 1.517, 3.952, 0.095),
        (0.159, 1.187, 1.274, 1.393, 3.623, 0.173),
        (0.156, 1.225, 1.173, 1.518, 3.954, 0.266),
        (0.128, 1.286, 1.141, 1.332, 3.469, 0.233),
        (0.137, 1.310, 1.067, 1.141, 3.152, 0.386),
        (0.124, 1.347, 1.140, 1.066, 2.855, 0.464),
    ),
    ("Knee", "flexion"): (
        (0.087, 0.869, 0.522, 2.008, 5.233, 0.304),
        (0.080, 0.873, 0.635, 1.698, 4.412, 0.175),
        (0.081, 0.986, 0.523, 1.830, 4.777, 0.230),
        (0.060, 0.967, 0.402, 1.693, 4.410, 0.349),
        (0.069, 0.838, 0.437, 1.718, 4.476, 0.414),
        (0.060, 0.897, 0.445, 1.121, 2.922, 0.389),
    ),
    ("Ankle", "plantarflexion"): (
        (0.095, 1.391, 0.408, 0.987, 3.558, 0.295),
        (0.104, 1.399, 0.424, 0.862, 3.109, 0.189),
        (0.114, 1.444, 0.551, 0.593, 2.128, 0.350),
        (0.093, 1.504, 0.381, 0.860, 3.126, 0.349),
        (0.106, 1.465, 0.498, 0.490, 1.767, 0.571),
        (0.125, 1.299, 0.580, 0.587, 1.819, 0.348),
    ),
    ("Ankle", "dorsiflexion"): (
        (0.033, 1.510, -0.187, 0.699, 1.940, 0.828),
        (0.027, 1.079, -0.302, 0.864, 2.399, 0.771),
        (0.028, 1.293, -0.284, 0.634, 1.759, 0.999),
        (0.024, 1.308, -0.254, 0.596, 1.654, 1.006),
        (0.029, 1.419, -0.174, 0.561, 1.558, 1.198),
        (0.022, 1.096, -0.369, 0.458, 1.242, 1.401),
    ),
}
"""C1 to C6 by joint and direction: young, middle and senior, male before female. Flexion and
dorsiflexion are positive angles."""
NEGATIVE_DIRECTIONS = {"Hip": "extension", "Knee": "extension", "Ankle": "plantarflexion"}
"""Directions against the positive angle."""
POSITIVE_DIRECTIONS = {"Hip": "flexion", "Knee": "flexion", "Ankle": "dorsiflexion"}


@record(eq=True)
class StrengthProfile(Record):
    """Whose strength is meant.

    Raises:
        HomodynError: A number is not positive, or a word is unknown.
    """

    mass: float
    """kg."""
    height: float
    """m."""
    sex: Sex | str = Sex.MALE
    age: AgeGroup | str = AgeGroup.YOUNG

    def __post_init__(self) -> None:
        if not (self.mass > 0 and self.height > 0):
            raise HomodynError(
                f"mass and height of a person are above 0, got {self.mass!r} and {self.height!r}"
            )
        try:
            object.__setattr__(self, "sex", Sex(self.sex))
            object.__setattr__(self, "age", AgeGroup(self.age))
        except ValueError as error:
            ages = ", ".join(AgeGroup)
            raise HomodynError(f"{error}; sexes are male, female, ages are {ages}") from None


def joint_strength(
    joint: str, direction: str, angle: np.ndarray, speed: np.ndarray, person: StrengthProfile
) -> np.ndarray:
    """Largest voluntary torque of a joint of the leg.

    Args:
        joint: ``"Hip"``, ``"Knee"`` or ``"Ankle"``.
        direction: As in `CURVES`, such as ``"extension"``.
        angle: Flexion or dorsiflexion, rad, (...).
        speed: Velocity in the direction of the torque, rad/s, (...): positive where its muscles
            shorten.
        person: Whose strength.

    Returns:
        (...), N m; zero where the curve is negative.

    Raises:
        HomodynError: There is no curve.
    """
    if (joint, direction) not in CURVES:
        known = ", ".join(f"{a} {b}" for a, b in CURVES)
        raise HomodynError(f"no strength curve of {joint} {direction}; there are {known}")
    row = 2 * list(AgeGroup).index(AgeGroup(person.age)) + list(Sex).index(Sex(person.sex))
    c1, c2, c3, c4, c5, c6 = CURVES[joint, direction][row]
    w = np.asarray(speed, dtype=float)
    rate = np.where(w >= 0, w, np.minimum(-w, MAX_LENGTHENING_RAD_S))
    shape = c1 * np.cos(np.clip(c2 * (np.asarray(angle, dtype=float) - c3), -np.pi / 2, np.pi / 2))
    # |w| in both cases: "w has the opposite sign" where muscles lengthen.
    factor = (2 * c4 * c5 + rate * (c5 - 3 * c4)) / (2 * c4 * c5 + rate * (2 * c5 - 4 * c4))
    factor = np.where(w >= 0, factor, factor * (1 + c6 * rate))
    scale = person.mass * person.height * GRAVITY_M_S2
    return np.asarray(np.maximum(scale * shape * factor, 0.0))
