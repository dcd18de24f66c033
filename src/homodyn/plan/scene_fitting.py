"""A scene for a person of another height and mass: only what depends on the body changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from homodyn.errors import ModelError
from homodyn.motion import Scene
from homodyn.motion.scene import HeightRamp
from homodyn.motion.supports import ContactPatch

REFERENCE_STATURE_M = 1.75
"""Height of the person for whom the bundled scenes are written."""
DEFAULT_MASS_KG = 79.0
"""Mass of that person where a scene has none."""


def fit_scene(scene: Scene, height: float, mass: float) -> Scene:
    """The scene with the request of the center of mass scaled to a person.

    Heights of the center of mass above its supports, its reach and its bounds grow with the height
    of the person, and the limit of the normal forces with the mass. Supports and obstacles stay.

    Args:
        scene: A scene for a person of 1.75 m.
        height: m.
        mass: kg.

    Raises:
        ModelError: A number is not positive.
    """
    if not (height > 0 and mass > 0):
        raise ModelError(f"height and mass are above 0, got {height!r} m and {mass!r} kg")
    ratio = height / REFERENCE_STATURE_M
    limit = scene.limit if scene.mass is None else scene.limit * mass / scene.mass
    plan = scene.plan
    if plan is not None and scene.steps:
        ends = []
        for place, order in ((plan.start, 1), (plan.finish, -1)):
            base = _base_height(scene, order)
            ends.append(np.r_[place[:2], base + ratio * (place[2] - base)])
        plan = replace(
            plan,
            start=ends[0],
            finish=ends[1],
            reach=ratio * plan.reach,
            upper=_scale_ramp(plan.upper, ratio),
            lower=_scale_ramp(plan.lower, ratio),
        )
    return replace(scene, mass=mass, limit=limit, plan=plan, path=None)


def _base_height(scene: Scene, order: int) -> float:
    """Height (m) of what carries the body at the first or last planned center of mass."""
    steps: Sequence = scene.steps[::order]
    patches = [
        [
            float(scene.supports[name].middle[2])
            for name in step.supports
            if isinstance(scene.supports[name], ContactPatch)
        ]
        for step in steps
    ]
    # A seat carries more than the feet below it.
    return max(patches[0], default=0.0)


def _scale_ramp(ramp: HeightRamp | None, ratio: float) -> HeightRamp | None:
    if ramp is None:
        return None
    return replace(ramp, level=ratio * ramp.level, drop=ratio * ramp.drop)
