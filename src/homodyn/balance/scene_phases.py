"""Scenes for balance: the stances of their phases, and the wrench that their path requires."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np

from homodyn.balance.contact_phases import SupportPhase
from homodyn.balance.required_wrench import RequiredWrench, point_mass_wrench
from homodyn.balance.stance import Stance
from homodyn.errors import ModelError
from homodyn.motion import Scene


@lru_cache(maxsize=64)
def scene_stances(scene: Scene) -> tuple[Stance, ...]:
    """The stances of a scene, one per phase.

    Args:
        scene: The scene.

    Returns:
        The same stances in every call, so that their wrench sets are computed once.

    Raises:
        ModelError: A phase has no support.
    """
    return tuple(
        Stance(tuple(scene.supports[name] for name in step.supports), scene.limit, step.name)
        for step in scene.steps
    )


@lru_cache(maxsize=64)
def scene_phases(scene: Scene) -> tuple[SupportPhase, ...]:
    """The stances of a scene with their times, from its path or the durations of its phases.

    Args:
        scene: The scene.

    Returns:
        Consecutive phases.

    Raises:
        ModelError: There is no path, and a phase has no duration.
    """
    return tuple(
        SupportPhase(stance, float(start), float(end), step.name)
        for stance, step, (start, end) in zip(
            scene_stances(scene), scene.steps, pairwise(scene.instants), strict=True
        )
    )


def scene_wrench(scene: Scene, time: np.ndarray) -> RequiredWrench:
    """Compute the wrench that a point mass requires to follow the path of a scene.

    Args:
        scene: Scene with a path and a mass.
        time: Instants, (instants,), s.

    Returns:
        The required wrench.

    Raises:
        ModelError: The scene has no path or no mass, or an instant lies outside the path.
    """
    if scene.path is None:
        raise ModelError(f"scene {scene.name!r} has no path of the center of mass")
    return point_mass_wrench(
        time,
        scene.path.at(time),
        scene.path.at(time, 2),
        mass=scene_mass(scene),
        velocity=scene.path.at(time, 1),
        gravity=scene.gravity,
    )


def scene_mass(scene: Scene) -> float:
    """The mass (kg) of a scene; a `ModelError` where it has none."""
    if scene.mass is None:
        raise ModelError(f"scene {scene.name!r} has no mass (kg); balance needs it")
    return scene.mass
