"""Masses of the segments of a scaled model."""

from __future__ import annotations

from collections.abc import Sequence

from homodyn.capture.scaling.marker_model import Person, apply_person
from homodyn.catalog.scaling import KEEP_DENSITY
from homodyn.model import Model


def scale_masses(
    model: Model, person: Person, markers: Sequence[str], mass: float | None, keep_shares: bool
) -> tuple[Model, list[str]]:
    """The model with the geometry and the mass of a person, and warnings.

    Args:
        model: The generic model.
        person: Geometry of the person.
        markers: Names of the markers that ``person`` has offsets for.
        mass: Total mass (kg). None keeps the density of every segment, so that the total follows
            from the sizes.
        keep_shares: Whether each segment keeps its share of the total mass.
    """
    if mass is not None:
        return apply_person(model, person, markers, mass=mass, keep_shares=keep_shares), []
    scaled = apply_person(model, person, markers, mass=KEEP_DENSITY)
    return scaled, [
        f"mass not given: densities are kept, which gives {scaled.mass:.2f} kg (generic model: "
        f"{model.mass:.2f} kg)"
    ]
