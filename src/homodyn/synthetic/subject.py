"""A random subject: HeiMan with individual segment lengths and marker positions."""

from __future__ import annotations

import numpy as np

from homodyn.catalog import heiman
from homodyn.catalog.heiman_tables import heiman_parameters
from homodyn.errors import ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model import Model

LENGTH_SD_RATIO = 0.03
"""Standard deviation of the length of a segment, relative to the table."""
MARKER_SD_M = 0.005
"""Standard deviation of the position of a marker along each axis (m)."""

_UPPER_TRUNK_HEIGHTS = ("UpperTrunkHeight", "ShoulderHeight", "SuprasternaleHeight")
_STATURE_SEGMENTS = (
    "ShankLength",
    "ThighLength",
    "PelvisHeight",
    "MiddleTrunkHeight",
    "NeckLength",
)
"""These add up to the stature, together with upper trunk, foot height and head."""
_OTHER_SEGMENTS = ("UpperArmLength", "LowerArmLength", "ClaviculaLength", "HipWidth", "FootLength")


def random_subject(
    *,
    height: float,
    mass: float,
    sex: str,
    rng: np.random.Generator,
    variation: float = 1.0,
) -> Model:
    """A person of that stature (m) and mass (kg) whose proportions differ from the tables.

    Lengths vary by 3 % and markers by 5 mm (standard deviations), times ``variation``. Left and
    right sides are equal, and the stature is exact.
    """
    table = heiman_parameters(height, mass, sex)
    mean: dict[str, float] = {
        name: table[name if name in table else _right_name(name)]
        for name in (*_STATURE_SEGMENTS, *_OTHER_SEGMENTS)
    }
    mean["UpperTrunkHeight"] = table["UpperTrunkHeight"]
    deviation = np.clip(rng.normal(size=len(mean)), -2.0, 2.0) * LENGTH_SD_RATIO * variation
    lengths = {name: x * (1 + d) for (name, x), d in zip(mean.items(), deviation, strict=True)}
    stacked = (*_STATURE_SEGMENTS, "UpperTrunkHeight")
    correction = sum(mean[name] for name in stacked) / sum(lengths[name] for name in stacked)
    for name in stacked:
        lengths[name] *= correction
    for name in _UPPER_TRUNK_HEIGHTS:
        lengths[name] = lengths["UpperTrunkHeight"]
    model = heiman(height=height, mass=mass, sex=sex, overrides=lengths)
    positions = {
        f"{marker.name}.position": np.asarray(marker.position, float)
        + rng.normal(size=3) * MARKER_SD_M * variation
        for marker in model.markers
    }
    return model.with_numbers(positions)


def check_walking_model(model: Model) -> None:
    """Refuse a model without the coordinates and contacts of HeiMan."""
    reference = heiman()
    for kind, known, needed in (
        ("coordinate", model.coordinate_names, reference.coordinate_names),
        ("contact", [c.name for c in model.contacts], [c.name for c in reference.contacts]),
    ):
        for name in needed:
            if name not in known:
                raise ModelError(
                    f"model {model.name!r} cannot walk here: it has "
                    f"{unknown_name(kind, name, known)}. "
                    "Walks are generated for homodyn.catalog.heiman and models scaled from it"
                )


def _right_name(name: str) -> str:
    for part in ("Length", "Width", "Height"):
        if name.endswith(part):
            return name.removesuffix(part) + "Right" + part
    return name
