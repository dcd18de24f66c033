"""Strengths of the muscles of a scaled model, by a stated law.

`homodyn.catalog.scale` and `scale_fibers` keep the maximal isometric forces of the generic model.
Handsfield G. G., Meyer C. H., Hart J. M., Abel M. F., Blemker S. S., "Relationships of 35 lower
limb muscles to height and body mass quantified using MRI", Journal of Biomechanics 47, 2014, find
that the volume of the muscles of a leg is 47.05 cm3/(kg m) times mass and height plus 1289.6 cm3.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model import Model
from homodyn.spatial import Array, is_symbolic

MASS_LAW, VOLUME_LAW, KEEP_LAW = "mass", "volume", "keep"
LAWS = (MASS_LAW, VOLUME_LAW, KEEP_LAW)
"""Strength grows as the mass of the body to the power 2/3, as cross sections of similar bodies do;
as the muscle volume of Handsfield et al. over the fiber length; or not at all."""
VOLUME_PER_MASS_HEIGHT_M3_PER_KG_M = 47.05e-6
VOLUME_OFFSET_M3 = 1289.6e-6
MASS_EXPONENT = 2 / 3


def scale_strengths(
    generic: Model,
    scaled: Model,
    law: str = MASS_LAW,
    *,
    heights: tuple[float, float] | None = None,
) -> Model:
    """A scaled model with the maximal isometric forces of its person.

    Args:
        generic: The model before scaling.
        scaled: The same model scaled.
        law: ``"mass"``: forces grow as the mass of the body to the power 2/3. ``"volume"``: as the
            muscle volume of Handsfield et al. (2014) over the optimal fiber length. ``"keep"``:
            forces stay those of the generic model.
        heights: Statures of the generic and of the scaled person, m; needed by ``"volume"``.

    Returns:
        A new model; the scaled model itself if it has no muscles.

    Raises:
        ModelError: The law is unknown, heights are missing or not positive, or the models have
            different muscles.
    """
    if law not in LAWS:
        raise ModelError(unknown_name("law", law, LAWS))
    names = [muscle.name for muscle in generic.muscles]
    if names != [muscle.name for muscle in scaled.muscles]:
        raise ModelError(
            f"models {generic.name!r} and {scaled.name!r} have different muscles; scale_strengths "
            "takes a model and the same model scaled"
        )
    masses = generic.mass, scaled.mass
    factors: list[Array]
    if law == KEEP_LAW:
        factors = [1.0] * len(names)
    elif law == MASS_LAW:
        factors = [(masses[1] / masses[0]) ** MASS_EXPONENT] * len(names)
    else:
        volumes = _volumes(masses, heights)
        factors = [
            volumes[1] / volumes[0] * before.optimal_fiber_length / after.optimal_fiber_length
            for before, after in zip(generic.muscles, scaled.muscles, strict=True)
        ]
    muscles = [
        replace(after, max_isometric_force=before.max_isometric_force * factor)
        for before, after, factor in zip(generic.muscles, scaled.muscles, factors, strict=True)
    ]
    return replace(scaled, muscles=tuple(muscles)) if muscles else scaled


def _volumes(masses: tuple[Array, Array], heights: tuple[float, float] | None) -> list[Array]:
    """Muscle volumes of both persons, m3."""
    if heights is None or not all(is_symbolic(h) or (np.isfinite(h) and h > 0) for h in heights):
        raise ModelError(
            f"the law {VOLUME_LAW!r} needs the statures of both persons (m), got {heights}"
        )
    return [
        VOLUME_PER_MASS_HEIGHT_M3_PER_KG_M * mass * height + VOLUME_OFFSET_M3
        for mass, height in zip(masses, heights, strict=True)
    ]
