"""A person's masses: segments in proportion to their volumes, or as the model has them."""

from __future__ import annotations

from collections.abc import Sequence

from homodyn.capture.scaling.marker_model import Person, apply_person
from homodyn.catalog.scaling import KEEP_DENSITY
from homodyn.errors import CaptureError
from homodyn.model import Model


def scale_masses(
    model: Model, person: Person, markers: Sequence[str], mass: float | None, keep_shares: bool
) -> tuple[Model, list[str]]:
    """The model made to a person with this total mass (kg), and what there is to say about it.

    Without a mass every segment keeps its density, so the total follows from the sizes.
    """
    if mass is not None and not 0 < mass < float("inf"):
        raise CaptureError(f"mass: a number above zero (kg) is needed, got {mass!r}")
    if mass is not None:
        return apply_person(model, person, markers, mass=mass, keep_shares=keep_shares), []
    made = apply_person(model, person, markers, mass=KEEP_DENSITY)
    return made, [
        f"mass not given: densities are kept, which gives {made.mass:.2f} kg (generic model: "
        f"{model.mass:.2f} kg)"
    ]
