"""Masses of the segments of a scaled model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from homodyn.capture.scaling.marker_model import Person, apply_person
from homodyn.capture.scaling.scaling_result import MassSource, ScalingResult
from homodyn.capture.scaling.strength_law import StrengthLaw
from homodyn.catalog.scaling import KEEP_DENSITY
from homodyn.model import Body, Model
from homodyn.muscle import find_scaling_jumps, scale_fibers

MISSING_MASS = "mass not given"
"""First words of the warning about a mass that follows from densities."""


def scale_masses(
    model: Model,
    person: Person,
    markers: Sequence[str],
    mass: float | None,
    keep_shares: bool,
    strength: StrengthLaw | None = None,
) -> tuple[Model, list[str]]:
    """The model with the geometry and the mass of a person, and warnings.

    Args:
        model: The generic model.
        person: Geometry of the person.
        markers: Names of the markers that ``person`` has offsets for.
        mass: Total mass (kg). None keeps the density of every segment, so that the total follows
            from the sizes.
        keep_shares: Whether each segment keeps its share of the total mass.
        strength: The law of the forces of muscles; None keeps them.
    """
    given = KEEP_DENSITY if mass is None else mass
    keep_shares = keep_shares and mass is not None
    scaled = apply_person(model, person, markers, mass=given, keep_shares=keep_shares)
    scaled, warnings = _scale_muscles(model, scaled, person)
    if strength is not None:
        scaled = strength.apply(model, scaled)
    if mass is not None:
        return scaled, warnings
    return scaled, [
        *warnings,
        f"{MISSING_MASS}: densities are kept, which gives {scaled.mass:.2f} kg (generic model: "
        f"{model.mass:.2f} kg)",
    ]


def _scale_muscles(model: Model, scaled: Model, person: Person) -> tuple[Model, list[str]]:
    """Fibers in proportion to paths, and warnings of paths that jump by the scaling."""
    if not model.muscles:
        return scaled, []
    factors = {
        name: [float(factor) for factor in np.broadcast_to(scale, 3)]
        for name, scale in zip(model.body_names, person.scales, strict=True)
    }
    centers = {
        joint.name: center.tolist()
        for joint, center in zip(model.joints, person.centers, strict=True)
        if center.any()
    }
    jumps = find_scaling_jumps(model, factors, centers=centers)
    return scale_fibers(model, scaled), [jump.headline() for jump in jumps]


def with_measured_mass(scaling: ScalingResult, mass: float, note: str) -> ScalingResult:
    """A scaling without a given mass, with the mass that force plates carry.

    Each segment has its share of the mass of the generic model. Centers of mass and radii of
    gyration do not change. Muscles are as strong as the law of the scaling says.

    Args:
        scaling: The result of `scale` or `calibrate` without a mass.
        mass: Total mass (kg).
        note: The sentence that replaces the warning about the missing mass.

    Returns:
        The scaling with the model of that mass.
    """
    generic, scaled = scaling.generic, scaling.model
    bodies = tuple(
        _with_mass(body, old.mass / generic.mass * mass)
        for body, old in zip(scaled.bodies, generic.bodies, strict=True)
    )
    rows = tuple(
        replace(row, mass=float(body.mass))
        for row, body in zip(scaling.bodies, bodies, strict=True)
    )
    heavier = scaling.strength.apply(generic, replace(scaled, bodies=bodies))
    strength_notes = scaling.strength.notes(generic, scaled)
    notes = [text for text in scaling.notes if text not in strength_notes]
    return replace(
        scaling,
        model=heavier,
        bodies=rows,
        mass_source=MassSource.PLATES,
        warnings=tuple(text for text in scaling.warnings if not text.startswith(MISSING_MASS)),
        notes=(*notes, *scaling.strength.notes(generic, heavier), note),
    )


def _with_mass(body: Body, mass: float) -> Body:
    ratio = mass / body.mass if body.mass > 0 else 0.0
    return replace(body, mass=mass, inertia=body.inertia * ratio)
