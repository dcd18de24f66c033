"""The muscle model of Millard et al. (2012, 2013): curves of quintic Bezier sections.

Millard M., Uchida T., Seth A., Delp S. L., "Flexing computational muscle: modeling and simulation
of musculotendon dynamics", Journal of Biomechanical Engineering 135, 2013.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from homodyn.errors import ModelError
from homodyn.model.muscles import Muscle
from homodyn.muscle.models.bezier_curve import BezierCurve
from homodyn.muscle.models.bounded_fibers import BoundedFibers
from homodyn.muscle.models.millard_curves import (
    active_force_length_curve,
    fiber_force_length_curve,
    force_velocity_curve,
    tendon_force_length_curve,
)
from homodyn.spatial import Array

FIBER_DAMPING = 0.1
"""Of files that state none."""
SMALLEST_DAMPING = 0.001
"""Fibers with less are undamped."""
UNDAMPED_MINIMUM_VALUE = 0.1
UNDAMPED_SLOPE = 0.1
"""Bounds of curves whose inverse an undamped muscle with a compliant tendon needs."""
SHORTEST_NORM_LENGTH = 0.4441
"""Start of the active force-length curve in files that state none."""
CURVES: dict[str, Callable[..., BezierCurve]] = {
    "ActiveForceLengthCurve": active_force_length_curve,
    "ForceVelocityCurve": force_velocity_curve,
    "FiberForceLengthCurve": fiber_force_length_curve,
    "TendonForceLengthCurve": tendon_force_length_curve,
}


class Millard2012(BoundedFibers):
    """The model of Millard et al. (2012) with all settings of its curves.

    Settings of the muscle, as in ``.osim`` files: ``fiber_damping``, those of `BoundedFibers`, and
    those of the curves, such as ``ActiveForceLengthCurve.transition_norm_fiber_length``.
    """

    def active_force_length(self, muscle: Muscle, norm_length: Array) -> Array:
        """Five sections between the shortest and the longest length with active force."""
        least = UNDAMPED_MINIMUM_VALUE if self.is_undamped(muscle) else 0.0
        given = float(muscle.settings.get("ActiveForceLengthCurve.minimum_value", least))
        value = max(given, least) if self.is_undamped(muscle) else 0.0
        return _curve(muscle, "ActiveForceLengthCurve", minimum_value=value).value(norm_length)

    def passive_force_length(self, muscle: Muscle, norm_length: Array) -> Array:
        """Two sections and a straight line."""
        return _curve(muscle, "FiberForceLengthCurve").value(norm_length)

    def force_velocity(self, muscle: Muscle, norm_speed: Array, activation: Array = 1.0) -> Array:
        """Four sections between the largest speeds, and straight lines beyond."""
        return self._force_velocity_curve(muscle).value(norm_speed)

    def fiber_speed(
        self, muscle: Muscle, activation: Array, norm_length: Array, norm_force: Array
    ) -> Array:
        """Speed of the fibers at a force: a root in one section of the force-velocity curve."""
        level = self.bounded_activation(muscle, activation)
        active = level * self.active_force_length(muscle, norm_length)
        rest = norm_force - self.passive_force_length(muscle, norm_length)
        weights = (self.damping(muscle), active)
        return self._force_velocity_curve(muscle).weighted_root(weights, rest)

    def _force_velocity_curve(self, muscle: Muscle) -> BezierCurve:
        slope = UNDAMPED_SLOPE if self.is_undamped(muscle) else 0.0
        ends = {"concentric_slope_at_vmax": slope, "eccentric_slope_at_vmax": slope}
        return _curve(muscle, "ForceVelocityCurve", **ends)

    def tendon_force_length(self, muscle: Muscle, norm_length: Array) -> Array:
        """Two sections and a straight line."""
        return _curve(muscle, "TendonForceLengthCurve").value(norm_length)

    def damping(self, muscle: Muscle) -> Array:
        """Damping of the fibers."""
        value = float(muscle.settings.get("fiber_damping", FIBER_DAMPING))
        return value if value >= SMALLEST_DAMPING else 0.0

    def is_undamped(self, muscle: Muscle) -> bool:
        """Whether the fibers are undamped and the tendon compliant.

        Args:
            muscle: Its parameters.
        """
        rigid = bool(muscle.settings.get("ignore_tendon_compliance", False))
        return not rigid and self.damping(muscle) == 0

    def shortest_norm_length(self, muscle: Muscle) -> float:
        """Where the active force-length curve begins."""
        name = "ActiveForceLengthCurve.min_norm_active_fiber_length"
        return float(muscle.settings.get(name, SHORTEST_NORM_LENGTH))


def _curve(muscle: Muscle, kind: str, **fixed: float) -> BezierCurve:
    """The curve of a muscle; ``fixed`` replaces settings of the file."""
    prefix = f"{kind}."
    given = {k.removeprefix(prefix): v for k, v in muscle.settings.items() if k.startswith(prefix)}
    settings = {**given, **fixed}
    try:
        return _cached_curve(kind, tuple(sorted((k, float(v)) for k, v in settings.items())))
    except (TypeError, ValueError) as error:
        raise ModelError(f"muscle {muscle.name!r}, {kind}: {error}") from error
    except ModelError as error:
        raise ModelError(f"muscle {muscle.name!r}, {kind}: {error}") from error


@lru_cache(maxsize=4096)
def _cached_curve(kind: str, settings: tuple[tuple[str, float], ...]) -> BezierCurve:
    return CURVES[kind](**dict(settings))
