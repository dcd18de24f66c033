"""Curves of the model of Millard et al. (2013) from their settings, which are named as in files.

The constants and default values are those of OpenSim.
"""

from __future__ import annotations

from homodyn.errors import ModelError
from homodyn.muscle.models.bezier_curve import BezierCurve, CurvePoint

PLATEAU_HALF_WIDTH = 0.05
"""Of the active force-length curve, in optimal fiber lengths."""
ASCENT_STEEPNESS = 1.25
"""Slope of the ascending limb, as a multiple of its mean."""
NEAR_LARGEST_SPEED = 0.9
"""Speed at which the force-velocity curve has its slopes near the largest speed."""
FOOT_PART = 0.1
"""Width of the foot of curves, as a part of their toe."""


def active_force_length_curve(
    *,
    min_norm_active_fiber_length: float = 0.4441,
    transition_norm_fiber_length: float = 0.73,
    max_norm_active_fiber_length: float = 1.8123,
    shallow_ascending_slope: float = 0.8616,
    minimum_value: float = 0.0,
) -> BezierCurve:
    """Active isometric force over the length of the fibers.

    Args:
        min_norm_active_fiber_length: Where the steep ascending limb begins.
        transition_norm_fiber_length: Where the shallow ascending limb begins.
        max_norm_active_fiber_length: Where the descending limb ends.
        shallow_ascending_slope: Slope of the shallow ascending limb.
        minimum_value: Force before and after.

    Raises:
        ModelError: The curve has no shape with these settings.
    """
    shortest, longest = min_norm_active_fiber_length, max_norm_active_fiber_length
    transition, slope = transition_norm_fiber_length, shallow_ascending_slope
    at_transition = 1 - slope * (1 - PLATEAU_HALF_WIDTH - transition)
    steep = ASCENT_STEEPNESS * at_transition / (transition - shortest)
    shoulder = 0.5 * (transition + 1 - PLATEAU_HALF_WIDTH)
    descent = longest - PLATEAU_HALF_WIDTH - (1 + PLATEAU_HALF_WIDTH)
    middle = 0.5 * (1 + PLATEAU_HALF_WIDTH + longest)
    points = [
        CurvePoint(shortest, minimum_value, 0.0),
        CurvePoint(0.5 * (shortest + transition), 0.5 * at_transition, steep),
        CurvePoint(shoulder, 0.5 * (at_transition + 1), slope),
        CurvePoint(1.0, 1.0, 0.0),
        CurvePoint(middle, 0.5, -1 / descent),
        CurvePoint(longest, minimum_value, 0.0),
    ]
    return BezierCurve.through(points, [1.0] * 5)


def force_velocity_curve(
    *,
    concentric_slope_at_vmax: float = 0.0,
    concentric_slope_near_vmax: float = 0.25,
    isometric_slope: float = 5.0,
    eccentric_slope_at_vmax: float = 0.0,
    eccentric_slope_near_vmax: float = 0.15,
    max_eccentric_velocity_force_multiplier: float = 1.4,
    concentric_curviness: float = 0.6,
    eccentric_curviness: float = 0.9,
) -> BezierCurve:
    """Factor of the active force over the speed of the fibers.

    Args:
        concentric_slope_at_vmax: Slope at the largest speed of shortening.
        concentric_slope_near_vmax: Slope just before it.
        isometric_slope: Slope at rest.
        eccentric_slope_at_vmax: Slope at the largest speed of lengthening.
        eccentric_slope_near_vmax: Slope just before it.
        max_eccentric_velocity_force_multiplier: Factor at the largest speed of lengthening.
        concentric_curviness: 0 (nearly straight) to 1, where fibers shorten.
        eccentric_curviness: The same where they lengthen.

    Raises:
        ModelError: The curve has no shape with these settings.
    """
    rest = 1 - NEAR_LARGEST_SPEED
    largest = max_eccentric_velocity_force_multiplier
    shortening = 0.5 * rest * (concentric_slope_near_vmax + concentric_slope_at_vmax)
    lengthening = largest - 0.5 * rest * (eccentric_slope_near_vmax + eccentric_slope_at_vmax)
    points = [
        CurvePoint(-1.0, 0.0, concentric_slope_at_vmax),
        CurvePoint(-NEAR_LARGEST_SPEED, shortening, concentric_slope_near_vmax),
        CurvePoint(0.0, 1.0, isometric_slope),
        CurvePoint(NEAR_LARGEST_SPEED, lengthening, eccentric_slope_near_vmax),
        CurvePoint(1.0, largest, eccentric_slope_at_vmax),
    ]
    return BezierCurve.through(
        points,
        [concentric_curviness, concentric_curviness, eccentric_curviness, eccentric_curviness],
    )


def fiber_force_length_curve(
    *,
    strain_at_zero_force: float = 0.0,
    strain_at_one_norm_force: float = 0.7,
    stiffness_at_low_force: float | None = None,
    stiffness_at_one_norm_force: float | None = None,
    curviness: float | None = None,
) -> BezierCurve:
    """Passive force over the length of the fibers.

    Args:
        strain_at_zero_force: Strain above which fibers resist.
        strain_at_one_norm_force: Strain at the maximal isometric force.
        stiffness_at_low_force: Slope at the end of the foot; this and the next two settings are
            given together or not at all.
        stiffness_at_one_norm_force: Slope of the straight part.
        curviness: 0 (nearly straight) to 1.

    Raises:
        ModelError: The curve has no shape with these settings.
    """
    span = strain_at_one_norm_force - strain_at_zero_force
    if not span > 0:
        raise ModelError("the strain at one norm force must be larger than that at zero force")
    chosen = _all_or_none(
        {
            "stiffness_at_low_force": (stiffness_at_low_force, 0.2),
            "stiffness_at_one_norm_force": (stiffness_at_one_norm_force, 2 / span),
            "curviness": (curviness, 0.75),
        }
    )
    low, stiffness, bend = chosen
    start, end = 1 + strain_at_zero_force, 1 + strain_at_one_norm_force
    foot = min(FOOT_PART / stiffness, FOOT_PART * span)
    points = [
        CurvePoint(start, 0.0, 0.0),
        CurvePoint(start + foot, 0.5 * foot * low, low),
        CurvePoint(end, 1.0, stiffness),
    ]
    return BezierCurve.through(points, [bend, bend])


def tendon_force_length_curve(
    *,
    strain_at_one_norm_force: float = 0.049,
    stiffness_at_one_norm_force: float | None = None,
    norm_force_at_toe_end: float | None = None,
    curviness: float | None = None,
) -> BezierCurve:
    """Force of the tendon over its length.

    Args:
        strain_at_one_norm_force: Strain at the maximal isometric force.
        stiffness_at_one_norm_force: Slope of the straight part; this and the next two settings are
            given together or not at all.
        norm_force_at_toe_end: Force at which the straight part begins.
        curviness: 0 (nearly straight) to 1.

    Raises:
        ModelError: The curve has no shape with these settings.
    """
    strain = strain_at_one_norm_force
    if not strain > 0:
        raise ModelError(f"the strain of the tendon must be positive, got {strain}")
    stiffness, toe_force, bend = _all_or_none(
        {
            "stiffness_at_one_norm_force": (stiffness_at_one_norm_force, 1.375 / strain),
            "norm_force_at_toe_end": (norm_force_at_toe_end, 2 / 3),
            "curviness": (curviness, 0.5),
        }
    )
    toe = 1 + strain + (toe_force - 1) / stiffness
    foot = 1 + FOOT_PART * (toe - 1)
    middle = 1 + strain + (0.5 * toe_force - 1) / stiffness
    slope = 0.5 * toe_force / (middle - foot)
    control = 0.5 * (foot + middle)
    points = [
        CurvePoint(1.0, 0.0, 0.0),
        CurvePoint(control, slope * (control - foot), slope),
        CurvePoint(toe, toe_force, stiffness),
    ]
    return BezierCurve.through(points, [bend, bend])


def _all_or_none(settings: dict[str, tuple[float | None, float]]) -> list[float]:
    """Settings that are given together; the second of each pair where none is given."""
    given = [name for name, (value, _) in settings.items() if value is not None]
    if given and len(given) < len(settings):
        missing = [name for name in settings if name not in given]
        raise ModelError(
            f"{', '.join(given)} without {', '.join(missing)}; all of them or none are accepted"
        )
    return [default if value is None else value for value, default in settings.values()]
