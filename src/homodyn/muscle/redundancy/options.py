"""Options of static optimization: what muscles are, what effort costs, and what helps them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypedDict

import numpy as np

from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.muscle.geometry.tangent_rule import OPENSIM, check_tangent_rule

TENDONS = ("rigid", "compliant")
WEIGHTS = ("equal", "volume")
EMG_MODES = ("informed", "tracking")

MIN_ACTIVATION = 0.01
"""Lowest activation unless given, as in most muscle models."""
RESERVE_STRENGTH = 1.0
"""Strength (N m, N) of the reserve of a coordinate unless given."""
MAX_RESERVE_SHARE = 0.05
"""Reserve, as a part of the largest torque of a coordinate, above which a frame is reported: the
recommendation of Hicks et al. (2015), J. Biomech. Eng. 137:020905."""
MIN_LARGE_RESERVE = 0.5
"""Reserve (N m, N) up to which no frame is reported, whatever the torques of its coordinate: less
than the error of measured torques."""

Bounds = float | Mapping[str, float]
"""One value for all muscles, or values by muscle."""


class StaticOptimizationKeywords(TypedDict, total=False):
    """The fields of `StaticOptimizationOptions` as keywords of `static_optimization`."""

    power: float
    force_length_velocity: bool
    passive_fibers: bool
    tendon: Literal["rigid", "compliant"]
    weights: Literal["equal", "volume"] | Mapping[str, float]
    lower: Bounds
    upper: Bounds
    reserves: float | Mapping[str, float]
    max_reserve: float
    smoothness: float
    coordinates: tuple[str, ...] | None
    wrapping: str


@record
class StaticOptimizationOptions(Record):
    """How `static_optimization` shares torques among muscles.

    Raises:
        HomodynError: A value is out of range, or two options contradict each other.
    """

    power: float = 2.0
    """Power p of the effort, the sum of activation ** p; 1 or more."""
    force_length_velocity: bool = True
    """Whether active forces depend on the length and speed of fibers; otherwise a muscle pulls with
    its maximum isometric force times its activation."""
    passive_fibers: bool = True
    """Whether stretched fibers pull; not without ``force_length_velocity``."""
    tendon: Literal["rigid", "compliant"] = "rigid"
    """``"rigid"``: tendons have their slack length. ``"compliant"``: tendons are stretched by the
    force of the muscle, in equilibrium with the fibers at every frame and without a speed of their
    own."""
    weights: Literal["equal", "volume"] | Mapping[str, float] = "equal"
    """Weights of efforts: ``"equal"`` (1), ``"volume"``, or weights by muscle (1 for others).
    Volumes are in percent of all; with them, a muscle that is split into parallel parts has the
    same activation."""
    lower: Bounds = MIN_ACTIVATION
    """Lowest activation of all muscles or by muscle."""
    upper: Bounds = 1.0
    """Highest activation of all muscles or by muscle."""
    reserves: float | Mapping[str, float] = RESERVE_STRENGTH
    """Strength (N m, N) of the reserve actuator of all coordinates, or of those that are listed. A
    reserve of r adds (r / strength) ** 2 to the effort. Zero: no reserve."""
    max_reserve: float = MAX_RESERVE_SHARE
    """Reserve, as a part of the largest torque of a coordinate, above which a frame is reported."""
    smoothness: float = 0.0
    """Weight of the squared rates of activations (1/s) in the effort, in s2; couples all frames."""
    coordinates: tuple[str, ...] | None = None
    """Coordinates whose torques muscles produce; None: all that a muscle moves, but for the root
    and coordinates that are locked or that no marker shows."""
    wrapping: str = OPENSIM
    """``"opensim"`` or ``"geodesic"``; see `lengths`."""

    def __post_init__(self) -> None:
        check_tangent_rule(self.wrapping)
        for name, value, accepted in (
            ("tendon", self.tendon, TENDONS),
            ("weights", self.weights, WEIGHTS),
        ):
            if not isinstance(value, Mapping) and value not in accepted:
                raise HomodynError(unknown_name(name, value, accepted))
        if isinstance(self.weights, Mapping):
            for muscle, weight in self.weights.items():
                if not (np.isfinite(weight) and weight >= 0):
                    raise HomodynError(
                        f"the weight of muscle {muscle!r} is {weight}; zero or more is accepted"
                    )
        if not (np.isfinite(self.power) and self.power >= 1):
            raise HomodynError(
                f"the power of activations is {self.power:g}; 1 or more is accepted, because "
                "smaller powers are not convex"
            )
        for name in ("smoothness", "max_reserve"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0):
                raise HomodynError(f"{name} is {value}; zero or more is accepted")
        if self.smoothness and self.tendon == "compliant":
            raise HomodynError(
                "smoothness between frames needs tendon='rigid'; compliant tendons are solved "
                "frame by frame"
            )
        if self.tendon == "compliant" and not (self.force_length_velocity and self.passive_fibers):
            raise HomodynError(
                "tendon='compliant' needs force_length_velocity=True and passive_fibers=True: the "
                "equilibrium of fibers and tendon contains all forces"
            )
        for actuator, strength in _items(self.reserves, "all coordinates"):
            if not (np.isfinite(strength) and strength >= 0):
                raise HomodynError(
                    f"the reserve of {actuator} has a strength of {strength}; zero or more is "
                    "accepted"
                )
        for name in ("lower", "upper"):
            for muscle, level in _items(getattr(self, name), "all muscles"):
                if not 0 <= level <= 1:
                    raise HomodynError(
                        f"the {name} bound of activation of {muscle} is {level}; 0 to 1 is accepted"
                    )

    @property
    def sentence(self) -> str:
        """The program in words."""
        forces = (
            "maximum isometric forces"
            if not self.force_length_velocity
            else f"active force by length and speed, {self.tendon} tendons, "
            + ("passive force of fibers" if self.passive_fibers else "no passive force")
        )
        weights = ", weighted by volume" if self.weights == "volume" else ""
        if isinstance(self.weights, Mapping):
            weights = ", weighted by muscle"
        text = f"static optimization: sum of activation^{self.power:g}{weights}; {forces}"
        if self.smoothness:
            text += f"; smoothness {self.smoothness:g} s2"
        if isinstance(self.reserves, Mapping):
            named = ", ".join(f"{name} {value:g}" for name, value in self.reserves.items())
            return f"{text}; reserves: {named or 'none'}"
        return f"{text}; reserves of {self.reserves:g} N m (N)" if self.reserves else text


@record
class EmgTargets(Record):
    """Measured activations that static optimization takes into account.

    Raises:
        HomodynError: Shapes differ, an activation is outside of 0 to 1, or the mode is unknown.
    """

    muscles: tuple[str, ...]
    """Muscles of the model."""
    activations: np.ndarray
    """(frames, muscles), 0 to 1; NaN where not measured."""
    weight: float = 10.0
    """Weight of squared deviations."""
    mode: Literal["informed", "tracking"] = "informed"
    """``"informed"``: measured muscles cost their effort and their deviation; ``"tracking"``: they
    cost their deviation alone, and effort is left to muscles that were not measured."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "muscles", tuple(self.muscles))
        if self.mode not in EMG_MODES:
            raise HomodynError(unknown_name("mode", self.mode, EMG_MODES))
        if self.activations.ndim != 2 or self.activations.shape[1] != len(self.muscles):
            raise HomodynError(
                f"targets have shape {self.activations.shape}; (frames, {len(self.muscles)}) is "
                "expected, one column per muscle"
            )
        if not (np.isfinite(self.weight) and self.weight > 0):
            raise HomodynError(f"the weight of targets is {self.weight}; it must be above zero")
        wrong = np.argwhere((self.activations < 0) | (self.activations > 1))
        if len(wrong):
            frame, k = (int(x) for x in wrong[0])
            raise HomodynError(
                f"target of muscle {self.muscles[k]!r} in frame {frame} is "
                f"{self.activations[frame, k]:g}; 0 to 1 is accepted: normalize the EMG first"
            )


def _items(value: Bounds, label: str) -> list[tuple[str, float]]:
    if isinstance(value, Mapping):
        return [(repr(name), float(one)) for name, one in value.items()]
    return [(label, float(value))]
