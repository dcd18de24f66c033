"""Likely causes of root residuals, from when and in which direction they occur."""

from __future__ import annotations

import numpy as np

from homodyn.capture.kinetics.plate_consistency import MIN_REPORTED_DELAY_S, find_delay
from homodyn.capture.kinetics.residuals import ResidualGrade, residuals
from homodyn.capture.world_frame import world_axes
from homodyn.motion.loads import Loads

NEARBY_S = 0.1
"""Time (s) around an impact, or around unmeasured support, in which residuals belong to it."""
MIN_IMPACT_RATE_WEIGHTS_S = 15.0
"""Rate of the vertical force (body weights per second) of impacts; walking stays below 10."""
MIN_IMPACT_SHARE, MIN_UNMEASURED_SHARE = 0.5, 0.3
"""Shares of the squared residuals near impacts, or near unmeasured support, that name them."""
MIN_MASS_DIFFERENCE = 0.02
"""Relative difference of the masses of plates and model that counts."""
MAX_SLOW_ACCELERATION_SHARE = 0.1
"""Vertical acceleration relative to gravity of slow frames."""
MAX_POSTURE_OFFSET_M = 0.12
"""Offset (m, rms) of the center of mass that no posture or mass distribution explains: models that
experts scaled have up to 0.032 m."""
MIN_SLOW_SHARE, MIN_OFFSET_M = 0.1, 0.025
"""Share of slow frames, and offset of the center of mass in them (m, rms), that count."""


def residual_causes(loads: Loads) -> tuple[str, ...]:
    """Likely causes of residuals that are not good, one phrase each.

    Args:
        loads: Loads of a motion under measured ground forces.

    Returns:
        Phrases such as ``"the plates carry 60.1 kg, the model has 62.6 kg"``; none for good
        residuals, or where nothing stands out.
    """
    found = residuals(loads)
    kept = loads.valid
    if found.grade is ResidualGrade.GOOD or not kept.any() or not loads.feet:
        return ()
    model = loads.motion.model
    up = world_axes(model)[2]
    vertical = loads.ground_force @ up
    force = np.linalg.norm(loads.residual_force, axis=1) / found.force_limit
    moment = np.linalg.norm(loads.residual_moment, axis=1) / found.moment_limit
    size = np.where(kept, force**2 + moment**2, 0.0)
    size = size / size.sum()
    rate = loads.motion.rate
    loading = np.abs(np.gradient(vertical, loads.time)) / found.weight
    impacts = loading > MIN_IMPACT_RATE_WEIGHTS_S
    airborne = vertical <= 0 if impacts.any() else np.zeros_like(impacts)
    causes = []
    constant = float((loads.residual_force[kept] @ up).mean())
    mass = model.mass - constant / found.weight * model.mass
    if abs(constant) > 0.5 * found.rms_force and abs(mass / model.mass - 1) > MIN_MASS_DIFFERENCE:
        causes.append(
            f"the plates carry {mass:.1f} kg in the mean, the model has {model.mass:.1f} kg"
        )
    if size[_near(impacts | airborne, rate)].sum() > MIN_IMPACT_SHARE:
        causes.append(
            f"most of it is in flight and within {NEARBY_S:g} s of impacts, where soft tissue "
            "moves on the segments and the filter spreads the accelerations"
        )
    beside = _near(~loads.covered, rate) & kept
    if size[beside].sum() > max(MIN_UNMEASURED_SHARE, 2 * beside.sum() / kept.sum()):
        causes.append(
            "a good part is next to frames in which something else than the plates carries some "
            "of the weight, such as a chair, a hand rail or a foot beside the plates"
        )
    required = vertical + loads.residual_force @ up
    delay = find_delay(loads.time, required, vertical, kept, found.weight)
    if abs(delay) > MIN_REPORTED_DELAY_S:
        causes.append(
            f"the plates seem to be {abs(delay):.2f} s {'late' if delay > 0 else 'early'}"
        )
    slow = kept & (np.abs(required / found.weight - 1) < MAX_SLOW_ACCELERATION_SHARE)
    if slow.sum() > MIN_SLOW_SHARE * kept.sum():
        tilting = loads.residual_moment - np.outer(loads.residual_moment @ up, up)
        offset = float(np.sqrt(np.mean(np.sum(tilting[slow] ** 2, axis=1)))) / found.weight
        if offset > MAX_POSTURE_OFFSET_M:
            causes.append(
                f"in slow movement the plates carry the weight {100 * offset:.0f} cm beside the "
                "center of mass: plates are exchanged, or their positions or clocks are wrong"
            )
        elif offset > MIN_OFFSET_M:
            causes.append(
                f"in slow movement the plates carry the weight {100 * offset:.1f} cm beside the "
                "center of mass of the model: mass distribution and posture of trunk and arms, "
                "or the position of the plates"
            )
    return tuple(causes)


def _near(mask: np.ndarray, rate: float) -> np.ndarray:
    """(frames,): True within `NEARBY_S` of frames of a mask."""
    reach = max(round(NEARBY_S * rate), 1)
    return np.convolve(mask.astype(float), np.ones(2 * reach + 1), "same")[: len(mask)] > 0.5
